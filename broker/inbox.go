package broker

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// visibility remembers what one reader may see while it reads.
type visibility struct {
	in       inbox
	sessions map[string]bool
}

// seesSession reports whether the reader may look at a session.
func (s *visibility) seesSession(ctx context.Context, session string) (bool, error) {
	if see, ok := s.sessions[session]; ok {
		return see, nil
	}
	state, known := s.in.b.sessions.get(sayso.SessionStream(session))
	if !known || !state.Started { // whose it is does not change once it has started
		var err error
		if state, err = s.in.b.session(ctx, session); err != nil {
			return false, err
		}
	}
	if s.sessions == nil || len(s.sessions) > 1000 {
		s.sessions = map[string]bool{}
	}
	s.sessions[session] = state.MayLook(s.in.actor)
	return s.sessions[session], nil
}

// seesRequest reports whether the reader may see a request: people those of their
// sessions, requesters their own.
func (s *visibility) seesRequest(ctx context.Context, session, asker string) (bool, error) {
	if s.in.actor.Kind.Asks() {
		return asker == s.in.actor.Principal, nil
	}
	return s.seesSession(ctx, session)
}

// defaultOpenLimit is how many open requests are listed when no limit is given. A session
// may have a few hundred; see [Options.MaxOpen].
const defaultOpenLimit = 10_000

// Requests implements sayso.Inbox.
func (in inbox) Requests(ctx context.Context, q sayso.RowQuery) ([]sayso.Request, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = 100
		if onlyOpen(q) {
			limit = defaultOpenLimit // many of one session must not hide those of another
		}
	}
	found := []sayso.Request{}
	for r, err := range in.visibleRequests(ctx, q, limit) {
		if err != nil {
			return nil, err
		}
		if !isSelected(&r, q) {
			continue
		}
		if found = append(found, publicRequest(r)); len(found) == limit {
			break
		}
	}
	return found, nil
}

// publicRequest is a request as people see it.
func publicRequest(r sayso.Request) sayso.Request {
	r.Decision = r.Decision.Public()
	return r
}

// isSelected drops what the projection still counts as open but whose deadline has
// passed.
func isSelected(r *sayso.Request, q sayso.RowQuery) bool {
	if q.Group != "" && r.GroupID != q.Group {
		return false
	}
	if len(q.States) == 0 {
		return true
	}
	for _, s := range q.States {
		if s == r.State {
			return true
		}
	}
	return false
}

// onlyOpen reports whether a query asks for open requests alone, which are
// found without looking at any other.
func onlyOpen(q sayso.RowQuery) bool {
	return q.OnlyOpen() && len(q.Sessions) == 0 && q.CallID == "" && q.Digest.IsZero() && q.Tool == "" && q.Host == "" &&
		q.Since.IsZero() && q.Until.IsZero() && q.Before == 0
}

// Request implements sayso.Inbox.
func (in inbox) Request(ctx context.Context, typed string) (sayso.Request, error) {
	id, err := in.resolveID(ctx, typed)
	if err != nil {
		return sayso.Request{}, err
	}
	r, err := in.readVisible(ctx, id)
	if err != nil {
		return sayso.Request{}, err
	}
	if err := in.countCovered(ctx, &r); err != nil {
		return sayso.Request{}, err
	}
	now, recorded, err := in.b.clock(ctx)
	if err != nil {
		return sayso.Request{}, err
	}
	return publicRequest(r.At(now, recorded)), nil
}

// resolveID returns the one id that was typed.
func (in inbox) resolveID(ctx context.Context, typed string) (sayso.ID, error) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if id, err := sayso.ParseID(typed); err == nil {
		return id, nil
	}
	if len(typed) < 4 {
		return "", fmt.Errorf("%w: an id has at least four characters", sayso.ErrInvalid)
	}
	ids, err := in.b.log.Find(ctx, typed, 6)
	if err != nil {
		return "", fmt.Errorf("looking for %q: %w", typed, err)
	}
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("request %q: %w", typed, sayso.ErrNotFound)
	case 1:
		return ids[0], nil
	}
	var full []string
	for _, id := range ids {
		full = append(full, string(id))
	}
	return "", fmt.Errorf("%w: %q means several requests: %s", sayso.ErrConflict, typed, strings.Join(full, ", "))
}

// readVisible reads a request that this principal may see.
func (in inbox) readVisible(ctx context.Context, id sayso.ID) (sayso.Request, error) {
	r, err := in.b.load(ctx, id)
	if err != nil {
		return r, err
	}
	vis := visibility{in: in}
	see, err := vis.seesRequest(ctx, r.SessionID, r.Life.Asker.Principal)
	if err == nil && !see {
		err = fmt.Errorf("request %s: %w", id.Short(), sayso.ErrNotAllowed)
	}
	return r, err
}

// Content implements sayso.Inbox.
func (in inbox) Content(ctx context.Context, id sayso.ID) (sayso.RequestedFull, error) {
	var full sayso.RequestedFull
	r, err := in.readVisible(ctx, id)
	if err != nil {
		return full, err
	}
	if !in.actor.Kind.Answers() {
		return full, fmt.Errorf("content of %s: %w", id.Short(), sayso.ErrNotAllowed)
	}
	events, err := in.b.log.Stream(ctx, sayso.RequestStream(r.ID), 0)
	if err != nil {
		return full, fmt.Errorf("reading request %s: %w", id.Short(), err)
	}
	if len(events) == 0 || events[0].Content == nil {
		return full, fmt.Errorf("the content of %s was erased: %w", id.Short(), sayso.ErrNotFound)
	}
	var c sayso.Content
	if err := jcs.UnmarshalLenient(events[0].Content, &c); err != nil {
		return full, fmt.Errorf("reading request %s: %w", id.Short(), err)
	}
	return full, jcs.UnmarshalLenient(c.Full, &full)
}

// Life implements sayso.Inbox.
func (in inbox) Life(ctx context.Context, id sayso.ID) ([]sayso.Event, error) {
	if _, err := in.readVisible(ctx, id); err != nil {
		return nil, err
	}
	events, err := in.b.log.Stream(ctx, sayso.RequestStream(id), 0)
	if err != nil {
		return nil, fmt.Errorf("reading request %s: %w", id.Short(), err)
	}
	for i := range events {
		if events[i], err = events[i].Public(); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// Head implements sayso.Inbox.
func (in inbox) Head(ctx context.Context) (sayso.Head, error) { return in.b.log.Head(ctx) }

// pageSize is how many events a follower reads at a time.
const pageSize = 256

// Follow implements sayso.Inbox.
func (in inbox) Follow(ctx context.Context, since sayso.Seq, q sayso.EventQuery) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		f := follower{visibility: visibility{in: in}, own: map[sayso.ID]bool{}}
		for events, err := range in.pages(ctx, since) {
			if err != nil {
				yield(sayso.Event{}, fmt.Errorf("following the log: %w", err))
				return
			}
			for _, e := range events {
				e, see, err := f.filter(ctx, e, q)
				if (see || err != nil) && !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// pages yields what is in the log behind a position and then, as it grows, what
// others read of it too. An error ends them.
func (in inbox) pages(ctx context.Context, since sayso.Seq) iter.Seq2[[]*sayso.Event, error] {
	return func(yield func([]*sayso.Event, error) bool) {
		var shared *tail
		defer func() {
			if shared != nil {
				in.b.tail.leave(shared)
			}
		}()
		for direct := true; ; {
			var events []*sayso.Event
			var err error
			if direct {
				events, err = in.b.readPage(ctx, since)
				direct = len(events) == pageSize
			} else {
				if shared == nil {
					shared = in.b.tail.join(ctx, in.b.log, caches{in.b}, since)
				}
				events, direct, err = shared.after(ctx, since)
			}
			if n := len(events); n > 0 {
				since = events[n-1].Seq
			}
			if !yield(events, err) || err != nil {
				return
			}
		}
	}
}

// readPage reads the next events from the log.
func (b *Broker) readPage(ctx context.Context, since sayso.Seq) ([]*sayso.Event, error) {
	events, err := b.log.Since(ctx, since, pageSize)
	list := make([]*sayso.Event, len(events))
	for i := range events {
		if list[i] = &events[i]; list[i].Type == sayso.EventContentErased {
			caches{b}.forget(erasedBy(list[i]))
		}
	}
	return list, err
}

// follower decides which events one reader sees.
type follower struct {
	visibility
	own map[sayso.ID]bool // requests of a requester
}

func (f *follower) filter(ctx context.Context, e *sayso.Event, q sayso.EventQuery) (sayso.Event, bool, error) {
	if e.Type == sayso.EventSessionStarted {
		delete(f.sessions, e.SessionID)
	}
	if e.Type == sayso.EventRequested && e.Actor.Principal == f.in.actor.Principal && f.in.actor.Kind.Asks() {
		f.rememberOwn(e.RequestID, true)
	}
	if !q.Matches(e) {
		return sayso.Event{}, false, nil
	}
	see, err := f.seesEvent(ctx, e)
	if err != nil || !see {
		return sayso.Event{}, false, err
	}
	public, err := f.in.b.publicEvents.public(e, &f.in.b.requests)
	return public, err == nil, err
}

// seesEvent reports whether the reader may see an event. What belongs to no session
// is for people.
func (f *follower) seesEvent(ctx context.Context, e *sayso.Event) (bool, error) {
	if f.in.actor.Kind.Asks() {
		return f.ownsRequest(ctx, e)
	}
	if e.Stream == sayso.BrokerStream || e.Stream == sayso.DefinitionStream {
		return f.in.actor.Kind.Looks(), nil
	}
	return f.seesSession(ctx, e.SessionID)
}

// rememberOwn remembers whether a request is the reader's own, and forgets all
// others when there are too many: what is not known is looked up.
func (f *follower) rememberOwn(id sayso.ID, own bool) {
	if len(f.own) >= maxRememberedOwn {
		clear(f.own)
	}
	f.own[id] = own
}

// maxRememberedOwn bounds what a follower remembers.
const maxRememberedOwn = 1000

func (f *follower) ownsRequest(ctx context.Context, e *sayso.Event) (bool, error) {
	if e.RequestID == "" || !strings.HasPrefix(e.Stream, "request/") {
		return false, nil
	}
	own, known := f.own[e.RequestID]
	if !known {
		r, err := f.in.b.load(ctx, e.RequestID)
		if err != nil {
			return false, err
		}
		own = r.Life.Asker.Principal == f.in.actor.Principal
		f.rememberOwn(e.RequestID, own)
	}
	return own, nil
}

// Explain implements sayso.Inbox.
func (in inbox) Explain(ctx context.Context, c sayso.Call, f sayso.Facts) (sayso.Verdict, error) {
	if err := c.Validate(); err != nil {
		return sayso.Verdict{}, err
	}
	return in.b.verdict(ctx, c, f), nil
}
