package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// ChannelAgentProcess is the channel of an answer that comes from under an
// agent's process tree. Such answers are refused and recorded.
const ChannelAgentProcess = "agent-process"

// maxText is how long, in bytes, the words of a person or of a requester about
// a request may be.
const maxText = 4000

// Answer implements sayso.Inbox.
func (in inbox) Answer(ctx context.Context, id sayso.ID, a sayso.Answer) (sayso.Decision, error) {
	if err := validateAnswer(&a); err != nil {
		return sayso.Decision{}, err
	}
	if in.actor.Channel == sayso.ChannelElicitation && (a.Scope == sayso.ScopeSession || len(a.Args) > 0) {
		return sayso.Decision{}, fmt.Errorf("%w: who answers by way of a client allows this call once, as it is", sayso.ErrNotAllowed)
	}
	if d, ok := in.answerRecent(ctx, id, a); ok {
		return d, nil
	}
	for range maxAttempts {
		d, err := in.answer(ctx, id, a)
		if !isConflict(err) {
			return d, err
		}
		if err := ctx.Err(); err != nil {
			return sayso.Decision{}, err
		}
	}
	return sayso.Decision{}, errContention
}

// validateAnswer refuses words that are not known, before anything is looked up.
func validateAnswer(a *sayso.Answer) error {
	switch {
	case a.Effect != sayso.Allow && a.Effect != sayso.Deny:
		return fmt.Errorf("%w: an answer is allow or deny", sayso.ErrInvalid)
	case a.Scope != "" && a.Scope != sayso.ScopeOnce && a.Scope != sayso.ScopeSession:
		return fmt.Errorf("%w: scope must be once or session", sayso.ErrInvalid)
	case a.Cover != "" && !a.Cover.Known():
		return fmt.Errorf("%w: cover must be one of %s", sayso.ErrInvalid, joinWords(sayso.Covers()))
	case a.Uses < 0 || a.For < 0:
		return fmt.Errorf("%w: uses and for cannot be negative", sayso.ErrInvalid)
	case len(a.Note) > maxText:
		return fmt.Errorf("%w: a note may have %d bytes", sayso.ErrInvalid, maxText)
	case a.Effect == sayso.Deny && (len(a.Args) > 0 || a.Scope == sayso.ScopeSession || a.Uses > 0 || a.For > 0):
		return fmt.Errorf("%w: only an allow can be edited or remembered", sayso.ErrInvalid)
	case a.Scope != sayso.ScopeSession && (a.Uses > 0 || a.For > 0 || a.Cover != ""):
		return fmt.Errorf("%w: only an answer with scope session has cover, uses or for", sayso.ErrInvalid)
	case len(a.Args) > 0 && a.Scope == sayso.ScopeSession:
		return fmt.Errorf("%w: an edited call is allowed once; it cannot be remembered", sayso.ErrInvalid)
	}
	if a.Scope == "" {
		a.Scope = sayso.ScopeOnce
	}
	return nil
}

// joinWords are words one after the other, with commas.
func joinWords[T ~string](list []T) string {
	var b strings.Builder
	for i, w := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}

// answerRecent answers a request as it and its session were when this process
// saw them last, which it nearly always still are: the append expects that. ok
// is false if it did not come to a success. Then all is read and decided anew.
func (in inbox) answerRecent(ctx context.Context, id sayso.ID, a sayso.Answer) (d sayso.Decision, ok bool) {
	r, known := in.b.requests.get(id)
	if !known || !r.State.Open() {
		return d, false
	}
	session, known := in.b.sessions.get(sayso.SessionStream(r.SessionID))
	if !known || in.whyBarred(r, &session) != "" {
		return d, false
	}
	now, recorded, err := in.b.clock(ctx)
	if err != nil || r.DeadlinePassed(now, recorded) || !isAbout(&a, r) {
		return d, false
	}
	d, err = in.recordAnswer(ctx, r, &session, a)
	return d, err == nil
}

// answer decides once; a conflict means that the stream grew meanwhile.
func (in inbox) answer(ctx context.Context, id sayso.ID, a sayso.Answer) (sayso.Decision, error) {
	read, err := in.b.load(ctx, id)
	if err != nil {
		return sayso.Decision{}, err
	}
	r := &read
	session, err := in.b.session(ctx, r.SessionID)
	if err != nil {
		return sayso.Decision{}, err
	}
	if why := in.whyBarred(r, &session); why != "" {
		return sayso.Decision{}, in.refuse(ctx, r, a, why, sayso.ErrNotAllowed)
	}
	now, recorded, err := in.b.clock(ctx)
	if err != nil {
		return sayso.Decision{}, err
	}
	if r.State.Open() && r.DeadlinePassed(now, recorded) {
		if r, err = in.b.expire(ctx, r); err != nil {
			return sayso.Decision{}, err
		}
	}
	if !r.State.Open() {
		return in.answerDecided(ctx, r, a)
	}
	if !isAbout(&a, r) {
		return sayso.Decision{}, in.refuse(ctx, r, a, "mismatch", sayso.ErrMismatch)
	}
	return in.recordAnswer(ctx, r, &session, a)
}

// isAbout reports whether an answer is about what this request shows.
func isAbout(a *sayso.Answer, r *sayso.Request) bool {
	return a.Digest == r.Digest && a.Content == r.Content && !r.Digest.IsZero()
}

// whyBarred says why this principal may not answer this request; empty if it may.
func (in inbox) whyBarred(r *sayso.Request, s *sayso.Session) string {
	switch {
	case in.actor.Channel == ChannelAgentProcess:
		return "agent-process"
	case !in.actor.Kind.Answers(), in.actor.Channel == sayso.ChannelElicitation && !r.Life.Elicit:
		return "not-allowed"
	case in.actor.Principal == r.Life.Asker.Principal:
		return "requester"
	case !s.MayAnswer(in.actor):
		return "not-allowed"
	}
	return ""
}

// maxRefusals is how many answers to one request that one person gave in vain, for
// one reason, are recorded. Whoever goes on adds nothing to what is known.
const maxRefusals = 16

// refuse records an answer that is not taken, and returns the error that says why.
func (in inbox) refuse(ctx context.Context, r *sayso.Request, a sayso.Answer, why string, cause error) error {
	known, err := in.countRefused(ctx, r, why)
	if err != nil {
		return errors.Join(cause, err)
	}
	if known >= maxRefusals {
		return refusedError(r, why, cause)
	}
	batch := newBatch(in.b.o.Now())
	batch.add(sayso.RequestStream(r.ID), sayso.AnyLength, sayso.EventAnswerRefused, requestSubject(r), in.actor,
		sayso.AnswerRefused{Effect: a.Effect, Why: why}, nil)
	if _, err := in.b.append(ctx, batch); err != nil {
		return errors.Join(cause, err)
	}
	return refusedError(r, why, cause)
}

func refusedError(r *sayso.Request, why string, cause error) error {
	return fmt.Errorf("answer to %s refused (%s): %w", r.ID.Short(), why, cause)
}

// countRefused counts the answers of this principal that were refused for this
// reason.
func (in inbox) countRefused(ctx context.Context, r *sayso.Request, why string) (n int, err error) {
	events, err := in.b.log.Stream(ctx, sayso.RequestStream(r.ID), 0)
	if err != nil {
		return 0, fmt.Errorf("reading request %s: %w", r.ID.Short(), err)
	}
	for i := range events {
		e := &events[i]
		if e.Type != sayso.EventAnswerRefused || e.Actor.Principal != in.actor.Principal || e.Actor.Channel != in.actor.Channel {
			continue
		}
		var p sayso.AnswerRefused
		if err := jcs.UnmarshalLenient(e.Payload, &p); err == nil && p.Why == why {
			n++
		}
	}
	return n, nil
}

// answerDecided tells the second that the first was first. The same answer again from
// the same person is a success.
func (in inbox) answerDecided(ctx context.Context, r *sayso.Request, a sayso.Answer) (sayso.Decision, error) {
	switch r.State {
	case sayso.StateExpired:
		return sayso.Decision{}, in.refuse(ctx, r, a, "expired", sayso.ErrExpired)
	case sayso.StateWithdrawn:
		return sayso.Decision{}, in.refuse(ctx, r, a, "withdrawn", sayso.ErrWithdrawn)
	}
	if in.isRepeat(r, a) {
		return *r.Decision.Public(), nil
	}
	return sayso.Decision{}, in.refuse(ctx, r, a, "decided", &sayso.DecidedError{Decision: *r.Decision.Public()})
}

// isRepeat reports whether this person gave this very answer before.
func (in inbox) isRepeat(r *sayso.Request, a sayso.Answer) bool {
	if r.Decision.Source != sayso.SourcePerson || a.Content != r.Content {
		return false
	}
	for _, g := range r.Life.Answers {
		if g.By.Principal != in.actor.Principal {
			continue
		}
		was := g.Answer
		want, err := in.allowedDigest(r, a)
		return err == nil && was.Effect == a.Effect && was.Scope == a.Scope && was.Digest == a.Digest &&
			coverOrDefault(was.Cover) == coverOrDefault(a.Cover) && was.For == a.For && was.Uses == a.Uses && g.For == want
	}
	return false
}

// coverOrDefault is the cover that an answer means.
func coverOrDefault(c sayso.Cover) sayso.Cover {
	if c == "" {
		return sayso.CoverCall
	}
	return c
}

// allowedDigest is the digest of the call that an answer allows.
func (in inbox) allowedDigest(r *sayso.Request, a sayso.Answer) (sayso.Digest, error) {
	if len(a.Args) == 0 {
		return a.Digest, nil
	}
	asked, err := r.Asked()
	if err != nil {
		return sayso.Digest{}, err
	}
	asked.Call.Args = a.Args
	return asked.Call.Digest()
}

// recordAnswer appends the answer and, if the requirement is now met, the decision
// and the grant that remembers it.
func (in inbox) recordAnswer(ctx context.Context, r *sayso.Request, s *sayso.Session, a sayso.Answer) (sayso.Decision, error) {
	now, err := in.judgeNow(ctx, r, s, a)
	if err != nil {
		return sayso.Decision{}, err
	}
	allows, err := in.allowedDigest(r, a)
	if err != nil {
		return sayso.Decision{}, err
	}
	text, err := in.answerContent(r, a, allows)
	if err != nil {
		return sayso.Decision{}, err
	}
	batch := newBatch(in.b.o.Now())
	batch.Expect[sayso.SessionStream(r.SessionID)] = s.Len
	batch.addToRequest(r, sayso.EventAnswered, in.actor, &sayso.Answered{
		Effect: a.Effect, Scope: a.Scope, Cover: a.Cover, ForNS: int64(a.For), Uses: a.Uses,
	}, text)
	given := append(r.Life.Answers[:len(r.Life.Answers):len(r.Life.Answers)], sayso.Given{By: in.actor, Answer: a, For: allows})
	effect, met := r.Met(given)
	if met {
		batch.addToRequest(r, sayso.EventResolved, sayso.BrokerActor, &sayso.Resolved{
			Effect: effect, Source: sayso.SourcePerson, By: deciders(given, effect, allows), Cause: r.Cause,
			Rule: r.Rule, File: r.File, Line: r.Line, Policy: now.verdict.Policy, Locked: now.locked,
		}, text)
		if effect == sayso.Allow && a.Scope == sayso.ScopeSession {
			if err := in.addGrant(batch, r, a, now); err != nil {
				return sayso.Decision{}, err
			}
		}
	}
	if r, err = in.b.advance(ctx, r, batch); err != nil {
		return sayso.Decision{}, err
	}
	if !met {
		return sayso.Decision{State: r.State, Request: r.ID}, nil
	}
	return *r.Decision.Public(), nil
}

// deciders are the people whose answers made the decision.
func deciders(given []sayso.Given, effect sayso.Effect, allows sayso.Digest) []sayso.Actor {
	last := given[len(given)-1]
	if effect != sayso.Allow {
		return []sayso.Actor{publicActor(last.By)}
	}
	var by []sayso.Actor
	for _, g := range given {
		if g.Answer.Effect == sayso.Allow && g.For == allows {
			by = append(by, publicActor(g.By))
		}
	}
	return by
}

// publicActor is an actor as events keep it, without what its credential says.
func publicActor(a sayso.Actor) sayso.Actor {
	a.Owner, a.Approvers = "", nil
	return a
}

// currentJudgment is what is about to be allowed, judged by the rules that hold now.
type currentJudgment struct {
	asked   sayso.RequestedPrivate
	verdict sayso.Verdict
	reach   sayso.Remember // how far the yes may be remembered
	locked  bool           // that is what the lock asks for
}

// judgeNow asks policy and the session about what is about to be allowed, as
// it is now: the call may have been edited, the policy may have changed. A deny
// is final.
func (in inbox) judgeNow(ctx context.Context, r *sayso.Request, s *sayso.Session, a sayso.Answer) (*currentJudgment, error) {
	if a.Effect != sayso.Allow {
		return &currentJudgment{verdict: sayso.Verdict{Policy: r.Life.Policy}}, nil
	}
	asked, err := r.Asked()
	if err != nil {
		return nil, err
	}
	c, facts := asked.Call, asked.Facts
	if len(a.Args) > 0 {
		if !r.CanEdit {
			return nil, fmt.Errorf("%w: this host does not take edited arguments", sayso.ErrInvalid)
		}
		if _, err := jcs.Object(a.Args); err != nil {
			return nil, fmt.Errorf("%w: args: %w", sayso.ErrInvalid, err)
		}
		if !in.b.sameSubject(&asked, a.Args) {
			return nil, fmt.Errorf("%w: where the edited arguments lead is not known here, and policy may deny it; deny, and say in a note what to ask for instead", sayso.ErrInvalid)
		}
		c, facts = editedCall(c, facts, a.Args)
	}
	v := in.b.verdict(ctx, c, facts)
	besides := in.b.besides(c, s)
	settled := besides.Settle(v)
	if settled.Effect == sayso.Deny {
		return nil, fmt.Errorf("%w: policy denies this call: %s", sayso.ErrNotAllowed,
			sayso.Decision{Reason: settled.Reason, Rule: settled.Rule, File: settled.File, Line: settled.Line}.Because())
	}
	if in.actor.Channel == sayso.ChannelElicitation && settled.Effect == sayso.Ask && !settled.Elicit {
		return nil, fmt.Errorf("%w: by now this call takes a person who answers elsewhere", sayso.ErrNotAllowed)
	}
	if settled.Effect == sayso.Allow {
		settled.Reach = sayso.RememberAny // nothing asks any more, so that nothing limits the yes
	}
	return &currentJudgment{asked: asked, verdict: v, reach: settled.Reach, locked: besides.Locked}, nil
}

// sameSubject reports whether policy can judge edited arguments by the facts that
// were gathered for those of the call: they name the same path, or what they name
// is no path and the policy in force names no folders. Where something leads is
// looked up where the call would run, which is not here. A tool that knows itself
// holds to its own folders with any arguments.
func (b *Broker) sameSubject(asked *sayso.RequestedPrivate, edited sayso.Args) bool {
	c := &asked.Call
	tool := c.Known()
	free := len(b.o.Wanted().Roots) == 0
	switch tool.Operand {
	case sayso.OperandPath:
		free = free && asked.Besides != nil && asked.Besides.Tool != ""
	case sayso.OperandCommand:
	default:
		free = true
	}
	if free {
		return true
	}
	var was, is map[string]any
	if jcs.UnmarshalLenient(c.Args, &was) != nil || jcs.UnmarshalLenient(edited, &is) != nil {
		return false
	}
	return was[tool.Primary] == is[tool.Primary]
}

// answerContent is the erasable part of an answer.
func (in inbox) answerContent(r *sayso.Request, a sayso.Answer, allows sayso.Digest) (*eventContent, error) {
	note, err := in.b.redactText(r, a.Args, a.Note)
	if err != nil {
		return nil, err
	}
	shown := sayso.AnsweredShown{Note: note, Digest: a.Digest}
	if len(a.Args) > 0 {
		shown.Edited = allows
	}
	return in.b.answeredContent(shown, a.Args)
}

// redactText takes out of somebody's words about a request what is hidden in the
// call as it was asked, and in the edited arguments if there are any.
func (b *Broker) redactText(r *sayso.Request, edited sayso.Args, words string) (string, error) {
	if words == "" {
		return "", nil
	}
	args := []sayso.Args{edited}
	if asked, err := r.Asked(); err == nil {
		args = append(args, asked.Call.Args)
	}
	redactor := b.o.Redactor()
	for _, a := range args {
		hidden, err := redactor.Call(a, map[string]string{"words": words})
		if err != nil {
			return "", fmt.Errorf("%w: args: %w", sayso.ErrInvalid, err)
		}
		words = hidden.Texts["words"]
	}
	return safeText(words), nil
}
