package broker_test

import (
	"testing"
	"testing/synctest"

	"github.com/sayso-dev/sayso"
)

// eraseAs empties the content of a request as another process does.
func (w *harness) eraseAs(by sayso.Actor, id sayso.ID) {
	w.t.Helper()
	stream := sayso.RequestStream(id)
	now := w.clock.now()
	_, err := w.log.Append(w.t.Context(), sayso.Batch{
		Events: []sayso.Event{{
			ID: sayso.NewID(now.Wall, [16]byte{9}), Stream: stream, Type: sayso.EventContentErased, Version: 1, At: now, Actor: by,
			SessionID: "s1", RequestID: id, Payload: sayso.Args(`{"requests":["` + string(id) + `"],"why":"asked to"}`),
		}},
		Expect: map[string]int{stream: sayso.AnyLength},
		Erase:  []sayso.ID{id},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// What another process erases goes from the memory of this one too, of whatever was
// erased and of nothing else.
func TestErased_elsewhereIsForgottenHere(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		f := w.follow(0, quick())
		gone, kept := w.ask(t.Context(), sayso.Admission{Call: bash("c1", "echo gone")}), w.ask(t.Context(), sayso.Admission{Call: bash("c2", "echo kept")})
		synctest.Wait()
		if !gone.isWaiting() || !kept.isWaiting() || !w.b.Remembers("echo gone") || !w.b.Remembers("echo kept") {
			t.Fatal("what waits and was shown is not remembered")
		}
		w.eraseAs(dev, w.open()[0].ID)
		synctest.Wait()
		if w.b.Remembers("echo gone") {
			t.Error("what was erased is remembered")
		}
		if r := w.open()[0]; !r.Erased || len(r.Preview) > 0 {
			t.Errorf("it is listed with %s", r.Preview)
		}
		if !w.b.Remembers("echo kept") {
			t.Error("what was not erased is forgotten")
		}
		f.leaves()
		if w.b.Remembers("echo") {
			t.Error("nobody follows, and what would not be heard to be erased is remembered")
		}
	})
}

// Whoever reads the log from its beginning hears of it too.
func TestErased_isForgottenByWhoCatchesUp(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		w.eraseAs(dev, id)
		f := w.follow(0, quick())
		synctest.Wait()
		if w.b.Remembers("git push") {
			t.Error("what was erased is remembered")
		}
		f.leaves()
	})
}
