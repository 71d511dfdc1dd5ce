package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sayso-dev/sayso"
)

// lostError says that the connection broke before there was an answer.
type lostError struct {
	where string
	err   error
	// refused says that there was nobody to connect to.
	refused bool
}

func (e *lostError) Error() string {
	return fmt.Sprintf("%v: %s: %v", sayso.ErrUnavailable, e.where, e.err)
}

func (e *lostError) Unwrap() []error { return []error{sayso.ErrUnavailable, e.err} }

// lost tells whether err is a connection that broke.
func lost(err error) (*lostError, bool) {
	var l *lostError
	ok := errors.As(err, &l)
	return l, ok
}

// The pauses between attempts.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// patience paces the attempts of one call that goes on over broken
// connections.
type patience struct {
	o       *Options
	contact time.Time // when the server was last heard of; zero for never
	until   time.Time // when the caller's own patience ends; zero for never
	pause   time.Duration
}

// heard notes that the server answers.
func (p *patience) heard() {
	p.contact, p.pause = time.Now(), 0
}

// again pauses before the next attempt, or returns err if there is none.
func (p *patience) again(ctx context.Context, err error) error {
	l, ok := lost(err)
	if !ok {
		return err
	}
	now := time.Now()
	if !l.refused && p.pause == 0 {
		p.contact = now // it was there a moment ago
	}
	if p.contact.IsZero() && p.o.Wait {
		p.contact = now
	}
	if p.contact.IsZero() || now.Sub(p.contact) > p.o.Retry {
		return err
	}
	p.pause = min(max(2*p.pause, firstPause), lastPause)
	wait := p.pause/2 + rand.N(p.pause/2)
	if !p.until.IsZero() && now.Add(wait).After(p.until) {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
