package gateway

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sayso-dev/sayso"
)

// usage is how much of a handler is in use: of one owner of a token, or of all. Each
// owner has a part that leaves the others theirs, so that an agent that asks for
// ever more shuts out nobody but itself.
type usage struct {
	requests int // over HTTP, that are open
	bytes    int // of messages that are read, or not answered yet
	sessions int
	programs int // of those that have one of their own
}

// limits are how much may be in use.
type limits struct{ total, perOwner usage }

var defaultLimits = limits{ // less in tests
	total:    usage{requests: 1024, bytes: 512 << 20, sessions: 1024, programs: 256},
	perOwner: usage{requests: 256, bytes: 128 << 20, sessions: 256, programs: 64},
}

// plus is a usage with another added to it, or taken from it where sign is -1.
func (s usage) plus(more usage, sign int) usage {
	return usage{s.requests + sign*more.requests, s.bytes + sign*more.bytes, s.sessions + sign*more.sessions, s.programs + sign*more.programs}
}

// within reports whether a usage is within a limit.
func (s usage) within(limit usage) bool {
	return s.requests <= limit.requests && s.bytes <= limit.bytes && s.sessions <= limit.sessions && s.programs <= limit.programs
}

// reserve takes more for an owner, if there is as much. It is given back with release.
func (f *Handler) reserve(owner string, more usage) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reserveLocked(owner, more)
}

func (f *Handler) reserveLocked(owner string, more usage) bool {
	all, own := f.total.plus(more, 1), f.usage[owner].plus(more, 1)
	if f.closed || !all.within(f.limits.total) || !own.within(f.limits.perOwner) {
		return false
	}
	f.total, f.usage[owner] = all, own
	return true
}

// release gives back what was taken.
func (f *Handler) release(owner string, less usage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.releaseLocked(owner, less)
}

func (f *Handler) releaseLocked(owner string, less usage) {
	f.total = f.total.plus(less, -1)
	f.usage[owner] = f.usage[owner].plus(less, -1)
	if f.usage[owner] == (usage{}) {
		delete(f.usage, owner)
	}
}

// usage is what a session takes.
func (s *session) usage() usage {
	if s.up.client == nil {
		return usage{sessions: 1, programs: 1}
	}
	return usage{sessions: 1}
}

// add takes a session into the list. It must be ended, also one that is not
// named in a request.
func (f *Handler) add(s *session) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.reserveLocked(s.owner, s.usage()) {
		own := f.usage[s.owner]
		return fmt.Errorf("%w: %d sessions of this token are open, %d of them with a program of their own, and %d of all tokens; end some",
			sayso.ErrUnavailable, own.sessions, own.programs, f.total.sessions)
	}
	f.sessions[s.key] = s
	f.wg.Add(1)
	return nil
}

func (f *Handler) remove(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, s.key)
	f.releaseLocked(s.owner, s.usage())
}

// closeToNew is all sessions, of which no more begin.
func (f *Handler) closeToNew() []*session {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return slices.Collect(maps.Values(f.sessions))
}
