package server

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// shareSize is how many operations that read much one principal may run at
// once. Its others wait, so that they hold up nobody but itself.
const shareSize = 16

// shares keep one principal from taking all there is.
type shares struct {
	mu sync.Mutex
	of map[string]*share
}

type share struct {
	places chan struct{}
	users  int
}

func newShares() *shares { return &shares{of: map[string]*share{}} }

// enter waits for a place of the principal's; leave gives it back.
func (s *shares) enter(ctx context.Context, principal string) (leave func(), err error) {
	s.mu.Lock()
	mine := s.of[principal]
	if mine == nil {
		mine = &share{places: make(chan struct{}, shareSize)}
		s.of[principal] = mine
	}
	mine.users++
	s.mu.Unlock()
	select {
	case mine.places <- struct{}{}:
		return func() { <-mine.places; s.done(principal, mine) }, nil
	case <-ctx.Done():
		s.done(principal, mine)
		return nil, context.Cause(ctx)
	}
}

func (s *shares) done(principal string, mine *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine.users--; mine.users == 0 {
		delete(s.of, principal)
	}
}

// How many streams of events one principal may have open at once, over all its
// connections. Each costs the server some memory for as long as it lasts, and
// whoever wants to see everything needs one.
const (
	askerStreams  = 128
	lookerStreams = 1024
)

// streams counts the streams of each principal.
type streams struct {
	mu sync.Mutex
	of map[follower]int
}

// follower is whose streams are counted together.
type follower struct {
	kind sayso.PrincipalKind
	name string
}

func newStreams() *streams { return &streams{of: map[follower]int{}} }

// open counts one more stream until end is called, or refuses it.
func (s *streams) open(a sayso.Actor) (end func(), err error) {
	who, most := follower{a.Kind, a.Principal}, lookerStreams
	if askers.may(a.Kind) {
		most = askerStreams
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[who] >= most {
		return nil, fmt.Errorf("%w: this principal follows the log %d times already", sayso.ErrTooMany, most)
	}
	s.of[who]++
	return sync.OnceFunc(func() { s.close(who) }), nil
}

func (s *streams) close(who follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[who]--; s.of[who] == 0 {
		delete(s.of, who)
	}
}

// wrongCodes is how many wrong codes one machine may send in a minute. Codes
// cannot be guessed; this keeps the log and the disk from who tries.
const wrongCodes = 60

// mostCounted is how many machines are told apart. All further ones count as one.
const mostCounted = 4096

// limiter counts, in each period, what came from each machine.
type limiter struct {
	most  int
	every time.Duration

	mu    sync.Mutex // guards what follows
	since time.Time
	seen  map[netip.Addr]int
}

func newLimiter(most int, every time.Duration) *limiter { return &limiter{most: most, every: every} }

// full reports whether there were as many as there may be.
func (l *limiter) full(from netip.Addr, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.since) < l.every && l.seen[l.machineLocked(from)] >= l.most
}

// add counts one more.
func (l *limiter) add(from netip.Addr, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) >= l.every {
		l.since, l.seen = now, map[netip.Addr]int{}
	}
	l.seen[l.machineLocked(from)]++
}

// machineLocked is what an address counts as: of IPv6 one machine has a whole
// network. l.mu must be held.
func (l *limiter) machineLocked(from netip.Addr) netip.Addr {
	if from.Is6() {
		if net, err := from.WithZone("").Prefix(64); err == nil {
			from = net.Addr()
		}
	}
	if _, known := l.seen[from]; !known && len(l.seen) >= mostCounted {
		return netip.Addr{}
	}
	return from
}
