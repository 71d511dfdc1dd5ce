package hook

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/antigravity"
	"github.com/sayso-dev/sayso/agent/copilot"
	"github.com/sayso-dev/sayso/agent/cursor"
	"github.com/sayso-dev/sayso/agent/gemini"
	"github.com/sayso-dev/sayso/agent/opencode"
	"github.com/sayso-dev/sayso/agent/vscode"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

var geminiHost = Host{
	Name: gemini.Host, Workspace: "GEMINI_PROJECT_DIR",
	Parse: func(text []byte) (agent.Hook, error) { return gemini.Parse(text) },
	Deny:  gemini.Deny, NoOpinion: gemini.NoOpinion(), Present: gemini.Present,
}

// copilotHost is Copilot CLI, and VS Code, which runs the hooks of Copilot CLI
// and tells them in its own words.
var copilotHost = Host{
	Name: copilot.Host, Workspace: "COPILOT_PROJECT_DIR",
	Parse: copilotOrEditor,
	Deny:  copilot.Deny, NoOpinion: copilot.NoOpinion(),
	Present: func(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
		if c.Host == vscode.Host {
			return vscode.Present(c, f, content)
		}
		return copilot.Present(c, f, content)
	},
}

// copilotOrEditor reads what Copilot CLI or VS Code tells a hook. Only the editor
// names the event, and by that it is known. What is read strictly is then one or
// the other, or refused.
func copilotOrEditor(text []byte) (agent.Hook, error) {
	var p struct {
		Event *sayso.Args `json:"hookEventName"`
	}
	if err := jcs.UnmarshalLenient(text, &p); err == nil && p.Event != nil {
		return vscode.Parse(text)
	}
	return copilot.Parse(text)
}

var cursorHost = Host{
	Name: cursor.Host, Workspace: "CURSOR_PROJECT_DIR",
	Parse: func(text []byte) (agent.Hook, error) { return cursor.Parse(text) },
	Deny:  cursor.Deny, NoOpinion: cursor.NoOpinion(), Present: cursor.Present,
}

var antigravityHost = Host{
	Name:  antigravity.Host,
	Parse: func(text []byte) (agent.Hook, error) { return antigravity.Parse(text) },
	Deny:  antigravity.Deny, NoOpinion: antigravity.NoOpinion(), Present: antigravity.Present,
}

// opencodeHost is told by our plugin, which says where opencode was opened.
var opencodeHost = Host{
	Name:  opencode.Host,
	Parse: func(text []byte) (agent.Hook, error) { return opencode.Parse(text) },
	Deny:  opencode.Deny, NoOpinion: opencode.NoOpinion(), Present: opencode.Present,
}
