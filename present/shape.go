package present

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Shape names the arguments of a host's tool that a person is shown as more
// than arguments. What the primary argument is, the host's table says.
type Shape struct {
	Content  string // the text that a file is written with
	Old, New string // an edit: what it replaces, and by what
	All      string // whether it replaces every place; empty if it always replaces one
	Breaks   bool   // the host takes the file's line breaks for its own
	Language string // of a command that is no line of bash
}

// Present makes what a person is shown of a call of a host's built-in tool: the
// change to the file on disk, the command and its directory, the parts of an
// address and, for all others and for arguments that are not of this shape, the
// arguments. Facts are those that the call is judged by; no other file than
// theirs is read.
func (s Shape) Present(c sayso.Call, f sayso.Facts, content Content) sayso.Presentation {
	tool := c.Known()
	var args map[string]any
	if c.Server != "" || jcs.UnmarshalLenient(c.Args, &args) != nil {
		return Structured(c.Args)
	}
	primary, ok := args[tool.Primary].(string)
	if !ok {
		return Structured(c.Args)
	}
	if tool.Patch {
		return Patch(tool.Primary, primary, f, content)
	}
	switch tool.Kind {
	case sayso.KindShell:
		return s.command(tool, primary, c.Cwd)
	case sayso.KindFetch:
		if tool.Operand == sayso.OperandURL {
			return Address(primary)
		}
	case sayso.KindWrite, sayso.KindEdit:
		if tool.Operand == sayso.OperandPath {
			return s.change(c.Args, args, Found(f, tool.Primary, primary, content))
		}
	}
	return Structured(c.Args)
}

func (s Shape) command(tool sayso.Tool, text, cwd string) sayso.Presentation {
	if tool.Operand == sayso.OperandCommand {
		return Command(text, cwd, Understood(text)...)
	}
	p := Command(text, cwd)
	p.Language = s.Language
	return p
}

// change is that of a tool that writes a file or edits it.
func (s Shape) change(raw sayso.Args, args map[string]any, t Target) sayso.Presentation {
	if text, ok := args[s.Content].(string); ok {
		return t.Written(text)
	}
	old, isText := args[s.Old].(string)
	text, ok := args[s.New].(string)
	if !isText || !ok {
		return Structured(raw)
	}
	all, _ := args[s.All].(bool)
	return t.Edited(Edit{Old: old, New: text, All: all, AnyBreaks: s.Breaks})
}
