package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// waiter is a wake-up that any number of goroutines wait for. There is one for
// each stream that is waited for, so that an append costs nothing for those
// who wait for other streams.
type waiter struct {
	grown chan struct{} // closed when the stream grows
	n     int           // goroutines that wait
}

// Wait returns the events of a stream behind its first after ones when there is
// one, or when it is until; see [sayso.Log].
func (l *Log) Wait(ctx context.Context, stream string, after int, until time.Time) ([]sayso.Event, error) {
	if err := l.wait(ctx, stream, until, func() bool { return l.length(stream) > after }); err != nil {
		return nil, err
	}
	return l.Stream(ctx, stream, after)
}

// WaitSince returns when the log has an event after a position; see
// [sayso.Log].
func (l *Log) WaitSince(ctx context.Context, after sayso.Seq) ([]sayso.Event, error) {
	return nil, l.wait(ctx, "", time.Time{}, func() bool { return l.head.Seq > after })
}

// wait returns nil once grown, which runs with the log locked, is true, or once it
// is until. The waiter is registered under the same lock as grown was looked at, so that
// nothing can come between.
func (l *Log) wait(ctx context.Context, name string, until time.Time, grown func() bool) error {
	var ends <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		ends = timer.C
	}
	for {
		l.mu.Lock()
		if grown() {
			l.mu.Unlock()
			return nil
		}
		w := l.join(name)
		l.mu.Unlock()
		select {
		case <-w.grown:
			continue
		case <-ends:
			l.leave(name, w)
			return nil
		case <-ctx.Done():
			l.leave(name, w)
			return ctx.Err()
		case <-l.closed:
			l.leave(name, w)
			return fmt.Errorf("%w: the log was closed", sayso.ErrUnavailable)
		}
	}
}

func (s *store) join(name string) *waiter {
	w, ok := s.waiters[name]
	if !ok {
		w = &waiter{grown: make(chan struct{})}
		s.waiters[name] = w
	}
	w.n++
	return w
}

// leave forgets a waiter that nobody waits for any more.
func (s *store) leave(name string, w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.n--; w.n == 0 && s.waiters[name] == w {
		delete(s.waiters, name)
	}
}

// wake releases everybody who waits for a stream.
func (s *store) wake(name string) {
	if w, ok := s.waiters[name]; ok {
		delete(s.waiters, name)
		close(w.grown)
	}
}
