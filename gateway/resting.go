package gateway

import (
	"context"
	"errors"
	"time"
)

// pause is how long a server that does not say is left alone.
var pause = time.Second // less in tests

const (
	minPause = 10 * time.Millisecond
	maxPause = 30 * time.Second
	maxTries = 5
)

// errNoResuming is a server that does not go on with a stream.
var errNoResuming = errors.New("the server does not go on with the stream")

// resumable reports whether a stream that ended like this may be gone on with: the
// server ended it, or it broke off.
func resumable(end error) bool { return end == nil || errors.Is(end, errBroken) }

// resting is how long to wait before a stream is gone on with. A server that cannot
// be reached is tried a few times, later and later. One that can is come back to for
// as long as it has us, when it says, but not in haste where it has nothing to tell.
type resting struct {
	lasts bool // it is never given up
	tries int  // that failed, one after the other
	idle  int  // streams that told nothing, one after the other
}

// after takes down what the last try gave; nil for no stream.
func (r *resting) after(got *eventLines) {
	switch {
	case got == nil:
		r.tries++
	case got.told:
		r.tries, r.idle = 0, 0
	default:
		r.tries = 0
		r.idle++
	}
}

// asked is how long the server asks to wait, within bounds.
func (r *resting) asked(retry time.Duration) time.Duration {
	if retry == 0 {
		retry = pause
	}
	if r.tries > 0 {
		retry = max(retry, pause<<min(r.tries, 5))
	}
	return min(max(retry, minPause, min(time.Duration(r.idle)*pause/10, pause)), maxPause)
}

// wait waits, unless it was tried often enough.
func (r *resting) wait(ctx context.Context, retry time.Duration) bool {
	if r.tries >= maxTries && !r.lasts {
		return false
	}
	t := time.NewTimer(r.asked(retry))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
