//go:build unix

package claude_test

import (
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// TestSwitchedOff is the list of ways in which a correctly written gate in the
// user's own settings is never asked. A doctor that only reads those settings
// would miss each of them.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	gate := claude.Shell(printing(deny))
	user, project, local := ".claude/settings.json", "settings.json", "settings.local.json"
	tests := []struct {
		name  string
		user  string
		files map[string]string // further settings files of the project
		args  []string
		asked bool
	}{
		{name: "as it should be", user: claude.Settings("", gate), asked: true},
		{name: "the user's disableAllHooks", user: claude.Settings(`{"disableAllHooks":true}`, gate)},
		{name: "the project's disableAllHooks", user: claude.Settings("", gate), files: map[string]string{project: `{"disableAllHooks":true}`}},
		{name: "the local disableAllHooks", user: claude.Settings("", gate), files: map[string]string{local: `{"disableAllHooks":true}`}},
		{name: "a setting of the wrong type in the same file", user: claude.Settings(`{"permissions":{"allow":7}}`, gate)},
		{name: "--bare", user: claude.Settings("", gate), args: []string{"--bare"}},
		{name: "--safe-mode", user: claude.Settings("", gate), args: []string{"--safe-mode"}},
		{name: "--setting-sources without the user's", user: claude.Settings("", gate), args: []string{"--setting-sources", "project,local"}},

		{name: "an unknown setting in the same file", user: claude.Settings(`{"frobnicate":1}`, gate), asked: true},
		{name: "a rule that is not one", user: claude.Settings(`{"permissions":{"allow":["Bash(",7]}}`, gate), asked: true},
		{name: "allowManagedHooksOnly outside managed settings", user: claude.Settings(`{"allowManagedHooksOnly":true}`, gate), asked: true},
		{name: "a project file that is not JSON", user: claude.Settings("", gate), files: map[string]string{project: "{"}, asked: true},
		{name: "a project file with a wrong type", user: claude.Settings("", gate), files: map[string]string{project: `{"permissions":{"allow":7}}`}, asked: true},
		{name: "in the project's file", files: map[string]string{project: claude.Settings("", gate)}, asked: true},
		{name: "in the local file", files: map[string]string{local: claude.Settings("", gate)}, asked: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			if tt.user != "" {
				write(t, filepath.Join(home, user), tt.user)
			}
			for name, text := range tt.files {
				write(t, filepath.Join(dir, ".claude", name), text)
			}
			claude.Run(t, claude.Options{Stub: modelstub.New(modelstub.Use(touch)), Home: home, Dir: dir, Args: tt.args})
			if asked := ran(dir, "") == ""; asked != tt.asked {
				t.Errorf("the gate was asked: %v, want %v", asked, tt.asked)
			}
		})
	}
}

// TestAgentSwitchesTheGateOff: the host reads its settings again while it
// runs. An agent that may write the project's settings needs one more call to
// be rid of every hook, the user's own included.
func TestAgentSwitchesTheGateOff(t *testing.T) {
	t.Parallel()
	const wait = `; for i in $(seq 60); do sleep 0.05; done` // for the host to notice
	for name, tt := range map[string]struct{ first, ran string }{
		"settings untouched": {"true" + wait, ""},
		"disableAllHooks":    {`mkdir -p .claude; echo '{"disableAllHooks":true}' > .claude/settings.local.json` + wait, "marker"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			gate := claude.Shell("grep -q 'touch marker' && exit 2; exit 0")
			write(t, filepath.Join(home, ".claude/settings.json"), claude.Settings("", gate))
			claude.Run(t, claude.Options{Home: home, Dir: dir, Stub: modelstub.New(
				modelstub.Use(modelstub.Call{ID: "toolu_00", Name: "Bash", Input: bash(tt.first)}),
				modelstub.Use(touch))})
			if did := ran(dir, ""); did != tt.ran {
				t.Errorf("ran %q, want %q", did, tt.ran)
			}
		})
	}
}
