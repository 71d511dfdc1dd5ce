package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// call reads a call: all of it, as JSON or as the same in YAML, or one tool with
// what it is given.
func (t *testReader) call(n *yaml.Node, context testContext) (sayso.Call, bool) {
	const write = `write for example {bash: git status}, or {"tool":"bash","args":{"command":"git status"}}`
	var c sayso.Call
	var err error
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
		c, err = sayso.ParseCall([]byte(n.Value))
	case n.Kind != yaml.MappingNode:
		t.fail(n, CodeCall, write, "a call cannot be %s", kindOf(n))
		return c, false
	case hasKey(n, "tool"):
		text, ok := t.json(nil, n)
		if !ok {
			return c, false
		}
		c, err = sayso.ParseCall(text)
	case len(n.Content) != 2:
		t.fail(n, CodeCall, write, "a call names one tool, this one has %d keys", len(n.Content)/2)
		return c, false
	default:
		var ok bool
		if c, ok = t.short(n, context); !ok {
			return c, false
		}
	}
	if err == nil {
		if !t.complete(&c, context) {
			return c, false
		}
		err = c.Validate()
	}
	if err == nil {
		_, err = c.Digest()
	}
	if err != nil {
		t.fail(n, CodeCall, write, "this is no call: %v", err)
		return c, false
	}
	return c, true
}

// short reads the short form of a call: a tool, and the argument that rules
// match on or all arguments.
func (t *testReader) short(n *yaml.Node, context testContext) (sayso.Call, bool) {
	key, value := n.Content[0], n.Content[1]
	name, ok := t.text(key, "a tool")
	if !ok {
		return sayso.Call{}, false
	}
	c := sayso.Call{Tool: name, Host: context.host, Server: context.server}
	if value.Kind == yaml.MappingNode {
		c.Args, ok = t.json(nil, value)
		return c, ok
	}
	if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
		t.fail(value, CodeCall, "write the text in quotes, or a mapping of all arguments", "%s is given text or a mapping of arguments, not %s", quoted(name), kindOf(value))
		return c, false
	}
	primary := c.Known().Primary
	if primary == "" {
		t.fail(key, CodeCall, t.meant(c), "%s has no argument that a text alone could be", quoted(name))
		return c, false
	}
	c.Args, ok = t.json(nil, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: primary}, value}})
	return c, ok
}

// meant says what to write for a tool that takes no text.
func (t *testReader) meant(c sayso.Call) string {
	if meant := meantByWord[strings.ToLower(c.Tool)]; c.Server == "" && meant != "" {
		write := "write " + meant
		if c.Host == "" && slices.Contains(sayso.HostTools("claude-code"), c.Tool) {
			write += ", or add host: claude-code to the case"
		}
		return write
	}
	if c.Server == "" {
		takesText := func(name string) bool { return sayso.Call{Tool: name, Host: c.Host}.Known().Primary != "" }
		names := slices.DeleteFunc(append(toolNames(), sayso.HostTools(c.Host)...), func(name string) bool { return !takesText(name) })
		if near := nearest(c.Tool, names); near != "" {
			return "did you mean " + near + "?"
		}
	}
	return "write all of its arguments, as in {" + c.Tool + ": {name: value}}"
}

// complete adds to a call what its case and its file say of it. What the case
// says, the call may not say again.
func (t *testReader) complete(c *sayso.Call, context testContext) bool {
	for _, f := range [...]struct {
		key  string
		into *string
		text string
	}{{"cwd", &c.Cwd, context.cwd}, {"host", &c.Host, context.host}, {"session", &c.Session, context.session}, {"server", &c.Server, context.server}} {
		if *f.into == "" {
			*f.into = f.text
		} else if key := context.said[f.key]; key != nil && *f.into != f.text {
			t.fail(key, CodeMisplaced, "keep one of them", "the call says %s itself, and another one", f.key)
			return false
		}
	}
	return true
}

func hasKey(n *yaml.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

// inQuotes is a text that is written as one.
const inQuotes = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// json appends a value as JSON. It takes no other spelling of a value than JSON
// has, so that nothing is read in two ways.
func (t *testReader) json(dst []byte, n *yaml.Node) ([]byte, bool) {
	switch n.Kind {
	case yaml.MappingNode:
		return t.jsonObject(dst, n)
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			var ok bool
			if dst, ok = t.json(dst, item); !ok {
				return nil, false
			}
		}
		return append(dst, ']'), true
	}
	// YAML has other words for values than JSON, and takes some of JSON for text.
	isText, isValue := n.ShortTag() == "!!str", n.Style&inQuotes == 0 && jcs.Valid([]byte(n.Value))
	if isText && !isValue {
		if out, err := jcs.AppendString(dst, n.Value); err == nil {
			return out, true
		}
	} else if isValue && !isText {
		return append(dst, n.Value...), true
	}
	t.fail(n, CodeType, `to mean the text, write "`+n.Value+`"; else write the value as JSON has it`, "%s is no value of JSON", kindOf(n))
	return nil, false
}

func (t *testReader) jsonObject(dst []byte, n *yaml.Node) ([]byte, bool) {
	before := len(t.errs)
	dst = append(dst, '{')
	t.pairs(n, func(key, value *yaml.Node) {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		out, ok := t.json(dst, key)
		if ok {
			out, ok = t.json(append(out, ':'), value)
		}
		if ok {
			dst = out
		}
	})
	return append(dst, '}'), len(t.errs) == before
}
