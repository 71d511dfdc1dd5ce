package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// TestDE2_denyIsFinal: what a rule or a built-in denies stays denied, whatever
// else the files allow, wherever they allow it, whatever they hand over to
// others, and in every mode.
func TestDE2_denyIsFinal(t *testing.T) {
	t.Parallel()
	const everything = `- allow: ["*", "bash:*", "bash", "mcp__*", "web-fetch:*", "file-*", {kind: [shell, read, write, edit, delete, list, fetch, search, delegate, mcp, other]}]`
	d := newDice(22)
	denied := 0
	for range 1500 {
		texts, c := d.tiers(), d.call(t)
		v := judge(made(t, texts), c)
		if v.Effect != sayso.Deny || v.Cause == sayso.CauseDefault {
			continue
		}
		denied++
		for len(texts) < 2 {
			texts = append(texts, "version: 1\n")
		}
		user := strings.Join(inserted(t, strings.Split(strings.TrimSpace(texts[0]), "\n"), policy.Edit{Under: "rules", Text: everything}), "\n")
		org := strings.Join(inserted(t, strings.Split(strings.TrimSpace(texts[1]), "\n"), policy.Edit{Under: "rules", Text: everything}), "\n") + "\ndelegate: [\"*\", \"bash:*\", \"mcp__*\"]\n"
		w := judge(made(t, []string{user, org}), c)
		if w.Effect != sayso.Deny {
			t.Fatalf("%s %s: denied by %q, and then %s by %q, under\n%s\n---\n%s", c.Tool, c.Args, v.Rule, w.Effect, w.Rule, user, org)
		}
		for _, mode := range []sayso.Mode{sayso.ModeInteractive, sayso.ModeApproveAll, sayso.ModeStrict} {
			if e := mode.Apply(w.Match); e != sayso.Deny {
				t.Fatalf("mode %s: %s", mode, e)
			}
		}
	}
	if denied < 100 {
		t.Errorf("%d calls were denied: too few to say anything", denied)
	}
}

// TestDE2_claims: no word of the caller or of a server about a call turns a
// denial round, nor makes any answer looser.
func TestDE2_claims(t *testing.T) {
	d := newDice(23)
	kinds := []sayso.Kind{
		sayso.KindShell, sayso.KindRead, sayso.KindWrite, sayso.KindEdit, sayso.KindDelete, sayso.KindList, sayso.KindFetch, sayso.KindSearch,
		sayso.KindDelegate, sayso.KindMCP, sayso.KindOther,
	}
	counts := map[sayso.Effect]int{}
	for range 600 {
		p, c := made(t, d.tiers()), d.call(t)
		c.Kind = ""
		v := judge(p, c)
		counts[v.Effect]++
		for _, kind := range kinds {
			claimed := c
			claimed.Kind = kind
			if w := judge(p, claimed); w.Effect > v.Effect {
				t.Errorf("%s %s: %s by %q, and %s by %q when it calls itself a %s", c.Tool, c.Args, v.Effect, v.Rule, w.Effect, w.Rule, kind)
			}
		}
		yes, no := true, false
		claimed := c
		claimed.Annotations = &sayso.Annotations{ReadOnly: &yes, Destructive: &no, Idempotent: &yes, OpenWorld: &no}
		if w := judge(p, claimed); w.Effect > v.Effect {
			t.Errorf("%s %s: %s, and %s when it calls itself harmless", c.Tool, c.Args, v.Effect, w.Effect)
		}
	}
	if counts[sayso.Deny] < 20 || counts[sayso.Allow] < 20 {
		t.Errorf("%v: too few to say anything", counts)
	}
}

// TestDE2_claimedKindOfUnknownTool: what nobody has in a table is of the kind
// that its caller says, for all that is said against that kind, and of none for
// what is said for it.
func TestDE2_claimedKindOfUnknownTool(t *testing.T) {
	for _, rule := range []string{"{kind: KIND}", "\"*\"\n    when: call.kind == \"KIND\""} {
		for _, kind := range []sayso.Kind{sayso.KindRead, sayso.KindWrite, sayso.KindEdit, sayso.KindFetch, sayso.KindDelete, sayso.KindShell} {
			for _, effect := range []string{"deny", "ask", "allow"} {
				p := load(t, "default: allow\n"+rules(effect+": "+strings.ReplaceAll(rule, "KIND", string(kind))))
				want := map[string]sayso.Effect{"deny": sayso.Deny, "ask": sayso.Ask, "allow": sayso.Allow}[effect]
				c := call(t, "deploy", obj{})
				if v := judge(p, c); v.Effect != sayso.Allow {
					t.Errorf("%s %s, unclaimed: %s by %q", effect, rule, v.Effect, v.Rule)
				}
				c.Kind = kind
				if v := judge(p, c); v.Effect != want && (effect != "allow" || v.Effect != sayso.Ask) {
					t.Errorf("%s %s, called %s: %s by %q", effect, rule, kind, v.Effect, v.Rule)
				}
				if v := judge(load(t, rules(effect+": "+strings.ReplaceAll(rule, "KIND", string(kind)))), c); effect == "allow" && v.Effect != sayso.Ask {
					t.Errorf("%s %s, called %s: its caller allowed it", effect, rule, kind)
				}
			}
		}
	}
}

// TestDE2_claimedKind: a rule about a kind speaks of a call of that kind, also
// where the caller calls it something stricter.
func TestDE2_claimedKind(t *testing.T) {
	p := load(t, rules(`deny: {kind: write}`, `ask: {kind: search}`, `allow: {kind: [delete, edit]}`, `allow: "file-*:**"`))
	for _, tt := range []struct {
		tool, path string
		kind       sayso.Kind
		want       sayso.Effect
	}{
		{"file-write", "docs/a.md", "", sayso.Deny}, {"file-write", "docs/a.md", sayso.KindDelete, sayso.Deny}, {"file-write", "docs/a.md", sayso.KindEdit, sayso.Deny},
		{"file-search", "docs", "", sayso.Ask}, {"file-search", "docs", sayso.KindEdit, sayso.Ask},
		{"file-read", "main.go", "", sayso.Allow}, {"file-read", "main.go", sayso.KindWrite, sayso.Deny},
		{"file-search", "/home/dev", "", sayso.Deny}, {"file-search", "/home/dev", sayso.KindEdit, sayso.Deny}, {"file-list", "/home/dev/.local", sayso.KindEdit, sayso.Deny},
	} {
		c := call(t, tt.tool, obj{"path": tt.path})
		c.Kind = tt.kind
		v := judge(p, c)
		if v.Effect != tt.want {
			t.Errorf("%s %s as %q: %s by %q, want %s", tt.tool, tt.path, tt.kind, v.Effect, v.Rule, tt.want)
		}
		if m := sayso.Combine(v.Matches, v.Default); m.Effect != v.Effect || m.Rule != v.Rule {
			t.Errorf("%s %s as %q: the matches come to %s by %q, the verdict to %s by %q", tt.tool, tt.path, tt.kind, m.Effect, m.Rule, v.Effect, v.Rule)
		}
		for i, m := range v.Matches {
			if slices.Contains(v.Matches[:i], m) {
				t.Errorf("%s %s as %q: %q speaks twice", tt.tool, tt.path, tt.kind, m.Rule)
			}
		}
	}
}

// An agent must not answer for itself, whatever the policy says.
func TestFinal_ownCommands(t *testing.T) {
	p := load(t, "version: 1\ndefault: allow\nrules:\n  - allow: \"*\"\n")
	for _, c := range []string{
		"sayso approve k7fm", "sayso  --yes approve k7fm", "sayso deny k7fm", "sayso prompt", "sayso watch", "sayso mode approve_all --for 1h",
		"sayso off --for 1h", "sayso uninstall", "sayso token create", "sayso session policy s bash=allow", "sayso grants revoke g",
		"sayso policy trust", "sayso tools accept lab", "sayso tools keep lab", "sayso log erase x", "sayso init claude-code --undo", "sayso restore x", "sayso open",
		"sayso mcp login https://x.example/mcp", "sayso mcp logout https://x.example/mcp", "sayso --json mcp logout x", "bash -c 'sayso mcp logout x'",
		"/usr/local/bin/sayso approve k7fm", "./sayso approve k", "SAYSO approve k", "cd /; sayso approve k", "ls && sayso approve k", "ls|sayso approve k",
		"(sayso approve k)", "{ sayso approve k; }", "if true; then sayso approve k; fi", "! sayso approve k", "X=1 sayso approve k",
		"echo $(sayso approve k)", "echo `sayso approve k`", `echo "$(sayso approve k)"`, "cat <(sayso approve k)",
		"sudo sayso approve k", "env -i sayso approve k", "timeout 5 sayso approve k", "nohup sayso approve k &", "xargs sayso approve < f", "echo k | xargs sayso approve",
		"find . -exec sayso approve {} \\;", "sh -c 'sayso approve k'", `bash -lc "sayso approve k"`, "sudo bash -c 'sudo sayso approve k'", "eval sayso approve k", "eval 'sayso approve k'",
		"echo 'sayso approve k' | sh", "bash <<< 'sayso approve k'", "bash <<EOF\nsayso approve k\nEOF", "python3 -c 'import os; os.system(\"sayso approve k\")'",
		"perl -e 'system(\"sayso\", \"approve\", \"k\")'", "say''so approve k", `"sayso" approve k`, `\sayso approve k`, "sayso app\\\nrove k", "sayso 'approve' k",
		"go run ./cmd/sayso approve k", "busybox timeout 3 sayso approve k", "f() { sayso approve k; }; f", "function f { sayso approve k; }", "sayso-linux-amd64 approve k",
		"cat /home/dev/.local/state/sayso/log.db", "sqlite3 '/home/dev/.local/state/sayso/log.db' .dump", "sayso approve 'k",
		"a\x00; sayso approve k", "\x00\nsayso approve k",
		"ls 'a[$(sayso approve k)]'; [[ _ -eq 0 ]]", "read x <<< 'a[$(sayso approve k)]'; ((x))", "LANG='a[`sayso approve k`]'; ls; [[ LANG -eq 0 ]]",
		"for x in 'a[$(sayso approve k)]'; do [[ x -eq 0 ]]; done",
	} {
		if v := judge(p, bash(t, c)); v.Effect != sayso.Deny || v.Cause != sayso.CauseBuiltin {
			t.Errorf("%q: %s by %q", c, v.Effect, v.Rule)
		}
	}
	for _, c := range []string{
		"s=sayso; $s approve k", "sayso $VERB k", "sayso $(echo approve) k", "`which sayso` approve k", "cat ~/.local/state/sayso/log.db", "cat $SAYSO_HOME/x",
	} {
		if v := judge(p, bash(t, c)); v.Effect != sayso.Ask || !v.Person {
			t.Errorf("%q: %s by %q (a person: %v)", c, v.Effect, v.Rule, v.Person)
		}
	}
	for _, c := range []string{
		"sayso status", "sayso where", "sayso log --follow", "sayso inbox", "sayso show k7fm", "sayso doctor", "sayso version", "sayso call digest",
		"sayso policy check", "sayso ask", "git commit -m 'sayso approve prints the digest'", "grep -rn \"sayso approve\" docs", "echo sayso approve", "ls sayso/approve",
		"cat /home/dev/.local/state/sayso2/x", "sayso status | grep deny", "which sayso",
	} {
		if v := judge(p, bash(t, c)); v.Effect != sayso.Allow {
			t.Errorf("%q: %s by %q", c, v.Effect, v.Rule)
		}
	}
	monitor := call(t, "Monitor", obj{"command": "sayso approve k"})
	monitor.Host = "claude-code"
	strange := call(t, "run", obj{"script": "sayso approve k"})
	strange.Kind = sayso.KindShell
	for _, c := range []sayso.Call{monitor, strange} {
		if v := judge(p, c); v.Effect != sayso.Deny {
			t.Errorf("%s: %s", c.Tool, v.Effect)
		}
	}
}
