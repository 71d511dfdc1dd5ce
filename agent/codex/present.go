package codex

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// Present makes what a person is shown of a call: the command and its directory,
// the change to the file on disk, the patch where it is about several, or the
// arguments. Facts are those that the call is judged by; no other file than theirs
// is read. Where a call asks for more than its tool, the
// arguments are what says so.
func Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	var in struct {
		Command    string `json:"command"`
		Escalation string `json:"sandbox_permissions"`
		Reason     string `json:"description"`
	}
	if jcs.UnmarshalLenient(c.Args, &in) != nil {
		return present.Structured(c.Args) // not of the form that the tool has
	}
	var p sayso.Presentation
	switch c.Tool {
	case "Bash":
		p = present.Command(in.Command, c.Cwd, present.Understood(in.Command)...)
	case "apply_patch":
		p = present.Patch("command", in.Command, f, content)
	default:
		return present.Structured(c.Args)
	}
	if in.Escalation != "" {
		p = present.Noted(p, "Codex asks for permission: outside of its sandbox, or against its rules")
	}
	return p
}
