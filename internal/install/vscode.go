package install

import (
	"github.com/sayso-dev/sayso/agent/copilot"
	"github.com/sayso-dev/sayso/agent/vscode"
)

// vscodeHost is VS Code. It reads the hooks of Copilot CLI, also those that are
// written for it alone, so the two have one hook in one file: a second would be
// asked about every call too.
var vscodeHost = Host{
	Name: vscode.Host, Told: copilot.Host, Title: "VS Code",
	Scopes: []Scope{ScopeUser}, Places: copilotPlaces,
	Put: copilotFormat.put, Take: copilotFormat.take, Survey: copilotFormat.survey,
}
