package facts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
)

// TestGather_roots: where the folders are that a policy names, links followed,
// also before they exist.
func TestGather_roots(t *testing.T) {
	home := place(t)
	f := facts.Gather(t.Context(), call(t, home+"/app/sub", "task-list", obj{}), facts.Options{
		Home: home, Roots: []string{"./sub", "out", "new/deep", home + "/link", "../app2", ".", "run.sh", "loop", ""},
	})
	want := []sayso.RootFact{
		{Root: "./sub", Resolved: home + "/app/sub"}, {Root: "out", Resolved: home + "/app2"}, {Root: "new/deep", Resolved: home + "/app/new/deep"},
		{Root: home + "/link", Resolved: home + "/app"}, {Root: "../app2", Resolved: home + "/app2"}, {Root: ".", Resolved: home + "/app"},
	}
	if diff := cmp.Diff(want, f.Roots); diff != "" {
		t.Error(diff)
	}
	// Where there is no project they are relative to the folder all the same.
	f = facts.Gather(t.Context(), call(t, home, "task-list", obj{}), facts.Options{Home: home, Roots: []string{"app2"}})
	if f.Workspace != "" || len(f.Roots) != 1 || f.Roots[0].Resolved != home+"/app2" {
		t.Errorf("at home: %+v", f)
	}
}

// TestSH11_places: what the words of a command lead to, from every folder that
// it may run in, and nothing of it where no policy asks.
func TestSH11_places(t *testing.T) {
	home := place(t)
	gather := func(cwd, command string) []string {
		f := facts.Gather(t.Context(), call(t, home+cwd, "bash", obj{"command": command}), facts.Options{Home: home, Roots: []string{"."}})
		var got []string
		for _, o := range f.Operands {
			if o.Arg != "command" {
				t.Errorf("%q: an operand of %q", command, o.Arg)
			}
			got = append(got, strings.TrimPrefix(o.Path, home)+" > "+strings.TrimPrefix(o.Resolved, home)+" "+string(o.State))
		}
		slices.Sort(got)
		return slices.Compact(got)
	}
	for _, tt := range []struct {
		cwd, command string
		want         []string
	}{
		{"/app", "cat run.sh sub/x", []string{"/app/run.sh > /app/run.sh file", "/app/sub/x > /app/sub/x file"}},
		{"/app", "cat script out/secret", []string{"/app/out/secret > /app2/secret file", "/app/script > /app/run.sh file"}},
		{"/app", "cd sub && cat x", []string{"/app/sub > /app/sub dir", "/app/sub/x > /app/sub/x file"}},
		{"/link", "cat run.sh", []string{"/app/run.sh > /app/run.sh file", "/link/run.sh > /app/run.sh file"}},
		{"/app", "ls > new", []string{"/app/new > /app/new missing"}},
		{"/app", "cat < run.sh", []string{"/app/run.sh > /app/run.sh file"}},
		{"/app", "x --out=sub/x", []string{"/app/sub/x > /app/sub/x file"}},
		{"/app", "cat $X *.go ~/x", nil},
		{"/app", "cat loop", []string{"/app/loop >  unknown"}},
	} {
		got := gather(tt.cwd, tt.command)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", tt.command, diff)
		}
	}
	f := facts.Gather(t.Context(), call(t, home+"/app", "bash", obj{"command": "cat run.sh"}), facts.Options{Home: home})
	if len(f.Operands) != 0 {
		t.Errorf("no policy asks: %v", f.Operands)
	}
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprintf("f%d", i)
	}
	f = facts.Gather(t.Context(), call(t, home+"/app", "bash", obj{"command": "cat " + strings.Join(many, " ")}), facts.Options{Home: home, Roots: []string{"."}})
	if !f.Truncated || len(f.Operands) > 2000 {
		t.Errorf("%d operands, truncated: %v", len(f.Operands), f.Truncated)
	}
}

// TestFS2_guardedPlaces: what a word leads to, or a glob stands for, in whatever
// folder, is told to every policy if it steers other programs or holds secrets.
func TestFS2_guardedPlaces(t *testing.T) {
	home := place(t)
	for name, to := range map[string]string{"app/notes": home + "/.ssh/id_rsa", "app/sub/deep.txt": "../.env", "app/settings": ".git/config"} {
		if err := os.Symlink(to, home+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".ssh/id_rsa": "k", "app/.env": "A=1", "app/.git/config": ""} {
		if err := os.MkdirAll(filepath.Dir(home+"/"+name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(home+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	padding := strings.Repeat("x", 5000)
	for command, want := range map[string][]string{
		"cat notes": {"/.ssh/id_rsa"}, "cat < notes": {"/.ssh/id_rsa"}, "cat sub/deep.txt": {"/app/.env"}, "tee settings": {"/app/.git/config"}, "echo x > settings": {"/app/.git/config"},
		"cat n*": {"/.ssh/id_rsa"}, "cat [!x]otes": {"/.ssh/id_rsa"}, "cat s*/deep.txt": {"/app/.env"}, "cat */d*": {"/app/.env"}, "cat ./*/d*t": {"/app/.env"}, "cat notes " + padding: {"/.ssh/id_rsa"},
		"cat " + many(40) + " notes": {"/.ssh/id_rsa"}, "cat run.sh": nil, "cat r*": nil, "cat */nothing": nil,
	} {
		f := facts.Gather(t.Context(), call(t, home+"/app", "bash", obj{"command": command}), facts.Options{Home: home})
		var got []string
		for _, o := range f.Operands {
			got = append(got, strings.TrimPrefix(o.Resolved, home))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.80q: %s", command, diff)
		}
		if len(f.Words) > 32 {
			t.Errorf("%.80q: %d words are kept", command, len(f.Words))
		}
	}
}

// many are names that nothing has.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d ", i)
	}
	return b.String()
}
