package policy_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/policy"
)

// A rule lets git push run. That Codex may run it outside of its sandbox is
// another thing, and nobody said so: Codex does not even say in words that this
// is what its model asks for.
func TestJudge_permissionIsMoreThanTheCall(t *testing.T) {
	const bash = `{"session_id":"s1","cwd":"/home/dev/app","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"call_1"}`
	permission := strings.NewReplacer(`PreToolUse`, `PermissionRequest`, `,"tool_use_id":"call_1"`, ``).Replace(bash)
	file, err := policy.Parse("policy.yaml", []byte("version: 1\nrules:\n  - allow: \"bash:git push*\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: file})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text string
		want sayso.Effect
	}{
		"the call":                        {bash, sayso.Allow},
		"to leave the sandbox":            {permission, sayso.Ask},
		"to leave the sandbox, and why":   {strings.Replace(permission, `"git push"`, `"git push","description":"It is safe."`, 1), sayso.Ask},
		"to leave it, as if it were none": {strings.Replace(permission, `"git push"`, `"git push","sandbox_permissions":"use_default"`, 1), sayso.Ask},
	} {
		h, err := codex.Parse([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if v := rules.Judge(t.Context(), h.Call, sayso.Facts{Workspace: "/home/dev/app", Cwd: "/home/dev/app"}); v.Effect != tt.want {
			t.Errorf("%s: %s, because %s; want %s", name, v.Effect, v.Reason, tt.want)
		}
	}
}
