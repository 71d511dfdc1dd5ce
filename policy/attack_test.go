package policy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/policy"
)

// Each test here begins with an attack that worked once, against the real host.

func claude(t testing.TB, tool string, args any) sayso.Call {
	c := call(t, tool, args)
	c.Host = "claude-code"
	return c
}

// The agent asks its host to search `~/.local/state/sayso/tokens`. The policy
// saw a missing folder called ~ inside the workspace and was silent; the host
// put the person's folder in its place and returned a token. The same with a
// blank before an absolute path, and behind the name of a link.
func TestAttack_theHostTidiesThePath(t *testing.T) {
	p := loadWith(t, policy.Options{Home: "/home/dev"}, "version: 1\ndefault: allow\nrules:\n  - allow: [\"file-*\", \"file-search:**\"]\n  - deny: \"file-read:~/notes\"\n")
	const state = "/.local/state/sayso/tokens"
	for _, path := range []string{
		"~" + state, " ~" + state, "~" + state + " ", " /home/dev" + state, "/home/dev" + state + "\n", "\u00a0/home/dev" + state, "\ufeff/home/dev" + state,
		"\u2028/home/dev" + state, "state ", "\tstate", "~", "~/", " ~", "~/.local",
	} {
		for _, c := range []sayso.Call{claude(t, "Grep", obj{"pattern": "SECRET", "path": path}), claude(t, "Glob", obj{"pattern": "**", "path": path})} {
			if v := judge(p, c); v.Effect != sayso.Deny || v.Cause != sayso.CauseBuiltin {
				t.Errorf("%s %q: %s by %q", c.Tool, path, v.Effect, v.Rule)
			}
		}
	}
	for _, path := range []string{"~/diary", "~/app2", " /etc", "out ", "e\u0301", "main.go ", "~dev/x", "$HOME/x", "%HOME%/x", "a/${X}/y", `a\b`, "file:///etc/passwd", "file:/etc", "C:/x", "//etc/passwd", "\u3000x"} {
		for _, c := range []sayso.Call{
			claude(t, "Grep", obj{"pattern": "x", "path": path}), claude(t, "Read", obj{"file_path": path}), claude(t, "Write", obj{"file_path": path, "content": "x"}),
			call(t, "file-read", obj{"path": path}), call(t, "file-list", obj{"path": path}),
		} {
			if v := judge(p, c); v.Effect != sayso.Ask || !v.Person {
				t.Errorf("%s %q: %s by %q (a person: %v)", c.Tool, path, v.Effect, v.Rule, v.Person)
			}
		}
	}
	for _, path := range []string{"~/notes", " /home/dev/notes"} {
		if v := judge(p, claude(t, "Read", obj{"file_path": path})); v.Effect != sayso.Deny || v.Cause != sayso.CauseRule {
			t.Errorf("%q: %s by %q, want the rule to deny it", path, v.Effect, v.Rule)
		}
	}
	for _, path := range []string{"main.go", "./main.go", "a b", "app/routes/$id.tsx", "foo~", "é", "a:b.txt"[2:], "docs/(x)/[y].tsx"} {
		if v := judge(loadWith(t, policy.Options{}), claude(t, "Read", obj{"file_path": path})); v.Effect != sayso.Allow {
			t.Errorf("%q: %s by %q", path, v.Effect, v.Rule)
		}
	}
}

// The agent searches the workspace with the glob `.env`, and reads the person's
// keys without a question: only the folder of a search was looked at.
func TestAttack_searchForSecrets(t *testing.T) {
	none := loadWith(t, policy.Options{})
	root, app := project(t)
	at := func(tool string, args obj) sayso.Verdict {
		c := claude(t, tool, args)
		c.Cwd = app
		return none.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root, State: []string{root + "/state"}}))
	}
	content := func(args obj) obj {
		args["pattern"], args["output_mode"] = "SECRET", "content"
		return args
	}
	for _, args := range []obj{
		{"glob": ".env"}, {"glob": ".e*"}, {"glob": "**/.env"}, {"glob": "{.env,x}"}, {"glob": "*.go .env"}, {"glob": "*.go,.env"}, {"glob": ".{env,x}"}, {"glob": "*.pem"},
		{"glob": ".[e]nv"}, {"glob": "?env"}, {"glob": "conf/.env"}, {"glob": "*env"}, {}, {"glob": "*"}, {"glob": "**"}, {"glob": "!*.md"}, {"type": "all"}, {"glob": "conf/**"}, {"glob": "{src,conf}/**"},
		{"path": app}, {"path": "conf"}, {"glob": "lnk/**"}, {"glob": "../**"}, {"glob": ".{.,}/*"}, {"glob": "[.][.]/*"}, {"glob": "/etc/*"}, {"glob": "{,/etc/*}"},
	} {
		if v := at("Grep", content(args)); v.Effect == sayso.Allow {
			t.Errorf("Grep %v: %s by %q", args, v.Effect, v.Rule)
		}
	}
	for _, args := range []obj{
		{"glob": "*.go"}, {"glob": "**/*.{ts,tsx}"}, {"type": "go"}, {"path": "src"}, {"glob": "src/**"}, {"glob": "*.go *.md"}, {"glob": "src/**/*_test.go"}, {"path": "src", "glob": "*"},
		{"glob": "*.json"}, {"glob": "README*"},
	} {
		if v := at("Grep", content(args)); v.Effect != sayso.Allow {
			t.Errorf("Grep %v: %s by %q", args, v.Effect, v.Rule)
		}
	}
	// Names alone show no secret.
	for _, args := range []obj{{"pattern": "func"}, {"pattern": "func", "output_mode": "count"}, {"pattern": "func", "glob": "*"}} {
		if v := at("Grep", args); v.Effect != sayso.Allow {
			t.Errorf("Grep %v: %s by %q", args, v.Effect, v.Rule)
		}
	}
	for pattern, want := range map[string]sayso.Effect{
		"**/*.go": sayso.Allow, "**/*": sayso.Allow, "src/**": sayso.Allow, "*.{ts,tsx}": sayso.Allow, "lnk/*": sayso.Deny, "../*": sayso.Ask, ".{.,}/*": sayso.Deny, "[/]etc/*": sayso.Ask,
		"!/etc/*": sayso.Ask, "~/**": sayso.Ask, "{x,{/etc,y}}/*": sayso.Ask, " /etc/*": sayso.Ask, "**/.env": sayso.Ask, "C:/x": sayso.Ask,
	} {
		if v := at("Glob", obj{"pattern": pattern}); v.Effect != want {
			t.Errorf("Glob %q: %s by %q, want %s", pattern, v.Effect, v.Rule, want)
		}
	}
}

// Each host calls its searches otherwise, and what narrows them. Only the words of
// Claude Code were read: opencode's include named a file of secrets and nobody was
// asked, and a search that was kept away from them was asked about.
func TestAttack_searchForSecretsByHost(t *testing.T) {
	none := loadWith(t, policy.Options{})
	root, app := project(t)
	at := func(host, tool string, args obj) sayso.Verdict {
		c := claude(t, tool, args)
		c.Host, c.Cwd = host, app
		return none.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root, State: []string{root + "/state"}}))
	}
	for _, tt := range []struct{ host, tool, by, path string }{
		{"gemini", "grep_search", "include_pattern", "dir_path"}, {"copilot", "grep", "glob", "paths"}, {"opencode", "grep", "include", "path"},
		{"", "file-search", "glob", "path"}, {"", "file-search", "include", "path"}, {"", "file-search", "include_pattern", "path"}, {"elsewhere", "file-search", "includePattern", "path"},
	} {
		for value, want := range map[any]sayso.Effect{
			"*.go": sayso.Allow, "**/*.{ts,tsx}": sayso.Allow, "src/**": sayso.Allow,
			".env": sayso.Ask, "src/.env": sayso.Ask, "**/.e*": sayso.Ask, "*.pem": sayso.Ask, "*": sayso.Ask, "../**": sayso.Ask, "{,/etc/*}": sayso.Ask, "lnk/**": sayso.Deny, 1: sayso.Ask,
		} {
			if v := at(tt.host, tt.tool, obj{"pattern": "SECRET", tt.by: value}); v.Effect != want {
				t.Errorf("%s %s %s=%v: %s by %q, want %s", tt.host, tt.tool, tt.by, value, v.Effect, v.Rule, want)
			}
		}
		if v := at(tt.host, tt.tool, obj{"pattern": "SECRET", tt.path: "src", tt.by: ".env"}); v.Effect != sayso.Ask {
			t.Errorf("%s %s for .env in src: %s by %q", tt.host, tt.tool, v.Effect, v.Rule)
		}
		for where, want := range map[string]sayso.Effect{"src": sayso.Allow, "conf": sayso.Ask, ".": sayso.Ask, "/etc": sayso.Ask} {
			if v := at(tt.host, tt.tool, obj{"pattern": "SECRET", tt.path: where}); v.Effect != want {
				t.Errorf("%s %s in %s: %s by %q, want %s", tt.host, tt.tool, where, v.Effect, v.Rule, want)
			}
		}
	}
	for _, tt := range []struct {
		host, tool string
		args       obj
		want       sayso.Effect
	}{
		{"gemini", "grep_search", obj{"names_only": true}, sayso.Allow}, {"gemini", "grep_search", obj{"names_only": false}, sayso.Ask}, {"gemini", "grep_search", obj{"names_only": "true"}, sayso.Ask},
		{"copilot", "grep", obj{"output_mode": "count"}, sayso.Allow}, {"copilot", "grep", obj{"output_mode": "content"}, sayso.Ask}, {"copilot", "grep", obj{}, sayso.Ask},
		{"opencode", "grep", obj{"output_mode": "count"}, sayso.Ask}, // it has no such argument
		{"gemini", "glob", obj{"pattern": "**/.env"}, sayso.Ask}, {"copilot", "glob", obj{"pattern": "../*"}, sayso.Ask}, {"opencode", "glob", obj{"pattern": "/etc/*"}, sayso.Ask},
		{"gemini", "glob", obj{"pattern": "**/*.go"}, sayso.Allow}, {"copilot", "glob", obj{"pattern": "**/*.go"}, sayso.Allow}, {"opencode", "glob", obj{"pattern": "**/*.go"}, sayso.Allow},
		{"gemini", "search_file_content", obj{}, sayso.Ask}, {"cursor", "Grep", obj{}, sayso.Ask}, {"vscode", "grep_search", obj{"query": "x"}, sayso.Ask}, {"codex", "grep_files", obj{}, sayso.Ask}, // that no table has
	} {
		if _, given := tt.args["pattern"]; !given {
			tt.args["pattern"] = "SECRET"
		}
		if v := at(tt.host, tt.tool, tt.args); v.Effect != tt.want {
			t.Errorf("%s %s %v: %s by %q, want %s", tt.host, tt.tool, tt.args, v.Effect, v.Rule, tt.want)
		}
	}
	denies := load(t, rules(`deny: "file-search:private/**"`, `allow: "file-search:**"`))
	for host, tool := range map[string][2]string{"gemini": {"grep_search", "include_pattern"}, "copilot": {"grep", "glob"}, "opencode": {"grep", "include"}, "": {"file-search", "glob"}} {
		c := claude(t, tool[0], obj{"pattern": "x", tool[1]: "private/*"})
		c.Host = host
		if v := judge(denies, c); v.Effect != sayso.Deny {
			t.Errorf("%s %s into what is denied: %s by %q", host, tool[0], v.Effect, v.Rule)
		}
	}
}

// The agent searches the workspace, and is shown what lies in a folder of it: only what
// lay right where it searched was known.
func TestAttack_searchForSecretsBelow(t *testing.T) {
	root, app := project(t)
	if err := os.Remove(app + "/.env"); err != nil {
		t.Fatal(err)
	}
	policies := map[string]*policy.Policy{"none": loadWith(t, policy.Options{}), "developer": preset(t, "developer"), "readonly": preset(t, "readonly")}
	judged := func(p *policy.Policy, host, tool string, args obj) sayso.Verdict {
		args["pattern"] = "SECRET"
		c := claude(t, tool, args)
		c.Host, c.Cwd = host, app
		return p.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root, Roots: p.Roots(), Policy: p.Version()}))
	}
	for name, p := range policies {
		for _, args := range []obj{{}, {"path": "."}, {"glob": "*"}, {"glob": "!*.md"}, {"glob": "**/*"}, {"glob": "con?/**"}, {"type": "all"}} {
			args["output_mode"] = "content"
			if v := judged(p, "claude-code", "Grep", args); v.Effect != sayso.Ask {
				t.Errorf("%s: Grep %v: %s by %q", name, args, v.Effect, v.Rule)
			}
		}
		for _, args := range []obj{{"path": "src"}, {"glob": "*.go"}, {"type": "go"}, {"glob": "src/**"}, {"path": "a.go"}} {
			args["output_mode"] = "content"
			if v := judged(p, "claude-code", "Grep", args); v.Effect != sayso.Allow {
				t.Errorf("%s: Grep %v: %s by %q", name, args, v.Effect, v.Rule)
			}
		}
		if v := judged(p, "opencode", "grep", obj{}); v.Effect != sayso.Ask {
			t.Errorf("%s: grep: %s by %q", name, v.Effect, v.Rule)
		}
	}
	if err := os.WriteFile(app+"/.gitignore", []byte(".env\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, p := range policies {
		for _, tt := range []struct {
			host, tool string
			args       obj
			want       sayso.Effect
		}{
			{"claude-code", "Grep", obj{"output_mode": "content"}, sayso.Allow}, {"opencode", "grep", obj{}, sayso.Allow},
			{"claude-code", "Grep", obj{"output_mode": "content", "glob": "*"}, sayso.Ask}, {"opencode", "grep", obj{"include": "*"}, sayso.Ask}, {"gemini", "grep_search", obj{}, sayso.Ask}, {"copilot", "grep", obj{}, sayso.Ask},
		} {
			if v := judged(p, tt.host, tt.tool, tt.args); v.Effect != tt.want {
				t.Errorf("%s, .env ignored: %s %v: %s by %q", name, tt.host, tt.args, v.Effect, v.Rule)
			}
		}
	}
	// Of what there is too much to look at, what is narrowed to sources shows no secrets.
	none := policies["none"]
	for glob, want := range map[string]sayso.Effect{"*.go": sayso.Allow, "src/**/*.{rs,tsx}": sayso.Allow, "*.json": sayso.Ask, "*": sayso.Ask, "README*": sayso.Ask, "": sayso.Ask} {
		c := claude(t, "Grep", obj{"pattern": "x", "output_mode": "content", "glob": glob})
		c.Cwd = app
		f := facts.Gather(t.Context(), c, facts.Options{Home: root})
		f.Secrets, f.Trees = nil, []sayso.TreeFact{{Path: app, Cut: true}}
		if v := none.Judge(t.Context(), c, f); v.Effect != want {
			t.Errorf("too much to look at, %q: %s by %q", glob, v.Effect, v.Rule)
		}
	}
}

// project is a person's folder with a project of theirs in it that holds
// secrets.
func project(t testing.TB) (root, app string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	app = root + "/app"
	for name, text := range map[string]string{"app/.git/HEAD": "ref: refs/heads/main\n", "app/.git/objects/x": "", "app/.git/refs/x": "", "app/.env": "SECRET=1", "app/a.go": "", "app/src/b.go": "", "app/conf/.env": "SECRET=2", "state/x": "", "diary": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root, app+"/lnk"); err != nil {
		t.Fatal(err)
	}
	return root, app
}

// A rule denies searching `private/**`. The agent searches the whole workspace,
// or names the folder in the glob instead of the path, and gets it all.
func TestAttack_searchFromAbove(t *testing.T) {
	p := load(t, rules(`deny: ["file-search:private/**", "file-list:private/**"]`, `ask: "file-search:docs/deep/*.md"`, `allow: "file-search:**"`, `deny: "file-search:/etc/**"`))
	for _, tt := range []struct {
		tool string
		args obj
		want sayso.Effect
	}{
		{"Grep", obj{"glob": "private/**"}, sayso.Deny},
		{"Grep", obj{"glob": "{docs,private}/**"}, sayso.Deny},
		{"Grep", obj{"path": "private"}, sayso.Deny},
		{"Grep", obj{"path": "private "}, sayso.Deny},
		{"Grep", obj{"path": "PRIVATE"}, sayso.Deny},
		{"Glob", obj{"pattern": "private/**"}, sayso.Deny},
		{"Glob", obj{"pattern": "./private/*"}, sayso.Deny},
		{"Grep", obj{}, sayso.Ask},
		{"Grep", obj{"path": "/home/dev/app"}, sayso.Ask},
		{"Grep", obj{"glob": "**/k"}, sayso.Ask},
		{"Grep", obj{"glob": "p*/**"}, sayso.Ask},
		{"Grep", obj{"path": "docs"}, sayso.Ask},
		{"Grep", obj{"glob": "docs/**"}, sayso.Ask},
		{"Grep", obj{"path": "docs/deep"}, sayso.Ask},
		{"Grep", obj{"path": "docs", "glob": "*.go"}, sayso.Allow},
		{"Grep", obj{"path": "src"}, sayso.Allow},
		{"Grep", obj{"glob": "src/**/*.go"}, sayso.Allow},
		{"Glob", obj{"pattern": "**/*"}, sayso.Ask},
		{"Glob", obj{"pattern": "src/**"}, sayso.Allow},
		{"Grep", obj{"path": "/etc"}, sayso.Deny},
	} {
		if tt.tool == "Grep" {
			tt.args["pattern"] = "x"
		}
		if v := judge(p, claude(t, tt.tool, tt.args)); v.Effect != tt.want || v.Effect == sayso.Ask && v.Cause != sayso.CauseRule {
			t.Errorf("%s %v: %s by %q (%s), want %s", tt.tool, tt.args, v.Effect, v.Rule, v.Cause, tt.want)
		}
	}
	anywhere := load(t, rules(`deny: "file-search:**/.env"`))
	for glob, want := range map[string]sayso.Effect{"": sayso.Ask, "*.go": sayso.Allow, ".env": sayso.Deny, "src/.env": sayso.Deny, "*": sayso.Ask, "src/**": sayso.Ask} {
		args := obj{"pattern": "x"}
		if glob != "" {
			args["glob"] = glob
		}
		if v := judge(anywhere, claude(t, "Grep", args)); v.Effect != want {
			t.Errorf("Grep %q: %s by %q, want %s", glob, v.Effect, v.Rule, want)
		}
	}
}

// The settings of a project name a folder above our state as the root of the
// project. A search without a path then returned tokens, and a file of the
// person's was read as if it were the project's.
func TestAttack_workspaceAroundUs(t *testing.T) {
	none := loadWith(t, policy.Options{})
	root, _ := project(t)
	at := func(home, workspace, tool string, args obj) sayso.Verdict {
		c := claude(t, tool, args)
		c.Cwd = workspace
		return none.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: home, Workspace: workspace, State: []string{root + "/state"}}))
	}
	for _, home := range []string{root, root + "/app"} {
		if v := at(home, root, "Read", obj{"file_path": root + "/diary"}); v.Effect != sayso.Ask {
			t.Errorf("a workspace around %s: %s by %q", home, v.Effect, v.Rule)
		}
	}
	for _, c := range []struct {
		tool string
		args obj
	}{{"Grep", obj{"pattern": "x"}}, {"Grep", obj{"pattern": "x", "path": root}}, {"Glob", obj{"pattern": "state/*"}}, {"Glob", obj{"pattern": "**", "path": "/"}}, {"Grep", obj{"pattern": "x", "path": "lnk"}}} {
		if v := at("/nobody", root, c.tool, c.args); v.Effect != sayso.Deny && c.args["path"] != "lnk" || !strings.Contains(v.Reason, "sayso") && v.Effect == sayso.Deny {
			t.Errorf("%s %v: %s by %q (%s)", c.tool, c.args, v.Effect, v.Rule, v.Reason)
		}
	}
	if v := at("/nobody", root+"/app", "Grep", obj{"pattern": "x", "path": "src"}); v.Effect != sayso.Allow {
		t.Errorf("beside it: %s by %q", v.Effect, v.Rule)
	}
	if v := judge(none, call(t, "file-delete", obj{"path": "/home/dev/.local"})); v.Effect != sayso.Deny {
		t.Errorf("a deletion of the folder around it: %s", v.Effect)
	}
}

// The policy file is replaced by a link to nothing. It counted as a policy that
// was never written, and all its denials were gone.
func TestAttack_policyIsALinkToNothing(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "policy.yaml")
	if err := os.Symlink(filepath.Join(dir, "gone"), link); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "config")
	if err := os.Symlink(filepath.Join(dir, "gone"), folder); err != nil {
		t.Fatal(err)
	}
	for _, paths := range []policy.Paths{{User: link}, {Org: link}, {User: filepath.Join(folder, "policy.yaml")}} {
		if p, err := policy.Load(paths, policy.Options{}); err == nil || p != nil || !strings.Contains(err.Error(), "link to nothing") {
			t.Errorf("%+v loads: %v", paths, err)
		}
	}
	if _, err := policy.Load(policy.Paths{User: filepath.Join(dir, "none"), Org: filepath.Join(dir, "no", "folder")}, policy.Options{}); err != nil {
		t.Errorf("no file at all: %v", err)
	}
}

// The agent copies the log with `sayso backup`, where the hidden content lies
// open, or opens a port with `sayso serve`: no built-in spoke of either.
func TestAttack_verbsThatCopyAndServe(t *testing.T) {
	p := load(t, rules(`allow: ["bash:sayso backup /tmp/x", "bash:sayso serve", "bash:sayso log export"]`))
	for _, c := range []string{"sayso backup /tmp/x", "sayso serve", "sayso serve --listen 0.0.0.0:1", "sayso log export", "sayso log --json export x", "sudo sayso backup x", "sayso restore x"} {
		if v := judge(p, bash(t, c)); v.Effect != sayso.Deny || v.Cause != sayso.CauseBuiltin {
			t.Errorf("%q: %s by %q", c, v.Effect, v.Rule)
		}
	}
}

// `git status` is allowed. The agent calls it in a folder that it has filled
// itself, whose .git/config names a program to run.
func TestAttack_allowedTextInAnotherFolder(t *testing.T) {
	p := load(t, rules(`allow: "bash:git status"`))
	for cwd, want := range map[string]sayso.Effect{
		"/home/dev/app": sayso.Allow, "/home/dev/app/docs": sayso.Allow, "/tmp/evil": sayso.Ask, "/home/dev/app/out": sayso.Ask, "": sayso.Ask, "/home/dev": sayso.Ask, "/home/dev/app/loop": sayso.Ask,
	} {
		c := bash(t, "git status")
		c.Cwd = cwd
		v := p.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{FS: machine, Home: "/home/dev", Workspace: "/home/dev/app"}))
		if v.Effect != want || want == sayso.Ask && !strings.Contains(v.Reason, "outside the workspace") {
			t.Errorf("in %q: %s (%s), want %s", cwd, v.Effect, v.Reason, want)
		}
	}
	if v := p.Judge(t.Context(), bash(t, "git status"), sayso.Facts{}); v.Effect != sayso.Ask {
		t.Errorf("without facts: %s", v.Effect)
	}
	deny := load(t, "version: 1\ndefault: deny\nrules:\n  - allow: \"bash:git status\"\n")
	c := bash(t, "git status")
	c.Cwd = "/tmp/evil"
	if v := judge(loadWith(t, policy.Options{}), c); v.Effect != sayso.Ask {
		t.Errorf("no rule: %s", v.Effect)
	}
	if v := deny.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{FS: machine, Workspace: "/home/dev/app"})); v.Effect != sayso.Deny {
		t.Errorf("default: deny, outside: %s", v.Effect)
	}
}

// In approve_all the agent answers its own requests, by any of the ways in
// which a line can run sayso without its name and its verb side by side, or
// reads a token, or takes the hook out of the settings.
func TestAttack_simpleDisguises(t *testing.T) {
	p := load(t, "version: 1\ndefault: allow\n")
	for _, c := range []string{
		"echo approve x | xargs sayso", "xargs -a f sayso", "find / -name sayso -exec {} approve x \\;", "s?yso off", "say{so,} off", `$'\x73ayso' off`, `env $'\x73ayso' off`, "s$@ayso off", "s[a]yso off", "sa*o off", "/usr/bin/s?yso x",
		"$X approve k", "command s?yso off", "some-wrapper sayso off", `git -c alias.x="!sayso off" x`, "GIT_PAGER='sayso off' git log", "env PAGER='sayso off' man x", "alias s=sayso", "sayso $V x", "parallel sayso ::: off",
		`cat "/home/dev/.local/st"ate/s*/tokens/person`, "cat ~/.local/state/s*/tokens/*", "cat ~/.local/state/sayso/tokens/person", "cat < ~/.local/state/s?yso/tokens/x", "cd ~/.local/state && cat s*/tokens/x",
		"cat ../.local/state/sayso/tokens/person", "cat /home/*/.local/state/*/tokens/person", "cat ~/.local/{state,x}/s*/tokens/x", "cat ~/{.local/state/sayso,x}/tokens/person", "cat $X/tokens/person", "tar c -C ~/.local/state s*/tokens",
		"cp ~/.co*/s*/policy.yaml x", "sqlite3 file:$HOME/.local/state/s*/sayso.db",
		"rm ~/.claude/settings.json", "rm -rf .claude", "echo x > .mcp.json", "cp x .cursor/mcp.json", "python3 x.py ~/.copilot/mcp-config.json", "sort -o ~/.config/Claude/claude_desktop_config.json x", "rm -r ~/.cl*", "sed -i s/x/y/ ~/'.claude'/settings.json", "cd .claude && rm settings.json", "mv ~/.claude.json x", "tee .CLAUDE/settings.json",
		"python3 -c 'open(\".claude/settings.json\",\"w\")'", "cat x>>~/.claude/settings.json",
	} {
		if v := judge(p, bash(t, c)); v.Effect == sayso.Allow || v.Effect == sayso.Ask && !v.Person {
			t.Errorf("%q: %s by %q (a person: %v)", c, v.Effect, v.Rule, v.Person)
		}
	}
	for _, c := range []string{
		"systemd-cat sayso off", "rlwrap sayso off", "cat /home/dev/.local/./state/sayso/tokens/person", "cat /home/dev/.local//state/sayso/tokens/person", "cat /home/dev/x/../.local/state/sayso/log",
		`cat "/home/dev/.local/s"tate/sayso/tokens/person`, `cat /home/dev/.local/state/say\so/x`, "cat </home/dev/.local/state/sayso/../sayso/x",
	} {
		if v := judge(p, bash(t, c)); v.Effect != sayso.Deny {
			t.Errorf("%q: %s by %q", c, v.Effect, v.Rule)
		}
	}
	// The person's folder is not always where the policy thinks it is.
	elsewhere := loadWith(t, policy.Options{Home: "/root"}, "version: 1\ndefault: allow\n")
	for _, c := range []string{"cat ~/.local/state/s*/tokens/*", "cat $HOME/.local/state/s*/tokens/*", "cat ${HOME}/.loc*/state/s*/tokens/person", "cp ~/.co*/sayso/policy.yaml x"} {
		if v := judge(elsewhere, bash(t, c)); v.Effect == sayso.Allow || v.Effect == sayso.Ask && !v.Person {
			t.Errorf("%q: %s by %q (a person: %v)", c, v.Effect, v.Rule, v.Person)
		}
	}
	// What people do all day is none of this.
	for _, c := range []string{
		"ls", "go test ./...", "npm run build", "rm -rf build/*", "cat .claude/settings.json", "ls -la .claude", "grep -rn foo .claude 2>/dev/null", "git add -A && git commit -m 'x: y'", "for f in *.go; do gofmt -l $f; done", "cat */*/*.go",
		"find . -name '*.go' -exec wc -l {} +", "$EDITOR main.go", "ls ~/.config", "cat ~/app/*.md", "cat ~/.local/share/x/*", "make -C sub all", "echo $PATH", "cd docs && ls", "awk '{print $1}' f", "docker run --rm -v $PWD:/x img", "cat $DIR/main.go", "ls /home/*/app/*",
	} {
		if v := judge(p, bash(t, c)); v.Effect == sayso.Deny || strings.Contains(v.Rule, "sayso") || strings.Contains(v.Rule, "answer for themselves") {
			t.Errorf("%q: %s by %q (a person: %v)", c, v.Effect, v.Rule, v.Person)
		}
	}
}

// A server that calls itself docs__evil has its tools called mcp__docs__evil__x,
// which reads as the tool evil__x of the trusted server docs.
func TestAttack_serverWithAnotherInItsName(t *testing.T) {
	p := load(t, rules(`allow: [{server: docs}, "mcp__notes__*", "mcp__one__two__three"]`, `deny: "mcp__bad__*"`))
	served := func(server, tool string) sayso.Call {
		c := claude(t, tool, obj{})
		c.Server = server
		return c
	}
	expect(t, p, []sees{
		{"plain", claude(t, "mcp__docs__x", obj{}), sayso.Allow, sayso.CauseRule},
		{"two readings", claude(t, "mcp__docs__evil__x", obj{}), sayso.Ask, sayso.CauseDefault},
		{"three underscores", claude(t, "mcp__docs___x", obj{}), sayso.Ask, sayso.CauseDefault},
		{"two readings, by pattern", claude(t, "mcp__notes__evil__x", obj{}), sayso.Ask, sayso.CauseDefault},
		{"the host says which", served("docs", "mcp__docs__evil__x"), sayso.Allow, sayso.CauseRule},
		{"the host's own tool with a server", served("docs", "Bash"), sayso.Ask, sayso.CauseDefault},
		{"another server's tool", served("docs", "mcp__evil__x"), sayso.Ask, sayso.CauseDefault},
		{"the host says another", served("docs__evil", "mcp__docs__evil__x"), sayso.Ask, sayso.CauseDefault},
		{"written out", claude(t, "mcp__one__two__three", obj{}), sayso.Allow, sayso.CauseRule},
		{"a deny holds for any reading", claude(t, "mcp__bad__a__b", obj{}), sayso.Deny, sayso.CauseRule},
	})
	shell := load(t, rules(`allow: ["bash:ls", "file-*"]`))
	evil := claude(t, "Bash", obj{"command": "ls"})
	evil.Server = "evil"
	expect(t, shell, []sees{{"a server's tool called Bash is not ours", evil, sayso.Ask, sayso.CauseDefault}})
}

// The longest commands must not make the gate slow.
func TestAttack_longCommandsStayCheap(t *testing.T) {
	t.Parallel()
	p := load(t, "version: 1\n")
	for _, c := range []string{strings.Repeat("~/*/ ", 20_000), strings.Repeat("*", 60_000), strings.Repeat("{a,", 20_000), "cat " + strings.Repeat("**/", 20_000), strings.Repeat("cd a;", 12_000),
		"env " + strings.Repeat("* ", 30_000), "env sayso " + strings.Repeat("x ", 30_000), "foo " + strings.Repeat("sayso x ", 8000), strings.Repeat("a/b.c ", 10_000)} {
		before := time.Now()
		if v := judge(p, bash(t, c)); v.Effect == sayso.Allow {
			t.Errorf("%.20q: allowed", c)
		}
		t.Logf("%.20q took %s", c, time.Since(before))
	}
	if !slices.Contains([]sayso.Effect{sayso.Ask, sayso.Deny}, judge(p, bash(t, "")).Effect) {
		t.Error("nothing is allowed")
	}
}
