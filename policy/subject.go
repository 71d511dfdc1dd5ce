package policy

import (
	"bytes"
	"iter"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/inspect/shell"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/policy/internal/condition"
)

// subject is a call as the rules see it, with what was worked out so far.
type subject struct {
	call  *sayso.Call
	facts *sayso.Facts
	home  string

	tool      sayso.Tool
	kind      sayso.Kind // the stricter of the table's and the caller's
	canonical string     // the tool's canonical name
	server    string     // the server it belongs to, empty for none
	operand   sayso.Operand
	guessed   bool // which server that is is a guess
	unheard   bool // no table has the tool
	strange   bool // it is called like a shell, and nobody knows whether it is one

	state argState
	arg   string // the argument that rules match on

	lexical string   // the path as it is written, absolute
	whole   string   // the patch that the paths are of
	more    []string // the other paths, of a patch of several files
	removes bool     // a patch deletes or moves a file
	url     address.URL
	parsed  bool
	progs   []program
	broken  bool
	lexed   bool
	us      int8 // whether the command has our name in it: 0 not looked, -1 no, 1 yes
	plainly int8 // of the line: 0 not looked at, 1 plain, -1 not
	named   *named
	ours    []string // our folders, in lower case
	hold    []string // and what is in them
	entered []string // the globs that a line gives cd
	gaps    *gaps    // of a call that is looked back at, nil for one that is made

	inspected  *shell.Line
	broke      bool                       // the reader of commands broke on the line
	looked     map[string]*sayso.PathFact // where words of the command lead
	conditions map[*condition.Condition]conditionResult
	seen       *condition.Input // what they see
}

// argState says what became of the argument that rules match on.
type argState uint8

const (
	argNone    argState = iota // the tool has none
	argGiven                   // it is in arg
	argLeftOut                 // it may be missing, and is
	argMissing                 // it must not be missing
	argBad                     // it is no string, or its key stands in another case too
	argsBad                    // the arguments are not strict JSON
)

// understood reports whether the argument is what the tool's table says.
func (a argState) understood() bool { return a <= argLeftOut }

// of fills the subject in.
func (s *subject) of(c *sayso.Call, f *sayso.Facts, home string) {
	s.call, s.facts, s.home = c, f, home
	s.tool = c.Known()
	s.kind = s.tool.Kind.Stricter(c.Kind)
	s.canonical, s.server = s.tool.Name, c.Server
	if s.tool.Kind == sayso.KindMCP {
		s.canonical, s.server = c.CanonicalName()
		s.guessed = guessed(c, s.canonical)
	} else if c.Host != "" && s.tool.Primary == "" {
		// A host without a table does not make a shell less of a shell.
		s.kind = s.kind.Stricter(sayso.Call{Tool: c.Tool}.Known().Kind)
	}
	if s.unheard = s.isUnknownTool(); s.unheard {
		s.assumeShell()
	}
	s.operand = operandOf(s.tool)
	if s.strange {
		s.operand = sayso.OperandCommand
	}
	s.read()
}

// claimed is the kind that the caller says a tool is of that no table has. It may
// be a milder one than that of an unknown tool: but what is judged by it is
// judged without it as well, see [Policy.Judge].
func (s *subject) claimed() sayso.Kind {
	if s.call.Kind.Known() && (s.kind == sayso.KindOther || s.kind == sayso.KindMCP) {
		return s.call.Kind
	}
	return s.kind
}

// guessed reports whether it is not certain which server a tool belongs to: its
// name can be split in two ways, or is none that the host gives to tools of the
// server that it says.
func guessed(c *sayso.Call, tool string) bool {
	if c.Server == "" {
		return strings.Contains(tool, "__") || strings.HasPrefix(tool, "_")
	}
	return tool == c.Tool && len(sayso.HostTools(c.Host)) > 0
}

// isOutsideWorkspace reports whether a command would run outside the workspace, or it is
// not known where. The same text means something else in a folder whose files
// somebody else wrote. Where there is no workspace nothing is outside of it.
func (s *subject) isOutsideWorkspace() bool {
	return s.facts.Cwd == "" || s.facts.Workspace != "" && !sayso.Beneath(s.facts.Workspace, s.facts.Cwd)
}

// read takes the primary argument out of the arguments.
func (s *subject) read() {
	args := []byte(s.call.Args)
	if len(args) == 0 {
		args = []byte("{}")
	}
	if jcs.Check(args) != nil {
		s.state = argsBad
		return
	}
	if s.tool.Primary == "" {
		if !isObject(args) {
			s.state = argsBad
		}
		return
	}
	s.arg, s.state = member(args, s.tool.Primary)
	if s.tool.Patch {
		s.patched(args)
		return
	}
	if s.state == argMissing && s.tool.Optional {
		s.state = argLeftOut
	}
}

func isObject(args []byte) bool {
	i := blank(args, 0)
	return i < len(args) && args[i] == '{'
}

// member returns the string under a key of a JSON object that passed
// [jcs.Check].
func member(args []byte, key string) (string, argState) {
	raw, state := rawMember(args, key)
	if state != argGiven {
		return "", state
	}
	return text(raw)
}

// rawMember returns the value under a key of a JSON object that passed
// [jcs.Check]. A key that differs in case alone makes it ambiguous.
func rawMember(args []byte, key string) (raw []byte, state argState) {
	if !isObject(args) {
		return nil, argsBad
	}
	state = argMissing
	for name, value := range members(args) {
		switch {
		case isKey(name, key):
			raw, state = value, argGiven
		case foldsTo(name, key):
			return nil, argBad
		}
	}
	return raw, state
}

// members yields the names of a JSON object, as they are written, and their
// values.
func members(args []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := blank(args, blank(args, 0)+1); args[i] == '"'; {
			end := valueEnd(args, i)
			from := blank(args, blank(args, end)+1) // behind the colon
			to := valueEnd(args, from)
			if !yield(args[i:end], args[from:to]) {
				return
			}
			i = blank(args, to)
			if args[i] == ',' {
				i = blank(args, i+1)
			}
		}
	}
}

func isKey(name []byte, key string) bool {
	if len(name) == len(key)+2 && string(name[1:len(name)-1]) == key {
		return true
	}
	s, ok := unquoteJSON(name)
	return ok && s == key
}

// foldsTo reports whether a key is another one in another case.
func foldsTo(name []byte, key string) bool {
	s := string(name[1 : len(name)-1])
	if u, ok := unquoteJSON(name); ok {
		s = u
	}
	return strings.EqualFold(s, key)
}

// unquoteJSON reads a JSON string that has escapes.
func unquoteJSON(raw []byte) (string, bool) {
	if bytes.IndexByte(raw, 0x5c) < 0 {
		return "", false
	}
	var s string
	err := jcs.Unmarshal(raw, &s)
	return s, err == nil
}

// text reads a value that must be a string.
func text(raw []byte) (string, argState) {
	if raw[0] != '"' {
		return "", argBad
	}
	if s, ok := unquoteJSON(raw); ok {
		return s, argGiven
	}
	return string(raw[1 : len(raw)-1]), argGiven
}

// blank returns the index of the first byte from i on that is no white space.
func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd returns the index behind the JSON value that begins at b[i].
func valueEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // of a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}
