package policy

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// argument is a condition on one argument of a call: one of the values must be
// its value. An argument that is missing is none of them.
type argument struct {
	key    string
	values []value
}

// value is a text, in which a star stands for any characters, or a number or a
// truth value.
type value struct {
	text   string
	scalar bool // text is a number or a truth value, as JSON has it
}

func (r *reader) arguments(e sayso.Effect, n *yaml.Node) []argument {
	var out []argument
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		r.fail(n, CodeType, "write for example args: {path: /tmp/*}", "args must be a mapping of names to values, not %s", kindOf(n))
		return nil
	}
	r.names(n, "the name of an argument", func(key, n *yaml.Node) {
		a := argument{key: key.Value}
		for _, item := range list(n) {
			if v, ok := r.value(e, item); ok {
				a.values = append(a.values, v)
			}
		}
		if len(list(n)) == 0 {
			r.fail(n, CodePattern, "write the value that it must have", "there is no value for %s, so the rule could never match", quoted(key.Value))
		}
		out = append(out, a)
	})
	return out
}

func (r *reader) value(e sayso.Effect, n *yaml.Node) (value, bool) {
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!bool", "!!int", "!!float":
			text, err := jcs.Canonicalize([]byte(n.Value))
			if err != nil {
				r.fail(n, CodeNumber, "write it as JSON does, or put quotes around it to mean a text", "%s is no plain number or truth value", quoted(n.Value))
				return value{}, false
			}
			return value{text: string(text), scalar: true}, true
		case "!!str":
			if e != sayso.Allow {
				return value{text: strings.ToLower(n.Value)}, true
			}
			return value{text: n.Value}, true
		}
	}
	r.fail(n, CodeType, "write a text, a number, or true or false", "the value of an argument cannot be %s", kindOf(n))
	return value{}, false
}

// matchesArgs compares arguments. What cannot be read fits everything but an
// allow.
func (s *selector) matchesArgs(c *subject, allow bool) bool {
	for i := range s.args {
		if !s.args[i].matches(c, allow) {
			return false
		}
	}
	return true
}

func (a *argument) matches(c *subject, allow bool) bool {
	if c.state == argsBad {
		return !allow
	}
	args := []byte(c.call.Args)
	if len(args) == 0 {
		return false
	}
	raw, state := rawMember(args, a.key)
	switch state {
	case argMissing:
		return false
	case argBad:
		return !allow
	}
	for _, v := range a.values {
		if v.is(raw, !allow) {
			return true
		}
	}
	return false
}

func (v value) is(raw []byte, fold bool) bool {
	if v.scalar {
		text, err := jcs.Canonicalize(append([]byte(nil), raw...))
		return err == nil && string(text) == v.text
	}
	s, state := text(raw)
	if state != argGiven {
		return false
	}
	if fold {
		s = strings.ToLower(s)
	}
	return glob(v.text, s)
}

func argumentsText(as []argument) string {
	var words []string
	for _, a := range as {
		var values []string
		for _, v := range a.values {
			values = append(values, v.text)
		}
		words = append(words, a.key+": "+strings.Join(values, ", "))
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// argumentsWritten are conditions on arguments as a file has them.
func argumentsWritten(as []argument) string {
	var words []string
	for _, a := range as {
		var values []string
		for _, v := range a.values {
			if v.scalar {
				values = append(values, v.text)
			} else {
				values = append(values, yamlQuoted(v.text))
			}
		}
		words = append(words, yamlQuoted(a.key)+": ["+strings.Join(values, ", ")+"]")
	}
	return "{" + strings.Join(words, ", ") + "}"
}
