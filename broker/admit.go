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
	w, r, err := g.submit(ctx, &a, false)
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
	w, r, err := g.submit(ctx, a, true)
	if err != nil {
		return new(sayso.Decision), err
	}
	r, err = w.wait(ctx, r)
	return w.outcome(ctx, r, err)
}

// submit is all that comes before the wait. given says that the admission is ours
// to keep.
func (g *gate) submit(ctx context.Context, a *sayso.Admission, given bool) (*waiter, *sayso.Request, error) {
	if err := g.b.o.Ready(); err != nil {
		return nil, nil, err
	}
	if err := g.gatherFacts(ctx, a); err != nil {
		return nil, nil, err
	}
	w, err := g.waiter(a)
	if err != nil {
		return nil, nil, err
	}
	w.ownsAdmission = given
	r, err := w.submit(ctx)
	w.dropAdmission()
	return w, r, err
}

// waiter is the one who waits for an admission, if that can be asked at all.
func (g *gate) waiter(a *sayso.Admission) (*waiter, error) {
	if err := g.checkRequester(); err != nil {
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
	gather             gatherFunc
	requested          *sayso.RequestedPrivate // what it asked for, once it did

	a             *sayso.Admission // nil once it only waits
	ownsAdmission bool             // nobody else changes what it holds

	presented bool // Present ran, and returned shown
	shown     *sayso.Presentation

	lookedUp bool // what the log knows of such a call is looked up: to take it for new failed, or would be dear

	opened    sayso.ID // the request that this call opened, or decided, itself, if it did
	openedLen int      // and how long its stream was then
}

// dropAdmission lets go of what was needed to ask, and not to wait.
func (w *waiter) dropAdmission() {
	if w.requested == nil {
		w.requested = &sayso.RequestedPrivate{Call: w.a.Call, Facts: w.a.Facts}
	}
	w.a, w.shown = nil, nil
}

// submit takes up what waits for this call, or opens a request for it. It goes
// round again when somebody else was first. That the call is new is taken for
// granted the first time: nothing has its id, nothing like it waits, and no grant
// covers it. If it is not so, the append finds out.
func (w *waiter) submit(ctx context.Context) (*sayso.Request, error) {
	w.lookedUp = w.needsPresent() // to have a caller prepare what nobody will see is too much
	for range maxAttempts {
		r, found, err := w.findPrior(ctx)
		if err == nil && !found {
			r, err = w.open(ctx)
		}
		if err == nil {
			return r, nil
		}
		full := !w.lookedUp && errors.Is(err, sayso.ErrTooMany)
		if !isConflict(err) && !full {
			return nil, err
		}
		w.lookedUp = true
		if err := w.b.refresh(ctx, w.a.Call.Session); err != nil {
			return nil, err
		}
	}
	return nil, errContention
}

// errUsedID reports a call id that came with another call before, or with one
// that meant something else. It is no conflict of appends: going round again
// would not help.
type errUsedID struct {
	id         sayso.ID
	factsMoved bool // the call is the same; what it names is not
}

func (e errUsedID) Error() string {
	why := "this call id was used for another call"
	if e.factsMoved {
		why = "what this call names has changed since people were asked; ask under a new call id"
	}
	return fmt.Sprintf("%v: %s (ticket %s)", sayso.ErrConflict, why, e.id.Short())
}

func (e errUsedID) Is(target error) bool { return target == sayso.ErrConflict }

// findPrior finds the request that this call continues: the one with the same call
// id, or one with the same digest that nobody has the decision of.
func (w *waiter) findPrior(ctx context.Context) (_ *sayso.Request, found bool, err error) {
	if !w.lookedUp {
		return nil, false, nil
	}
	c := &w.a.Call
	if c.CallID != "" {
		stream, err := w.b.log.Lookup(ctx, w.key(c.Session))
		if err == nil {
			r, err := w.resumeByID(ctx, stream)
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
		if row.Asker != w.actor.Principal || row.State == sayso.StateOpen && w.b.isHeld(ctx, row.Holder) {
			continue
		}
		r, err := w.b.load(ctx, row.ID)
		if err != nil {
			return nil, false, err
		}
		if !w.isUnmoved(&r) {
			continue
		}
		if next, ok, err := w.resume(ctx, &r); err != nil || ok {
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

// resumeByID continues the request that this call id belongs to.
func (w *waiter) resumeByID(ctx context.Context, stream string) (*sayso.Request, error) {
	for range maxAttempts {
		read, err := w.b.read(ctx, stream)
		r := &read
		switch {
		case err != nil:
			return nil, err
		case r.Digest != w.digest:
			return nil, errUsedID{id: r.ID}
		case !w.isUnmoved(r):
			return nil, errUsedID{r.ID, true}
		}
		r, _, err = w.resume(ctx, r)
		if !isConflict(err) {
			return r, err
		}
	}
	return nil, errContention
}

// resume takes up a request that nobody has the decision of, and nobody waits for.
// An approval that does not stand any more is made void instead, and one who
// asks again what is decided by now without people is told so.
func (w *waiter) resume(ctx context.Context, r *sayso.Request) (next *sayso.Request, ok bool, err error) {
	next, ok, err = w.takeable(ctx, r)
	if err == nil && ok {
		err = w.b.refresh(ctx, r.SessionID)
	}
	if err != nil || !ok {
		return next, false, err
	}
	switch {
	case next.Unspent() && next.Life.Policy == w.b.policy.Version():
		_, why, err := w.b.revalidate(ctx, next)
		if err != nil {
			return next, false, err
		}
		if why != "" {
			next, err = w.b.appendOne(ctx, next, sayso.EventVoided, sayso.BrokerActor, sayso.Closed{Reason: why})
			return next, false, err
		}
	case next.State.Open():
		j, err := w.judge(ctx)
		if err != nil {
			return next, false, err
		}
		if j.Effect == sayso.Deny || j.modeEffect == sayso.Allow { // a strict mode denies asks, and this was asked
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
	case !(r.State == sayso.StateOpen || r.State == sayso.StateAllowed) || w.b.isHeld(ctx, r.Life.Holder):
		return r, false, nil
	}
	next, err = w.b.appendOne(ctx, r, sayso.EventParked, sayso.BrokerActor, sayso.Parked{Cause: sayso.ParkedLost})
	return next, err == nil, err
}

// take takes a parked request up, under the new id of the call, unless the
// same call has come back too often within a minute.
func (w *waiter) take(ctx context.Context, r *sayso.Request) (*sayso.Request, error) {
	if w.isPolling(r) {
		return nil, &sayso.PendingError{Ticket: r.ID, Deadline: deadline(r), Stop: true}
	}
	batch, err := w.takeBatch(ctx, r)
	if err != nil {
		return nil, err
	}
	return w.b.advance(ctx, r, batch)
}

// takeBatch is the append that takes a request up.
func (w *waiter) takeBatch(ctx context.Context, r *sayso.Request) (*batch, error) {
	holder, err := w.b.holder(ctx)
	if err != nil {
		return nil, err
	}
	batch := newBatch(w.b.o.Now())
	batch.addToRequest(r, sayso.EventTaken, w.actor, sayso.Taken{Holder: holder, CallID: w.callID}, nil)
	if id := w.callID; id != "" && !contains(r.Life.CallIDs, id) {
		batch.Keys = []sayso.Key{{Name: w.key(r.SessionID), Stream: sayso.RequestStream(r.ID)}}
	}
	return batch, nil
}

// decide takes up an open request that needs no people any more, and records the
// decision: a denial, which no answer could turn round, or what a rule, a grant or
// the mode allows by now. Of an answer that comes at the same time and this, one is
// recorded.
func (w *waiter) decide(ctx context.Context, r *sayso.Request, j *judgment) (*sayso.Request, error) {
	batch, err := w.takeBatch(ctx, r)
	if err != nil {
		return nil, err
	}
	j.expect(batch)
	for i := range j.endedGrants {
		batch.endGrant(&j.endedGrants[i], "definition changed")
	}
	if err := w.addResolved(batch, r, j); err != nil {
		return nil, err
	}
	next, err := w.b.advance(ctx, r, batch)
	if err == nil {
		w.opened, w.openedLen = next.ID, next.Life.Len
	}
	return next, err
}

// isPolling reports whether an open request was asked for three times within the
// last minute, each time until the caller's patience ended: whoever asks once
// more only polls. Callers that died do not count.
func (w *waiter) isPolling(r *sayso.Request) bool {
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
