package gateway

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sayso-dev/sayso"
)

// share is how much of a front is in use: of one owner of a token, or of all. Each
// owner has a part that leaves the others theirs, so that an agent that asks for
// ever more shuts out nobody but itself.
type share struct {
	requests int // over HTTP, that are open
	bytes    int // of messages that are read, or not answered yet
	sessions int
	programs int // of those that have one of their own
}

// limits are how much may be in use.
type limits struct{ all, each share }

var most = limits{ // less in tests
	all:  share{requests: 1024, bytes: 512 << 20, sessions: 1024, programs: 256},
	each: share{requests: 256, bytes: 128 << 20, sessions: 256, programs: 64},
}

// plus is a share and more.
func (s share) plus(more share, sign int) share {
	return share{s.requests + sign*more.requests, s.bytes + sign*more.bytes, s.sessions + sign*more.sessions, s.programs + sign*more.programs}
}

// within reports whether a share is within another.
func (s share) within(limit share) bool {
	return s.requests <= limit.requests && s.bytes <= limit.bytes && s.sessions <= limit.sessions && s.programs <= limit.programs
}

// takes takes more for an owner, if there is as much. It is given back with gives.
func (f *Front) takes(owner string, more share) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.takesLocked(owner, more)
}

func (f *Front) takesLocked(owner string, more share) bool {
	all, own := f.all.plus(more, 1), f.shares[owner].plus(more, 1)
	if f.closed || !all.within(f.most.all) || !own.within(f.most.each) {
		return false
	}
	f.all, f.shares[owner] = all, own
	return true
}

// gives gives back what was taken.
func (f *Front) gives(owner string, less share) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.givesLocked(owner, less)
}

func (f *Front) givesLocked(owner string, less share) {
	f.all = f.all.plus(less, -1)
	f.shares[owner] = f.shares[owner].plus(less, -1)
	if f.shares[owner] == (share{}) {
		delete(f.shares, owner)
	}
}

// share is what a session takes.
func (s *session) share() share {
	if s.up.client == nil {
		return share{sessions: 1, programs: 1}
	}
	return share{sessions: 1}
}

// add takes a session into the list. It must be ended, also one that is not
// named in a request.
func (f *Front) add(s *session) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.takesLocked(s.owner, s.share()) {
		own := f.shares[s.owner]
		return fmt.Errorf("%w: %d sessions of this token are open, %d of them with a program of their own, and %d of all tokens; end some",
			sayso.ErrUnavailable, own.sessions, own.programs, f.all.sessions)
	}
	f.sessions[s.key] = s
	f.work.Add(1)
	return nil
}

func (f *Front) remove(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, s.key)
	f.givesLocked(s.owner, s.share())
}

// every is all sessions, of which no more begin.
func (f *Front) every() []*session {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return slices.Collect(maps.Values(f.sessions))
}
