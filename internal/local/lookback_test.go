package local_test

import (
	"fmt"
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
