package broker

import (
	"context"
	"sync"
	"time"
)

// rooms keep count of how often sessions may still ask people, between two
// looks at the log, and of the asks that are let in and not in the log yet: of
// many that come at once no more are let in than there is room for.
type rooms struct {
	mu sync.Mutex // guards of, and what is in it
	of map[string]*askroom
}

// askroom is the room of one session.
type askroom struct {
	left  int       // asks that are let in without counting again
	until time.Time // when left is worth nothing any more
	under int       // asks that were let in and are not in the log yet
	users int       // who is in here, or on the way in
	turn  chan struct{}
	less  chan struct{} // closed when under falls; nil if nobody wants to know
}

// countedTime is how long a count holds.
const countedTime = 10 * time.Second

// enter lets an ask of a session in if there is room for it. count tells how
// many more there is room for by the log. done must be called when the ask is
// in the log, or will not be; it is nil where there is no room.
func (a *rooms) enter(ctx context.Context, session string, count func() (int, error)) (done func(), err error) {
	mine := a.join(session)
	for {
		if a.use(mine) {
			return func() { a.leave(session, mine, true) }, nil
		}
		select {
		case mine.turn <- struct{}{}: // one counts at a time
		case <-ctx.Done():
			a.leave(session, mine, false)
			return nil, context.Cause(ctx)
		}
		in, less, err := a.counted(mine, count)
		<-mine.turn
		switch {
		case err != nil || !in && less == nil:
			a.leave(session, mine, false)
			return nil, err
		case in:
			return func() { a.leave(session, mine, true) }, nil
		}
		select {
		case <-less: // others take up the room now, or have not used it
		case <-ctx.Done():
			a.leave(session, mine, false)
			return nil, context.Cause(ctx)
		}
	}
}

func (a *rooms) join(session string) *askroom {
	a.mu.Lock()
	defer a.mu.Unlock()
	mine := a.of[session]
	if mine == nil {
		a.forget()
		mine = &askroom{turn: make(chan struct{}, 1)}
		a.of[session] = mine
	}
	mine.users++
	return mine
}

// forget makes room for another session when there are too many.
func (a *rooms) forget() {
	if a.of == nil {
		a.of = map[string]*askroom{}
	}
	if len(a.of) < 4096 {
		return
	}
	for session, r := range a.of {
		if r.users == 0 {
			delete(a.of, session)
		}
	}
}

// use takes one of the asks that are let in without counting.
func (a *rooms) use(mine *askroom) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if mine.left <= 0 || !time.Now().Before(mine.until) {
		return false
	}
	mine.left--
	mine.under++
	return true
}

// counted counts the room and takes a place in it. Where all that is left may be
// taken by asks that are under way, less tells when there are fewer of them. A
// session that was counted may use up half of the room that it has before it is
// counted again, so that the last one of its room is counted, and processes that
// share a log overrun a limit together by no more than half of the room each.
func (a *rooms) counted(mine *askroom, count func() (int, error)) (in bool, less <-chan struct{}, err error) {
	if a.use(mine) {
		return true, nil, nil // somebody else has counted meanwhile
	}
	a.mu.Lock()
	if mine.less == nil {
		mine.less = make(chan struct{})
	}
	under, changes := mine.under, mine.less
	a.mu.Unlock()
	room, err := count()
	if err != nil {
		return false, nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch free := room - under; {
	case free > 0:
		mine.left, mine.until = (free-1)/2, time.Now().Add(countedTime)
		mine.under++
		return true, nil, nil
	case room > 0:
		return false, changes, nil
	}
	return false, nil, nil
}

// leave ends what enter began. An ask that was let in is in the log now, or will
// not be.
func (a *rooms) leave(session string, mine *askroom, was bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if was {
		mine.under--
	}
	if was && mine.less != nil {
		close(mine.less)
		mine.less = nil
	}
	if mine.users--; mine.users == 0 && mine.left <= 0 {
		delete(a.of, session)
	}
}
