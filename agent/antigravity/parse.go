package antigravity

import (
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Hook is what one run of the hook before a tool was told.
type Hook struct {
	Call      sayso.Call
	Workspace string // the folder that the host works in, if it is one
}

// payload is the input.
type payload struct {
	Conversation string   `json:"conversationId"`
	Workspaces   []string `json:"workspacePaths"`
	Call         struct {
		Name string     `json:"name"`
		Args sayso.Args `json:"args"`
	} `json:"toolCall"`
}

// members are the names that payload reads, to find others that differ from
// them in case alone.
var members = []string{"conversationId", "workspacePaths", "toolCall"}

// Parse reads the input of a hook. Duplicate names at any depth, names that
// differ from a known one in case alone, and arguments that are no object are
// errors, and an error is a denial.
func Parse(text []byte) (Hook, error) {
	var p payload
	if err := agent.Read(text, members, &p); err != nil {
		return Hook{}, err
	}
	if p.Conversation == "" || p.Call.Name == "" {
		return Hook{}, fmt.Errorf("%w: hook input: conversationId or toolCall.name is missing", sayso.ErrInvalid)
	}
	h := Hook{Call: sayso.Call{Host: Host, Tool: p.Call.Name, Cwd: p.cwd(), Session: p.Conversation, Caller: Host + "/main"}}
	if _, err := agent.Fill(&h.Call, "toolCall.args", p.Call.Args, nil); err != nil {
		return Hook{}, err
	}
	if len(p.Workspaces) == 1 {
		h.Workspace = p.Workspaces[0]
	}
	return h, h.Call.Validate()
}

// cwd is the directory of a command that names one, else the workspace if there
// is only one. Where neither is so, nobody knows where the call is made, and it
// is asked about.
func (p *payload) cwd() string {
	var in struct {
		Cwd string `json:"Cwd"`
	}
	if err := jcs.UnmarshalLenient(p.Call.Args, &in); err == nil && strings.HasPrefix(in.Cwd, "/") {
		return in.Cwd
	}
	if len(p.Workspaces) == 1 && in.Cwd == "" {
		return p.Workspaces[0]
	}
	return ""
}
