package local_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/policy"
)

// A person who may answer sees a call with its token hidden. By trying policies
// on it, one letter after the other, the person would find out what it is: so
// nothing is said of such a call but that there is one. An admin could read the
// log as well.
func TestReplay_findsOutNothingHidden(t *testing.T) {
	l := open(t, at(t), local.Options{})
	gate, err := l.Gate(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range [...]string{"deploy --token s3cretvalue", "deploy --dry-run"} {
		a := sayso.Admission{Call: call(fmt.Sprint(i), line), Patience: time.Millisecond, Immediate: true}
		if d, err := gate.Admit(t.Context(), a); err == nil {
			t.Fatalf("%s: %+v, want that it waits", line, d)
		}
	}
	e, _ := l.Engine()
	admin := home.OwnActor(sayso.PrincipalAdmin, home.Person(), "terminal")
	replay := func(who sayso.Actor, first string) wire.Replayed {
		t.Helper()
		out, err := e.LookBack().Replay(t.Context(), who, "version: 1\nrules:\n  - deny: bash\n    when: 'call.command.startsWith(\"deploy --token "+first+"\")'\n", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	right, wrong := replay(person, "s"), replay(person, "t")
	for name, out := range map[string]wire.Replayed{"right": right, "wrong": wrong} {
		gap := wire.Gap{Why: policy.GapHidden, Count: 1}
		if out.Calls != 2 || out.Replayed != 1 || len(out.Changes) != 0 || len(out.NotReplayed) != 1 || out.NotReplayed[0] != gap {
			t.Errorf("tried with the %s letter: %+v", name, out)
		}
	}
	if out := replay(admin, "s"); out.Replayed != 2 || len(out.Changes) != 1 {
		t.Errorf("an admin: %+v", out)
	}
}

// What is explained on a page must not deceive whoever reads it.
func TestExplain_spellsOutWhatDeceives(t *testing.T) {
	e, _ := open(t, at(t), local.Options{}).Engine()
	c := call("1", "echo a\u202egnp; rm b\u200b")
	out, err := e.LookBack().Explain(t.Context(), person, wire.Explain{Call: &c})
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%+v", out)
	if strings.ContainsAny(text, "\u202e\u200b") || !strings.Contains(out.Text, "echo a") || len(out.Commands) != 2 {
		t.Errorf("%s", text)
	}
}

// A call that somebody types is made nowhere: it is judged as in a project, and
// nothing of this machine is looked at.
func TestExplain_assumesAProjectAndLooksAtNothing(t *testing.T) {
	p := at(t)
	policyIs(t, p, "version: 1\nrules:\n  - allow: [bash:ls*, file-read]\n")
	e, _ := open(t, p, local.Options{}).Engine()
	link := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(link, "out")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		assume bool
		call   sayso.Call
		want   sayso.Effect
	}{
		{true, sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"ls -l"}`)}, sayso.Allow},
		{true, sayso.Call{Tool: "bash", Cwd: "/srv/app", Args: sayso.Args(`{"command":"ls -l"}`)}, sayso.Allow},
		{false, sayso.Call{Tool: "bash", Cwd: "/srv/app", Args: sayso.Args(`{"command":"ls -l"}`)}, sayso.Ask},
		{true, sayso.Call{Tool: "file-read", Cwd: link, Args: sayso.Args(`{"path":"out/passwd"}`)}, sayso.Allow}, // here it is a link
		{true, sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"ls; make"}`)}, sayso.Ask},
	} {
		out, err := e.LookBack().Explain(t.Context(), person, wire.Explain{Call: &tt.call, Assume: tt.assume})
		if err != nil || out.Effect != tt.want {
			t.Errorf("%s in %q, assumed %v: %s by %s, %v; want %s", tt.call.Args, tt.call.Cwd, tt.assume, out.Effect, out.Rule, err, tt.want)
		}
	}
	one := sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"ls"}`)}
	for _, wrong := range []wire.Explain{{Request: "k7fm", Assume: true}, {Call: &one, Facts: sayso.Facts{Workspace: "/"}, Assume: true}} {
		if err := wrong.Check(); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
