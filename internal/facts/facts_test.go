package facts_test

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// place is a home with a project and things around it.
func place(t testing.TB) string {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"app/.git", "app/sub/deep", "app2", "state", "plain/sub"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"app/run.sh": "echo hi\n", "app/sub/x": "x", "app2/secret": "s", "x": "not the project's"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"app/out": "../app2", "app/script": "run.sh", "app/far": "../app2/secret", "app/loop": "loop", "link": "app"} {
		if err := os.Symlink(target, filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func call(t testing.TB, cwd, tool string, args any) sayso.Call {
	text, err := jcs.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return sayso.Call{Tool: tool, Cwd: cwd, Args: text}
}

type obj = map[string]any

func at(arg, path, resolved string, state sayso.PathState, links int) sayso.PathFact {
	return sayso.PathFact{Arg: arg, Path: path, Resolved: resolved, State: state, Links: links}
}

func TestGather_cwd(t *testing.T) {
	home := place(t)
	for given, want := range map[string]string{"/app/sub": "/app/sub", "/link/sub": "/app/sub", "/app/loop": ""} {
		f := facts.Gather(t.Context(), call(t, home+given, "bash", obj{"command": "make"}), facts.Options{})
		if want != "" {
			want = home + want
		}
		if f.Cwd != want {
			t.Errorf("in %s the directory is %q, want %q", given, f.Cwd, want)
		}
	}
	if f := facts.Gather(t.Context(), call(t, "", "bash", obj{"command": "make"}), facts.Options{}); f.Cwd != "" {
		t.Errorf("without a directory it is %q", f.Cwd)
	}
}

func TestGather_workspace(t *testing.T) {
	home := place(t)
	for _, tt := range []struct{ name, cwd, given, want string }{
		{"the repository around", "/app/sub/deep", "", "/app"},
		{"the repository itself", "/app", "", "/app"},
		{"through a link", "/link/sub", "", "/app"},
		{"no repository", "/plain/sub", "", "/plain/sub"},
		{"given", "/plain/sub", "/app/sub", "/app/sub"},
		{"home is no project", "", "", "-"},
		{"nor if given", "/app", "", "/app"},
		{"a folder that is not there", "/nowhere", "", "/nowhere"},
		{"a file", "/app/run.sh", "", "-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := facts.Options{Home: home}
			if tt.given != "" {
				o.Workspace = home + tt.given
			}
			want := strings.TrimPrefix(home+tt.want, home+"-")
			if got := facts.Gather(context.Background(), call(t, home+tt.cwd, "task-list", obj{}), o).Workspace; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if err := os.Mkdir(filepath.Join(home, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := facts.Gather(context.Background(), call(t, home+"/plain", "task-list", obj{}), facts.Options{Home: home})
	if got.Workspace != home+"/plain" {
		t.Errorf("a home under version control is no project; got %q", got.Workspace)
	}
	if got := facts.Gather(context.Background(), call(t, "/", "task-list", obj{}), facts.Options{}); got.Workspace != "" {
		t.Errorf("the root is no project; got %q", got.Workspace)
	}
}

func TestGather_operands(t *testing.T) {
	home := place(t)
	app := home + "/app"
	for _, tt := range []struct {
		name, tool string
		args       any
		want       []sayso.PathFact
		cut        bool
	}{
		{"a file", "file-read", obj{"path": "sub/x"}, []sayso.PathFact{at("path", "sub/x", app+"/sub/x", "file", 1)}, false},
		{"our own name for it", "read_file", obj{"path": "sub/x"}, []sayso.PathFact{at("path", "sub/x", app+"/sub/x", "file", 1)}, false},
		{"through a link", "file-write", obj{"path": "out/new"}, []sayso.PathFact{at("path", "out/new", home+"/app2/new", "missing", 0)}, false},
		{"two readings", "file-read", obj{"path": "out/../x"}, []sayso.PathFact{
			at("path", "out/../x", home+"/x", "file", 1), at("path", "out/../x", app+"/x", "missing", 0)}, false},
		{"one reading", "file-read", obj{"path": "sub/../run.sh"}, []sayso.PathFact{at("path", "sub/../run.sh", app+"/run.sh", "file", 1)}, false},
		{"a loop", "file-read", obj{"path": "loop"}, []sayso.PathFact{at("path", "loop", "", "unknown", 0)}, false},
		{"empty", "file-read", obj{"path": ""}, []sayso.PathFact{at("path", "", "", "unknown", 0)}, false},
		{"left out", "file-read", obj{}, nil, false},
		{"left out where it may be", "file-list", obj{}, []sayso.PathFact{at("path", ".", app, "dir", 0)}, false},
		{"no text", "file-read", obj{"path": 7}, nil, true},
		{"a tool without paths", "web-fetch", obj{"url": "/etc/passwd"}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := facts.Gather(context.Background(), call(t, app, tt.tool, tt.args), facts.Options{})
			for i := range got.Operands {
				if got.Operands[i].State == sayso.PathDir {
					got.Operands[i].Links = 0 // differs from one file system to the next
				}
			}
			if diff := cmp.Diff(tt.want, got.Operands); diff != "" || got.Truncated != tt.cut {
				t.Errorf("truncated %v, operands:\n%s", got.Truncated, diff)
			}
		})
	}
	if got := facts.Gather(context.Background(), call(t, "", "file-read", obj{"path": "x"}), facts.Options{}); len(got.Operands) != 0 || !got.Truncated {
		t.Errorf("a relative path without a working directory: %+v", got)
	}
	bad := sayso.Call{Tool: "file-read", Cwd: app, Args: []byte(`{"path":"a","path":"b"}`)}
	if got := facts.Gather(context.Background(), bad, facts.Options{}); len(got.Operands) != 0 || !got.Truncated {
		t.Errorf("a key twice: %+v", got)
	}
}

func TestGather_files(t *testing.T) {
	home := place(t)
	app := home + "/app"
	run := sayso.FileFact{Path: app + "/run.sh", Digest: sha256.Sum256([]byte("echo hi\n"))}
	x := sayso.FileFact{Path: app + "/sub/x", Digest: sha256.Sum256([]byte("x"))}
	for _, tt := range []struct {
		command string
		want    []sayso.FileFact
		cut     bool
	}{
		{"./run.sh", []sayso.FileFact{run}, false},
		{"bash script", []sayso.FileFact{run}, false},
		{"bash run.sh ./run.sh sub/x", []sayso.FileFact{run, x}, false},
		{"make --file=sub/x", []sayso.FileFact{x}, false},
		{"cat far ../app2/secret out/secret", nil, false},
		{"ls sub", nil, false},
		{"git status", nil, false},
		{"./run.sh; ls", nil, true},
		{"bash < run.sh", nil, true},
		{"bash $X", nil, true},
		{"bash r*", nil, true},
		{"bash 'run.sh'", nil, true},
		{"bash \\run.sh", nil, true},
		{"a\nb", nil, true},
	} {
		got := facts.Gather(context.Background(), call(t, app, "bash", obj{"command": tt.command}), facts.Options{})
		if diff := cmp.Diff(tt.want, got.Files); diff != "" || got.Truncated != tt.cut {
			t.Errorf("%q: truncated %v, files:\n%s", tt.command, got.Truncated, diff)
		}
	}
}

func TestGather_limits(t *testing.T) {
	home := place(t)
	app := home + "/app"
	big := filepath.Join(app, "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 17<<20); err != nil {
		t.Fatal(err)
	}
	many := "cat"
	for i := range 20 {
		name := strings.Repeat("n", i+1)
		if err := os.WriteFile(filepath.Join(app, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		many += " " + name
	}
	for _, command := range []string{"cat big", many, "echo" + strings.Repeat(" w", 300)} {
		if got := facts.Gather(context.Background(), call(t, app, "bash", obj{"command": command}), facts.Options{}); !got.Truncated {
			t.Errorf("%.20s… is not marked as truncated", command)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := facts.Gather(ctx, call(t, app, "bash", obj{"command": "./run.sh"}), facts.Options{}); !got.Truncated || got.Files != nil {
		t.Errorf("after its context ended: %+v", got)
	}
}

func TestGather_state(t *testing.T) {
	home := place(t)
	if err := os.Symlink("state", filepath.Join(home, "st")); err != nil {
		t.Fatal(err)
	}
	got := facts.Gather(context.Background(), call(t, home+"/app", "task-list", obj{}), facts.Options{State: []string{home + "/st", home + "/new/later"}})
	if diff := cmp.Diff([]string{home + "/state", home + "/new/later"}, got.State); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkGather(b *testing.B) {
	app := place(b) + "/app"
	for name, c := range map[string]sayso.Call{
		"read": call(b, app, "file-read", obj{"path": "sub/x"}),
		"bash": call(b, app, "bash", obj{"command": "bash run.sh sub/x --verbose"}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				facts.Gather(context.Background(), c, facts.Options{State: []string{app + "/../state"}})
			}
		})
	}
}
