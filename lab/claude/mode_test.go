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
	for name, tt := range map[string]struct {
		mode, settings string
		rows           []row
	}{
		"bypassPermissions": {"bypassPermissions", "", []row{
			{"nothing", "exit 0", "marker", ""},
			{"deny", printing(deny), "", "use make deploy"},
			{"ask", printing(ask), "", "look first"},
		}},
		"acceptEdits": {"acceptEdits", "", []row{
			{"nothing", "exit 0", "marker", ""},
			{"deny", printing(deny), "", "use make deploy"},
		}},
		"default": {"default", "", []row{
			{"nothing", "exit 0", "", "needs approval"},
			{"allow", printing(allow), "marker", ""},
			{"deny", printing(deny), "", "use make deploy"},
			{"edit", printing(edit), "edited", ""},
			{"edit without a decision", printing(amend), "", "needs approval"},
		}},
		"dontAsk": {"dontAsk", "", []row{
			{"nothing", "exit 0", "", "don't ask mode"},
			{"allow", printing(allow), "marker", ""},
			{"deny", printing(deny), "", "use make deploy"},
			{"edit", printing(edit), "edited", ""},
		}},
		"plan": {"plan", noAuto, []row{
			{"nothing", "exit 0", "", "needs approval"},
			{"allow", printing(allow), "", "needs approval"},
			{"edit", printing(edit), "", "needs approval"},
			{"deny", printing(deny), "", "use make deploy"},
		}},
		"auto": {"auto", "", []row{
			{"allow", printing(allow), "marker", ""},
			{"deny", printing(deny), "", "use make deploy"},
		}},
		"ask rule": {"default", `{"permissions":{"ask":["Bash(touch *)"]}}`, []row{
			{"allow", printing(allow), "", "haven't granted it"},
		}},
		"deny rule": {"bypassPermissions", `{"permissions":{"deny":["Bash(touch *)"]}}`, []row{
			{"allow", printing(allow), "", "has been denied"},
			{"edit", printing(edit), "", "has been denied"},
		}},
		"deny rule for what is edited": {"bypassPermissions", `{"permissions":{"deny":["Bash(touch edited*)"]}}`, []row{
			{"allow", printing(allow), "marker", ""},
			{"edit", printing(edit), "", "has been denied"},
		}},
		"allow rule": {"default", `{"permissions":{"allow":["Bash(touch *)"]}}`, []row{
			{"nothing", "exit 0", "marker", ""},
			{"deny", printing(deny), "", "use make deploy"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, claude.Options{Mode: tt.mode}, tt.settings, tt.rows)
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
			if did != tt.ran || !strings.Contains(told, tt.told) {
				t.Errorf("ran %q, the model was told %q", did, told)
			}
		})
	}
}
