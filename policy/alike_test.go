package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// A caller that names no host may still mean what a host means by a name: rules
// against the tool are about it, rules for it are not.
func TestJudge_aToolThatIsOnlyCalledAlike(t *testing.T) {
	for _, tt := range []struct {
		rules, host, tool, args string
		want                    sayso.Effect
	}{
		{`deny: bash`, "", "Bash", `{"command":"ls"}`, sayso.Deny},
		{`deny: bash`, "", "BASH", `{"command":"ls"}`, sayso.Deny},
		{`deny: bash`, "another-agent", "Bash", `{"command":"ls"}`, sayso.Deny},
		{`deny: bash`, "claude-code", "BASH", `{"command":"ls"}`, sayso.Deny},
		{`deny: bash`, "", "bash", `{"command":"ls"}`, sayso.Deny},
		{`deny: bash`, "", "bashful", `{"command":"ls"}`, sayso.Allow},
		{`deny: file-read`, "", "Read", `{"file_path":"a"}`, sayso.Deny},
		{`deny: "file-read:secret/**"`, "", "Read", `{"file_path":"secret/a"}`, sayso.Deny},
		{`deny: {kind: shell}`, "", "Bash", `{"command":"ls"}`, sayso.Deny},
		{`ask: bash`, "", "Bash", `{"command":"ls"}`, sayso.Ask},
		{`allow: "bash:ls"`, "", "Bash", `{"command":"ls"}`, sayso.Ask}, // a shell that nobody has read is asked about
	} {
		file, err := policy.Parse("policy.yaml", []byte("version: 1\ndefault: allow\nrules:\n  - "+tt.rules+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.New(policy.Options{FinalOnly: true}, policy.Tiered{Tier: policy.TierUser, File: file})
		if err != nil {
			t.Fatal(err)
		}
		v := p.Judge(t.Context(), sayso.Call{Host: tt.host, Tool: tt.tool, Args: sayso.Args(tt.args)}, sayso.Facts{Workspace: "/home/dev/app", Cwd: "/home/dev/app"})
		if v.Effect != tt.want {
			t.Errorf("%s, host %q, %s: got %s (%s), want %s", tt.rules, tt.host, tt.tool, v.Effect, v.Reason, tt.want)
		}
		for _, m := range v.Matches {
			if m.Effect == sayso.Allow && m.Cause == sayso.CauseRule {
				t.Errorf("%s, %s: a rule for another tool allowed it", tt.rules, tt.tool)
			}
		}
	}
}
