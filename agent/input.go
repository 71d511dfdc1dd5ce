package agent

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Read reads the input of a hook into v. Members that v does not have may come
// with any release of a host and are passed over. Duplicate names at any depth
// are refused, and so is a member that differs from one of known in case alone:
// another reader could take it for that one.
func Read(text []byte, known []string, v any) error {
	var names map[string]sayso.Args
	if err := jcs.Unmarshal(text, &names); err != nil {
		return fmt.Errorf("%w: hook input: %w", sayso.ErrInvalid, err)
	}
	for name := range names {
		for _, k := range known {
			if name != k && strings.EqualFold(name, k) {
				return fmt.Errorf("%w: hook input: a member differs from %s in case alone", sayso.ErrInvalid, k)
			}
		}
	}
	if err := jcs.UnmarshalLenient(text, v); err != nil {
		return fmt.Errorf("%w: hook input: %w", sayso.ErrInvalid, err)
	}
	return nil
}

// Said are the fields of a call's input that the model writes about its call
// and that do not change what runs, as they came.
type Said map[string]sayso.Args

// Split takes the model's words out of a call's input. The arguments that are
// left keep the order and the spelling that they came in.
func Split(input sayso.Args, words []string) (args sayso.Args, said Said, err error) {
	if len(words) == 0 {
		return input, nil, nil
	}
	args, err = without(input, words, func(name string, value sayso.Args) {
		if said == nil {
			said = Said{}
		}
		said[name] = value
	})
	return args, said, err
}

// Fill puts the input of a tool into its call: the arguments and, apart from them,
// the words that the model writes about it. They are returned as they came, to be
// put back when the arguments are edited. A tool of a server has none: what its
// fields mean, the server says. What is no object is an error that says how the
// host calls the input.
func Fill(c *sayso.Call, name string, input sayso.Args, words []string) (Said, error) {
	if _, err := jcs.Object(input); err != nil {
		return nil, fmt.Errorf("%w: hook input: %s: %w", sayso.ErrInvalid, name, err)
	}
	if c.Server != "" {
		words = nil
	}
	args, said, err := Split(input, words)
	if err != nil {
		return nil, err
	}
	c.Args, c.Said = args, said.Texts()
	return said, nil
}

// Output is what is kept of what a call gave: a digest, and of nothing none.
func Output(result []byte) (d sayso.Digest) {
	if len(result) > 0 {
		d = sayso.HashOf("sayso/output/1", result)
	}
	return d
}

// Texts are the words as they are shown: a string as its text, all else as the
// JSON that it is. Nil if there are none.
func (s Said) Texts() map[string]string {
	if s == nil {
		return nil
	}
	texts := make(map[string]string, len(s))
	for name, value := range s {
		var text string
		if err := jcs.Unmarshal(value, &text); err != nil {
			text = string(value)
		}
		texts[name] = text
	}
	return texts
}

// Join puts the words back among edited arguments.
func (s Said) Join(args sayso.Args) (sayso.Args, error) {
	out, err := without(args, nil, nil)
	if err != nil {
		return nil, err
	}
	out = out[:len(out)-1]
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if out, err = appendMember(out, name, s[name]); err != nil {
			return nil, err
		}
	}
	out = append(out, '}')
	_, err = jcs.Object(out)
	return out, err
}

// without returns a JSON object without some of its members, which it hands to
// taken.
func without(object sayso.Args, names []string, taken func(string, sayso.Args)) (sayso.Args, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil {
		return nil, fmt.Errorf("%w: tool_input: %w", sayso.ErrInvalid, err)
	}
	out := []byte{'{'}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("%w: tool_input: %w", sayso.ErrInvalid, err)
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%w: tool_input: %w", sayso.ErrInvalid, err)
		}
		if slices.Contains(names, key) {
			taken(key, sayso.Args(bytes.Clone(value)))
			continue
		}
		if out, err = appendMember(out, key, value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendMember(out []byte, key string, value []byte) ([]byte, error) {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out, err := jsontext.AppendQuote(out, key)
	if err != nil {
		return nil, fmt.Errorf("%w: tool_input: %w", sayso.ErrInvalid, err)
	}
	return append(append(out, ':'), value...), nil
}
