package facts_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
)

// The agent searches `~/…`, ` /…` or a link's name with a blank behind it. Only
// the kernel's reading was a fact, and the host opened another file.
func TestGather_asTheHostReadsIt(t *testing.T) {
	home := place(t)
	app := home + "/app"
	if err := os.Mkdir(app+"/é", 0o700); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		"~/x": home + "/x", "~": home, " ~/x ": home + "/x", " " + home + "/x": home + "/x", "\u00a0" + home + "/x\ufeff": home + "/x", "out ": home + "/app2", "\tout": home + "/app2",
		"out\n": home + "/app2", "e\u0301": app + "/é", " ": app, "~/../" + filepath.Base(home) + "/x": home + "/x",
	} {
		for _, tool := range []string{"file-read", "file-search"} {
			got := facts.Gather(t.Context(), call(t, app, tool, obj{"path": given}), facts.Options{Home: home})
			found := false
			for _, o := range got.Operands {
				found = found || o.Resolved == want
				if o.Arg != "path" || o.Path != given {
					t.Errorf("%q: an operand %+v", given, o)
				}
			}
			if !found || len(got.Operands) < 2 {
				t.Errorf("%q leads to %+v, want also %s", given, got.Operands, want)
			}
		}
	}
	// The host may take another folder for the person's than we do.
	other := facts.Gather(t.Context(), call(t, app, "file-read", obj{"path": "~/secret"}), facts.Options{Home: home, HostHome: home + "/app2"}).Operands
	if len(other) != 3 || other[1].Resolved != home+"/secret" || other[2].Resolved != home+"/app2/secret" {
		t.Errorf("two readings of a tilde: %+v", other)
	}
	if got := facts.Gather(t.Context(), call(t, app, "file-read", obj{"path": "~/x"}), facts.Options{}); len(got.Operands) != 1 {
		t.Errorf("nobody is at home: %+v", got.Operands)
	}
}

// The agent narrows a search of the workspace to a folder behind a link, or to
// one that is denied: the folder of the glob was no fact.
func TestGather_foldersOfGlobs(t *testing.T) {
	home := place(t)
	app := home + "/app"
	for glob, want := range map[string][]string{
		"out/**": {app, home + "/app2"}, "sub/*.go": {app, app + "/sub"}, "*.go": {app}, "{sub,out}/**": {app, app + "/sub", home + "/app2"}, "!sub/**": {app}, "far": {app, home + "/app2/secret"},
		"../**": {app}, "sub/x *.go": {app, app + "/sub/x"},
	} {
		for tool, key := range map[string]string{"file-search": "glob", "file-list": "pattern"} {
			var got []string
			for _, o := range facts.Gather(t.Context(), call(t, app, tool, obj{key: glob}), facts.Options{}).Operands {
				got = append(got, o.Resolved)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %q:\n%s", tool, glob, diff)
			}
		}
	}
}

// The agent searches a folder beneath which keys lie: nothing told policy.
func TestGather_secrets(t *testing.T) {
	home := place(t)
	app := home + "/app"
	files(t, app, map[string]string{".env": "", "sub/.env.local": "", "sub/deep/key.pem": "", "x.md": "", "node_modules/x/test.pem": "", ".git/x.pem": ""})
	beneath := []string{app + "/sub/.env.local", app + "/sub/deep/key.pem"}
	all := append([]string{app + "/.env"}, beneath...)
	for _, tt := range []struct {
		tool string
		args obj
		want []string
	}{
		{"file-search", obj{}, all},
		{"file-search", obj{"path": "sub"}, beneath},
		{"file-search", obj{"path": "sub/deep"}, beneath[1:]},
		{"file-search", obj{"path": "out"}, nil},
		{"file-search", obj{"path": "x.md"}, nil},
		{"file-search", obj{"glob": "sub/**"}, all},
		{"file-search", obj{"path": home}, all},
		{"file-search", obj{"path": "node_modules"}, []string{app + "/node_modules/x/test.pem"}},
		{"file-list", obj{}, nil},
		{"file-read", obj{"path": "."}, nil},
	} {
		got := facts.Gather(t.Context(), call(t, app, tt.tool, tt.args), facts.Options{})
		if diff := cmp.Diff(tt.want, got.Secrets); diff != "" || got.Truncated || len(got.Trees) > 0 {
			t.Errorf("%s %v, truncated %v, %v:\n%s", tt.tool, tt.args, got.Truncated, got.Trees, diff)
		}
	}
	other := facts.Gather(t.Context(), call(t, app, "file-search", obj{}), facts.Options{})
	other.Secrets = nil
	if other.Equal(facts.Gather(t.Context(), call(t, app, "file-search", obj{}), facts.Options{})) {
		t.Error("facts with secrets equal those without")
	}
}

// What git is told to ignore the searches of some hosts leave out, unless a pattern
// takes it in.
func TestGather_secretsThatAreIgnored(t *testing.T) {
	app := place(t) + "/app"
	files(t, app, map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", ".gitignore": ".env\n/logs/\n", ".env": "", "conf/.env": "", "conf/tls.key": "", "conf/.gitignore": "/k/**\n", "conf/k/x.pem": "", "logs/x.pem": "", "own/.git/HEAD": "", "own/.env": ""})
	plain := []string{app + "/conf/tls.key", app + "/own/.env"} // a repository of its own
	all := []string{app + "/.env", app + "/conf/.env", app + "/conf/k/x.pem", app + "/conf/tls.key", app + "/logs/x.pem", app + "/own/.env"}
	for _, tt := range []struct {
		host, tool string
		args       obj
		want       []string
	}{
		{"claude-code", "Grep", obj{"output_mode": "content"}, plain},
		{"claude-code", "Grep", obj{"output_mode": "content", "glob": "!*.go"}, plain},
		{"claude-code", "Grep", obj{"output_mode": "content", "type": "all"}, plain},
		{"claude-code", "Grep", obj{"output_mode": "content", "glob": "*"}, all},
		{"claude-code", "Grep", obj{"output_mode": "content", "glob": "!*.go *"}, all},
		{"claude-code", "Grep", obj{"output_mode": "content", "glob": "![x"}, all},
		{"claude-code", "Grep", obj{"output_mode": "content", "glob": 1}, all},
		{"claude-code", "Grep", obj{"output_mode": "content", "path": "conf"}, plain[:1]},
		{"claude-code", "Grep", obj{"output_mode": "content", "path": "logs"}, all[4:5]}, // by its name
		{"claude-code", "Grep", obj{"output_mode": 1}, plain},
		{"claude-code", "Grep", obj{"Output_Mode": "count"}, plain},
		{"claude-code", "Grep", obj{}, nil}, // shows names
		{"claude-code", "Grep", obj{"output_mode": "count"}, nil},
		{"claude-code", "Grep", obj{"output_mode": "files_with_matches", "glob": "*"}, nil},
		{"opencode", "grep", obj{}, plain},
		{"opencode", "grep", obj{"include": "*.env"}, all},
		{"gemini", "grep_search", obj{}, all},
		{"copilot", "grep", obj{}, all},
		{"", "file-search", obj{}, all},
	} {
		tt.args["pattern"] = "x"
		c := call(t, app, tt.tool, tt.args)
		c.Host = tt.host
		if diff := cmp.Diff(tt.want, facts.Gather(t.Context(), c, facts.Options{}).Secrets); diff != "" {
			t.Errorf("%s %v:\n%s", tt.host, tt.args, diff)
		}
	}
}

// The settings of a project name a folder above the person's as its root, and
// everything the person keeps was inside.
func TestGather_workspaceAroundHome(t *testing.T) {
	root := place(t)
	home := root + "/plain"
	for given, want := range map[string]string{root: "", home: "", "/": "", root + "/app": root + "/app", home + "/sub": home + "/sub", root + "/link/..": ""} {
		got := facts.Gather(t.Context(), sayso.Call{Tool: "task-list", Cwd: root}, facts.Options{Home: home, Workspace: given}).Workspace
		if got != want {
			t.Errorf("%s: the workspace is %q, want %q", given, got, want)
		}
		hosts := facts.Gather(t.Context(), sayso.Call{Tool: "task-list", Cwd: root}, facts.Options{Home: "/nobody", HostHome: home, Workspace: given}).Workspace
		if hosts != want {
			t.Errorf("%s: the workspace is %q if the host alone knows home, want %q", given, hosts, want)
		}
	}
}
