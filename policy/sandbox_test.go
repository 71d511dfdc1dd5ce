package policy_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// roots is a policy with every kind of root.
const roots = `version: 1
sandbox:
  paths:
    notes: {root: ./notes, mode: rw, suffixes: [.txt, .log]}
    output: {root: output, mode: rw, write_approval: false}
    private: {root: ./output/private, mode: rw, read_approval: true, write_approval: true}
    docs: {root: ./docs}
    data: {root: /data, mode: rw, write_approval: false}
    mine: {root: ~/mine, read_approval: false}
    shared: {root: ./shared, mode: rw, write_approval: false}
    gone: {root: ./gone, mode: rw, write_approval: false}
`

// yard is a disk for those roots.
func yard() disk {
	d := maps.Clone(machine)
	maps.Copy(d, disk{
		"/home/dev/app/notes": "dir", "/home/dev/app/notes/a.txt": "file", "/home/dev/app/notes/run.sh": "file", "/home/dev/app/notes/deep": "dir",
		"/home/dev/app/notes/link.txt": "-> run.sh", "/home/dev/app/notes/out.txt": "-> /etc/passwd", "/home/dev/app/notes/gone.txt": "-> ../missing.txt",
		"/home/dev/app/notes/two.txt": "two names", "/home/dev/app/notes/fifo.txt": "fifo", "/home/dev/app/notes2": "dir", "/home/dev/app/notes2/a.txt": "file",
		"/home/dev/app/output": "dir", "/home/dev/app/output/x": "file", "/home/dev/app/output/two": "two names", "/home/dev/app/output/docs": "-> ../docs/deep",
		"/home/dev/app/output/private": "dir", "/home/dev/app/output/private/key": "file", "/home/dev/app/output/up": "-> ..",
		"/home/dev/app/link": "-> output", "/data": "dir", "/data/set": "file", "/data2": "dir", "/data3": "dir", "/home/dev/mine": "dir", "/home/dev/mine/x": "file",
		"/home/dev/app/shared": "-> /data2",
	})
	return d
}

// TestFS2_roots is section 5 of the rules: which root decides, and what it says.
func TestFS2_roots(t *testing.T) {
	p := load(t, roots)
	fs := yard()
	for _, tt := range []struct {
		tool, path string
		want       sayso.Effect
	}{
		// What the roots say of reading and writing.
		{"file-read", "notes/a.txt", sayso.Allow}, {"file-write", "notes/a.txt", sayso.Ask}, {"file-write", "notes/new.log", sayso.Ask},
		{"file-read", "output/x", sayso.Allow}, {"file-write", "output/x", sayso.Allow}, {"file-write", "output/new/deep", sayso.Allow}, {"file-delete", "output/x", sayso.Allow},
		{"file-read", "docs/a.md", sayso.Allow}, {"file-edit", "docs/a.md", sayso.Deny},
		{"file-read", "/data/set", sayso.Allow}, {"file-write", "/data/set", sayso.Allow}, {"file-read", "/home/dev/mine/x", sayso.Allow}, {"file-write", "/home/dev/mine/x", sayso.Deny},
		{"file-write", "gone/x", sayso.Allow},
		// Outside every root.
		{"file-read", "main.go", sayso.Deny}, {"file-write", "main.go", sayso.Deny}, {"file-read", "/etc/passwd", sayso.Deny}, {"file-read", "/", sayso.Deny}, {"file-list", ".", sayso.Deny},
		// Components, not prefixes.
		{"file-read", "notes2/a.txt", sayso.Deny}, {"file-write", "outputx", sayso.Deny}, {"file-read", "/data3/x", sayso.Deny},
		// The deepest root decides.
		{"file-read", "output/private/key", sayso.Ask}, {"file-write", "output/private/key", sayso.Ask}, {"file-list", "output", sayso.Ask}, {"file-delete", "output", sayso.Ask},
		// The ending of the final name.
		{"file-read", "notes/run.sh", sayso.Deny}, {"file-read", "notes/a.txt.sh", sayso.Deny}, {"file-read", "notes/.txt", sayso.Deny}, {"file-read", "notes/a.TXT", sayso.Deny},
		{"file-read", "notes/a.txt ", sayso.Deny}, {"file-list", "notes", sayso.Allow}, {"file-search", "notes", sayso.Ask}, {"file-read", "notes/link.txt", sayso.Deny},
		// Links before dot-dot; where links lead.
		{"file-read", "notes/out.txt", sayso.Deny}, {"file-write", "notes/gone.txt", sayso.Deny}, {"file-read", "output/../main.go", sayso.Deny}, {"file-read", "notes/../notes/a.txt", sayso.Allow},
		{"file-write", "output/docs/x", sayso.Deny}, {"file-write", "output/docs/../x", sayso.Deny}, {"file-read", "output/docs/../a.md", sayso.Allow}, {"file-write", "link/x", sayso.Allow},
		{"file-write", "output/up/main.go", sayso.Deny},
		// A root that is a link out of the workspace is asked about.
		{"file-write", "shared/x", sayso.Ask}, {"file-read", "shared/x", sayso.Ask},
		// What is no file.
		{"file-read", "notes/fifo.txt", sayso.Ask}, {"file-read", "", sayso.Deny}, {"file-read", "notes/\x00.txt", sayso.Deny}, {"file-read", "notes/" + strings.Repeat("x", 300) + ".txt", sayso.Deny},
		{"file-read", "notes/missing/../a.txt", sayso.Deny}, {"file-read", "loop", sayso.Deny}, {"file-read", "notes/a.txt/x", sayso.Deny},
		// A file with more than one name.
		{"file-write", "notes/two.txt", sayso.Ask}, {"file-write", "output/two", sayso.Ask}, {"file-read", "notes/two.txt", sayso.Allow},
	} {
		v := judgeOn(p, fs, call(t, tt.tool, obj{"path": tt.path}))
		if v.Effect != tt.want {
			t.Errorf("%s %q: %s by %q (%s), want %s", tt.tool, tt.path, v.Effect, v.Rule, v.Reason, tt.want)
		}
	}
}

// TestFS3_controlFilesInRoots: no root allows them to be written.
func TestFS3_controlFilesInRoots(t *testing.T) {
	p := load(t, roots)
	fs := yard()
	for _, path := range []string{
		"output/.git/config", "output/.GIT/hooks/x", "output/.claude/settings.json", "output/.vscode/tasks.json", "output/.mcp.json", "output/.envrc",
		"output/.cursor/x", "output/.sayso/policy.yaml", "output/sub/.Git", "/data/.bashrc",
	} {
		if v := judgeOn(p, fs, call(t, "file-write", obj{"path": path})); v.Effect != sayso.Ask || !v.Person {
			t.Errorf("%s: %s by %q (a person: %v)", path, v.Effect, v.Rule, v.Person)
		}
	}
}

// TestFS2_deletesWhatItHolds: who deletes a folder deletes what is in it, so the
// strictest of the roots in it decides, wherever it stands in the file.
func TestFS2_deletesWhatItHolds(t *testing.T) {
	fs := yard()
	maps.Copy(fs, disk{"/home/dev/app/output/sub": "dir", "/home/dev/app/output/sub/kept": "dir"})
	p := load(t, `version: 1
sandbox:
  paths:
    output: {root: ./output, mode: rw, write_approval: false}
    asked: {root: ./output/private, mode: rw}
    kept: {root: ./output/sub/kept}
    more: {root: ./output/more, mode: rw}
shell:
  rules:
    - {pattern: rm, approval: false, sandbox_paths: [output]}
    - {pattern: du, approval: false, sandbox_paths: [output, asked, kept, more]}
`)
	for _, tt := range []struct {
		tool, path string
		want       sayso.Effect
		rule       string
	}{
		{"file-delete", "output/sub/kept", sayso.Deny, "sandbox.paths.kept"}, {"file-delete", "output/sub", sayso.Deny, "sandbox.paths.kept"},
		{"file-delete", "output", sayso.Deny, "sandbox.paths.kept"}, {"file-delete", "output/private", sayso.Ask, "sandbox.paths.asked"},
		{"file-delete", "output/x", sayso.Allow, "sandbox.paths.output"}, {"file-list", "output", sayso.Allow, "sandbox.paths.output"},
		{"file-write", "output/sub/new", sayso.Allow, "sandbox.paths.output"},
	} {
		if v := judgeOn(p, fs, call(t, tt.tool, obj{"path": tt.path})); v.Effect != tt.want || v.Rule != tt.rule {
			t.Errorf("%s %q: %s by %q (%s), want %s by %q", tt.tool, tt.path, v.Effect, v.Rule, v.Reason, tt.want, tt.rule)
		}
	}
	for line, want := range map[string]sayso.Effect{
		"rm output/x": sayso.Allow, "rm -r output": sayso.Ask, "rm -r output/sub": sayso.Ask, "rm -r output/sub/kept": sayso.Ask, "rm -r output/private": sayso.Ask,
		"du output": sayso.Allow,
	} {
		if v := judgeOn(p, fs, call(t, "bash", obj{"command": line})); v.Effect != want {
			t.Errorf("%s: %s by %q (%s), want %s", line, v.Effect, v.Rule, v.Reason, want)
		}
	}
}

// TestFS2_rulesAndRoots: what a root says itself holds like a rule; what it
// leaves open holds where no rule speaks; its denials are final.
func TestFS2_rulesAndRoots(t *testing.T) {
	p := load(t, roots+`rules:
  - allow: ["file-write:notes/**", "file-write:output/private/**", "file-read:main.go", "file-edit:docs/**"]
  - ask: "file-read:notes/**"
  - deny: "file-write:output/x"
`)
	fs := yard()
	for _, tt := range []struct {
		tool, path string
		want       sayso.Effect
	}{
		{"file-write", "notes/a.txt", sayso.Allow}, {"file-write", "output/private/key", sayso.Ask}, {"file-read", "main.go", sayso.Deny}, {"file-edit", "docs/a.md", sayso.Deny},
		{"file-read", "notes/a.txt", sayso.Ask}, {"file-write", "output/x", sayso.Deny}, {"file-write", "output/y", sayso.Allow}, {"file-write", "notes/run.sh", sayso.Deny},
	} {
		if v := judgeOn(p, fs, call(t, tt.tool, obj{"path": tt.path})); v.Effect != tt.want {
			t.Errorf("%s %q: %s by %q (%s), want %s", tt.tool, tt.path, v.Effect, v.Rule, v.Reason, tt.want)
		}
	}
}

// TestFS1_missingFacts: what was not found out is asked about, or denied.
func TestFS1_missingFacts(t *testing.T) {
	p := load(t, roots)
	c := call(t, "file-write", obj{"path": "output/x"})
	whole := gatherFor(p, yard(), c)
	for name, f := range map[string]sayso.Facts{
		"none": {}, "no roots": {Workspace: whole.Workspace, Cwd: whole.Cwd, Operands: whole.Operands},
		"no operands":   {Workspace: whole.Workspace, Cwd: whole.Cwd, Roots: whole.Roots},
		"one root less": {Workspace: whole.Workspace, Cwd: whole.Cwd, Operands: whole.Operands, Roots: whole.Roots[1:]},
	} {
		if v := p.Judge(context.Background(), c, f); v.Effect == sayso.Allow {
			t.Errorf("%s: allowed by %q", name, v.Rule)
		}
	}
	if v := p.Judge(context.Background(), c, whole); v.Effect != sayso.Allow {
		t.Errorf("with all facts: %s by %q", v.Effect, v.Rule)
	}
}

// TestFS2_hostsTidyPaths: a host may remove a dot-dot before it opens the path,
// so both readings must be permitted.
func TestFS2_hostsTidyPaths(t *testing.T) {
	p := load(t, roots)
	fs := yard()
	path := "output/docs/../a.md" // docs/a.md to the kernel, output/a.md once tidied
	if v := judgeOn(p, fs, claude(t, "Write", obj{"file_path": path, "content": ""})); v.Effect != sayso.Deny {
		t.Errorf("write: %s by %q", v.Effect, v.Rule)
	}
	if v := judgeOn(p, fs, claude(t, "Read", obj{"file_path": "/home/dev/app/" + path})); v.Effect != sayso.Allow {
		t.Errorf("read: %s by %q", v.Effect, v.Rule)
	}
}

// TestFS2_noRoots: without any, the workspace is the one implied root.
func TestFS2_noRoots(t *testing.T) {
	for name, p := range map[string]*policy.Policy{"no file": loadWith(t, policy.Options{}), "default allow": load(t, "version: 1\ndefault: allow\n")} {
		for _, tt := range []struct {
			tool, path string
			want       sayso.Effect
		}{
			{"file-read", "main.go", sayso.Allow}, {"file-write", "main.go", sayso.Ask}, {"file-read", "/etc/passwd", sayso.Ask}, {"file-write", "/etc/passwd", sayso.Ask},
			{"file-read", "out/passwd", sayso.Ask}, {"file-read", "", sayso.Deny}, {"file-read", "a\x00b", sayso.Deny}, {"file-write", "loop", sayso.Deny},
		} {
			if v := judge(p, call(t, tt.tool, obj{"path": tt.path})); v.Effect != tt.want {
				t.Errorf("%s: %s %q: %s by %q, want %s", name, tt.tool, tt.path, v.Effect, v.Rule, tt.want)
			}
		}
	}
}

// TestFS2_projectsRoots: the roots of a project's own file say where a tool may
// not read and write, and ask; what they permit stays as it is without them.
func TestFS2_projectsRoots(t *testing.T) {
	repo, err := policy.Parse("repo.yaml", []byte(roots))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Options{Home: "/home/dev"}, policy.Tiered{Tier: policy.TierRepo, File: repo, Workspace: "/home/dev/app"})
	if err != nil {
		t.Fatal(err)
	}
	fs := yard()
	for _, tt := range []struct {
		tool, path string
		want       sayso.Effect
	}{
		{"file-read", "notes/a.txt", sayso.Allow}, {"file-read", "docs/a.md", sayso.Allow}, {"file-list", "docs", sayso.Allow},
		{"file-read", "notes/run.sh", sayso.Deny}, {"file-read", "main.go", sayso.Deny}, {"file-write", "docs/a.md", sayso.Deny}, {"file-read", "output/private/key", sayso.Ask},
		{"file-write", "notes/a.txt", sayso.Ask}, {"file-write", "output/x", sayso.Ask}, {"file-read", "/data/set", sayso.Ask},
	} {
		if v := judgeOn(p, fs, call(t, tt.tool, obj{"path": tt.path})); v.Effect != tt.want {
			t.Errorf("%s %q: %s by %q (%s), want %s", tt.tool, tt.path, v.Effect, v.Rule, v.Reason, tt.want)
		}
	}
}

// TestFS2_searchesThatLeave: an allow for a folder is not one for a pattern that
// leads out of it, to what a rule denies or anywhere else.
func TestFS2_searchesThatLeave(t *testing.T) {
	p := load(t, rules(`allow: ["file-list:**", "file-search:**"]`, `deny: "file-*:private/**"`))
	for _, tt := range []struct {
		tool string
		args obj
		want sayso.Effect
	}{
		{"Glob", obj{"path": "docs", "pattern": "**/*.md"}, sayso.Allow}, {"Glob", obj{"path": "docs", "pattern": "[a-z]*/x"}, sayso.Allow}, {"Grep", obj{"path": "docs", "pattern": "../x", "glob": "!*.[jt]s"}, sayso.Allow},
		{"Glob", obj{"path": "docs", "pattern": "../private/*"}, sayso.Ask}, {"Glob", obj{"path": "docs", "pattern": ".{.,}/private/*"}, sayso.Deny}, {"Glob", obj{"path": "docs", "pattern": "[.][.]/private/*"}, sayso.Ask},
		{"Glob", obj{"path": "docs", "pattern": "/etc/[p]*"}, sayso.Ask}, {"Glob", obj{"path": "docs", "pattern": "~/.ssh/*"}, sayso.Ask}, {"Grep", obj{"path": "docs", "pattern": "x", "glob": "../private/*"}, sayso.Ask},
	} {
		if v := judge(p, claude(t, tt.tool, tt.args)); v.Effect != tt.want || tt.want == sayso.Ask && !v.Person {
			t.Errorf("%s %v: %s by %q (a person: %v), want %s", tt.tool, tt.args, v.Effect, v.Rule, v.Person, tt.want)
		}
	}
}
