package policy_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// served is a call of a server's tool.
func served(t testing.TB, server, tool string, args any, a *sayso.Annotations) sayso.Call {
	c := call(t, tool, args)
	c.Server, c.Annotations = server, a
	return c
}

func says(readOnly, destructive bool) *sayso.Annotations {
	return &sayso.Annotations{ReadOnly: &readOnly, Destructive: &destructive}
}

// TestGW2_annotations: what a server says of its tools can tighten; it loosens
// only for a server that the policy trusts.
func TestGW2_annotations(t *testing.T) {
	p := load(t, `version: 1
servers: {github: {trust: [annotations]}}
rules:
  - allow: {server: github, annotations: {read_only: true}}
  - allow: {annotations: {read_only: true, destructive: false}}
  - deny: {server: "db*", annotations: {destructive: true}}
`)
	expect(t, p, []sees{
		{"trusted and read-only", served(t, "github", "get", obj{}, says(true, false)), sayso.Allow, sayso.CauseRule},
		{"trusted and silent", served(t, "github", "get", obj{}, nil), sayso.Ask, sayso.CauseDefault},
		{"trusted and writing", served(t, "github", "get", obj{}, says(false, false)), sayso.Ask, sayso.CauseDefault},
		{"not trusted", served(t, "evil", "get", obj{}, says(true, false)), sayso.Ask, sayso.CauseDefault},
		{"trusted by another spelling", served(t, "GitHub", "get", obj{}, says(true, false)), sayso.Ask, sayso.CauseDefault},
		{"a denial takes the server's word", served(t, "db1", "drop", obj{}, says(false, true)), sayso.Deny, sayso.CauseRule},
		{"and its silence for the worst", served(t, "db1", "drop", obj{}, nil), sayso.Deny, sayso.CauseRule},
		{"but not against its word", served(t, "db1", "drop", obj{}, says(false, false)), sayso.Ask, sayso.CauseDefault},
		{"a host's tool says nothing", call(t, "frobnicate", obj{}), sayso.Ask, sayso.CauseDefault},
	})
}

func TestTP1_selectors(t *testing.T) {
	p := load(t, `version: 1
rules:
  - allow: {server: notes, tool: "get_*", args: {folder: ["work", "home/*"], limit: 10, deep: false}}
  - allow: {tool: web-search, caller: "claude-code/*", session: s1}
  - deny: {tags: ["batch:*", night]}
  - deny: {server: notes, args: {folder: "*Secret*"}}
  - ask: {host: claude-code, kind: [fetch, delegate]}
`)
	get := func(args any) sayso.Call { return served(t, "notes", "get_note", args, nil) }
	search := func(caller, session string, tags ...string) sayso.Call {
		c := call(t, "web-search", obj{"query": "x"})
		c.Caller, c.Session, c.Tags = caller, session, tags
		return c
	}
	raw := func(args string) sayso.Call {
		c := get(nil)
		c.Args = []byte(args)
		return c
	}
	whole := obj{"folder": "work", "limit": 10, "deep": false}
	expect(t, p, []sees{
		{"all arguments fit", get(whole), sayso.Allow, sayso.CauseRule},
		{"one of several values", get(obj{"folder": "home/x", "limit": 10.0, "deep": false}), sayso.Allow, sayso.CauseRule},
		{"a number in another spelling", raw(`{"folder":"work","limit":1e1,"deep":false}`), sayso.Allow, sayso.CauseRule},
		{"another value", get(obj{"folder": "play", "limit": 10, "deep": false}), sayso.Ask, sayso.CauseDefault},
		{"a text for a number", get(obj{"folder": "work", "limit": "10", "deep": false}), sayso.Ask, sayso.CauseDefault},
		{"null is not false", get(obj{"folder": "work", "limit": 10, "deep": nil}), sayso.Ask, sayso.CauseDefault},
		{"a missing argument is no match", get(obj{"folder": "work", "limit": 10}), sayso.Ask, sayso.CauseDefault},
		{"another case of the key", raw(`{"folder":"work","Folder":"x","limit":10,"deep":false}`), sayso.Deny, sayso.CauseRule},
		{"denied in any case", get(obj{"folder": "my secrets", "limit": 10, "deep": false}), sayso.Deny, sayso.CauseRule},
		{"arguments twice", raw(`{"folder":"work","folder":"work","limit":10,"deep":false}`), sayso.Deny, sayso.CauseRule},
		{"another tool", served(t, "notes", "put_note", whole, nil), sayso.Ask, sayso.CauseDefault},
		{"another server", served(t, "notes2", "get_note", whole, nil), sayso.Ask, sayso.CauseDefault},
		{"caller and session", search("claude-code/main", "s1"), sayso.Allow, sayso.CauseRule},
		{"another caller", search("codex/main", "s1"), sayso.Ask, sayso.CauseDefault},
		{"another session", search("claude-code/main", "s2"), sayso.Ask, sayso.CauseDefault},
		{"a server's tool of that name", func() sayso.Call { c := search("claude-code/main", "s1"); c.Server = "evil"; return c }(), sayso.Ask, sayso.CauseDefault},
		{"all tags", search("x", "x", "batch:7", "night"), sayso.Deny, sayso.CauseRule},
		{"one tag", search("x", "x", "batch:7"), sayso.Ask, sayso.CauseDefault},
		{"one of several kinds", claude(t, "Task", obj{"prompt": "x"}), sayso.Ask, sayso.CauseRule},
	})
}

// TestTP1_strangers: a tool that nobody knows, called like a shell, is denied
// what the shell is denied, and allowed nothing.
func TestTP1_strangers(t *testing.T) {
	p := load(t, "version: 1\ndefault: allow\nshell: {default: {approval: false}}\nrules:\n  - deny: \"bash:rm*\"\n  - allow: [\"Bash:ls\", \"*\"]\n")
	for _, tool := range []string{"Bash", "BASH"} {
		for command, want := range map[string]sayso.Effect{"rm x": sayso.Deny, "ls; sudo rm x": sayso.Deny, "ls": sayso.Ask, "echo 'rm x'": sayso.Ask, "": sayso.Ask, "ls 'x; rm y": sayso.Deny} {
			for _, host := range []string{"", "some-agent"} {
				c := call(t, tool, obj{"command": command})
				c.Host = host
				if v := judge(p, c); v.Effect != want {
					t.Errorf("%s of %q: %q: %s by %q, want %s", tool, host, command, v.Effect, v.Rule, want)
				}
			}
		}
		for _, args := range []string{`{"cmd":"rm x"}`, `{"command":["rm","x"]}`, `{"command":"ls","Command":"rm x"}`, `{"command":"ls"`, `{}`} {
			if v := judge(p, sayso.Call{Tool: tool, Cwd: "/home/dev/app", Args: []byte(args)}); v.Effect == sayso.Allow {
				t.Errorf("%s %s: allowed by %q", tool, args, v.Rule)
			}
		}
	}
}

// TestDE1_when: a condition that does not hold is no match; one that fails
// makes a deny deny and anything else ask.
func TestDE1_when(t *testing.T) {
	p := load(t, `version: 1
rules:
  - allow: web-search
    when: 'call.args.query.orValue("").startsWith("go ")'
  - deny: web-search
    when: 'call.args.limit.orValue(0) > 100'
  - ask: {kind: fetch}
    when: 'call.url.host.endsWith(".example.org") && facts.workspace == "/home/dev/app"'
    remember: never
  - allow: "web-fetch:https://*"
  - allow: delegate
    when: 'call.args.prompt.orValue("") + 1 == 2 || call.tags[0] == "x"'
`)
	search := func(args any) sayso.Call { return call(t, "web-search", args) }
	expect(t, p, []sees{
		{"holds", search(obj{"query": "go x"}), sayso.Allow, sayso.CauseRule},
		{"does not hold", search(obj{"query": "x"}), sayso.Ask, sayso.CauseDefault},
		{"argument missing", search(obj{}), sayso.Ask, ""},
		{"a deny that holds", search(obj{"query": "go x", "limit": 101}), sayso.Deny, sayso.CauseRule},
		{"a deny that fails", search(obj{"query": "go x", "limit": "many"}), sayso.Deny, sayso.CauseRule},
		{"over the parts of an address", call(t, "web-fetch", obj{"url": "https://www.example.org/"}), sayso.Ask, sayso.CauseRule},
		{"and not over its text", call(t, "web-fetch", obj{"url": "https://evil.com/x.example.org"}), sayso.Allow, sayso.CauseRule},
		{"an allow that fails asks", call(t, "delegate", obj{"prompt": "x"}), sayso.Ask, sayso.CauseNotUnderstood},
	})
}

// TestDE1_whenOverCommands is the example of the page.
func TestDE1_whenOverCommands(t *testing.T) {
	p := load(t, `version: 1
shell: {default: {approval: false}}
rules:
  - ask: {kind: shell}
    when: 'call.commands.exists(c, c.program == "kubectl") && call.cwd.startsWith("/home/dev")'
    name: kubectl
  - deny: bash
    when: 'call.commands.exists(c, c.program == "psql" && c.args.exists(a, a.startsWith("--host")))'
`)
	for command, want := range map[string]sayso.Effect{
		"kubectl get pods": sayso.Ask, "ls; /usr/bin/kubectl apply": sayso.Ask, "ls": sayso.Allow, "echo kubectl": sayso.Allow,
		"psql --host=prod": sayso.Deny, "psql db": sayso.Allow, "ls | psql --host prod": sayso.Deny,
	} {
		if v := judge(p, bash(t, command)); v.Effect != want {
			t.Errorf("%q: %s by %q, want %s", command, v.Effect, v.Rule, want)
		}
	}
}

// TestTiers_workspaces: rules of a project hold in it and in nothing else.
func TestTiers_workspaces(t *testing.T) {
	text := `version: 1
workspaces:
  ~/app: {rules: [{allow: "web-search"}, {deny: "delegate"}]}
  /home/dev: {rules: [{ask: "web-search:*secret*"}]}
  ~/link:
    rules: [{allow: "frobnicate"}]
`
	p := load(t, text)
	in := func(dir, tool string, args any) sayso.Call {
		c := call(t, tool, args)
		c.Cwd = dir
		return c
	}
	fs := yard()
	fs["/home/dev/link"] = "-> app2"
	for _, tt := range []struct {
		name string
		call sayso.Call
		want sayso.Effect
	}{
		{"in the project", in("/home/dev/app", "web-search", obj{"query": "x"}), sayso.Allow},
		{"below it", in("/home/dev/app/docs", "web-search", obj{"query": "x"}), sayso.Allow},
		{"beside it", in("/home/dev/app2", "web-search", obj{"query": "x"}), sayso.Ask},
		{"in nothing", in("/etc", "web-search", obj{"query": "x"}), sayso.Ask},
		{"all that hold it speak", in("/home/dev/app", "web-search", obj{"query": "secret"}), sayso.Ask},
		{"its denials", in("/home/dev/app", "delegate", obj{"prompt": "x"}), sayso.Deny},
		{"its denials elsewhere", in("/home/dev/app2", "delegate", obj{"prompt": "x"}), sayso.Ask},
		{"where its link leads", in("/home/dev/app2", "frobnicate", obj{}), sayso.Allow},
		{"not beside", in("/home/dev/app", "frobnicate", obj{}), sayso.Ask},
	} {
		if v := judgeOn(p, fs, tt.call); v.Effect != tt.want {
			t.Errorf("%s: %s by %q, want %s", tt.name, v.Effect, v.Rule, tt.want)
		}
	}
}

// TestTiers_delegate: an ask of the organisation is silent where it lets others
// decide and somebody's rule allows.
func TestTiers_delegate(t *testing.T) {
	user := "version: 1\nrules:\n  - allow: [\"bash:make*\", \"bash:ls*\", web-search, \"web-fetch:https://*\"]\n"
	org := "version: 1\ndelegate: [\"bash:make*\", web-search]\nrules:\n  - ask: [bash, web-search, \"web-fetch:https://*\"]\n  - ask: \"bash:make deploy*\"\n    name: deploy\n  - deny: \"web-search:*x*\"\n"
	p := loadWith(t, policy.Options{Home: "/home/dev"}, user, org)
	expect(t, p, []sees{
		{"delegated and allowed", bash(t, "make test"), sayso.Allow, sayso.CauseRule},
		{"every ask that it covers", bash(t, "make deploy"), sayso.Allow, sayso.CauseRule},
		{"allowed and not delegated", bash(t, "ls"), sayso.Ask, sayso.CauseRule},
		{"delegated and not allowed", bash(t, "make; cc"), sayso.Ask, ""},
		{"one of two", bash(t, "make; ls"), sayso.Ask, sayso.CauseRule},
		{"another tool", call(t, "web-search", obj{"query": "go"}), sayso.Allow, sayso.CauseRule},
		{"denials stand", call(t, "web-search", obj{"query": "xyz"}), sayso.Deny, sayso.CauseRule},
		{"what is not delegated", call(t, "web-fetch", obj{"url": "https://example.org/"}), sayso.Ask, sayso.CauseRule},
	})
	silent := loadWith(t, policy.Options{}, "version: 1\n", org)
	expect(t, silent, []sees{{"nobody allows", bash(t, "make test"), sayso.Ask, sayso.CauseRule}})
	f, err := policy.Parse("p.yaml", []byte("version: 1\ndelegate: [\"bash:ls\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: f}); err == nil || !strings.Contains(err.Error(), "p.yaml:2:1:") {
		t.Errorf("a person's file delegates: %v", err)
	}
}

// TestTiers_repo: a project's own file tightens in that project and nowhere
// else.
func TestTiers_repo(t *testing.T) {
	parse := func(text string) *policy.File {
		f, err := policy.Parse("repo.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	repo := parse("version: 1\ndefault: allow\nshell: {default: {approval: false}, rules: [{pattern: ls, approval: false}, {pattern: make, allowed: false}]}\nrules:\n  - allow: [web-search, frobnicate]\n  - deny: delegate\n  - ask: \"bash:git push*\"\nsandbox: {paths: {docs: {root: ./docs, mode: rw, write_approval: false}}}\n")
	user := parse("version: 1\nrules:\n  - allow: [delegate, \"bash:git*\", \"bash:make*\"]\n")
	p, err := policy.New(policy.Options{Home: "/home/dev"}, policy.Tiered{Tier: policy.TierUser, File: user}, policy.Tiered{Tier: policy.TierRepo, File: repo, Workspace: "/home/dev/app"})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := func(c sayso.Call) sayso.Call { c.Cwd = "/home/dev/app2"; return c }
	expect(t, p, []sees{
		{"its allow counts for nothing", call(t, "web-search", obj{"query": "x"}), sayso.Ask, sayso.CauseDefault},
		{"nor does its default", call(t, "frobnicate", obj{}), sayso.Ask, sayso.CauseDefault},
		{"nor what it allows of commands", bash(t, "ls"), sayso.Ask, sayso.CauseDefault},
		{"nor its roots", call(t, "file-write", obj{"path": "docs/a.md"}), sayso.Ask, sayso.CauseDefault},
		{"its denials do", call(t, "delegate", obj{"prompt": "x"}), sayso.Deny, sayso.CauseRule},
		{"on commands too", bash(t, "make"), sayso.Deny, sayso.CauseRule},
		{"and its asks", bash(t, "git push"), sayso.Ask, sayso.CauseRule},
		{"and what it says of paths", call(t, "file-read", obj{"path": "main.go"}), sayso.Deny, sayso.CauseRule},
		{"where it is silent others speak", bash(t, "git status"), sayso.Allow, sayso.CauseRule},
		{"elsewhere it is silent", elsewhere(call(t, "delegate", obj{"prompt": "x"})), sayso.Allow, sayso.CauseRule},
		{"elsewhere on commands", elsewhere(bash(t, "make")), sayso.Allow, sayso.CauseRule},
	})
}

// TestCovers: an example that a rule does not match is a mistake.
func TestCovers(t *testing.T) {
	good := `version: 1
rules:
  - ask: {kind: shell}
    when: 'call.commands.exists(c, c.program == "kubectl") && call.cwd.startsWith("/srv")'
    danger: true
    requirement: {count: 1}
    covers: ['{"tool":"bash","args":{"command":"kubectl apply -f x"},"cwd":"/srv/a"}']
  - allow: ["file-write:docs/*.md", "web-fetch:https://*.example.org/*", "bash:ls*"]
    covers:
      - '{"tool":"file-write","args":{"path":"docs/a.md"}}'
      - '{"tool":"Write","host":"claude-code","args":{"file_path":"/x/docs/b.md","content":""},"cwd":"/x"}'
      - '{"tool":"web-fetch","args":{"url":"https://a.example.org/x"}}'
      - '{"tool":"bash","args":{"command":"ls -la"}}'
`
	load(t, good)
	for _, bad := range []string{
		`'{"tool":"bash","args":{"command":"lsof"}}'`, `'{"tool":"file-write","args":{"path":"docs/x/a.md"}}'`, `'{"tool":"web-fetch","args":{"url":"http://a.example.org/x"}}'`,
		`'{"tool":"bash"'`, `'no call'`, `'{"tool":"bash","args":{"command":"ls"},"tool":"x"}'`, `7`, `{tool: bash}`,
	} {
		text := "version: 1\nrules:\n  - allow: [\"file-write:docs/*.md\", \"web-fetch:https://*.example.org/*\", \"bash:ls*\"]\n    covers: [" + bad + "]\n"
		if _, err := policy.Parse("p.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "p.yaml:4:14: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
