package policy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

func TestBuiltins(t *testing.T) {
	none := loadWith(t, policy.Options{})
	host := func(tool string, args any) sayso.Call {
		c := call(t, tool, args)
		c.Host = "claude-code"
		return c
	}
	claimed := call(t, "file-read", obj{"path": "main.go"})
	claimed.Kind = sayso.KindShell
	claimedNotes := call(t, "task-create", obj{})
	claimedNotes.Kind = sayso.KindDelete
	served := call(t, "task-create", obj{})
	served.Server = "notes"
	expect(t, none, []sees{
		{"read in the workspace", call(t, "file-read", obj{"path": "main.go"}), sayso.Allow, sayso.CauseBuiltin},
		{"by our own name", call(t, "read_file", obj{"path": "main.go"}), sayso.Allow, sayso.CauseBuiltin},
		{"by the host's name", host("Read", obj{"file_path": "/home/dev/app/main.go"}), sayso.Allow, sayso.CauseBuiltin},
		{"what is not there", call(t, "file-read", obj{"path": "new.go"}), sayso.Allow, sayso.CauseBuiltin},
		{"list without a path", call(t, "file-list", obj{}), sayso.Allow, sayso.CauseBuiltin},
		{"glob inside", host("Glob", obj{"pattern": "**/*.go"}), sayso.Allow, sayso.CauseBuiltin},
		{"glob that wanders", host("Glob", obj{"pattern": "/etc/*"}), sayso.Ask, sayso.CauseNotUnderstood},
		{"glob that climbs", host("Glob", obj{"pattern": "../*"}), sayso.Ask, sayso.CauseNotUnderstood},
		{"search", host("Grep", obj{"pattern": "/etc/|../"}), sayso.Allow, sayso.CauseBuiltin},
		{"search elsewhere", host("Grep", obj{"pattern": "x", "path": "/etc"}), sayso.Ask, sayso.CauseDefault},
		{"search with a glob that climbs", host("Grep", obj{"pattern": "x", "glob": "../*"}), sayso.Ask, sayso.CauseNotUnderstood},
		{"read outside", call(t, "file-read", obj{"path": "/etc/passwd"}), sayso.Ask, sayso.CauseDefault},
		{"read of a sibling with the same beginning", call(t, "file-read", obj{"path": "../app2/secret"}), sayso.Ask, sayso.CauseDefault},
		{"read through a link out", call(t, "file-read", obj{"path": "out/passwd"}), sayso.Ask, sayso.CauseDefault},
		{"read through a link inside", call(t, "file-read", obj{"path": "readme"}), sayso.Allow, sayso.CauseBuiltin},
		{"dot-dot behind a link", call(t, "file-read", obj{"path": "out/../main.go"}), sayso.Ask, sayso.CauseDefault},
		{"a FIFO", call(t, "file-read", obj{"path": "fifo"}), sayso.Ask, sayso.CauseDefault},
		{"a credential file", call(t, "file-read", obj{"path": ".env"}), sayso.Ask, sayso.CauseBuiltin},
		{"a key outside", call(t, "file-read", obj{"path": "/home/dev/.ssh/id_rsa"}), sayso.Ask, sayso.CauseBuiltin},
		{"our state", call(t, "file-read", obj{"path": "/home/dev/.local/state/sayso/log.db"}), sayso.Deny, sayso.CauseBuiltin},
		{"our state through a link", call(t, "file-read", obj{"path": "state/log.db"}), sayso.Deny, sayso.CauseBuiltin},
		{"our state in another case", call(t, "file-write", obj{"path": "/home/dev/.LOCAL/state/SAYSO/x"}), sayso.Deny, sayso.CauseBuiltin},
		{"our configuration, before there is one", call(t, "file-write", obj{"path": "/home/dev/.config/sayso/policy.yaml"}), sayso.Deny, sayso.CauseBuiltin},
		{"a loop of links", call(t, "file-read", obj{"path": "loop"}), sayso.Deny, sayso.CauseBuiltin},
		{"empty", call(t, "file-read", obj{"path": ""}), sayso.Deny, sayso.CauseBuiltin},
		{"NUL", call(t, "file-read", obj{"path": "a\x00"}), sayso.Deny, sayso.CauseBuiltin},
		{"long", call(t, "file-read", obj{"path": strings.Repeat("n", 300)}), sayso.Deny, sayso.CauseBuiltin},
		{"no path", call(t, "file-read", obj{}), sayso.Ask, sayso.CauseNotUnderstood},
		{"no string", call(t, "file-read", obj{"path": []string{"a"}}), sayso.Ask, sayso.CauseNotUnderstood},
		{"null", call(t, "file-list", obj{"path": nil}), sayso.Ask, sayso.CauseNotUnderstood},
		{"another case too", call(t, "file-read", obj{"path": "main.go", "Path": "/etc/passwd"}), sayso.Ask, sayso.CauseNotUnderstood},
		{"another case, escaped", sayso.Call{Tool: "file-read", Cwd: "/home/dev/app", Args: []byte(`{"path":"main.go","\u0050ath":"x"}`)}, sayso.Ask, sayso.CauseNotUnderstood},
		{"key escaped", sayso.Call{Tool: "file-read", Cwd: "/home/dev/app", Args: []byte(`{"\u0070ath":"main.go"}`)}, sayso.Allow, sayso.CauseBuiltin},
		{"key twice", sayso.Call{Tool: "file-read", Cwd: "/home/dev/app", Args: []byte(`{"path":"main.go","path":"x"}`)}, sayso.Ask, sayso.CauseNotUnderstood},
		{"no object", sayso.Call{Tool: "task-list", Args: []byte(`[]`)}, sayso.Ask, sayso.CauseNotUnderstood},
		{"the caller says shell", claimed, sayso.Ask, sayso.CauseDefault},
		{"write", call(t, "file-write", obj{"path": "main.go"}), sayso.Ask, sayso.CauseDefault},
		{"a task tool", call(t, "task-create", obj{"subject": "x"}), sayso.Allow, sayso.CauseBuiltin},
		{"a task tool, the caller says delete", claimedNotes, sayso.Ask, sayso.CauseDefault},
		{"a server's tool of that name", served, sayso.Ask, sayso.CauseDefault},
		{"nearly a task tool", call(t, "task-create2", obj{}), sayso.Ask, sayso.CauseDefault},
		{"a host's bookkeeping", host("TodoWrite", obj{"todos": []any{}}), sayso.Allow, sayso.CauseBuiltin},
		{"that name without the host", call(t, "TodoWrite", obj{}), sayso.Ask, sayso.CauseDefault},
		{"the host's own question", host("AskUserQuestion", obj{}), sayso.Ask, sayso.CauseDefault},
		{"a command", bash(t, "ls"), sayso.Ask, sayso.CauseDefault},
		{"an address", call(t, "web-fetch", obj{"url": "https://example.org"}), sayso.Ask, sayso.CauseDefault},
		{"a server's tool", call(t, "mcp__github__create_issue", obj{}), sayso.Ask, sayso.CauseDefault},
		{"an unknown tool", call(t, "frobnicate", obj{}), sayso.Ask, sayso.CauseDefault},
	})
}

func TestBuiltins_noFacts(t *testing.T) {
	none := loadWith(t, policy.Options{})
	c := call(t, "file-read", obj{"path": "main.go"})
	if v := none.Judge(context.Background(), c, sayso.Facts{}); v.Effect != sayso.Ask || v.Cause != sayso.CauseNotUnderstood {
		t.Errorf("without facts: %s (%s)", v.Effect, v.Cause)
	}
	all := load(t, rules("allow: file-read"))
	if v := all.Judge(context.Background(), c, sayso.Facts{}); v.Effect != sayso.Ask {
		t.Errorf("an allow without facts: %s", v.Effect)
	}
}

// Arithmetic with a name evaluates its value, which may run anything.
func TestSH5_arithmetic(t *testing.T) {
	for _, p := range []sayso.Policy{load(t, "version: 1\ndefault: allow\n"), load(t, rules(`allow: ["bash:ls*", "bash:read*", "bash:printf*"]`, `deny: "bash:zap*"`))} {
		for text, want := range map[string]sayso.Effect{
			"ls 'a[1]'; [[ _ -eq 0 ]]": sayso.Ask, "ls 'a[$(ls)]'; ((_))": sayso.Ask, "read x <<< 'a[$(ls)]'; ((x))": sayso.Ask,
			"printf -v 'b[x]' 1": sayso.Ask, "for x in 'a[$(ls)]'; do [[ x -eq 0 ]] && ls; done": sayso.Ask, "LANG='a[$(ls)]'; ls; [[ LANG -eq 0 ]]": sayso.Ask,
			"for ((i=0;i<3;i++)); do ls; done": sayso.Allow, "[[ 3 -lt 4 ]] && ls": sayso.Allow,
		} {
			if v := judge(p, bash(t, text)); v.Effect != want {
				t.Errorf("%q: %s by %q, want %s", text, v.Effect, v.Rule, want)
			}
		}
	}
	denies := load(t, "version: 1\ndefault: allow\nrules:\n  - deny: \"bash:zap*\"\n")
	for _, text := range []string{"ls 'a[$(zap x)]'; [[ _ -eq 0 ]]", "ls 'a[`zap x`]'; ((_))", "ls 'a[$(zap x)] $('; ((_))"} {
		if v := judge(denies, bash(t, text)); v.Effect != sayso.Deny {
			t.Errorf("%q: %s by %q, want deny", text, v.Effect, v.Rule)
		}
	}
}

// An allow on a shell that nobody reads is the exact text.
func TestSH1_anotherShell(t *testing.T) {
	p := load(t, "version: 1\ndefault: allow\nshell: {default: {approval: false}}\nrules:\n  - allow: [\"powershell:Get-Date\", \"*\"]\n  - deny: \"powershell:rm*\"\n")
	ps := func(text string) sayso.Call {
		c := call(t, "PowerShell", obj{"command": text})
		c.Host = "claude-code"
		return c
	}
	expect(t, p, []sees{
		{"the text", ps("Get-Date"), sayso.Allow, sayso.CauseRule},
		{"another text", ps("Get-Date; x"), sayso.Ask, ""},
		{"another blank", ps("Get-Date "), sayso.Ask, ""},
		{"a plain one", ps("ls"), sayso.Ask, ""},
		{"a denial", ps("ls; rm x"), sayso.Deny, sayso.CauseRule},
	})
}

func TestBash_hiddenCharacters(t *testing.T) {
	p := load(t, rules(`deny: "bash:rm*"`))
	for _, c := range []string{"ls\r", "ls \x00", "ls \x1b[2K", "ls \u202e", "ls \u200b", "ls \U000e0041", "ls \x7f", "ls\u00a0\u3164"} {
		if v := judge(p, bash(t, c)); v.Effect != sayso.Ask || v.Cause != sayso.CauseNotUnderstood || !v.Person {
			t.Errorf("%q: %s (%s)", c, v.Effect, v.Cause)
		}
	}
}

// A deny may cover more than it says, never less.
func TestBash_deny(t *testing.T) {
	p := load(t, rules(`deny: ["bash:rm*", "bash:git push*", "bash:shutdown"]`))
	for _, c := range []string{
		"rm x", "rm", "rm -rf /", "ls; rm -rf x", "ls;rm x", "ls && rm x", "ls || rm x", "ls | rm x", "ls & rm x", "ls\nrm x", "(rm x)", "{ rm x; }",
		"/bin/rm x", "./rm x", "RM x", "r\\m x", "'rm' x", "r''m x", `"rm" x`, "r\\\nm x", "echo $(rm x)", "echo `rm x`", `echo "a $(rm x) b"`, "cat <(rm x)",
		"if true; then rm x; fi", "for i in 1; do rm x; done", "while :; do rm x; done", "case x in x) rm x;; esac", "! rm x", "X=1 rm x", "X=1 Y=2 rm x",
		"sudo rm x", "sudo -u root rm x", "env A=1 rm x", "nohup rm x", "timeout 5 rm x", "xargs rm", "find . | xargs -n1 rm -f", "find . -exec rm {} +", "command rm x", "exec rm x", "busybox rm x",
		"sh -c 'rm x'", `bash -c "ls; rm x"`, "sudo sh -c 'rm x'", "eval 'rm x'", "sh -c \"sh -c 'rm x'\"", "> out rm x", "2>/dev/null rm x", "<in rm x", ">out 2>&1 rm x",
		"f() { rm x; }; f", "coproc rm x", "time rm x", "a=$(rm x)", "echo ${x:-$(rm x)}", "echo \"`rm x`\"", "echo $(echo $(rm x))", "echo 'open ; rm x",
		"git push", "git push origin", "git -C x push", "git --no-pager -c a=b push -f", "/usr/bin/git push", "sudo git push", "git\tpush",
		"shutdown", "sudo shutdown", "ls; shutdown; ls", "/sbin/shutdown",
		strings.Repeat("ls; ", 20_000) + "rm x",
		strings.Repeat("$(", 200) + "rm x",
	} {
		if v := judge(p, bash(t, c)); v.Effect != sayso.Deny {
			t.Errorf("%.80q: %s", c, v.Effect)
		}
	}
	for _, c := range []string{
		"ls", "echo rm", "echo 'rm x'", "echo \"; rm x\"", "git commit -m 'rm x; rm y'", "# rm x", "ls # rm x", "rmdir x", "lsrm", "grep rm file", "git pull", "gitpush",
		"git log push", "shutdown now", "cat shutdown", "echo \\; rm", "ls > rm", "echo 2>rm", "git status",
	} {
		if v := judge(p, bash(t, c)); v.Effect == sayso.Deny {
			t.Errorf("%q: denied by %q", c, v.Rule)
		}
	}
	v := judge(p, bash(t, "ls && /bin/rm -rf x"))
	if v.Span != [2]int{6, 13} || v.Line != 3 || v.File != "policy.yaml" {
		t.Errorf("span %v, line %d, file %s", v.Span, v.Line, v.File)
	}
}

func TestPaths(t *testing.T) {
	p := load(t, rules(
		`allow: ["file-write:docs/*.md", "file-edit:**", "file-delete:docs/**", "file-read:/etc/passwd", "file-read:~/notes"]`,
		`deny: "file-edit:docs/deep/**"`,
		`allow: "file-write:.git/**"`,
		`allow: "file-write:hard"`,
	))
	w := func(tool, path string) sayso.Call { return call(t, tool, obj{"path": path}) }
	expect(t, p, []sees{
		{"in one folder", w("file-write", "docs/a.md"), sayso.Allow, sayso.CauseRule},
		{"by another way", w("file-write", "./docs/deep/../new.md"), sayso.Allow, sayso.CauseRule},
		{"absolute", w("file-write", "/home/dev/app/docs/new.md"), sayso.Allow, sayso.CauseRule},
		{"a star stays in its folder", w("file-write", "docs/deep/b.md"), sayso.Ask, sayso.CauseDefault},
		{"anchored at the workspace", w("file-write", "/home/dev/app2/docs/a.md"), sayso.Ask, sayso.CauseDefault},
		{"anchored, not at any depth", w("file-write", "x/docs/a.md"), sayso.Ask, sayso.CauseDefault},
		{"the ending", w("file-write", "docs/a.mdx"), sayso.Ask, sayso.CauseDefault},
		{"resolved first", w("file-write", "readme"), sayso.Allow, sayso.CauseRule},
		{"a link out is not under **", w("file-edit", "out/passwd"), sayso.Ask, sayso.CauseDefault},
		{"across folders", w("file-edit", "main.go"), sayso.Allow, sayso.CauseRule},
		{"deny wins", w("file-edit", "docs/deep/b.md"), sayso.Deny, sayso.CauseRule},
		{"deny in another case", w("file-edit", "docs/DEEP/b.md"), sayso.Deny, sayso.CauseRule},
		{"deny as written", w("file-edit", "docs/deep/../deep/new"), sayso.Deny, sayso.CauseRule},
		{"deny the folder itself", w("file-edit", "docs/deep"), sayso.Deny, sayso.CauseRule},
		{"two readings, one allowed", w("file-edit", "out/../main.go"), sayso.Ask, sayso.CauseDefault},
		{"outside, named", w("file-read", "/etc/passwd"), sayso.Allow, sayso.CauseRule},
		{"outside, through a link", w("file-read", "out/passwd"), sayso.Allow, sayso.CauseRule},
		{"at home", w("file-read", "/home/dev/notes"), sayso.Allow, sayso.CauseRule},
		{"a tilde may be the person's folder", w("file-read", "~/notes"), sayso.Ask, sayso.CauseNotUnderstood},
		{"no rule allows control files", w("file-write", ".git/config"), sayso.Ask, sayso.CauseBuiltin},
		{"nor in another case", w("file-write", ".GIT/hooks/x"), sayso.Ask, sayso.CauseBuiltin},
		{"nor under **", w("file-edit", ".vscode/tasks.json"), sayso.Ask, sayso.CauseBuiltin},
		{"nor files with two names", w("file-write", "hard"), sayso.Ask, sayso.CauseBuiltin},
		{"delete in a folder", w("file-delete", "docs/a.md"), sayso.Allow, sayso.CauseRule},
		{"delete the workspace", w("file-delete", "."), sayso.Ask, sayso.CauseBuiltin},
	})
	for _, path := range []string{".git/config", "hard"} {
		if v := judge(p, w("file-write", path)); !v.Person {
			t.Errorf("%s: a mode could answer for the person", path)
		}
	}
}

func TestTools(t *testing.T) {
	p := load(t, rules(
		`allow: ["mcp__github__get_*", "web-search:go *", "delegate:summarise *"]`,
		`deny: ["mcp__prod__drop_*", "mcp__a__b__c", "web-search:*secret*"]`,
		`ask: {server: "git*"}`,
		`deny: {kind: delete}`,
	))
	mcp := func(server, tool string) sayso.Call {
		c := call(t, tool, obj{})
		c.Server = server
		return c
	}
	claude := func(tool string) sayso.Call {
		c := call(t, tool, obj{})
		c.Host = "claude-code"
		return c
	}
	expect(t, p, []sees{
		{"server and tool", mcp("github", "get_issue"), sayso.Ask, sayso.CauseRule},
		{"a server beside it", mcp("github2", "get_issue"), sayso.Ask, sayso.CauseRule},
		{"denied by name", mcp("prod", "drop_table"), sayso.Deny, sayso.CauseRule},
		{"denied under the host's name", claude("mcp__prod__drop_all"), sayso.Deny, sayso.CauseRule},
		{"nearly denied", mcp("prod2", "drop_table"), sayso.Ask, sayso.CauseDefault},
		{"names that read alike", mcp("a__b", "c"), sayso.Deny, sayso.CauseRule},
		{"text", call(t, "web-search", obj{"query": "go generics"}), sayso.Allow, sayso.CauseRule},
		{"text that does not fit", call(t, "web-search", obj{"query": "golang"}), sayso.Ask, sayso.CauseDefault},
		{"text denied in capitals", call(t, "web-search", obj{"query": "go SECRET"}), sayso.Deny, sayso.CauseRule},
		{"kind", call(t, "file-delete", obj{"path": "main.go"}), sayso.Deny, sayso.CauseRule},
		{"a delegate", call(t, "delegate", obj{"prompt": "summarise x"}), sayso.Allow, sayso.CauseRule},
	})
	all := load(t, rules(`allow: "*"`))
	expect(t, all, []sees{
		{"a star is every tool", mcp("github", "x"), sayso.Allow, sayso.CauseRule},
		{"a plain command too", bash(t, "ls"), sayso.Allow, sayso.CauseRule},
	})
	confused := load(t, rules(`allow: ["file-*", "read*", "bash:ls"]`))
	expect(t, confused, []sees{
		{"a server's tool is not ours", mcp("evil", "file-read"), sayso.Ask, sayso.CauseDefault},
		{"nor is its shell", mcp("evil", "bash"), sayso.Ask, sayso.CauseDefault},
	})
	denied := load(t, rules(`deny: ["*delete*", "bash"]`))
	expect(t, denied, []sees{
		{"a star in a deny sees servers", mcp("github", "delete_repo"), sayso.Deny, sayso.CauseRule},
		{"a whole tool", bash(t, "ls"), sayso.Deny, sayso.CauseRule},
	})
}

func TestTiers(t *testing.T) {
	user := "version: 1\ndefault: allow\ndeadline: {after: 2h}\nredaction: {names: [a], max_items: 10}\nrules:\n  - allow: [\"web-search\", \"web-fetch:https://a.com/*\"]\n  - ask: delegate\n"
	org := "version: 1\ndeadline: {after: none, then: deny}\nmode: strict\nredaction: {names: [b], max_items: 5, max_string: 100}\nrules:\n  - ask: web-search\n  - deny: \"web-fetch:*\"\n  - ask: delegate\n    remember: any\n"
	p := loadWith(t, policy.Options{}, user, org)
	expect(t, p, []sees{
		{"the stricter asks", call(t, "web-search", obj{"query": "x"}), sayso.Ask, sayso.CauseRule},
		{"the stricter denies", call(t, "web-fetch", obj{"url": "https://a.com/x"}), sayso.Deny, sayso.CauseRule},
		{"defaults do not speak against rules", call(t, "frobnicate", obj{}), sayso.Allow, sayso.CauseDefault},
	})
	if v := judge(p, call(t, "web-search", obj{"query": "x"})); v.Remember != sayso.RememberExact || len(v.Matches) != 2 {
		t.Errorf("an ask of the organisation: remember %q, %d matches", v.Remember, len(v.Matches))
	}
	v := judge(p, call(t, "delegate", obj{"prompt": "x"}))
	if v.Matches[1].Remember != sayso.RememberAny {
		t.Errorf("remember: any is %q", v.Matches[1].Remember)
	}
	if p.Mode() != sayso.ModeStrict || p.Deadline().After != 2*3600e9 || !p.Deadline().Deny || v.Deadline != p.Deadline() {
		t.Errorf("mode %s, deadline %+v", p.Mode(), p.Deadline())
	}
	for _, c := range []struct {
		user, org string
		want      sayso.Mode
	}{
		{"", "", ""},
		{"mode: strict\n", "", ""}, // one's own, which one may set aside
		{"approve_all: false\n", "", sayso.ModeInteractive},
		{"approve_all: true\n", "approve_all: false\n", sayso.ModeInteractive},
		{"", "mode: strict\n", sayso.ModeStrict},
		{"approve_all: false\n", "mode: strict\n", sayso.ModeStrict},
		{"", "mode: interactive\n", ""},
	} {
		if got := loadWith(t, policy.Options{}, "version: 1\n"+c.user, "version: 1\n"+c.org).ModeLimit(); got != c.want {
			t.Errorf("user %q, organisation %q: modes up to %q, want %q", c.user, c.org, got, c.want)
		}
	}
	if r := p.Redaction(); len(r.Names) != 2 || r.MaxItems != 5 || r.MaxString != 100 {
		t.Errorf("redaction %+v", r)
	}
	for _, texts := range [][]string{{"version: 1\ndefault: allow\n", "version: 1\ndefault: deny\n"}, {"version: 1\ndefault: deny\n", "version: 1\ndefault: allow\n"}} {
		if v := judge(loadWith(t, policy.Options{}, texts...), call(t, "x", obj{})); v.Effect != sayso.Deny {
			t.Errorf("of %q, %s holds", texts, v.Effect)
		}
	}
}

func TestDefaults(t *testing.T) {
	deny := load(t, "version: 1\ndefault: deny\n")
	destructive := call(t, "mcp__a__b", obj{})
	yes := true
	destructive.Annotations = &sayso.Annotations{Destructive: &yes}
	expect(t, deny, []sees{
		{"deny", call(t, "file-write", obj{"path": "x"}), sayso.Deny, sayso.CauseDefault},
		{"deny what is not understood", bash(t, "ls\r"), sayso.Deny, sayso.CauseDefault},
		{"deny what has no argument", call(t, "web-fetch", obj{}), sayso.Deny, sayso.CauseDefault},
		{"deny an odd address", call(t, "web-fetch", obj{"url": "https://a@b.com"}), sayso.Deny, sayso.CauseDefault},
		{"deny control files", call(t, "file-write", obj{"path": ".git/config"}), sayso.Deny, sayso.CauseDefault},
		{"deny credentials", call(t, "file-read", obj{"path": ".env"}), sayso.Deny, sayso.CauseDefault},
		{"built-ins speak before it", call(t, "file-read", obj{"path": "main.go"}), sayso.Allow, sayso.CauseBuiltin},
	})
	expect(t, load(t, "version: 1\ndefault: allow\n"), []sees{
		{"allow", call(t, "web-search", obj{"query": "x"}), sayso.Allow, sayso.CauseDefault},
		{"plain commands", bash(t, "ls"), sayso.Allow, sayso.CauseDefault},
		{"not others", bash(t, "ls $X"), sayso.Ask, sayso.CauseNotUnderstood},
		{"not writes", call(t, "file-write", obj{"path": "x"}), sayso.Ask, sayso.CauseDefault},
		{"not outside", call(t, "file-read", obj{"path": "/etc/passwd"}), sayso.Ask, sayso.CauseDefault},
		{"not what is destructive", destructive, sayso.Ask, sayso.CauseDefault},
	})
	only := loadWith(t, policy.Options{FinalOnly: true}, "version: 1\n")
	expect(t, only, []sees{
		{"built-ins that are not final are left out", call(t, "file-read", obj{"path": "main.go"}), sayso.Ask, sayso.CauseDefault},
		{"final ones are not", call(t, "file-read", obj{"path": "state/log.db"}), sayso.Deny, sayso.CauseBuiltin},
		{"nor are floors", call(t, "file-read", obj{"path": "loop"}), sayso.Deny, sayso.CauseBuiltin},
	})
}

func TestVerdict(t *testing.T) {
	p := load(t, rules(
		"ask: \"bash:git push*\"\n    name: pushes need a person\n    note: It leaves the machine.\n    remember: never\n    danger: true\n    title: Push to the remote",
	))
	v := judge(p, bash(t, "git add . && sudo git push origin $X"))
	if v.Rule != "pushes need a person" || v.Reason != "It leaves the machine." || v.Title != "Push to the remote" || v.Line != 3 {
		t.Errorf("%+v", v)
	}
	if v.Remember != sayso.RememberNever || !v.Person || v.Risk != sayso.RiskDestructive || v.Policy != p.Version() {
		t.Errorf("%+v", v)
	}
	got := map[sayso.Danger]bool{}
	for _, d := range v.Danger {
		got[d] = true
	}
	if !got[sayso.DangerRule] || !got[sayso.DangerPrivilege] {
		t.Errorf("danger %v", v.Danger)
	}
	if v := judge(p, call(t, "file-delete", obj{"path": "/etc/passwd"})); len(v.Danger) != 2 || v.Risk != sayso.RiskModerate {
		t.Errorf("risk %s, danger %v", v.Risk, v.Danger)
	}
	if v := judge(p, call(t, "file-read", obj{"path": "main.go"})); v.Risk != sayso.RiskSafe || v.Danger != nil {
		t.Errorf("risk %s, danger %v", v.Risk, v.Danger)
	}
}

func TestVersion(t *testing.T) {
	a, b := load(t, rules("ask: bash")), load(t, rules("ask: bash"))
	if a.Version() != b.Version() {
		t.Error("equal files, different versions")
	}
	in := func(home, text string) string {
		return loadWith(t, policy.Options{Home: home}, text).Version()
	}
	if in("/root", rules("ask: bash")) != a.Version() {
		t.Error("a policy that does not name home depends on it")
	}
	if text := rules(`ask: "file-read:~/x"`); in("/root", text) == in("/home/dev", text) {
		t.Error("a policy that names home does not depend on it")
	}
	if c := load(t, rules("deny: bash")); c.Version() == a.Version() {
		t.Error("different files, one version")
	}
	if none := loadWith(t, policy.Options{}); none.Version() == a.Version() || none.Version() == "" {
		t.Error("no file has the version of one")
	}
}
