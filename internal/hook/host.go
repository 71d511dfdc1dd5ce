package hook

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/present"
)

// Host is a host whose hooks we are: how its input is read, and how it hears a
// no.
type Host struct {
	Name string // in calls, and what sayso-hook is told
	// Workspace is the variable in which the host says which folder it works in;
	// empty if it starts its hooks there. The folder of a call is no such thing: it
	// is what a model chose.
	Workspace string
	// Recording is the shortest that the host waits for a hook that only records, as
	// it is installed; zero for agent.RecordTimeout.
	Recording time.Duration
	// Parse reads the input of a hook. With an error the Hook counts for nothing,
	// and the call is denied.
	Parse func(text []byte) (agent.Hook, error)
	// Deny is a denial where it is not known what was asked.
	Deny func(reason string) agent.Answer
	// NoOpinion leaves a call to the host.
	NoOpinion agent.Answer
	// Present makes what a person is shown of a call.
	Present func(sayso.Call, sayso.Facts, present.Content) sayso.Presentation
}

// Hosts are all of them, by name.
func Hosts() []Host {
	return []Host{antigravityHost, claudeCode, codexHost, copilotHost, cursorHost, geminiHost, opencodeHost}
}

// Find returns the host of that name.
func Find(name string) (Host, bool) {
	all := Hosts()
	i := slices.IndexFunc(all, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, false
	}
	return all[i], true
}

// names lists the names of all hosts.
func names() string {
	var all []string
	for _, h := range Hosts() {
		all = append(all, h.Name)
	}
	return strings.Join(all, ", ")
}

var claudeCode = Host{
	Name: claudecode.Host, Workspace: "CLAUDE_PROJECT_DIR", Recording: claudecode.LeaveTimeout,
	Parse: func(text []byte) (agent.Hook, error) { return claudecode.Parse(text) },
	Deny:  claudecode.Deny, NoOpinion: claudecode.NoOpinion(),
	Present: func(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
		return claudecode.Hook{Call: c}.Present(f, content)
	},
}

var codexHost = Host{
	Name: codex.Host, Recording: codex.LeaveTimeout,
	Parse: func(text []byte) (agent.Hook, error) { return codex.Parse(text) },
	Deny:  codex.Deny, NoOpinion: codex.NoOpinion(), Present: codex.Present,
}

// patience is how long a person may be waited for: the host waits longer.
func (Host) patience() time.Duration { return agent.AskTimeout - time.Minute }

// limit is how long a run may take at most, less than the host waits for it: a
// hook that the host ends has not denied.
func (h Host) limit(m agent.Moment) time.Duration {
	if m == agent.Before {
		return (h.patience() + agent.AskTimeout) / 2
	}
	return cmp.Or(h.Recording, agent.RecordTimeout) - time.Second
}
