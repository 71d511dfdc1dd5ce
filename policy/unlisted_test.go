package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// An argument that nobody has thought about is outside every rule for the tool.
// A tool that its server never listed is no milder than the same tool listed as one
// that destroys.
func TestJudge_unlistedRisk(t *testing.T) {
	file, err := policy.Parse("policy.yaml", []byte("version: 1\nrules: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: file})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	listed := sayso.Call{Host: sayso.HostMCP, Server: "docs", Tool: "drop", Args: sayso.Args(`{}`), DefinitionDigest: sayso.HashOf("x").String(),
		Annotations: &sayso.Annotations{Destructive: &yes}}
	unlisted := sayso.Call{Host: sayso.HostMCP, Server: "docs", Tool: "drop", Args: sayso.Args(`{}`)}
	for what, c := range map[string]sayso.Call{"listed": listed, "never listed": unlisted} {
		if got := p.Judge(t.Context(), c, sayso.Facts{}).Risk; got != sayso.RiskDestructive {
			t.Errorf("%s: %s", what, got)
		}
	}
}

func TestJudge_unlistedArgument(t *testing.T) {
	file, err := policy.Parse("policy.yaml", []byte("version: 1\nrules:\n  - allow: [\"bash:ls\", \"TodoWrite\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: file})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tool, args string
		want       sayso.Effect
	}{
		{"Bash", `{"command":"ls"}`, sayso.Allow},
		{"Bash", `{"command":"ls","timeout":5,"run_in_background":true}`, sayso.Allow},
		{"Bash", `{"command":"ls","description":"List files"}`, sayso.Allow},
		{"Bash", `{"command":"ls","dangerouslyDisableSandbox":false}`, sayso.Allow},
		{"Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`, sayso.Ask},
		{"Bash", `{"command":"ls","shell":"zsh"}`, sayso.Ask},
		{"Bash", `{"command":"ls","Timeout":5}`, sayso.Ask},
		{"TodoWrite", `{"todos":[]}`, sayso.Allow},
		{"TodoWrite", `{"todos":[],"file":"/etc/passwd"}`, sayso.Ask},
		{"TaskList", `{}`, sayso.Allow},
		{"TaskList", ``, sayso.Allow},
		{"TaskList", `{"x":{"y":[1]}}`, sayso.Ask},
	} {
		v := p.Judge(t.Context(), sayso.Call{Host: "claude-code", Tool: tt.tool, Args: sayso.Args(tt.args)}, sayso.Facts{Workspace: "/home/dev/app", Cwd: "/home/dev/app"})
		if v.Effect != tt.want {
			t.Errorf("%s %s: got %s (%s), want %s", tt.tool, tt.args, v.Effect, v.Reason, tt.want)
		}
	}
}

// TP2: what else our own tools are given may change what runs: another folder, the
// environment, another method. What a pattern on the line allows does not cover it.
func TestTP2_furtherArguments(t *testing.T) {
	p := load(t, rules(`allow: ["bash:ls*", "web-fetch:https://example.org/*"]`, `deny: ["bash:rm*"]`))
	for _, tt := range []struct {
		tool, args string
		want       sayso.Effect
	}{
		{"bash", `{"command":"ls -l"}`, sayso.Allow},
		{"bash", `{"command":"ls","description":"List","timeout":5}`, sayso.Allow},
		{"bash", `{"command":"ls","cwd":null,"background":false}`, sayso.Allow},
		{"bash", `{"command":"ls","cwd":"/etc"}`, sayso.Ask},
		{"bash", `{"command":"ls","env":{"LD_PRELOAD":"/tmp/x.so"}}`, sayso.Ask},
		{"bash", `{"command":"ls","stdin":"x"}`, sayso.Ask},
		{"bash", `{"command":"rm x","cwd":"/etc"}`, sayso.Deny},
		{"web-fetch", `{"url":"https://example.org/a","prompt":"sum it up"}`, sayso.Allow},
		{"web-fetch", `{"url":"https://example.org/a","method":"POST","body":"x"}`, sayso.Ask},
		{"web-fetch", `{"url":"https://example.org/a","headers":{"X":"y"}}`, sayso.Ask},
	} {
		v := p.Judge(t.Context(), sayso.Call{Tool: tt.tool, Args: sayso.Args(tt.args)}, sayso.Facts{Workspace: "/home/dev/app", Cwd: "/home/dev/app"})
		if v.Effect != tt.want {
			t.Errorf("%s %s: got %s (%s), want %s", tt.tool, tt.args, v.Effect, v.Reason, tt.want)
		}
	}
}
