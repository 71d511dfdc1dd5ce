package gateway

import (
	"context"
	"errors"
	"time"
)

// retryDelay is how long a server that does not say is left alone.
var retryDelay = time.Second // less in tests

const (
	minRetryDelay = 10 * time.Millisecond
	maxRetryDelay = 30 * time.Second
	maxTries      = 5
)

// errNotResumable is a server that does not resume a stream.
var errNotResumable = errors.New("the server does not go on with the stream")

// resumable reports whether a stream that ended like this may be resumed: the
// server ended it, or it broke off.
func resumable(end error) bool { return end == nil || errors.Is(end, errBroken) }

// backoff is how long to wait before a stream is resumed. A server that cannot
// be reached is tried a few times, later and later. One that can is come back to for
// as long as it has us, when it says, but not in haste where it has nothing to tell.
type backoff struct {
	unlimited bool // it is never given up
	failures  int  // that failed, one after the other
	idle      int  // streams that told nothing, one after the other
}

// record takes down what the last try gave; nil for no stream.
func (r *backoff) record(got *eventLines) {
	switch {
	case got == nil:
		r.failures++
	case got.hasMessage:
		r.failures, r.idle = 0, 0
	default:
		r.failures = 0
		r.idle++
	}
}

// delay is how long the server asks to wait, within bounds.
func (r *backoff) delay(retry time.Duration) time.Duration {
	if retry == 0 {
		retry = retryDelay
	}
	if r.failures > 0 {
		retry = max(retry, retryDelay<<min(r.failures, 5))
	}
	return min(max(retry, minRetryDelay, min(time.Duration(r.idle)*retryDelay/10, retryDelay)), maxRetryDelay)
}

// wait waits, unless it was tried often enough.
func (r *backoff) wait(ctx context.Context, retry time.Duration) bool {
	if r.failures >= maxTries && !r.unlimited {
		return false
	}
	t := time.NewTimer(r.delay(retry))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
