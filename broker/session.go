package broker

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// sessionCache remembers the sessions that were read, by stream. What it remembers
// may be old: who decides by it expects the stream to be as long as it was.
type sessionCache struct {
	mu    sync.Mutex // guards known
	known map[string]sayso.Session
}

func (s *sessionCache) get(stream string) (sayso.Session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known[stream]
	return known, ok
}

// put remembers a session, and forgets all others when there are too many.
func (s *sessionCache) put(stream string, session sayso.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) >= 4096 {
		s.known = map[string]sayso.Session{}
	}
	if session.Len >= s.known[stream].Len {
		s.known[stream] = session
	}
}

// apply adds an event that this process appended to what is remembered of its
// session, if that is all there was before.
func (s *sessionCache) apply(e *sayso.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known[e.Stream]
	if ok && e.Pos == known.Len+1 && known.Apply(e) == nil {
		s.known[e.Stream] = known
	}
}

// session reads what holds for a session.
func (b *Broker) session(ctx context.Context, id string) (sayso.Session, error) {
	return b.readSession(ctx, id, sayso.SessionStream(id))
}

// global reads what holds for all sessions.
func (b *Broker) global(ctx context.Context) (sayso.Session, error) {
	return b.readSession(ctx, "", sayso.BrokerStream)
}

// readSession reads what was appended since the session was read last.
func (b *Broker) readSession(ctx context.Context, id, stream string) (sayso.Session, error) {
	s, ok := b.sessions.get(stream)
	if !ok {
		s.ID = id
	}
	events, err := b.log.Stream(ctx, stream, s.Len)
	if err != nil {
		return sayso.Session{}, fmt.Errorf("reading %s: %w", stream, err)
	}
	for i := range events {
		if err := s.Apply(&events[i]); err != nil {
			return sayso.Session{}, err
		}
	}
	b.sessions.put(stream, s)
	return s, nil
}

// cachedSession is a session as it was when it was read last, for decisions that are
// appended only if it is still so.
func (b *Broker) cachedSession(ctx context.Context, id, stream string) (sayso.Session, error) {
	if s, ok := b.sessions.get(stream); ok {
		return s, nil
	}
	return b.readSession(ctx, id, stream)
}

// modeState is the mode in force: the session's own, or the one for all, or
// the one that the options name now. A strict one for all holds for
// every session, whatever was set for it. One that is laxer than the options let it
// be counts as not set.
func (b *Broker) modeState(ctx context.Context, sessions ...*sayso.Session) (sayso.ModeState, error) {
	now, recorded, err := b.clock(ctx)
	if err != nil {
		return sayso.ModeState{}, err
	}
	limit := b.o.ModeLimit()
	var set sayso.ModeState
	for _, s := range sessions {
		m, left := s.ModeAt(now, recorded)
		if m.Within(limit) == m && (set.Mode == "" || m == sayso.ModeStrict) {
			set = sayso.ModeState{Mode: m, Left: left}
		}
	}
	if set.Mode == "" {
		set.Mode = untimedMode(b.o.Mode()).Within(limit)
	}
	return set, nil
}

// untimedMode is the mode that a word from outside the log means. There nothing
// says when it ends, so that approve_all is not among them.
func untimedMode(m sayso.Mode) sayso.Mode {
	switch m {
	case "", sayso.ModeInteractive, sayso.ModeApproveAll:
		return sayso.ModeInteractive
	}
	return sayso.ModeStrict
}

// checkOwner returns an error if a session belongs to somebody else than the owner
// of a requester. Who came to a session first said whose it is: in it, the people of
// another would answer for this requester's calls.
func checkOwner(s *sayso.Session, by sayso.Actor) error {
	if s.Started && s.Owner != by.Owner {
		return fmt.Errorf("session %q: %w: it belongs to somebody else; calls need a session of their own", s.ID, sayso.ErrNotAllowed)
	}
	return nil
}

// addStarted adds session.started: whose agent it is comes from the requester's
// credential.
func (w *waiter) addStarted(batch *batch, s *sayso.Session) {
	batch.add(sayso.SessionStream(s.ID), s.Len, sayso.EventSessionStarted, eventSubject{session: s.ID, run: w.a.Call.Run}, w.actor,
		sayso.SessionStarted{Owner: w.actor.Owner, Approvers: w.actor.Approvers, Host: w.a.Call.Host}, nil)
}

// mayAnswer returns nil if this principal answers for a session.
func (in inbox) mayAnswer(ctx context.Context, session string) error {
	if in.actor.Channel == ChannelAgentProcess {
		return fmt.Errorf("session %q: %w: this comes from under an agent", session, sayso.ErrNotAllowed)
	}
	s, err := in.b.session(ctx, session)
	if err != nil {
		return err
	}
	if !s.MayAnswer(in.actor) {
		return fmt.Errorf("session %q: %w", session, sayso.ErrNotAllowed)
	}
	return nil
}

// Policies implements sayso.Inbox.
func (in inbox) Policies(ctx context.Context, session string) (map[string]sayso.Effect, error) {
	s, err := in.b.session(ctx, session)
	if err != nil {
		return nil, err
	}
	if !s.MayLook(in.actor) {
		return nil, fmt.Errorf("session %q: %w", session, sayso.ErrNotAllowed)
	}
	if s.Policies == nil {
		return map[string]sayso.Effect{}, nil
	}
	return maps.Clone(s.Policies), nil
}

// SetPolicies implements sayso.Inbox.
func (in inbox) SetPolicies(ctx context.Context, session string, p map[string]sayso.Effect) error {
	if err := in.mayAnswer(ctx, session); err != nil {
		return err
	}
	for name := range p {
		if name == "" || len(name) > 256 {
			return fmt.Errorf("%w: a session policy needs the name of a tool", sayso.ErrInvalid)
		}
	}
	batch := newBatch(in.b.o.Now())
	batch.add(sayso.SessionStream(session), sayso.AnyLength, sayso.EventSessionPolicy, eventSubject{session: session}, in.actor, sayso.SessionPolicy{Policies: p}, nil)
	_, err := in.b.append(ctx, batch)
	return err
}

// Switched records that one of the switches beside the log was turned, and for
// how long if it has an end. It changes nothing: whoever turns a switch does so.
func (b *Broker) Switched(ctx context.Context, by sayso.Actor, to sayso.Switch, d time.Duration) error {
	if !to.Known() || d < 0 {
		return fmt.Errorf("%w: a switch is turned off, on, locked or released", sayso.ErrInvalid)
	}
	batch := newBatch(b.o.Now())
	batch.add(sayso.BrokerStream, sayso.AnyLength, sayso.EventModeChanged, eventSubject{}, by, sayso.ModeChanged{Switch: to, ForNS: int64(d)}, nil)
	_, err := b.append(ctx, batch)
	return err
}

// Mode implements sayso.Inbox.
func (in inbox) Mode(ctx context.Context, session string) (sayso.ModeState, error) {
	if !in.actor.Kind.Looks() {
		return sayso.ModeState{}, fmt.Errorf("mode: %w", sayso.ErrNotAllowed)
	}
	all, err := in.b.global(ctx)
	if err != nil {
		return sayso.ModeState{}, err
	}
	if session == "" {
		return in.b.modeState(ctx, &all)
	}
	s, err := in.b.session(ctx, session)
	if err != nil {
		return sayso.ModeState{}, err
	}
	return in.b.modeState(ctx, &s, &all)
}

// SetMode implements sayso.Inbox.
func (in inbox) SetMode(ctx context.Context, session string, m sayso.Mode, d time.Duration) error {
	if _, err := sayso.ParseMode(string(m)); err != nil {
		return err
	}
	if m == sayso.ModeApproveAll && (d <= 0 || d > 24*time.Hour) {
		return fmt.Errorf("%w: approve_all must be given an end, at most 24 hours away", sayso.ErrInvalid)
	}
	if d < 0 {
		return fmt.Errorf("%w: a mode cannot end in the past", sayso.ErrInvalid)
	}
	stream := sayso.BrokerStream
	if session != "" {
		stream = sayso.SessionStream(session)
		if err := in.mayAnswer(ctx, session); err != nil {
			return err
		}
	} else if in.actor.Kind != sayso.PrincipalAdmin || in.actor.Channel == ChannelAgentProcess {
		return fmt.Errorf("the mode of all sessions takes an admin: %w", sayso.ErrNotAllowed)
	}
	if limit := in.b.o.ModeLimit(); m.Within(limit) != m {
		return fmt.Errorf("%w: the policy in force, or how this was started, keeps the mode at %s; type: sayso policy check", sayso.ErrNotAllowed, limit)
	}
	batch := newBatch(in.b.o.Now())
	batch.add(stream, sayso.AnyLength, sayso.EventModeChanged, eventSubject{session: session}, in.actor, sayso.ModeChanged{Mode: m, ForNS: int64(d)}, nil)
	_, err := in.b.append(ctx, batch)
	return err
}
