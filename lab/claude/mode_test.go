//go:build unix

package claude_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/lab/claude"
)

// noAuto keeps the host from asking its own model, which the stub is not.
const noAuto = `{"permissions":{"disableAutoMode":"disable"}}`

// TestModes: what a hook's reply means in each permission mode of a run
// without a terminal. A deny holds everywhere; an allow does not leave plan
// mode, and does not override the user's own rules.
func TestModes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode, name, script, settings string
		ran, told                    string
	}{
		{"bypassPermissions", "nothing", "exit 0", "", "marker", ""},
		{"bypassPermissions", "deny", printing(deny), "", "", "use make deploy"},
		{"bypassPermissions", "ask", printing(ask), "", "", "look first"},
		{"acceptEdits", "nothing", "exit 0", "", "marker", ""},
		{"acceptEdits", "deny", printing(deny), "", "", "use make deploy"},
		{"default", "nothing", "exit 0", "", "", "needs approval"},
		{"default", "allow", printing(allow), "", "marker", ""},
		{"default", "deny", printing(deny), "", "", "use make deploy"},
		{"default", "edit", printing(edit), "", "edited", ""},
		{"default", "edit without a decision", printing(amend), "", "", "needs approval"},
		{"dontAsk", "nothing", "exit 0", "", "", "don't ask mode"},
		{"dontAsk", "allow", printing(allow), "", "marker", ""},
		{"dontAsk", "deny", printing(deny), "", "", "use make deploy"},
		{"dontAsk", "edit", printing(edit), "", "edited", ""},
		{"plan", "nothing", "exit 0", noAuto, "", "needs approval"},
		{"plan", "allow", printing(allow), noAuto, "", "needs approval"},
		{"plan", "edit", printing(edit), noAuto, "", "needs approval"},
		{"plan", "deny", printing(deny), noAuto, "", "use make deploy"},
		{"auto", "allow", printing(allow), "", "marker", ""},
		{"auto", "deny", printing(deny), "", "", "use make deploy"},

		{"default", "allow under an ask rule", printing(allow), `{"permissions":{"ask":["Bash(touch *)"]}}`, "", "haven't granted it"},
		{"bypassPermissions", "allow under a deny rule", printing(allow), `{"permissions":{"deny":["Bash(touch *)"]}}`, "", "has been denied"},
		{"bypassPermissions", "edit under a deny rule", printing(edit), `{"permissions":{"deny":["Bash(touch edited)"]}}`, "", "touch edited has been denied"},
		{"default", "deny under an allow rule", printing(deny), `{"permissions":{"allow":["Bash(touch *)"]}}`, "", "use make deploy"},
	}
	for _, tt := range tests {
		t.Run(tt.mode+"/"+tt.name, func(t *testing.T) {
			t.Parallel()
			did, told := touched(t, claude.Options{Mode: tt.mode, Settings: claude.Settings(tt.settings, claude.Shell(tt.script))})
			if did != tt.ran || !strings.Contains(told.Content, tt.told) {
				t.Errorf("ran %q, want %q; the model was told %q, want %q in it", did, tt.ran, told.Content, tt.told)
			}
		})
	}
}

// TestTwoHooks: over several hooks the strictest answer stands, so another
// tool's hook cannot open what ours closes.
func TestTwoHooks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ one, two, ran, told string }{
		"deny over allow": {deny, allow, "", "use make deploy"},
		"ask over allow":  {ask, allow, "", "look first"},
		"deny over ask":   {deny, ask, "", "use make deploy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hooks := claude.Settings("", claude.Shell(printing(tt.one)), claude.Shell(printing(tt.two)))
			did, told := touched(t, claude.Options{Settings: hooks})
			if did != tt.ran || !strings.Contains(told.Content, tt.told) {
				t.Errorf("ran %q, the model was told %q", did, told.Content)
			}
		})
	}
}
