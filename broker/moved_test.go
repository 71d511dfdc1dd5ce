package broker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// moves change what a call means, and not the call.
var moves = map[string]func(*sayso.Facts){
	"the directory is another": func(f *sayso.Facts) { f.Cwd = "/srv/other" },
	"the project is another":   func(f *sayso.Facts) { f.Workspace = "/srv/other" },
	"a path leads elsewhere":   func(f *sayso.Facts) { f.Operands = []sayso.PathFact{{Arg: "path", Path: "x", Resolved: "/etc/x"}} },
	"a script was changed":     func(f *sayso.Facts) { f.Files = []sayso.FileFact{{Path: "/app/x", Digest: sayso.HashOf("2")}} },
	"a file holds something else": func(f *sayso.Facts) {
		f.Operands = []sayso.PathFact{{Arg: "path", Path: "x", Resolved: "/app/x", State: sayso.PathFile, Links: 1, Digest: sayso.HashOf("3")}}
	},
	"a script is gone":    func(f *sayso.Facts) { f.Files = nil },
	"not all can be told": func(f *sayso.Facts) { f.Truncated = true },
}

// placed is the call with what it meant when people were asked.
func placed(id string, patience time.Duration) sayso.Admission {
	a := patient(id, patience)
	a.Facts = sayso.Facts{
		Workspace: "/app", Cwd: "/app",
		Operands: []sayso.PathFact{{Arg: "path", Path: "x", Resolved: "/app/x", State: sayso.PathFile, Links: 1}},
		Files:    []sayso.FileFact{{Path: "/app/x", Digest: sayso.HashOf("1")}},
	}
	return a
}

// An approval that waits for its caller is not that of a call which has come to
// mean something else meanwhile, though its words are the same.
func TestTakeUp_notWhenTheCallMeansSomethingElse(t *testing.T) {
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				_, err := w.admit(placed("c1", time.Second))
				wantErr(t, err, sayso.ErrPending)
				first := w.onlyOpen().ID
				w.answerAsOwner(first, sayso.Allow)
				moved := placed("c2", time.Second)
				move(&moved.Facts)
				d, err := w.admit(moved)
				wantErr(t, err, sayso.ErrPending)
				if d.Allowed() || w.onlyOpen().ID == first {
					t.Errorf("it got %+v", d)
				}
				moved.Call.CallID = "c1"
				d, err = w.admit(moved)
				wantErr(t, err, sayso.ErrConflict)
				if d.Allowed() || !strings.Contains(err.Error(), "has changed") {
					t.Errorf("under the same call id it got %+v, %v", d, err)
				}
				if d := w.allowed(placed("c3", time.Second)); d.Request != first {
					t.Errorf("the call as it was got %+v", d)
				}
			})
		})
	}
}

// An open request is not joined either; a no is a no wherever it leads.
func TestTakeUp_movedWhileOpenOrDenied(t *testing.T) {
	moved := func(id string) sayso.Admission {
		a := placed(id, time.Second)
		a.Facts.Cwd = "/srv/other"
		return a
	}
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		_, err := w.admit(placed("c1", time.Second))
		wantErr(t, err, sayso.ErrPending)
		_, err = w.admit(moved("c1"))
		wantErr(t, err, sayso.ErrConflict)
		_, err = w.admit(moved("c2"))
		wantErr(t, err, sayso.ErrPending)
		if n := len(w.open()); n != 2 {
			t.Errorf("%d requests are open, want two", n)
		}
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		_, err := w.admit(placed("c1", time.Second))
		wantErr(t, err, sayso.ErrPending)
		w.answerAsOwner(w.onlyOpen().ID, sayso.Deny)
		if d, err := w.admit(moved("c1")); err != nil || d.State != sayso.StateDenied {
			t.Errorf("got %+v, %v", d, err)
		}
	})
}

// A remembered yes is for the place and the files that it was given for.
func TestGR5_pinsWhereTheCallLeads(t *testing.T) {
	for name, move := range moves {
		if name == "the project is another" || name == "not all can be told" {
			continue // policy sees these, and the call is the same
		}
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				first := placed("c1", 0)
				first.Immediate = true
				w.remember(first)
				if !w.isAllowedUnasked(placed("c2", time.Second)) {
					t.Error("the same call asks")
				}
				moved := placed("c3", time.Second)
				move(&moved.Facts)
				if w.isAllowedUnasked(moved) {
					t.Error("the call was silenced")
				}
			})
		})
	}
}
