package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// Admit implements sayso.Gate.
func (g *gate) Admit(ctx context.Context, a sayso.Admission) (d sayso.Decision, err error) {
	w, r, err := g.enter(ctx, &a, false)
	if err != nil {
		return d, err
	}
	r, err = w.wait(ctx, r)
	told, err := w.outcome(ctx, r, err)
	return *told, err
}

// AdmitGiven is Admit for a server, with thousands of callers that wait at once:
// an admission and a decision that are handed on by their addresses keep the
// stack of each small, and while it waits what all that comes before the wait
// took of the stack is free again. What the admission holds is the gate's from
// then on: nobody else changes it, and whoever waits needs to keep none of it.
func (g *gate) AdmitGiven(ctx context.Context, a *sayso.Admission) (*sayso.Decision, error) {
	w, r, err := g.enter(ctx, a, true)
	if err != nil {
		return new(sayso.Decision), err
	}
	r, err = w.wait(ctx, r)
	return w.outcome(ctx, r, err)
}

// enter is all that comes before the wait. given says that the admission is ours
// to keep.
func (g *gate) enter(ctx context.Context, a *sayso.Admission, given bool) (*waiter, *sayso.Request, error) {
	if err := g.b.o.Ready(); err != nil {
		return nil, nil, err
	}
	if err := g.gather(ctx, a); err != nil {
		return nil, nil, err
	}
	w, err := g.waiter(a)
	if err != nil {
		return nil, nil, err
	}
	w.given = given
	r, err := w.enter(ctx)
	w.settle()
	return w, r, err
}

// waiter is the one who waits for an admission, if that can be asked at all.
func (g *gate) waiter(a *sayso.Admission) (*waiter, error) {
	if err := g.asks(); err != nil {
		return nil, err
	}
	if err := a.Call.Validate(); err != nil {
		return nil, err
	}
	digest, err := a.Call.Digest()
	if err != nil {
		return nil, err
	}
	w := &waiter{
		b: g.b, actor: g.actor, a: a, digest: digest,
		callID: a.Call.CallID, canEdit: a.CanEdit, immediate: a.Immediate, gather: a.Gather,
	}
	if a.Patience != 0 { // one that has run out already ends at once
		w.until = time.Now().Add(a.Patience)
	}
	return w, nil
}

// waiter is one call of Admit.
type waiter struct {
	b      *Broker
	actor  sayso.Actor
	digest sayso.Digest
	until  time.Time // end of patience; zero for none

	callID             string
	canEdit, immediate bool
	gather             gather
	asks               *sayso.RequestedPrivate // what it asked for, once it did

	a     *sayso.Admission // nil once it only waits
	given bool             // nobody else changes what it holds

	presented bool // Present ran, and returned shown
	shown     *sayso.Presentation

	met bool // what the log knows of such a call is looked up: to take it for new failed, or would be dear

	opened    sayso.ID // the request that this call opened, or decided, itself, if it did
	openedLen int      // and how long its stream was then
}

// settle lets go of what was needed to ask, and not to wait.
func (w *waiter) settle() {
	if w.asks == nil {
		w.asks = &sayso.RequestedPrivate{Call: w.a.Call, Facts: w.a.Facts}
	}
	w.a, w.shown = nil, nil
}

// enter takes up what waits for this call, or opens a request for it. It goes
// round again when somebody else was first. That the call is new is taken for
// granted the first time: nothing has its id, nothing like it waits, and no grant
// covers it. If it is not so, the append finds out.
func (w *waiter) enter(ctx context.Context) (*sayso.Request, error) {
	w.met = w.unpresented() // to have a caller prepare what nobody will see is too much
	for range tries {
		r, found, err := w.prior(ctx)
		if err == nil && !found {
			r, err = w.open(ctx)
		}
		if err == nil {
			return r, nil
		}
		full := !w.met && errors.Is(err, sayso.ErrTooMany)
		if !isConflict(err) && !full {
			return nil, err
		}
		w.met = true
		if err := w.b.reread(ctx, w.a.Call.Session); err != nil {
			return nil, err
		}
	}
	return nil, errStorm
}

// errUsedID reports a call id that came with another call before, or with one
// that meant something else. It is no conflict of appends: going round again
// would not help.
type errUsedID struct {
	id    sayso.ID
	moved bool // the call is the same; what it names is not
}

func (e errUsedID) Error() string {
	why := "this call id was used for another call"
	if e.moved {
		why = "what this call names has changed since people were asked; ask under a new call id"
	}
	return fmt.Sprintf("%v: %s (ticket %s)", sayso.ErrConflict, why, e.id.Short())
}

func (e errUsedID) Is(target error) bool { return target == sayso.ErrConflict }

// prior finds the request that this call continues: the one with the same call
// id, or one with the same digest that nobody has the decision of.
func (w *waiter) prior(ctx context.Context) (_ *sayso.Request, found bool, err error) {
	if !w.met {
		return nil, false, nil
	}
	c := &w.a.Call
	if c.CallID != "" {
		stream, err := w.b.log.Lookup(ctx, w.key(c.Session))
		if err == nil {
			r, err := w.same(ctx, stream)
			return r, err == nil, err
		}
		if !errors.Is(err, sayso.ErrNotFound) {
			return nil, false, fmt.Errorf("looking for the call: %w", err)
		}
	}
	rows, err := w.b.log.Rows(ctx, sayso.RowQuery{
		Session: c.Session, Digest: w.digest, Unspent: true, Oldest: true, Limit: w.b.o.MaxOpen + maxUnspent,
	})
	if err != nil {
		return nil, false, fmt.Errorf("looking for the call: %w", err)
	}
	for _, row := range rows {
		if row.Asker != w.actor.Principal || row.State == sayso.StateOpen && w.b.held(ctx, row.Holder) {
			continue
		}
		r, err := w.b.load(ctx, row.ID)
		if err != nil {
			return nil, false, err
		}
		if !w.unmoved(&r) {
			continue
		}
		if next, ok, err := w.goOn(ctx, &r); err != nil || ok {
			return next, ok, err
		}
	}
	return nil, false, nil
}

// maxUnspent is how many approvals of one call are looked at, besides all that
// may be open, for one that can be taken up.
const maxUnspent = 100

// key is the name that this call takes in the log.
func (w *waiter) key(session string) string {
	return sayso.CallKey(w.actor.Principal, session, w.callID)
}

// same continues the request that this call id belongs to.
func (w *waiter) same(ctx context.Context, stream string) (*sayso.Request, error) {
	for range tries {
		read, err := w.b.read(ctx, stream)
		r := &read
		switch {
		case err != nil:
			return nil, err
		case r.Digest != w.digest:
			return nil, errUsedID{id: r.ID}
		case !w.unmoved(r):
			return nil, errUsedID{r.ID, true}
		}
		r, _, err = w.goOn(ctx, r)
		if !isConflict(err) {
			return r, err
		}
	}
	return nil, errStorm
}

// goOn takes up a request that nobody has the decision of, and nobody waits for.
// An approval that does not stand any more is made void instead, and one who
// asks again what is decided by now without people is told so.
func (w *waiter) goOn(ctx context.Context, r *sayso.Request) (next *sayso.Request, ok bool, err error) {
	next, ok, err = w.takeable(ctx, r)
	if err == nil && ok {
		err = w.b.reread(ctx, r.SessionID)
	}
	if err != nil || !ok {
		return next, false, err
	}
	switch {
	case next.Unspent() && next.Life.Policy == w.b.policy.Version():
		_, why, err := w.b.stands(ctx, next)
		if err != nil {
			return next, false, err
		}
		if why != "" {
			next, err = w.b.one(ctx, next, sayso.EventVoided, sayso.BrokerActor, sayso.Closed{Reason: why})
			return next, false, err
		}
	case next.State.Open():
		j, err := w.judge(ctx)
		if err != nil {
			return next, false, err
		}
		if j.Effect == sayso.Deny || j.effect == sayso.Allow { // a strict mode denies asks, and this was asked
			next, err = w.decide(ctx, next, &j)
			return next, err == nil, err
		}
	}
	next, err = w.take(ctx, next)
	return next, err == nil, err
}

// takeable reports whether nobody has, or still waits for, the decision. The
// loss of a waiter that died is recorded on the way: next is the request as it
// then is.
func (w *waiter) takeable(ctx context.Context, r *sayso.Request) (next *sayso.Request, ok bool, err error) {
	now, recorded, err := w.b.clock(ctx)
	switch {
	case err != nil:
		return r, false, err
	case r.State.Open() && r.DeadlinePassed(now, recorded):
		return r, false, nil
	case r.State == sayso.StateAllowed && (!r.Unspent() || r.Lapsed(now, recorded)):
		return r, false, nil
	case r.Undelivered():
		return r, true, nil
	case !(r.State == sayso.StateOpen || r.State == sayso.StateAllowed) || w.b.held(ctx, r.Life.Holder):
		return r, false, nil
	}
	next, err = w.b.one(ctx, r, sayso.EventParked, sayso.BrokerActor, sayso.Parked{Cause: sayso.ParkedLost})
	return next, err == nil, err
}

// take takes a parked request up, under the new id of the call, unless the
// same call has come back too often within a minute.
func (w *waiter) take(ctx context.Context, r *sayso.Request) (*sayso.Request, error) {
	if w.stormy(r) {
		return nil, &sayso.PendingError{Ticket: r.ID, Deadline: deadline(r), Stop: true}
	}
	batch, err := w.taking(ctx, r)
	if err != nil {
		return nil, err
	}
	return w.b.advance(ctx, r, batch)
}

// taking is the append that takes a request up.
func (w *waiter) taking(ctx context.Context, r *sayso.Request) (*batch, error) {
	holder, err := w.b.holder(ctx)
	if err != nil {
		return nil, err
	}
	batch := newBatch(w.b.o.Now())
	batch.step(r, sayso.EventTaken, w.actor, sayso.Taken{Holder: holder, CallID: w.callID}, nil)
	if id := w.callID; id != "" && !contains(r.Life.CallIDs, id) {
		batch.Keys = []sayso.Key{{Name: w.key(r.SessionID), Stream: sayso.RequestStream(r.ID)}}
	}
	return batch, nil
}

// decide takes up an open request that needs no people any more, and records the
// decision: a denial, which no answer could turn round, or what a rule, a grant or
// the mode allows by now. Of an answer that comes at the same time and this, one is
// recorded.
func (w *waiter) decide(ctx context.Context, r *sayso.Request, j *judged) (*sayso.Request, error) {
	batch, err := w.taking(ctx, r)
	if err != nil {
		return nil, err
	}
	j.expect(batch)
	for i := range j.ended {
		batch.end(&j.ended[i], "definition changed")
	}
	if err := w.resolvedAtOnce(batch, r, j); err != nil {
		return nil, err
	}
	next, err := w.b.advance(ctx, r, batch)
	if err == nil {
		w.opened, w.openedLen = next.ID, next.Life.Len
	}
	return next, err
}

// stormy reports whether an open request was asked for three times within the
// last minute, each time until the caller's patience ended: whoever asks once
// more only polls. Callers that died do not count.
func (w *waiter) stormy(r *sayso.Request) bool {
	n := len(r.Life.Polls)
	if !r.State.Open() || n < 3 {
		return false
	}
	third := r.Life.Polls[n-3]
	ago, _ := sayso.Elapsed(third, w.b.o.Now(), third)
	return ago < time.Minute
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func deadline(r *sayso.Request) time.Time {
	if r.Deadline == nil {
		return time.Time{}
	}
	return *r.Deadline
}
