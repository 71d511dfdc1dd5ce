package server

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
)

// admit is the gate: it holds while the caller is patient, or until ctx ends,
// which it does when the server stops. What it keeps on the stack is kept for as
// long, by thousands of callers.
func (s *Server) admit(ctx context.Context, c *caller, in *wire.Admit) (any, error) {
	a, err := admission(in)
	if err != nil {
		return nil, err
	}
	if a.Present == nil {
		return settled(s.hold(ctx, c, a))
	}
	return s.offered(ctx, c, a)
}

// offered is the gate for a caller that sends its presentation once it is wanted.
func (s *Server) offered(ctx context.Context, c *caller, a *sayso.Admission) (any, error) {
	d, err := s.hold(ctx, c, a)
	if errors.Is(err, sayso.ErrPresentationWanted) {
		return nil, s.want(c, a)
	}
	return settled(d, err)
}

func admission(in *wire.Admit) (*sayso.Admission, error) {
	a, err := in.Admission()
	if err != nil {
		return nil, err
	}
	if in.Presentation == wire.Later {
		a.Present = askForIt
	}
	if in.Gather == wire.Later {
		a.Gather = askForFacts
	}
	return &a, nil
}

// want keeps an admission until its presentation is sent, and asks for that.
func (s *Server) want(c *caller, a *sayso.Admission) error {
	ticket, err := s.wanted.reserve(c.actor.Principal, *a)
	if err != nil {
		return err
	}
	return &wire.WantedError{Ticket: ticket}
}

// askForIt is the presentation of a caller that sends it once it is wanted.
func askForIt(context.Context) (*sayso.Presentation, error) {
	return nil, sayso.ErrPresentationWanted
}

// askForFacts are the facts of a caller that gathers them where it is.
func askForFacts(_ context.Context, want sayso.FactsWanted) (sayso.Facts, error) {
	return sayso.Facts{}, &sayso.FactsWantedError{Wanted: want}
}

// present goes on with an admission that waited for its presentation.
func (s *Server) present(ctx context.Context, c *caller, in *wire.Present) (any, error) {
	if err := wire.CheckPresentation(&in.Presentation); err != nil {
		return nil, err
	}
	a, ok := s.wanted.take(in.Ticket, c.actor.Principal)
	if !ok {
		return nil, sayso.ErrNotFound
	}
	a.Present = func(context.Context) (*sayso.Presentation, error) { return &in.Presentation, nil }
	return settled(s.hold(ctx, c, &a))
}

// hold waits at the gate until there is an answer, the caller goes away, or the
// server stops.
func (s *Server) hold(ctx context.Context, c *caller, a *sayso.Admission) (*sayso.Decision, error) {
	d, err := admitGiven(ctx, c.gate, a)
	if err != nil && s.leaving.Err() != nil && errors.Is(err, context.Canceled) {
		err = errLeaving
	}
	return d, err
}

// frugal is a Gate that needs little stack while its caller waits, as the one of
// the broker; a caller that waits costs half as much there.
type frugal interface {
	AdmitGiven(context.Context, *sayso.Admission) (*sayso.Decision, error)
}

func admitGiven(ctx context.Context, g sayso.Gate, a *sayso.Admission) (*sayso.Decision, error) {
	if g, ok := g.(frugal); ok {
		return g.AdmitGiven(ctx, a)
	}
	return admit(ctx, g, a)
}

// admit is not inlined, for the sake of the stack of those that need less.
//
//go:noinline
func admit(ctx context.Context, g sayso.Gate, a *sayso.Admission) (*sayso.Decision, error) {
	d, err := g.Admit(ctx, *a)
	return &d, err
}

// settled is the answer to an admission. An error never carries an allow.
func settled(d *sayso.Decision, err error) (any, error) {
	if err == nil {
		return d, nil
	}
	if d.Request != "" {
		d.Effect = sayso.Deny
		return nil, &decidedError{err, *d}
	}
	return nil, err
}

// reservations are the admissions that wait for their presentation.
type reservations struct {
	mu    sync.Mutex
	held  map[sayso.ID]reservation
	bytes int
}

type reservation struct {
	principal string
	admission sayso.Admission
	until     time.Time
}

// The bounds of reservations.
const (
	reserveTime  = time.Minute
	reserveCount = 8192
	reserveBytes = 256 << 20
)

func newReservations() *reservations { return &reservations{held: map[sayso.ID]reservation{}} }

// reserve keeps an admission under a ticket.
func (r *reservations) reserve(principal string, a sayso.Admission) (sayso.ID, error) {
	var random [16]byte
	rand.Read(random[:]) // never fails
	now := time.Now()
	ticket := sayso.NewID(now, random)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) >= reserveCount || r.bytes+len(a.Call.Args) > reserveBytes {
		r.sweepLocked(now)
	}
	mine := 0
	if len(r.held) >= reserveCount/8 {
		for _, h := range r.held {
			if h.principal == principal {
				mine++
			}
		}
	}
	// Half of the places is the most that one principal gets.
	if len(r.held) >= reserveCount || mine >= reserveCount/2 || r.bytes+len(a.Call.Args) > reserveBytes {
		return "", sayso.ErrTooMany
	}
	r.held[ticket] = reservation{principal, a, now.Add(reserveTime)}
	r.bytes += len(a.Call.Args)
	return ticket, nil
}

// take gives an admission back to the principal that reserved it, once.
func (r *reservations) take(ticket sayso.ID, principal string) (sayso.Admission, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.held[ticket]
	if !ok || h.principal != principal {
		return sayso.Admission{}, false
	}
	r.dropLocked(ticket, h)
	return h.admission, time.Now().Before(h.until)
}

func (r *reservations) sweepLocked(now time.Time) {
	for ticket, h := range r.held {
		if !now.Before(h.until) {
			r.dropLocked(ticket, h)
		}
	}
}

func (r *reservations) dropLocked(ticket sayso.ID, h reservation) {
	delete(r.held, ticket)
	r.bytes -= len(h.admission.Call.Args)
}

func (s *Server) redeem(ctx context.Context, c *caller, in *wire.Redeem) (any, error) {
	id, err := wholeID(string(in.ID))
	if err != nil {
		return nil, err
	}
	if err := in.Call.Validate(); err != nil {
		return nil, err
	}
	r := sayso.Receipt{Request: id, Digest: in.Digest}
	if err := c.gate.Redeem(ctx, r, in.Call); err != nil {
		return nil, err
	}
	return &wire.Redeemed{ID: id, Digest: in.Digest, Redeemed: true}, nil
}

func (s *Server) outcome(ctx context.Context, c *caller, in *wire.Outcome) (any, error) {
	if in.ID != "" || in.CallID == "" {
		if _, err := wholeID(string(in.ID)); err != nil {
			return nil, err
		}
	}
	o, err := in.Outcome()
	if err != nil {
		return nil, err
	}
	return nil, c.gate.Report(ctx, o)
}

func (s *Server) withdraw(ctx context.Context, c *caller, in *wire.Withdraw) (any, error) {
	id, err := wholeID(string(in.ID))
	if err != nil {
		return nil, err
	}
	return nil, c.gate.Withdraw(ctx, id, in.Reason)
}

func (s *Server) begin(ctx context.Context, c *caller, in *wire.Begin) (any, error) {
	call := sayso.Call{Tool: "session", Session: in.Session, Host: in.Host}
	if err := call.Validate(); err != nil { // the same limits as in a call
		return nil, err
	}
	return nil, c.gate.Begin(ctx, in.Session, in.Host)
}

func (s *Server) end(ctx context.Context, c *caller, in *wire.Begin) (any, error) {
	return nil, c.gate.End(ctx, in.Session)
}
