package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/internal/wire"
)

// get carries out an operation that changes nothing, and once more if the
// connection breaks.
func (c *Client) get(ctx context.Context, op operation, out any) error {
	op.method = http.MethodGet
	err := c.t.do(ctx, op, out)
	if l, ok := lost(err); ok && !l.refused && ctx.Err() == nil {
		err = c.t.do(ctx, op, out)
	}
	return err
}

// Requests implements [sayso.Inbox].
func (c *Client) Requests(ctx context.Context, q sayso.RowQuery) ([]sayso.Request, error) {
	in := wire.QueryOf(q)
	over := in // HTTP means the open ones where no state is named
	if len(over.State) == 0 {
		over.State = wire.EveryState
	}
	var out wire.Requests
	err := c.get(ctx, operation{name: wire.OpRequests, frame: &in, path: "/v1/requests?" + over.Values().Encode()}, &out)
	return out.Requests, err
}

// Request implements [sayso.Inbox].
func (c *Client) Request(ctx context.Context, id string) (sayso.Request, error) {
	var out sayso.Request
	err := c.get(ctx, operation{name: wire.OpRequest, frame: &wire.ByID{ID: id}, path: "/v1/requests/" + url.PathEscape(id)}, &out)
	return out, err
}

// Call returns the request that a call of a session is.
func (c *Client) Call(ctx context.Context, session, callID string) (sayso.Request, error) {
	var out sayso.Request
	err := c.get(ctx, operation{
		name: wire.OpCall, frame: &wire.ByCall{Session: session, CallID: callID},
		path: sessionPath(session, "calls/"+url.PathEscape(callID)),
	}, &out)
	return out, err
}

// Content implements [sayso.Inbox].
func (c *Client) Content(ctx context.Context, id sayso.ID) (sayso.RequestedFull, error) {
	var out sayso.RequestedFull
	err := c.get(ctx, operation{name: wire.OpContent, frame: &wire.ByID{ID: string(id)}, path: requestPath(string(id), "content")}, &out)
	return out, err
}

// Answer implements [sayso.Inbox]. It tries once more if the connection
// breaks: the same answer twice is one answer.
func (c *Client) Answer(ctx context.Context, id sayso.ID, a sayso.Answer) (sayso.Decision, error) {
	in := wire.Answer{ID: id, AnswerBody: wire.AnswerOf(a)}
	op := operation{wire.OpAnswer, &in, http.MethodPost, requestPath(string(id), "answer"), &in.AnswerBody}
	d, err := c.decide(ctx, op)
	if l, ok := lost(err); ok && !l.refused && ctx.Err() == nil {
		d, err = c.decide(ctx, op)
	}
	return d, err
}

// AnswerGroup implements [sayso.Inbox].
func (c *Client) AnswerGroup(ctx context.Context, group string, members []sayso.Member, a sayso.Answer) ([]sayso.MemberResult, error) {
	in := wire.Group{Group: group, GroupBody: wire.GroupBody{Members: members, AnswerBody: wire.AnswerOf(a)}}
	var out wire.GroupResult
	err := c.t.do(ctx, operation{
		wire.OpGroup, &in, http.MethodPost, "/v1/groups/" + url.PathEscape(group) + "/answer", &in.GroupBody,
	}, &out)
	results := make([]sayso.MemberResult, 0, len(out.Results))
	for _, m := range out.Results {
		r := sayso.MemberResult{ID: m.ID}
		if m.Decision != nil {
			r.Decision = *m.Decision
		}
		if m.Error != nil {
			r.Decision.Effect, r.Err = sayso.Deny, m.Error.Err()
		}
		results = append(results, r)
	}
	return results, err
}

// Life implements [sayso.Inbox].
func (c *Client) Life(ctx context.Context, id sayso.ID) ([]sayso.Event, error) {
	var out wire.Life
	err := c.get(ctx, operation{name: wire.OpLife, frame: &wire.ByID{ID: string(id)}, path: requestPath(string(id), "life")}, &out)
	return out.Events, err
}

// Head implements [sayso.Inbox].
func (c *Client) Head(ctx context.Context) (sayso.Head, error) {
	var out wire.Head
	err := c.get(ctx, operation{name: wire.OpHead, frame: &wire.Nothing{}, path: "/v1/head"}, &out)
	return sayso.Head{Seq: out.Seq, Hash: out.Hash, At: sayso.Moment{Wall: out.At}}, err
}

// Grants implements [sayso.Inbox].
func (c *Client) Grants(ctx context.Context, session string, all bool) ([]sayso.Grant, error) {
	v := url.Values{}
	if session != "" {
		v.Set("session", session)
	}
	if all {
		v.Set("all", "true")
	}
	var out wire.GrantList
	err := c.get(ctx, operation{
		name: wire.OpGrants, frame: &wire.Grants{Session: session, All: all}, path: "/v1/grants?" + v.Encode(),
	}, &out)
	return out.Grants, err
}

// Revoke implements [sayso.Inbox].
func (c *Client) Revoke(ctx context.Context, id sayso.ID) error {
	return c.t.do(ctx, operation{
		name: wire.OpRevoke, frame: &wire.ByID{ID: string(id)}, method: http.MethodDelete, path: "/v1/grants/" + url.PathEscape(string(id)),
	}, nil)
}

// Sessions implements [sayso.Inbox].
func (c *Client) Sessions(ctx context.Context, since time.Time) ([]sayso.SessionInfo, error) {
	in := wire.SessionsSince{Since: since}
	path := "/v1/sessions"
	if !since.IsZero() {
		path += "?since=" + url.QueryEscape(since.Format(time.RFC3339Nano))
	}
	var out wire.Sessions
	err := c.get(ctx, operation{name: wire.OpSessions, frame: &in, path: path}, &out)
	return out.Sessions, err
}

// Policies implements [sayso.Inbox].
func (c *Client) Policies(ctx context.Context, session string) (map[string]sayso.Effect, error) {
	var out wire.PoliciesBody
	err := c.get(ctx, operation{
		name: wire.OpPolicies, frame: &wire.SessionOnly{Session: session}, path: sessionPath(session, "policies"),
	}, &out)
	return out.Policies, err
}

// SetPolicies implements [sayso.Inbox].
func (c *Client) SetPolicies(ctx context.Context, session string, p map[string]sayso.Effect) error {
	in := wire.Policies{Session: session, PoliciesBody: wire.PoliciesBody{Policies: p}}
	return c.t.do(ctx, operation{
		wire.OpSetPolicies, &in, http.MethodPut, sessionPath(session, "policies"), &in.PoliciesBody,
	}, nil)
}

// Mode implements [sayso.Inbox].
func (c *Client) Mode(ctx context.Context, session string) (sayso.ModeState, error) {
	path := "/v1/mode"
	if session != "" {
		path += "?session=" + url.QueryEscape(session)
	}
	var out wire.ModeState
	err := c.get(ctx, operation{name: wire.OpMode, frame: &wire.SessionOnly{Session: session}, path: path}, &out)
	return out.State(), err
}

// SetMode implements [sayso.Inbox].
func (c *Client) SetMode(ctx context.Context, session string, m sayso.Mode, d time.Duration) error {
	in := wire.ModeOf(session, m, d)
	return c.t.do(ctx, operation{wire.OpSetMode, &in, http.MethodPut, "/v1/mode", &in}, nil)
}

// Explain implements [sayso.Inbox].
func (c *Client) Explain(ctx context.Context, call sayso.Call, f sayso.Facts) (sayso.Verdict, error) {
	in := wire.Check{Call: call, Facts: f}
	var out wire.Verdict
	if err := c.t.do(ctx, operation{wire.OpCheck, &in, http.MethodPost, "/v1/policy/check", &in}, &out); err != nil {
		return sayso.Verdict{}, err
	}
	return out.Verdict(), nil
}

// Explanation says why a call comes out as it does, and Replayed what another
// policy would have made of the calls of the log.
type (
	Explanation = wire.Explanation
	Replayed    = wire.Replayed
)

// ExplainCall says why a call comes out as it does, and what to write for it to
// come out otherwise.
func (c *Client) ExplainCall(ctx context.Context, call sayso.Call, f sayso.Facts) (Explanation, error) {
	return c.explain(ctx, wire.Explain{Call: &call, Facts: f})
}

// ExplainRequest says the same of a request of the log, with the facts that were
// gathered when it was made. The id may be a short one.
func (c *Client) ExplainRequest(ctx context.Context, id string) (Explanation, error) {
	return c.explain(ctx, wire.Explain{Request: id})
}

func (c *Client) explain(ctx context.Context, in wire.Explain) (out Explanation, err error) {
	err = c.t.do(ctx, operation{wire.OpExplain, &in, http.MethodPost, "/v1/policy/explain", &in}, &out)
	return out, err
}

// Notices are the notices to targets elsewhere that could not be delivered, and
// Notice is one of them.
type (
	Notices = wire.Notices
	Notice  = wire.Notice
)

// Notices says who elsewhere is told what waits, and what could not be delivered.
func (c *Client) Notices(ctx context.Context) (out Notices, err error) {
	err = c.t.do(ctx, operation{wire.OpNotices, &wire.Nothing{}, http.MethodGet, "/v1/notices", nil}, &out)
	return out, err
}

// Retry has a notice tried again that could not be delivered.
func (c *Client) Retry(ctx context.Context, id sayso.ID) (out Notice, err error) {
	err = c.t.do(ctx, operation{wire.OpRetry, &wire.ByID{ID: string(id)}, http.MethodPost, "/v1/notices/" + string(id) + "/retry", &wire.Nothing{}}, &out)
	return out, err
}

// Replay says which calls of the log, so far back, would have come out otherwise
// if the text had been the person's policy file.
func (c *Client) Replay(ctx context.Context, text string, back time.Duration) (out Replayed, err error) {
	in := wire.Replay{Policy: text, Since: back.String()}
	err = c.t.do(ctx, operation{wire.OpReplay, &in, http.MethodPost, "/v1/policy/replay", &in}, &out)
	return out, err
}

// Status is how often people are asked and by what, what waits, and the state of
// the gate.
type Status = status.Report

// Status returns the state of the gate, and figures of the calls that this
// principal may see.
func (c *Client) Status(ctx context.Context) (out Status, err error) {
	err = c.get(ctx, operation{name: wire.OpStatus, frame: &wire.Nothing{}, path: "/v1/status"}, &out)
	return out, err
}

// PolicyFiles is the text of the policy in force, file by file.
type PolicyFiles = wire.PolicyFiles

// PolicyFiles returns the text of the policy in force, and what is wrong with it.
func (c *Client) PolicyFiles(ctx context.Context) (out PolicyFiles, err error) {
	err = c.get(ctx, operation{name: wire.OpPolicyFiles, frame: &wire.Nothing{}, path: "/v1/policy/files"}, &out)
	return out, err
}
