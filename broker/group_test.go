package broker_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

func TestAnswerGroup(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		var ps []*pendingAdmit
		for i := range 4 {
			a := sayso.Admission{Call: bash(fmt.Sprint("c", i), fmt.Sprint("git push ", i))}
			a.Call.GroupID = "g1"
			if i == 3 {
				a.Call.GroupID = "g2"
			}
			ps = append(ps, w.ask(t.Context(), a))
		}
		open := w.open()
		members := []sayso.Member{
			{ID: open[0].ID, Digest: open[0].Digest, Content: open[0].Content},
			{ID: open[1].ID, Digest: open[0].Digest, Content: open[1].Content}, // not what was on the screen
			{ID: open[3].ID, Digest: open[3].Digest, Content: open[3].Content}, // of another group
		}
		results, err := w.b.Inbox(dev).AnswerGroup(t.Context(), "g1", members, sayso.Answer{Effect: sayso.Allow})
		if err != nil || len(results) != 3 {
			t.Fatal(results, err)
		}
		if results[0].Err != nil || !results[0].Decision.Allowed() {
			t.Errorf("the first got %+v", results[0])
		}
		wantErr(t, results[1].Err, sayso.ErrMismatch)
		wantErr(t, results[2].Err, sayso.ErrInvalid)
		for i, waits := range []bool{false, true, true, true} { // 2 is a latecomer
			if ps[i].isWaiting() != waits {
				t.Errorf("call %d waits: %v", i, !waits)
			}
		}
		for name, try := range map[string]func() error{
			"no group": func() error {
				_, err := w.b.Inbox(dev).AnswerGroup(t.Context(), "", members, sayso.Answer{Effect: sayso.Deny})
				return err
			},
			"no members": func() error {
				_, err := w.b.Inbox(dev).AnswerGroup(t.Context(), "g1", nil, sayso.Answer{Effect: sayso.Deny})
				return err
			},
			"an edit": func() error {
				_, err := w.b.Inbox(dev).AnswerGroup(t.Context(), "g1", members, sayso.Answer{Effect: sayso.Allow, Args: sayso.Args(`{}`)})
				return err
			},
		} {
			if err := try(); !errors.Is(err, sayso.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// What happened to a member since it was on the screen is told of that member
// alone: the others are answered, and the log has one answer for each of them.
func TestAnswerGroup_eachForItself(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		var members []sayso.Member
		for i := range 6 {
			a := sayso.Admission{Call: bash(fmt.Sprint("c", i), fmt.Sprint("git push ", i))}
			a.Call.GroupID = "g1"
			w.ask(t.Context(), a)
		}
		open := w.open()
		for _, r := range open {
			members = append(members, sayso.Member{ID: r.ID, Digest: r.Digest, Content: r.Content})
		}
		w.answerAsOwner(open[1].ID, sayso.Deny)
		if err := w.b.Gate(agent).Withdraw(t.Context(), open[2].ID, "changed my mind"); err != nil {
			t.Fatal(err)
		}
		members[3].Content = sayso.HashOf("something else")
		late := sayso.Admission{Call: bash("late", "git push late")}
		late.Call.GroupID = "g1"
		w.ask(t.Context(), late)
		before := w.count(sayso.EventAnswered)
		results, err := w.b.Inbox(dev).AnswerGroup(t.Context(), "g1", members, sayso.Answer{Effect: sayso.Allow, Note: "all of them"})
		if err != nil || len(results) != len(members) {
			t.Fatal(results, err)
		}
		for i, want := range []error{nil, sayso.ErrDecided, sayso.ErrWithdrawn, sayso.ErrMismatch, nil, nil} {
			if results[i].ID != members[i].ID || !errors.Is(results[i].Err, want) || results[i].Decision.Allowed() != (want == nil) {
				t.Errorf("member %d: %+v, want %v", i, results[i], want)
			}
		}
		if n := w.count(sayso.EventAnswered) - before; n != 3 {
			t.Errorf("%d answers were recorded, want one for each of the three", n)
		}
		if left := w.open(); len(left) != 2 || left[0].ID != open[3].ID || left[1].CallID != "late" {
			t.Errorf("%d wait", len(left))
		}
		again, err := w.b.Inbox(dev).AnswerGroup(t.Context(), "g1", members[4:], sayso.Answer{Effect: sayso.Allow, Note: "all of them"})
		if err != nil || again[0].Err != nil || again[1].Err != nil || w.count(sayso.EventAnswered)-before != 3 {
			t.Errorf("the same answer again: %+v, %v", again, err)
		}
	})
}

func TestAnswerGroup_isBounded(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		one := sayso.Member{ID: r.ID, Digest: r.Digest, Content: r.Content}
		many := []sayso.Member{one}
		for i := range sayso.MaxGroup {
			many = append(many, sayso.Member{ID: sayso.NewID(time.Now(), [16]byte{byte(i), byte(i >> 8)})})
		}
		for name, c := range map[string]struct {
			members []sayso.Member
			a       sayso.Answer
		}{
			"too many":      {many, sayso.Answer{Effect: sayso.Allow}},
			"one twice":     {[]sayso.Member{one, one}, sayso.Answer{Effect: sayso.Allow}},
			"no answer":     {[]sayso.Member{one}, sayso.Answer{Effect: sayso.Ask}},
			"an odd answer": {[]sayso.Member{one}, sayso.Answer{Effect: sayso.Allow, Uses: 2}},
			"an odd cover":  {[]sayso.Member{one}, sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeSession, Cover: "all"}},
		} {
			if _, err := w.b.Inbox(dev).AnswerGroup(t.Context(), "g1", c.members, c.a); !errors.Is(err, sayso.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if w.onlyOpen().ID != r.ID || len(w.refusals()) > 0 {
			t.Error("something of it was done")
		}
	})
}

// Who guesses ids learns nothing by naming them as members of a group: one of
// somebody else's session is told of as one that does not exist. The attempt on
// the right group is on the record.
func TestAnswerGroup_tellsStrangersNothing(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		var members []sayso.Member
		for i, group := range []string{"g1", "g2", ""} {
			a := sayso.Admission{Call: bash(fmt.Sprint("c", i), fmt.Sprint("git push ", i))}
			a.Call.GroupID = group
			w.ask(t.Context(), a)
		}
		for _, r := range w.open() {
			members = append(members, sayso.Member{ID: r.ID, Digest: r.Digest, Content: r.Content})
		}
		members = append(members, sayso.Member{ID: sayso.NewID(time.Now(), [16]byte{1})}, sayso.Member{ID: "no id at all"}, sayso.Member{})
		for _, who := range []sayso.Actor{stranger, program, {Principal: "eve", Kind: sayso.PrincipalViewer}, {}} {
			before := w.count(sayso.EventAnswerRefused)
			results, err := w.b.Inbox(who).AnswerGroup(t.Context(), "g1", members, sayso.Answer{Effect: sayso.Allow})
			if err != nil || len(results) != len(members) {
				t.Fatal(results, err)
			}
			for i, got := range results {
				want := fmt.Sprintf("request %s: not found", members[i].ID.Short())
				if !errors.Is(got.Err, sayso.ErrNotFound) || got.Err.Error() != want || got.ID != members[i].ID {
					t.Errorf("%q is told %v of member %d, want %s", who.Principal, got.Err, i, want)
				}
				if !reflect.DeepEqual(got.Decision, sayso.Decision{}) {
					t.Errorf("%q is shown %+v", who.Principal, got.Decision)
				}
			}
			if n := w.count(sayso.EventAnswerRefused) - before; n != 1 {
				t.Errorf("%q left %d events, want one", who.Principal, n)
			}
		}
		if n := len(w.open()); n != 3 {
			t.Errorf("%d are open", n)
		}
	})
}
