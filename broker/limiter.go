package broker

import (
	"context"
	"sync"
	"time"
)

// askLimiter limits how often sessions may ask people. It remembers how often they
// still may, between two looks at the log, and the asks that are let in and not in the
// log yet: of many that come at once no more are let in than there is room for.
type askLimiter struct {
	mu     sync.Mutex // guards quotas, and what is in them
	quotas map[string]*askQuota
}

// askQuota is what one session may still ask.
type askQuota struct {
	credit     int       // asks that are let in without counting again
	creditEnds time.Time // when credit is worth nothing any more
	pending    int       // asks that were let in and are not in the log yet
	users      int       // who is in here, or on the way in
	counting   chan struct{}
	released   chan struct{} // closed when pending falls; nil if nobody wants to know
}

// creditTime is how long the credit of a count holds.
const creditTime = 10 * time.Second

// acquire admits an ask of a session if there is room for it. count tells how
// many more there is room for by the log. done must be called when the ask is
// in the log, or will not be; it is nil where there is no room.
func (l *askLimiter) acquire(ctx context.Context, session string, count func() (int, error)) (done func(), err error) {
	q := l.join(session)
	for {
		if l.takeCredit(q) {
			return func() { l.release(session, q, true) }, nil
		}
		select {
		case q.counting <- struct{}{}: // one counts at a time
		case <-ctx.Done():
			l.release(session, q, false)
			return nil, context.Cause(ctx)
		}
		in, released, err := l.countAndTake(q, count)
		<-q.counting
		switch {
		case err != nil || !in && released == nil:
			l.release(session, q, false)
			return nil, err
		case in:
			return func() { l.release(session, q, true) }, nil
		}
		select {
		case <-released: // others take up the room now, or have not used it
		case <-ctx.Done():
			l.release(session, q, false)
			return nil, context.Cause(ctx)
		}
	}
}

func (l *askLimiter) join(session string) *askQuota {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.quotas[session]
	if q == nil {
		l.evict()
		q = &askQuota{counting: make(chan struct{}, 1)}
		l.quotas[session] = q
	}
	q.users++
	return q
}

// evict drops the quotas that nobody uses when there are too many.
func (l *askLimiter) evict() {
	if l.quotas == nil {
		l.quotas = map[string]*askQuota{}
	}
	if len(l.quotas) < 4096 {
		return
	}
	for session, r := range l.quotas {
		if r.users == 0 {
			delete(l.quotas, session)
		}
	}
}

// takeCredit takes one of the asks that are let in without counting.
func (l *askLimiter) takeCredit(q *askQuota) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.credit <= 0 || !time.Now().Before(q.creditEnds) {
		return false
	}
	q.credit--
	q.pending++
	return true
}

// countAndTake counts the room and takes one ask of it. Where all that is left may be
// taken by asks that are under way, released tells when there are fewer of them. A
// session that was counted may use up half of the room that it has before it is
// counted again, so that the last one of its room is counted, and processes that
// share a log overrun a limit together by no more than half of the room each.
func (l *askLimiter) countAndTake(q *askQuota, count func() (int, error)) (in bool, released <-chan struct{}, err error) {
	if l.takeCredit(q) {
		return true, nil, nil // somebody else has counted meanwhile
	}
	l.mu.Lock()
	if q.released == nil {
		q.released = make(chan struct{})
	}
	pending, changes := q.pending, q.released
	l.mu.Unlock()
	room, err := count()
	if err != nil {
		return false, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch free := room - pending; {
	case free > 0:
		q.credit, q.creditEnds = (free-1)/2, time.Now().Add(creditTime)
		q.pending++
		return true, nil, nil
	case room > 0:
		return false, changes, nil
	}
	return false, nil, nil
}

// release ends what acquire began. An ask that was let in is in the log now, or will
// not be.
func (l *askLimiter) release(session string, q *askQuota, admitted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if admitted {
		q.pending--
	}
	if admitted && q.released != nil {
		close(q.released)
		q.released = nil
	}
	if q.users--; q.users == 0 && q.credit <= 0 {
		delete(l.quotas, session)
	}
}
