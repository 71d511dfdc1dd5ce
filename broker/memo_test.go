package broker_test

import (
	"bytes"
	"context"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sayso-dev/sayso"
)

// readsTheSame checks, at the end of every test, that whoever folds events by
// what their writer remembers sees what everybody else reads.
func (w *world) readsTheSame() {
	w.t.Helper()
	events, err := w.log.Since(context.Background(), 0, 1000) // enough, and no flood
	if err != nil {
		return // the test closed its log
	}
	written, read := map[string][]sayso.Event{}, map[string][]sayso.Event{}
	for _, e := range events {
		written[e.Stream] = append(written[e.Stream], e)
		a, errA := e.Public()
		e.Memo = nil
		read[e.Stream] = append(read[e.Stream], e)
		b, errB := e.Public()
		if errA != nil || errB != nil || !bytes.Equal(a.Payload, b.Payload) {
			w.t.Errorf("%s is shown as %s (%v) and read as %s (%v)", e.Type, a.Payload, errA, b.Payload, errB)
		}
	}
	for stream := range written {
		if !strings.HasPrefix(stream, "request/") {
			continue
		}
		a, errA := sayso.Fold(written[stream])
		b, errB := sayso.Fold(read[stream])
		diff := cmp.Diff(b, a, cmpopts.EquateEmpty(), cmp.AllowUnexported(sayso.Life{}))
		if diff != "" || errA != nil || errB != nil {
			w.t.Errorf("%s folds otherwise when it is read (-read +written), %v, %v:\n%s", stream, errB, errA, diff)
		}
	}
}
