package opencode

import (
	"fmt"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
)

// Event names what the plugin tells of, as the host calls it.
type Event string

// The events that the plugin tells of.
const (
	Before         Event = "tool.execute.before"
	After          Event = "tool.execute.after"
	SessionDeleted Event = "session.deleted"
)

// Hook is what one run of our hook was told.
type Hook struct {
	Event   Event
	Session string
	// Workspace is the folder that the host was opened in.
	Workspace string
	// Call is the call that is about to be made, or that ended.
	Call sayso.Call
	// Said are the fields of the input that are not among the call's arguments,
	// to be put back when the arguments are edited.
	Said agent.Said
	// Outcome tells how a call ended.
	Outcome sayso.Outcome
}

// payload is the input of all events together.
type payload struct {
	Event      Event      `json:"event"`
	Tool       string     `json:"tool"`
	SessionID  string     `json:"sessionID"`
	CallID     string     `json:"callID"`
	Args       sayso.Args `json:"args"`
	Directory  string     `json:"directory"`
	RootID     string     `json:"rootID"`     // the session that a person sees; of an agent's session, the one that it works for
	Agent      string     `json:"agent"`      // that the session runs
	Servers    []string   `json:"servers"`    // the MCP servers that are connected
	Registered bool       `json:"registered"` // the tool is the host's own, or a plugin's
	Output     string     `json:"output"`
	Error      string     `json:"error"`
	Exit       *int       `json:"exit"` // of a command
	TookMS     float64    `json:"tookMS"`
}

// members are the names that payload reads, to find others that differ from
// them in case alone.
var members = []string{
	"event", "tool", "sessionID", "callID", "args", "directory", "rootID", "agent", "servers", "registered", "output", "error", "exit", "tookMS",
}

// Parse reads the input of our hook. Duplicate names at any depth, names that
// differ from a known one in case alone, an event that the plugin does not tell
// of, and arguments that are no object are errors; before a call an error is a
// denial.
func Parse(text []byte) (Hook, error) {
	var p payload
	if err := agent.Read(text, members, &p); err != nil {
		return Hook{}, err
	}
	h := Hook{Event: p.Event, Session: p.RootID, Workspace: p.Directory}
	if h.Session == "" {
		return h, fmt.Errorf("%w: hook input: rootID is missing", sayso.ErrInvalid)
	}
	switch p.Event {
	case Before:
		return h, h.before(&p)
	case After:
		h.after(&p)
		return h, nil
	case SessionDeleted:
		return h, nil
	}
	return h, fmt.Errorf("%w: hook input: %q is no event of this hook", sayso.ErrInvalid, p.Event)
}

// before reads the call that is about to be made.
func (h *Hook) before(p *payload) error {
	if p.Tool == "" || p.SessionID == "" || p.CallID == "" || p.Directory == "" {
		return fmt.Errorf("%w: hook input: tool, sessionID, callID or directory is missing", sayso.ErrInvalid)
	}
	server, err := serverOf(p.Tool, p.Servers, p.Registered)
	if err != nil {
		return err
	}
	h.Call = call(p.Tool, server, p.Directory, p.RootID, p.SessionID, p.Agent, p.CallID)
	if h.Said, err = agent.Fill(&h.Call, "args", p.Args, said[p.Tool]); err != nil {
		return err
	}
	return h.Call.Validate()
}

// call is a call as it is known everywhere. An agent's own session is a run
// within the one that it works for: a person knows that one.
func call(tool, server, directory, root, session, name, id string) sayso.Call {
	c := sayso.Call{
		Host: Host, Tool: tool, Server: server, Cwd: directory, Session: root, CallID: id, Caller: Host + "/main",
	}
	if session != root {
		c.Caller, c.Run = Host+"/"+name, session
	}
	return c
}

// serverOf says whose a tool is. The host puts the server's name in front of the
// names of its tools and does not say more, so that two servers can be meant by
// one name, or a server and a tool of the host's own. Then a rule about one could
// be made to speak of the other, and the call does not run.
func serverOf(tool string, servers []string, registered bool) (server string, err error) {
	for _, s := range servers {
		own, fits := strings.CutPrefix(tool, sayso.SpelledMCP(s)+"_")
		switch {
		case !fits || own == "":
		case registered:
			return "", fmt.Errorf("%w: the tool %q is both one of opencode or of a plugin, and one of the MCP server %q; give the server another name in opencode's configuration",
				sayso.ErrInvalid, tool, s)
		case server != "":
			return "", fmt.Errorf("%w: the tool %q can be one of the MCP server %q and one of %q; give one of them another name in opencode's configuration",
				sayso.ErrInvalid, tool, server, s)
		default:
			server = s
		}
	}
	return server, nil
}

// after reads how a call ended. Of its result only a digest is kept.
func (h *Hook) after(p *payload) {
	h.Outcome = sayso.Outcome{
		Session: p.RootID, CallID: p.CallID, Failed: p.Error != "", ExitStatus: p.Exit,
		Took: time.Duration(p.TookMS * float64(time.Millisecond)), Output: agent.Output([]byte(p.Output + p.Error)),
	}
	server, err := serverOf(p.Tool, p.Servers, p.Registered)
	if err != nil {
		return
	}
	h.Call = call(p.Tool, server, p.Directory, p.RootID, p.SessionID, p.Agent, p.CallID)
	h.Said, _ = agent.Fill(&h.Call, "args", p.Args, said[p.Tool]) // without them it is not compared what ran
	h.Outcome.Args = h.Call.Args
}
