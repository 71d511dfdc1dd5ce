package server

import (
	"context"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/present/highlight"
)

// requests lists requests. The end of the log is read first, so that who
// follows from there misses nothing.
func (s *Server) requests(ctx context.Context, c *caller, in *wire.Query) (any, error) {
	q, err := in.RowQuery()
	if err != nil {
		return nil, err
	}
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	head, err := c.inbox.Head(ctx)
	if err != nil {
		return nil, err
	}
	open := q.OnlyOpen()
	q.Oldest = q.Oldest || open
	if q.Limit == 0 && !open {
		q.Limit = 100
	}
	start := time.Now()
	list, err := c.inbox.Requests(ctx, q)
	if err != nil {
		return nil, err
	}
	if open {
		s.metrics.openList.Observe(time.Since(start).Seconds())
	}
	for i := range list {
		list[i].Decision = list[i].Decision.Public()
	}
	out := wire.Requests{Requests: list, Head: head.Seq}
	if n := len(list); n > 0 && n == q.Limit && !q.Oldest {
		out.Next = list[n-1].Life.First
	}
	return &out, nil
}

func (s *Server) request(ctx context.Context, c *caller, in *wire.ByID) (any, error) {
	if len(in.ID) < 4 || len(in.ID) > 36 {
		return nil, sayso.ErrNotFound
	}
	r, err := c.inbox.Request(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	r.Decision = r.Decision.Public()
	return &r, nil
}

// call is the request that a call of a session is: an open one, or the newest.
func (s *Server) call(ctx context.Context, c *caller, in *wire.ByCall) (any, error) {
	if in.CallID == "" {
		return nil, sayso.ErrNotFound
	}
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	for _, q := range []sayso.RowQuery{
		{Session: in.Session, CallID: in.CallID, States: sayso.OpenStates(), Oldest: true, Limit: wire.MaxLimit},
		{Session: in.Session, CallID: in.CallID, Limit: wire.MaxLimit},
	} {
		list, err := c.inbox.Requests(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if r := &list[i]; r.SessionID == in.Session && r.CallID == in.CallID {
				r.Decision = r.Decision.Public()
				return r, nil
			}
		}
	}
	return nil, sayso.ErrNotFound
}

func (s *Server) content(ctx context.Context, c *caller, in *wire.ByContent) (any, error) {
	id, err := parseFullID(in.ID)
	if err != nil {
		return nil, err
	}
	full, err := c.inbox.Content(ctx, id)
	if err != nil {
		return nil, err
	}
	out := wire.Content{RequestedFull: full}
	if in.Tokens && full.Presentation != nil {
		out.Tokens = highlight.Presentation(*full.Presentation)
	}
	s.served.add(c, id)
	return &out, nil
}

func (s *Server) life(ctx context.Context, c *caller, in *wire.ByID) (any, error) {
	id, err := parseFullID(in.ID)
	if err != nil {
		return nil, err
	}
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	events, err := c.inbox.Life(ctx, id)
	if err != nil {
		return nil, err
	}
	return &wire.Life{Events: events}, nil
}

func (s *Server) answer(ctx context.Context, c *caller, in *wire.Answer) (any, error) {
	id, err := parseFullID(string(in.ID))
	if err != nil {
		return nil, err
	}
	a, err := in.Answer()
	if err != nil {
		return nil, err
	}
	if a.Digest.IsZero() || a.Content.IsZero() {
		return nil, fmt.Errorf("%w: digest and content must name the call and what was shown of it, as the request has them", sayso.ErrInvalid)
	}
	if a.Effect == sayso.Allow && !s.served.hasServed(c, id) {
		return nil, wire.ErrContentWanted
	}
	d, err := c.inbox.Answer(ctx, id, a)
	if err != nil {
		return admissionResult(&d, err)
	}
	return d.Public(), nil
}

func (s *Server) group(ctx context.Context, c *caller, in *wire.Group) (any, error) {
	a, err := in.Answer()
	if err != nil {
		return nil, err
	}
	if len(in.Members) == 0 || len(in.Members) > sayso.MaxGroup || !a.Digest.IsZero() || !a.Content.IsZero() {
		return nil, fmt.Errorf("%w: members has from 1 to %d requests, and each its own digest and content", sayso.ErrInvalid, sayso.MaxGroup)
	}
	if ids := memberIDs(in.Members); a.Effect == sayso.Allow && !s.served.hasServed(c, ids...) {
		return nil, wire.ErrContentWanted
	}
	results, err := c.inbox.AnswerGroup(ctx, in.Group, in.Members, a)
	if err != nil {
		return nil, err
	}
	out := wire.GroupResult{Results: []wire.MemberResult{}}
	for _, r := range results {
		m := wire.MemberResult{ID: r.ID}
		if r.Err != nil {
			p := s.problem(ctx, "group", r.Err)
			m.Error = &p
		} else {
			m.Decision = r.Decision.Public()
		}
		out.Results = append(out.Results, m)
	}
	return &out, nil
}

func memberIDs(members []sayso.Member) []sayso.ID {
	ids := make([]sayso.ID, len(members))
	for i := range members {
		ids[i] = members[i].ID
	}
	return ids
}

func (s *Server) head(ctx context.Context, c *caller, _ *wire.Nothing) (any, error) {
	h, err := c.inbox.Head(ctx)
	if err != nil {
		return nil, err
	}
	return &wire.Head{Seq: h.Seq, Hash: h.Hash, At: h.At.Wall.UTC()}, nil
}

func (s *Server) grants(ctx context.Context, c *caller, in *wire.Grants) (any, error) {
	list, err := c.inbox.Grants(ctx, in.Session, in.All)
	if err != nil {
		return nil, err
	}
	return &wire.GrantList{Grants: list}, nil
}

func (s *Server) revoke(ctx context.Context, c *caller, in *wire.ByID) (any, error) {
	id, err := parseFullID(in.ID)
	if err != nil {
		return nil, err
	}
	return nil, c.inbox.Revoke(ctx, id)
}

// defaultSince is how far back a list of sessions goes.
const defaultSince = 7 * 24 * time.Hour

func (s *Server) sessions(ctx context.Context, c *caller, in *wire.SessionsSince) (any, error) {
	since := in.Since
	if since.IsZero() {
		since = time.Now().Add(-defaultSince)
	}
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	list, err := c.inbox.Sessions(ctx, since)
	if err != nil {
		return nil, err
	}
	return &wire.Sessions{Sessions: list}, nil
}

func (s *Server) policies(ctx context.Context, c *caller, in *wire.SessionOnly) (any, error) {
	p, err := c.inbox.Policies(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	return &wire.PoliciesBody{Policies: p}, nil
}

func (s *Server) setPolicies(ctx context.Context, c *caller, in *wire.Policies) (any, error) {
	if in.Policies == nil {
		return nil, fmt.Errorf("%w: policies is missing; {} takes all away", sayso.ErrInvalid)
	}
	return nil, c.inbox.SetPolicies(ctx, in.Session, in.Policies)
}

func (s *Server) mode(ctx context.Context, c *caller, in *wire.SessionOnly) (any, error) {
	m, err := c.inbox.Mode(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	out := wire.ModeStateOf(in.Session, m)
	return &out, nil
}

func (s *Server) setMode(ctx context.Context, c *caller, in *wire.Mode) (any, error) {
	m, err := sayso.ParseMode(string(in.Mode))
	if err != nil {
		return nil, err
	}
	d, err := wire.ParseFor(in.For)
	if err != nil {
		return nil, err
	}
	if m == sayso.ModeApproveAll && d == 0 {
		return nil, fmt.Errorf("%w: approve_all must be given an end: for", sayso.ErrInvalid)
	}
	if in.Session == "" && c.actor.Kind != sayso.PrincipalAdmin {
		return nil, sayso.ErrNotAllowed
	}
	return nil, c.inbox.SetMode(ctx, in.Session, m, d)
}

func (s *Server) check(ctx context.Context, c *caller, in *wire.Check) (any, error) {
	if err := in.Call.Validate(); err != nil {
		return nil, err
	}
	if _, err := in.Call.Digest(); err != nil {
		return nil, err
	}
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	v, err := c.inbox.Explain(ctx, in.Call, in.Facts)
	if err != nil {
		return nil, err
	}
	out := wire.VerdictOf(v)
	return &out, nil
}
