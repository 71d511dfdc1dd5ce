package facts_test

import (
	"fmt"
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

// The agent searches a folder in which keys lie: nothing told policy.
func TestGather_secrets(t *testing.T) {
	home := place(t)
	app := home + "/app"
	for _, name := range []string{".env", "sub/.env.local", "sub/deep/key.pem", "x.md"} {
		if err := os.WriteFile(filepath.Join(app, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		tool string
		args obj
		want []string
	}{
		{"file-search", obj{}, []string{app + "/.env"}},
		{"file-search", obj{"path": "sub"}, []string{app + "/sub/.env.local"}},
		{"file-search", obj{"glob": "sub/**"}, []string{app + "/.env", app + "/sub/.env.local"}},
		{"file-search", obj{"path": home}, nil},
		{"file-list", obj{}, nil},
		{"file-read", obj{"path": "."}, nil},
	} {
		got := facts.Gather(t.Context(), call(t, app, tt.tool, tt.args), facts.Options{})
		if diff := cmp.Diff(tt.want, got.Secrets); diff != "" || got.Truncated {
			t.Errorf("%s %v, truncated %v:\n%s", tt.tool, tt.args, got.Truncated, diff)
		}
	}
	other := facts.Gather(t.Context(), call(t, app, "file-search", obj{}), facts.Options{})
	other.Secrets = nil
	if other.Equal(facts.Gather(t.Context(), call(t, app, "file-search", obj{}), facts.Options{})) {
		t.Error("facts with secrets equal those without")
	}
	for i := range 2001 {
		if err := os.WriteFile(filepath.Join(app, "sub", fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := facts.Gather(t.Context(), call(t, app, "file-search", obj{"path": "sub"}), facts.Options{}); !got.Truncated {
		t.Error("a folder too large to look through does not say so")
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
