package server

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// maxConcurrent is how many operations that read much one principal may run at
// once. Its others wait, so that they hold up nobody but itself.
const maxConcurrent = 16

// concurrencyLimiter keeps one principal from taking all there is.
type concurrencyLimiter struct {
	mu         sync.Mutex
	principals map[string]*slots
}

type slots struct {
	sem   chan struct{}
	users int
}

func newConcurrencyLimiter() *concurrencyLimiter {
	return &concurrencyLimiter{principals: map[string]*slots{}}
}

// acquire waits for a slot of the principal's; release gives it back.
func (s *concurrencyLimiter) acquire(ctx context.Context, principal string) (release func(), err error) {
	s.mu.Lock()
	held := s.principals[principal]
	if held == nil {
		held = &slots{sem: make(chan struct{}, maxConcurrent)}
		s.principals[principal] = held
	}
	held.users++
	s.mu.Unlock()
	select {
	case held.sem <- struct{}{}:
		return func() { <-held.sem; s.release(principal, held) }, nil
	case <-ctx.Done():
		s.release(principal, held)
		return nil, context.Cause(ctx)
	}
}

func (s *concurrencyLimiter) release(principal string, held *slots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held.users--; held.users == 0 {
		delete(s.principals, principal)
	}
}

// How many streams of events one principal may have open at once, over all its
// connections. Each costs the server some memory for as long as it lasts, and
// whoever wants to see everything needs one.
const (
	maxRequesterStreams = 128
	maxReaderStreams    = 1024
)

// streamCounter counts the streams of each principal.
type streamCounter struct {
	mu     sync.Mutex
	counts map[streamOwner]int
}

// streamOwner is whose streams are counted together.
type streamOwner struct {
	kind sayso.PrincipalKind
	name string
}

func newStreamCounter() *streamCounter { return &streamCounter{counts: map[streamOwner]int{}} }

// open counts one more stream until end is called, or refuses it.
func (s *streamCounter) open(a sayso.Actor) (end func(), err error) {
	who, most := streamOwner{a.Kind, a.Principal}, maxReaderStreams
	if requesters.includes(a.Kind) {
		most = maxRequesterStreams
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[who] >= most {
		return nil, fmt.Errorf("%w: this principal follows the log %d times already", sayso.ErrTooMany, most)
	}
	s.counts[who]++
	return sync.OnceFunc(func() { s.close(who) }), nil
}

func (s *streamCounter) close(who streamOwner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[who]--; s.counts[who] == 0 {
		delete(s.counts, who)
	}
}

// maxWrongCodes is how many wrong codes one machine may send in a minute. Codes
// cannot be guessed; this keeps the log and the disk from who tries.
const maxWrongCodes = 60

// maxMachines is how many machines are told apart. All further ones count as one.
const maxMachines = 4096

// rateLimiter counts, in each period, what came from each machine.
type rateLimiter struct {
	limit  int
	period time.Duration

	mu     sync.Mutex // guards what follows
	since  time.Time
	counts map[netip.Addr]int
}

func newRateLimiter(limit int, period time.Duration) *rateLimiter {
	return &rateLimiter{limit: limit, period: period}
}

// isExceeded reports whether there were as many as there may be.
func (l *rateLimiter) isExceeded(from netip.Addr, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.since) < l.period && l.counts[l.machineLocked(from)] >= l.limit
}

// add counts one more.
func (l *rateLimiter) add(from netip.Addr, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) >= l.period {
		l.since, l.counts = now, map[netip.Addr]int{}
	}
	l.counts[l.machineLocked(from)]++
}

// machineLocked is what an address counts as: of IPv6 one machine has a whole
// network. l.mu must be held.
func (l *rateLimiter) machineLocked(from netip.Addr) netip.Addr {
	if from.Is6() {
		if net, err := from.WithZone("").Prefix(64); err == nil {
			from = net.Addr()
		}
	}
	if _, known := l.counts[from]; !known && len(l.counts) >= maxMachines {
		return netip.Addr{}
	}
	return from
}
