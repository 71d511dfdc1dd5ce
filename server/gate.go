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
		return admissionResult(s.waitAtGate(ctx, c, a))
	}
	return s.admitPresented(ctx, c, a)
}

// admitPresented is the gate for a caller that sends its presentation once it is wanted.
func (s *Server) admitPresented(ctx context.Context, c *caller, a *sayso.Admission) (any, error) {
	d, err := s.waitAtGate(ctx, c, a)
	if errors.Is(err, sayso.ErrPresentationWanted) {
		return nil, s.reserve(c, a)
	}
	return admissionResult(d, err)
}

func admission(in *wire.Admit) (*sayso.Admission, error) {
	a, err := in.Admission()
	if err != nil {
		return nil, err
	}
	if in.Presentation == wire.Later {
		a.Present = wantPresentation
	}
	if in.Gather == wire.Later {
		a.Gather = wantFacts
	}
	return &a, nil
}

// reserve keeps an admission until its presentation is sent, and asks for that.
func (s *Server) reserve(c *caller, a *sayso.Admission) error {
	ticket, err := s.reservations.reserve(c.actor.Principal, *a)
	if err != nil {
		return err
	}
	return &wire.WantedError{Ticket: ticket}
}

// wantPresentation is the presentation of a caller that sends it once it is wanted.
func wantPresentation(context.Context) (*sayso.Presentation, error) {
	return nil, sayso.ErrPresentationWanted
}

// wantFacts are the facts of a caller that gathers them where it is.
func wantFacts(_ context.Context, want sayso.FactsWanted) (sayso.Facts, error) {
	return sayso.Facts{}, &sayso.FactsWantedError{Wanted: want}
}

// present goes on with an admission that waited for its presentation.
func (s *Server) present(ctx context.Context, c *caller, in *wire.Present) (any, error) {
	if err := wire.CheckPresentation(&in.Presentation); err != nil {
		return nil, err
	}
	a, ok := s.reservations.take(in.Ticket, c.actor.Principal)
	if !ok {
		return nil, sayso.ErrNotFound
	}
	a.Present = func(context.Context) (*sayso.Presentation, error) { return &in.Presentation, nil }
	return admissionResult(s.waitAtGate(ctx, c, &a))
}

// waitAtGate waits at the gate until there is an answer, the caller goes away, or the
// server stops.
func (s *Server) waitAtGate(ctx context.Context, c *caller, a *sayso.Admission) (*sayso.Decision, error) {
	d, err := admitGiven(ctx, c.gate, a)
	if err != nil && s.stopping.Err() != nil && errors.Is(err, context.Canceled) {
		err = errStopping
	}
	return d, err
}

// givenGate is a Gate that needs little stack while its caller waits, as the one of
// the broker; a caller that waits costs half as much there.
type givenGate interface {
	AdmitGiven(context.Context, *sayso.Admission) (*sayso.Decision, error)
}

func admitGiven(ctx context.Context, g sayso.Gate, a *sayso.Admission) (*sayso.Decision, error) {
	if g, ok := g.(givenGate); ok {
		return g.AdmitGiven(ctx, a)
	}
	return admitCopy(ctx, g, a)
}

// admitCopy is not inlined, for the sake of the stack of those that need less.
//
//go:noinline
func admitCopy(ctx context.Context, g sayso.Gate, a *sayso.Admission) (*sayso.Decision, error) {
	d, err := g.Admit(ctx, *a)
	return &d, err
}

// admissionResult is the answer to an admission. An error never carries an allow.
func admissionResult(d *sayso.Decision, err error) (any, error) {
	if err == nil {
		return d, nil
	}
	if d.Request != "" {
		d.Effect = sayso.Deny
		return nil, &decisionError{err, *d}
	}
	return nil, err
}

// reservations are the admissions that wait for their presentation.
type reservations struct {
	mu       sync.Mutex
	byTicket map[sayso.ID]reservation
	bytes    int
}

type reservation struct {
	principal string
	admission sayso.Admission
	expires   time.Time
}

// The bounds of reservations.
const (
	reservationTime  = time.Minute
	maxReservations  = 8192
	maxReservedBytes = 256 << 20
)

func newReservations() *reservations { return &reservations{byTicket: map[sayso.ID]reservation{}} }

// reserve keeps an admission under a ticket.
func (r *reservations) reserve(principal string, a sayso.Admission) (sayso.ID, error) {
	var random [16]byte
	rand.Read(random[:]) // never fails
	now := time.Now()
	ticket := sayso.NewID(now, random)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.byTicket) >= maxReservations || r.bytes+len(a.Call.Args) > maxReservedBytes {
		r.sweepLocked(now)
	}
	mine := 0
	if len(r.byTicket) >= maxReservations/8 {
		for _, h := range r.byTicket {
			if h.principal == principal {
				mine++
			}
		}
	}
	// Half of the places is the most that one principal gets.
	if len(r.byTicket) >= maxReservations || mine >= maxReservations/2 || r.bytes+len(a.Call.Args) > maxReservedBytes {
		return "", sayso.ErrTooMany
	}
	r.byTicket[ticket] = reservation{principal, a, now.Add(reservationTime)}
	r.bytes += len(a.Call.Args)
	return ticket, nil
}

// take gives an admission back to the principal that reserved it, once.
func (r *reservations) take(ticket sayso.ID, principal string) (sayso.Admission, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.byTicket[ticket]
	if !ok || h.principal != principal {
		return sayso.Admission{}, false
	}
	r.dropLocked(ticket, h)
	return h.admission, time.Now().Before(h.expires)
}

func (r *reservations) sweepLocked(now time.Time) {
	for ticket, h := range r.byTicket {
		if !now.Before(h.expires) {
			r.dropLocked(ticket, h)
		}
	}
}

func (r *reservations) dropLocked(ticket sayso.ID, h reservation) {
	delete(r.byTicket, ticket)
	r.bytes -= len(h.admission.Call.Args)
}

func (s *Server) redeem(ctx context.Context, c *caller, in *wire.Redeem) (any, error) {
	id, err := parseFullID(string(in.ID))
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
		if _, err := parseFullID(string(in.ID)); err != nil {
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
	id, err := parseFullID(string(in.ID))
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
