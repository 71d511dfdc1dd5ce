package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// applyEdit holds a call to what people made of it at an earlier point. Who allowed it
// with other arguments allowed these and no others; but a host may forget what its
// hook gave back, as where a second hook has it ask, and come to a later point with
// the arguments as they were. Then neither a mode nor a grant nor a rule decides: the
// call is allowed with the edited arguments, once, or it is denied. settled says so.
func (w *waiter) applyEdit(ctx context.Context, j *judgment) (settled bool, err error) {
	c := &w.a.Call
	if j.Effect == sayso.Deny || c.CallID == "" || c.Host == "" || w.actor.Principal == c.Host && c.Host != sayso.HostMCP {
		return false, nil
	}
	earlier, err := w.earlierRequests(ctx)
	if err != nil {
		return false, err
	}
	for _, r := range earlier {
		d := r.Decision
		if d == nil || !d.Allowed() || d.Digest == r.Digest {
			continue
		}
		asked, err := r.Asked()
		switch {
		case err != nil:
			// What it was is erased, and so is what people made of it.
		case c.Host == sayso.HostMCP && !isSameTool(asked.Call, *c):
			continue // another call, which has the id from another host
		case len(d.Args) > 0 && equalArgs(d.Args, c.Args):
			return false, nil
		}
		why := "its content was erased"
		if err == nil {
			if why, err = w.whyNotEdited(ctx, r, &asked, j); err != nil {
				return false, err
			}
		}
		j.source, j.editedArgs = sayso.SourcePolicy, nil
		j.Match = sayso.Match{Effect: sayso.Deny, Cause: sayso.CauseBuiltin,
			Reason: "people changed this call as " + r.ID.Short() + ", and it came without the changes; " + why}
		if why == "" {
			j.linked, j.source, j.editedArgs = r, d.Source, d.Args
			j.Match.Effect, j.Match.Reason = sayso.Allow, "allowed with changes a moment ago as "+r.ID.Short()+", where the host asked"
		}
		return true, nil
	}
	return false, nil
}

// earlierRequests are the requests of other requesters of the same owner that this call's id
// belongs to, the newest first: also of those that took a request up under it.
func (w *waiter) earlierRequests(ctx context.Context) ([]*sayso.Request, error) {
	c := &w.a.Call
	at, err := w.b.linkIndex.otherOrigins(ctx, w.b.log, w.actor.Principal)
	if err != nil {
		return nil, err
	}
	var found []*sayso.Request
	for _, p := range at {
		if c.Host != sayso.HostMCP && p.session != c.Session {
			continue // the host calls its sessions alike wherever it asks; nobody knows which host called a server
		}
		stream, err := w.b.log.Lookup(ctx, sayso.CallKey(p.asker, p.session, c.CallID))
		if errors.Is(err, sayso.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking for the call at an earlier point: %w", err)
		}
		r, err := w.b.read(ctx, stream)
		if err != nil {
			return nil, err
		}
		if c.Host != sayso.HostMCP && r.Host != c.Host {
			continue
		}
		s, err := w.b.session(ctx, r.SessionID)
		if err != nil {
			return nil, err
		}
		if s.Owner == w.actor.Owner {
			found = append(found, &r)
		}
	}
	return found, nil
}

// whyNotEdited says why a call that people changed cannot be given their changes here;
// empty if it can. It must be the call that they saw, a moment ago, and policy must
// let the changed one pass here too.
func (w *waiter) whyNotEdited(ctx context.Context, r *sayso.Request, asked *sayso.RequestedPrivate, j *judgment) (string, error) {
	c, d := &w.a.Call, r.Decision
	now, recorded, err := w.b.clock(ctx)
	if err != nil {
		return "", err
	}
	ago, doubtful := sayso.Elapsed(sayso.Moment{Wall: d.At}, now, recorded)
	_, err = w.b.log.Lookup(ctx, sayso.LinkKey(r.ID))
	switch {
	case err == nil:
		return "they counted once already", nil
	case !errors.Is(err, sayso.ErrNotFound):
		return "", err
	case !w.canEdit:
		return "they cannot be made here", nil
	case d.Source != sayso.SourcePerson || len(d.Args) == 0 || !r.Life.Redeemed || r.Life.Finished:
		return "they were not for a call that runs now", nil
	case doubtful || ago > linkWindow:
		return "they were made too long ago", nil
	case !isSameCall(r, asked.Call, *c) || !equalArgs(asked.Call.Args, c.Args):
		return "it is not the call that was shown either", nil
	case c.Unlisted() || j.besides.Locked && !r.Life.Locked:
		return "somebody must be asked about it here", nil
	case !w.b.sameSubject(&sayso.RequestedPrivate{Call: *c, Facts: w.a.Facts, Besides: j.besides}, d.Args):
		return "where they lead is not known here", nil
	}
	changed, facts := editedCall(*c, w.a.Facts, d.Args)
	if settled := j.besides.Settle(w.b.verdict(ctx, changed, facts)); settled.Effect == sayso.Deny {
		return "policy denies it with them", nil
	}
	return "", nil
}

// editedCall is a call with other arguments, and what is known of it then: what was
// gathered for its own says nothing of these.
func editedCall(c sayso.Call, facts sayso.Facts, args sayso.Args) (sayso.Call, sayso.Facts) {
	c.Args = args
	facts.Files, facts.Words, facts.Secrets, facts.Truncated = nil, nil, nil, true
	if c.Known().Operand != sayso.OperandPath {
		facts.Operands = nil
	}
	return c, facts
}

// answeredContent is the erasable part of an answer, or of a decision, with edited
// arguments; without if there are none.
func (b *Broker) answeredContent(shown sayso.AnsweredShown, args sayso.Args) (*eventContent, error) {
	if len(args) == 0 {
		return newContent(&shown, nil, nil)
	}
	hidden, err := b.o.Redactor().Call(args, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: args: %w", sayso.ErrInvalid, err)
	}
	if shown.Args, _, err = present.SafeJSON(hidden.Full); err != nil {
		return nil, fmt.Errorf("%w: args: %w", sayso.ErrInvalid, err)
	}
	return newContent(&shown, nil, &sayso.AnsweredPrivate{Args: bytes.Clone(args)})
}

func equalArgs(a, b sayso.Args) bool {
	one, err := jcs.Object(a)
	if err != nil {
		return false
	}
	two, err := jcs.Object(b)
	return err == nil && bytes.Equal(one, two)
}
