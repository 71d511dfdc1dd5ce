package condition

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// Input is what an expression is evaluated over. Each part is made only if the
// expression speaks of it.
type Input struct {
	Call  func() *Call
	Args  func() map[string]any // nil for arguments that cannot be read
	Facts func() *Facts
}

// Call is what an expression may say of a call.
type Call struct {
	Tool        string      `cel:"tool"`      // canonical name
	HostTool    string      `cel:"host_tool"` // as the call names it
	Host        string      `cel:"host"`
	Server      string      `cel:"server"`
	Kind        string      `cel:"kind"`
	Cwd         string      `cel:"cwd"`
	Session     string      `cel:"session"`
	Run         string      `cel:"run"`
	Caller      string      `cel:"caller"`
	Tags        []string    `cel:"tags"`
	Command     string      `cel:"command"`  // the line, for a shell
	Path        string      `cel:"path"`     // as given, for a file
	Resolved    string      `cel:"resolved"` // where the path leads
	URL         URL         `cel:"url"`      // for a fetch
	Commands    []Command   `cel:"commands"`
	Understood  bool        `cel:"understood"` // the line was read to its end
	Secrets     bool        `cel:"secrets"`    // what is known to hold keys, passwords or tokens is named, or shown
	Annotations Annotations `cel:"annotations"`
}

// Command is what an expression may say of a simple command. One that may run
// in several folders is there once for each.
type Command struct {
	Program  string   `cel:"program"` // last part of its path
	Word     string   `cel:"word"`    // the program as written
	Args     []string `cel:"args"`
	Operands []string `cel:"operands"`
	Dir      string   `cel:"dir"` // empty if nobody knows it
	Dynamic  bool     `cel:"dynamic"`
	Class    string   `cel:"class"`
	Traits   []string `cel:"traits"`
	Wrapped  bool     `cel:"wrapped"`
	Secrets  bool     `cel:"secrets"` // an operand is known to hold keys, passwords or tokens
	Outside  bool     `cel:"outside"` // it runs, reads or writes outside the workspace, or may
	Text     string   `cel:"text"`
}

// URL is what an expression may say of an address.
type URL struct {
	Scheme string `cel:"scheme"`
	Host   string `cel:"host"`
	Port   int    `cel:"port"`
	Path   string `cel:"path"`
	Query  string `cel:"query"`
	Local  bool   `cel:"local"`
	Plain  bool   `cel:"plain"` // every program reads it alike
}

// Annotations are what the server says of the tool; what it does not say counts
// as the worst.
type Annotations struct {
	ReadOnly    bool `cel:"read_only"`
	Destructive bool `cel:"destructive"`
	Idempotent  bool `cel:"idempotent"`
	OpenWorld   bool `cel:"open_world"`
}

// Facts are what an expression may say of the machine.
type Facts struct {
	Workspace string `cel:"workspace"`
	Cwd       string `cel:"cwd"`
	Inside    bool   `cel:"inside"` // the path leads into the workspace
	State     string `cel:"state"`  // of what the path leads to
	Truncated bool   `cel:"truncated"`
}

// activation hands the parts out.
type activation struct{ in *Input }

func (in *Input) activation() interpreter.Activation { return activation{in} }

// ResolveName returns the value of a variable.
func (a activation) ResolveName(name string) (any, bool) {
	switch name {
	case "call":
		return a.in.Call(), true
	case "call.args":
		if args := a.in.Args(); args != nil {
			return types.OptionalOf(types.DefaultTypeAdapter.NativeToValue(args)), true
		}
		return nil, false
	case "facts":
		return a.in.Facts(), true
	}
	return nil, false
}

// Parent is none.
func (activation) Parent() interpreter.Activation { return nil }
