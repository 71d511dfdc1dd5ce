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

// TestTP1_hostsOfOtherNames: one rule speaks of the same tool under the names of
// all hosts, and not of one that is called otherwise there.
func TestTP1_hostsOfOtherNames(t *testing.T) {
	p := load(t, rules(`allow: "bash:ls*"`, `deny: "bash:rm*"`))
	for _, tt := range []struct {
		host, tool string
		args       obj
		want       sayso.Effect
	}{
		{"", "bash", obj{"command": "rm x"}, sayso.Deny}, {"", "bash", obj{"command": "ls"}, sayso.Allow},
		{"claude-code", "Bash", obj{"command": "rm x"}, sayso.Deny}, {"claude-code", "Bash", obj{"command": "ls"}, sayso.Allow},
		{"codex", "exec_command", obj{"cmd": "cd a && rm x"}, sayso.Deny}, {"codex", "exec_command", obj{"cmd": "ls", "yield_time_ms": 1000}, sayso.Allow},
		{"codex", "Bash", obj{"command": "rm x"}, sayso.Deny}, {"codex", "Bash", obj{"command": "ls"}, sayso.Allow},
		{"codex", "exec_command", obj{"cmd": "ls", "workdir": "/etc"}, sayso.Ask}, {"codex", "exec_command", obj{"command": "ls"}, sayso.Ask},
		{"codex", "exec_command", obj{"cmd": []string{"rm", "x"}}, sayso.Deny},
		{"", "exec_command", obj{"cmd": "rm x"}, sayso.Deny}, {"", "exec_command", obj{"cmd": "ls"}, sayso.Ask}, // it may be that of Codex
		{"codex", "bash", obj{"command": "rm x"}, sayso.Deny},
	} {
		c := call(t, tt.tool, tt.args)
		c.Host = tt.host
		if v := judge(p, c); v.Effect != tt.want {
			t.Errorf("%s of %q, %v: %s by %q, want %s", tt.tool, tt.host, tt.args, v.Effect, v.Rule, tt.want)
		}
	}
}

// Claude Code's Monitor runs a command, and its own rules for Bash are about it.
func TestJudge_monitor(t *testing.T) {
	for _, tt := range []struct {
		rule, args string
		want       sayso.Effect
	}{
		{`deny: "bash:git push*"`, `{"command":"make && git push","description":"d","timeout_ms":1}`, sayso.Deny},
		{`deny: bash`, `{"ws":{"url":"wss://x"},"description":"d"}`, sayso.Deny},
		{`ask: "bash:git push*"`, `{"command":"sh -c 'git push'"}`, sayso.Ask},
		{`allow: bash`, `{"command":"tail -f log","description":"d","timeout_ms":1}`, sayso.Allow},
		{`allow: bash`, `{"command":"tail -f log > copy","description":"d"}`, sayso.Ask},
		{`allow: bash`, `{"ws":{"url":"wss://x"},"description":"d"}`, sayso.Ask},
	} {
		c := sayso.Call{Host: "claude-code", Tool: "Monitor", Args: sayso.Args(tt.args), Cwd: "/home/dev/app"}
		v := load(t, rules(tt.rule)).Judge(t.Context(), c, sayso.Facts{Workspace: "/home/dev/app", Cwd: "/home/dev/app"})
		if v.Effect != tt.want {
			t.Errorf("%s: %s is %s (%s), want %s", tt.rule, tt.args, v.Effect, v.Reason, tt.want)
		}
	}
}
