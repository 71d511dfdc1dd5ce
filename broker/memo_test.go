package broker_test

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/store/memory"
)

// memos are what the writers of events remember of them.
type memos struct {
	mu sync.Mutex // guards of
	of map[sayso.ID]*sayso.Memo
}

// with is events with what their writers remember of them.
func (m *memos) with(events []sayso.Event) []sayso.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range events {
		events[i].Memo = m.of[events[i].ID]
	}
	return events
}

// memoLog is a log that gives events with their memos, as an engine does that
// keeps what it wrote last.
type memoLog struct {
	*memory.Log
	*memos
}

func (l memoLog) Append(ctx context.Context, b sayso.Batch) ([]sayso.Event, error) {
	l.mu.Lock()
	for i := range b.Events {
		l.of[b.Events[i].ID] = b.Events[i].Memo
	}
	l.mu.Unlock()
	events, err := l.Log.Append(ctx, b)
	return l.with(events), err
}

func (l memoLog) Stream(ctx context.Context, stream string, after int) ([]sayso.Event, error) {
	events, err := l.Log.Stream(ctx, stream, after)
	return l.with(events), err
}

func (l memoLog) Since(ctx context.Context, after sayso.Seq, limit int) ([]sayso.Event, error) {
	events, err := l.Log.Since(ctx, after, limit)
	return l.with(events), err
}

// checkMemos checks, at the end of every test, that whoever folds events by
// what their writer remembers sees what everybody else reads.
func (w *harness) checkMemos() {
	w.t.Helper()
	events, err := memoLog{w.log, w.memos}.Since(context.Background(), 0, 1000) // enough, and no flood
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
		diff := cmp.Diff(b, a, cmpopts.EquateEmpty(), cmp.AllowUnexported(sayso.Life{}), cmpopts.IgnoreFields(sayso.Life{}, "private", "call"))
		if diff != "" || errA != nil || errB != nil {
			w.t.Errorf("%s folds otherwise when it is read (-read +written), %v, %v:\n%s", stream, errB, errA, diff)
		}
		if a, b := asked(&a), asked(&b); a != b {
			w.t.Errorf("%s was asked as %s by who wrote it, and as %s when it is read", stream, a, b)
		}
	}
}

// asked is what a request keeps of the call, or why it has none.
func asked(r *sayso.Request) string {
	p, err := r.Asked()
	if err != nil {
		return err.Error()
	}
	text, err := jcs.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
