package tool_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// TestMove_remembered: a remembered yes to a file deleted knows nothing of where
// the file goes. That is asked about by itself, also after its name leads into
// another folder that asks.
func TestMove_remembered(t *testing.T) {
	work, f := askingFolders(t)
	rules, err := policy.New(policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := saysotest.New(t, saysotest.WithPolicy(rules))
	b.Answer(func(sayso.Request) sayso.Answer { return sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeSession} })
	w := tool.Wrap(b.Gate(), f, &tool.Terms{Workspace: work, Call: sayso.Call{Session: "s"}})
	move := func(want ...string) {
		t.Helper()
		write(t, work, "notes/log.txt", "one\n")
		before := len(b.Asked())
		if _, err := w.Call(t.Context(), calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": "notes/d/log.txt"})); err != nil {
			t.Fatal(err)
		}
		var asked []string
		for _, r := range b.Asked()[before:] {
			asked = append(asked, r.Tool+" "+r.Description)
		}
		if !slices.Equal(asked, want) {
			t.Errorf("asked %q, want %q", asked, want)
		}
		unlink(t, work, "notes/d/log.txt")
	}
	move("file-delete Move notes:log.txt to notes:d/log.txt")
	move("file-write Move notes:log.txt to notes:d/log.txt") // that it is deleted is remembered
	move()
	unlink(t, work, "notes/d")
	link(t, "../deploy", work, "notes/d")
	move("file-delete Move notes:log.txt to deploy:log.txt")
}

// TestMove_joint: only who was asked about the one end, and said yes, need not be
// asked about the other; and not if that steers programs.
func TestMove_joint(t *testing.T) {
	for _, tt := range []struct {
		by   sayso.Source
		to   string
		asks bool
	}{
		{sayso.SourcePerson, "notes/d/log.txt", false},
		{sayso.SourceGrant, "notes/d/log.txt", true},
		{sayso.SourcePolicy, "notes/d/log.txt", true},
		{sayso.SourceMode, "notes/d/log.txt", true},
		{"", "notes/d/log.txt", true},
		{sayso.SourcePerson, "notes/.git/config", true},
	} {
		_, f := askingFolders(t)
		g := &fake{decide: func(a sayso.Admission) (sayso.Decision, error) {
			d, err := yes(a)
			d.Source = tt.by
			return d, err
		}}
		if _, err := tool.Wrap(g, f, nil).Call(t.Context(), calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": tt.to})); err != nil {
			t.Fatal(err)
		}
		if len(g.admitted) != 2 || g.admitted[0].Ask == nil || (g.admitted[1].Ask != nil) != tt.asks {
			t.Errorf("a yes by %q to a move to %s: does the tool ask about where it goes? want %v, after %d calls put to the gate", tt.by, tt.to, tt.asks, len(g.admitted))
		}
	}
}

// TestMove_leads: a yes to a move is for where its name leads, so the same move is
// another call once that is elsewhere.
func TestMove_leads(t *testing.T) {
	work, f := askingFolders(t)
	g := &fake{decide: func(sayso.Admission) (sayso.Decision, error) { return sayso.Decision{}, sayso.ErrUnavailable }}
	w := tool.Wrap(g, f, nil)
	for _, to := range []string{"notes/d/log.txt", work + "/notes/d/log.txt", "notes/d/log.txt"} {
		if len(g.admitted) == 2 {
			unlink(t, work, "notes/d")
			link(t, "../deploy", work, "notes/d")
		}
		if _, err := w.Call(t.Context(), calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": to})); err == nil {
			t.Fatal("moved without a yes")
		}
	}
	var got []string
	for _, a := range g.admitted {
		got = append(got, string(a.Call.Args))
	}
	want := []string{
		`{"path":"notes/log.txt","to":"notes/d/log.txt"}`,
		`{"path":"notes/log.txt","to":"` + work + `/notes/d/log.txt"}`,
		`{"path":"notes/log.txt","to":"notes/d/log.txt","leads":"` + work + `/deploy/log.txt"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("put to the gate %q, want %q", got, want)
	}
}

// askingFolders are two folders that ask before writes.
func askingFolders(t *testing.T) (work string, f *tool.Files) {
	t.Helper()
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, work, "notes/log.txt", "one\n")
	write(t, work, "notes/d/log.txt", "")
	write(t, work, "deploy/log.txt", "")
	unlink(t, work, "notes/d/log.txt")
	unlink(t, work, "deploy/log.txt")
	f, err = tool.OpenFiles(work, sayso.PathRules{Roots: []sayso.PathRoot{
		{Name: "notes", Root: "./notes", Read: sayso.Allow, Write: sayso.Ask},
		{Name: "deploy", Root: "./deploy", Read: sayso.Allow, Write: sayso.Ask},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return work, f
}

func unlink(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
