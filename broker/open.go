package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// open records the call, with the decision if policy, a grant or the mode has
// one, and returns it as it then stands in the log.
func (w *waiter) open(ctx context.Context) (*sayso.Request, error) {
	j, err := w.judge(ctx)
	if err != nil {
		return nil, err
	}
	var shown *sayso.Presentation
	if j.modeEffect == sayso.Ask {
		done, err := w.checkLimits(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		if shown, err = w.presentation(ctx); err != nil {
			return nil, err
		}
	}
	batch := newBatch(w.b.o.Now())
	id := newID(batch.at.Wall)
	r := sayso.Request{ID: id, SessionID: w.a.Call.Session, RunID: w.a.Call.Run, CallID: w.a.Call.CallID, Digest: w.digest}
	if err := w.addRequested(ctx, batch, &r, &j, shown); err != nil {
		return nil, err
	}
	// What was read of the session and of all sessions must still hold when
	// this is recorded: a mode or a policy set meanwhile decides anew.
	j.expect(batch)
	batch.Absent = sayso.Absent{Session: r.SessionID, Grants: j.assumedNoGrants}
	if !w.lookedUp {
		batch.Absent.Digest = w.digest
	}
	for i := range j.endedGrants {
		batch.endGrant(&j.endedGrants[i], "definition changed")
	}
	if j.modeEffect != sayso.Ask {
		if err := w.addResolved(batch, &r, &j); err != nil {
			return nil, err
		}
	}
	events, err := w.b.append(ctx, batch)
	if err != nil {
		return nil, err
	}
	return w.foldOpened(&r, events, j.modeEffect == sayso.Ask)
}

// foldOpened folds the request from the events that opened it.
func (w *waiter) foldOpened(r *sayso.Request, events []sayso.Event, asked bool) (*sayso.Request, error) {
	opened, err := w.b.asOpened(r.ID, events)
	if err != nil {
		return nil, err
	}
	w.opened, w.openedLen = opened.ID, opened.Life.Len
	if asked {
		w.b.o.Opened(*opened)
	}
	return opened, nil
}

// asOpened is a request from the events that opened it, as a follower of the log
// has folded it already or as it is folded here.
func (b *Broker) asOpened(id sayso.ID, events []sayso.Event) (*sayso.Request, error) {
	stream, n := sayso.RequestStream(id), 0
	for i := range events {
		if events[i].Stream == stream {
			n++
		}
	}
	if known, ok := b.requests.get(id); ok && known.Life.Len == n {
		return known, nil
	}
	r := &sayso.Request{}
	for i := range events {
		if events[i].Stream == stream {
			if err := r.Apply(&events[i]); err != nil {
				return nil, err
			}
		}
	}
	b.requests.put(r)
	return r, nil
}

// addRequested adds approval.requested, and session.started for a session that is
// seen for the first time.
func (w *waiter) addRequested(ctx context.Context, batch *batch, r *sayso.Request, j *judgment, shown *sayso.Presentation) error {
	c := &w.a.Call
	tool, server := c.CanonicalName()
	p := sayso.Requested{
		GroupID: c.GroupID, Host: c.Host, Tool: tool, HostTool: c.Tool, Server: server, Kind: c.EffectiveKind(),
		Risk: j.verdict.Risk, Danger: j.verdict.Danger, Cause: j.Cause, Rule: j.Rule, File: j.File, Line: j.Line, Titled: j.verdict.Title != "",
		Span: j.Span, Requirement: sayso.Requirement{Count: 1}, DeadlineNS: int64(j.verdict.Deadline.After),
		ThenDeny: j.verdict.Deadline.Deny, Policy: j.verdict.Policy, Mode: j.mode, Pins: j.pins, CanPin: j.canPin,
		CanEdit: w.a.CanEdit, Elicit: j.modeEffect == sayso.Ask && j.elicit,
	}
	if ask := w.a.Ask; ask != nil {
		p.Risk = p.Risk.Raise(ask.Risk)
		if ask.GroupID != "" {
			p.GroupID = ask.GroupID
		}
	}
	if j.modeEffect == sayso.Ask || j.modeEffect == sayso.Allow && !w.a.Immediate {
		var err error // who has an approval that is not spent keeps it from its twins
		if p.Holder, err = w.b.holder(ctx); err != nil {
			return err
		}
	}
	text, err := w.requestContent(j, shown)
	if err != nil {
		return err
	}
	if !j.session.Started || j.session.Ended {
		w.addStarted(batch, &j.session)
	}
	batch.addToRequest(r, sayso.EventRequested, w.actor, &p, text)
	if c.CallID != "" {
		batch.Keys = append(batch.Keys, sayso.Key{Name: w.key(c.Session), Stream: sayso.RequestStream(r.ID)})
	}
	return nil
}

// addResolved adds the decision of policy, a grant or the mode, the use of
// the grant, and the redemption if the caller runs the call at once.
func (w *waiter) addResolved(batch *batch, r *sayso.Request, j *judgment) error {
	p := sayso.Resolved{
		Effect: j.modeEffect, Source: j.source, Cause: j.Cause, Rule: j.Rule, File: j.File, Line: j.Line,
		Reason: j.Reason, Mode: j.mode, Policy: j.verdict.Policy,
	}
	if j.linked != nil {
		p.By, p.Link, p.Grant = j.linked.Decision.By, j.linked.ID, j.linked.Decision.Grant
		batch.Keys = append(batch.Keys, sayso.Key{Name: sayso.LinkKey(p.Link), Stream: sayso.RequestStream(r.ID)})
	}
	if j.grant != nil {
		p.Grant, p.By = j.grant.ID, []sayso.Actor{j.grant.By}
		batch.add(sayso.GrantStream(j.grant.ID), j.grant.Len, sayso.EventGrantUsed,
			eventSubject{session: r.SessionID, request: r.ID, callID: r.CallID}, w.actor, sayso.GrantUsed{Request: r.ID}, nil)
	}
	shown := sayso.AnsweredShown{Digest: r.Digest}
	if len(j.editedArgs) > 0 {
		runs := w.a.Call
		runs.Args = j.editedArgs
		var err error
		if shown.Edited, err = runs.Digest(); err != nil {
			return err
		}
	}
	text, err := w.b.answeredContent(shown, j.editedArgs)
	if err != nil {
		return err
	}
	batch.addToRequest(r, sayso.EventResolved, sayso.BrokerActor, &p, text)
	if j.modeEffect == sayso.Allow && w.a.Immediate {
		batch.addToRequest(r, sayso.EventRedeemed, w.actor, sayso.Redeemed{Policy: j.verdict.Policy}, nil)
	}
	return nil
}

// presentation builds what a person will see, now that one will.
func (w *waiter) presentation(ctx context.Context) (*sayso.Presentation, error) {
	if w.a.Ask != nil && w.a.Ask.Presentation != nil {
		return w.a.Ask.Presentation, nil
	}
	if w.a.Present == nil {
		return w.defaultPresentation(), nil
	}
	if !w.presented { // once, however often the request is opened anew
		p, err := w.a.Present(ctx)
		if err != nil {
			return nil, fmt.Errorf("preparing what a person is shown: %w", err)
		}
		w.presented, w.shown = true, p
	}
	return w.shown, nil
}

// needsPresent reports whether the caller would have to prepare what people see.
func (w *waiter) needsPresent() bool {
	return w.a.Present != nil && (w.a.Ask == nil || w.a.Ask.Presentation == nil)
}

// defaultPresentation is what can be shown of a call whose caller says nothing of how. Where the
// caller says what to show instead of the arguments, they are not shown.
func (w *waiter) defaultPresentation() *sayso.Presentation {
	if w.trustsTool() && len(w.a.Ask.Display) > 0 {
		return nil
	}
	p, ok := present.Call(w.a.Call)
	if !ok {
		return nil
	}
	return &p
}

// requestContent redacts the call and takes out what deceives whoever reads it. What people are
// shown, and only that, has a digest that their answer must name.
func (w *waiter) requestContent(j *judgment, shown *sayso.Presentation) (*eventContent, error) {
	c := &w.a.Call
	args, trusted := c.Args, w.trustsTool()
	if trusted && len(w.a.Ask.Display) > 0 {
		args = w.a.Ask.Display
	}
	texts := map[string]string{"description": w.description(j), "cwd": c.Cwd, "caller": c.Caller}
	for k, v := range c.Said {
		texts["said/"+k] = v
	}
	ways := w.ways(j, texts)
	var payload []byte
	var ignores []string
	if trusted {
		payload, ignores = w.ignoredArgs()
	}
	for i, name := range ignores {
		texts[ignoredName(i)] = name
	}
	redactor := w.b.o.Redactor()
	hidden, err := redactCall(redactor, args, texts, shown)
	if err != nil {
		return nil, fmt.Errorf("%w: the arguments cannot be shown: %w", sayso.ErrInvalid, err)
	}
	full, seen, err := present.SafeJSON(hidden.Full) // all of it, so that what a preview leaves out is warned of too
	if err != nil {
		return nil, fmt.Errorf("%w: the arguments cannot be shown: %w", sayso.ErrInvalid, err)
	}
	preview, warnings := redactor.Preview(full)
	clean := sanitizer{redacted: hidden.Texts, warnings: append(warnings, seen...)}
	everything := sayso.RequestedFull{Args: full}
	var drawn []byte
	if shown != nil {
		everything.Presentation = clean.presentation(shown)
		if drawn, err = jcs.Marshal(everything.Presentation); err != nil {
			return nil, fmt.Errorf("%w: the presentation cannot be shown: %w", sayso.ErrInvalid, err)
		}
	}
	clean.checkNames(c)
	s := sayso.RequestedShown{
		Caller: clean.text("caller"), Cwd: clean.text("cwd"), Description: clean.text("description"), Said: clean.said(c.Said),
		Preview: preview, Redactions: withoutCovers(hidden.Redactions), Digest: w.digest, Fingerprint: w.fingerprint(trusted),
		Covers: offers(ways, hidden.Texts),
	}
	s.Content, s.Warnings = sayso.HashOf("sayso/shown/1", full, drawn, []byte(s.Cwd)), clean.warnings
	private := &sayso.RequestedPrivate{Call: *c, Facts: w.a.Facts, Payload: payload, Besides: j.besides}
	for i := range ignores {
		s.Ignores = append(s.Ignores, clean.text(ignoredName(i)))
	}
	text, err := newContent(&s, &everything, private)
	if err == nil && w.ownsAdmission {
		text.private = private
	}
	w.requested = private
	return text, err
}

// description is the title of the request: the rule's, the tool's, or the
// caller's.
func (w *waiter) description(j *judgment) string {
	switch {
	case j.verdict.Title != "":
		return j.verdict.Title
	case w.a.Ask != nil && w.a.Ask.Description != "":
		return w.a.Ask.Description
	}
	return w.a.Call.Description
}

// checkLimits refuses a request of a session that has too many open, or asks too
// often, with one event for each minute and not one for each call. done must be
// called when the request is in the log, or will not be.
func (w *waiter) checkLimits(ctx context.Context) (done func(), err error) {
	var now sayso.Moment
	why := ""
	done, err = w.b.limiter.acquire(ctx, w.a.Call.Session, func() (int, error) {
		now = w.b.o.Now()
		open, asked, err := w.b.log.Count(ctx, w.a.Call.Session, now.Wall.Add(-time.Minute))
		if err != nil {
			return 0, fmt.Errorf("counting open requests: %w", err)
		}
		why = fmt.Sprintf("%d requests of this session are open already", open)
		if open < w.b.o.MaxOpen {
			why = fmt.Sprintf("this session asked %d times within a minute", asked)
		}
		return min(w.b.o.MaxOpen-open, w.b.o.MaxAsks-asked), nil
	})
	if err != nil || done != nil {
		return done, err
	}
	full := fmt.Errorf("%w: %s", sayso.ErrTooMany, why)
	if !w.lookedUp {
		return nil, full // which is for the record only when the call is known to be new
	}
	if err := w.recordLimited(ctx, now, why); err != nil && !isConflict(err) {
		return nil, err
	}
	return nil, full
}

// recordLimited records a call that nobody is asked about, unless this minute has one.
// That is looked up first, so that a flood costs the log no turns at writing.
func (w *waiter) recordLimited(ctx context.Context, now sayso.Moment, why string) error {
	minute := sayso.LimitKey(w.a.Call.Session, now.Wall)
	if _, err := w.b.log.Lookup(ctx, minute); !errors.Is(err, sayso.ErrNotFound) {
		return err
	}
	batch := newBatch(now)
	r := sayso.Request{ID: newID(now.Wall), SessionID: w.a.Call.Session, RunID: w.a.Call.Run, CallID: w.a.Call.CallID, Digest: w.digest}
	tool, server := w.a.Call.CanonicalName()
	c, err := newContent(sayso.RequestedShown{Digest: w.digest, Preview: sayso.Args("{}")}, nil, nil)
	if err != nil {
		return err
	}
	batch.addToRequest(&r, sayso.EventRequested, w.actor, sayso.Requested{
		Host: w.a.Call.Host, Tool: tool, HostTool: w.a.Call.Tool, Server: server, Kind: w.a.Call.EffectiveKind(),
		Cause: sayso.CauseBuiltin, Requirement: sayso.Requirement{Count: 1},
	}, c)
	batch.addToRequest(&r, sayso.EventResolved, sayso.BrokerActor, sayso.Resolved{
		Effect: sayso.Deny, Source: sayso.SourcePolicy, Cause: sayso.CauseBuiltin, Rule: sayso.RuleLimit, Reason: why,
	}, nil)
	batch.Keys = []sayso.Key{{Name: minute, Stream: sayso.RequestStream(r.ID)}}
	_, err = w.b.append(ctx, batch)
	return err
}
