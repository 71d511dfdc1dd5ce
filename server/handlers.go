package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
)

// The functions of this file turn the path, the parameters and the body of a
// request into an operation.

func (s *Server) postAdmission(x *exchange) (any, error) {
	var in wire.Admit
	if err := x.read(&in); err != nil {
		return nil, err
	}
	ctx, end := x.longContext()
	defer end()
	x.releaseRequest()
	return s.admit(ctx, x.caller, &in)
}

func (s *Server) postPresentation(x *exchange) (any, error) {
	in := wire.Present{Ticket: sayso.ID(x.values[0])}
	if err := x.read(&in.Presentation); err != nil {
		return nil, err
	}
	ctx, end := x.longContext()
	defer end()
	x.releaseRequest()
	return s.present(ctx, x.caller, &in)
}

func (s *Server) postRedeem(x *exchange) (any, error) {
	in := wire.Redeem{ID: sayso.ID(x.values[0])}
	if err := x.read(&in.RedeemBody); err != nil {
		return nil, err
	}
	return s.redeem(x.ctx(), x.caller, &in)
}

func (s *Server) postOutcome(x *exchange) (any, error) {
	in := wire.Outcome{ID: sayso.ID(x.values[0])}
	if err := x.read(&in.OutcomeBody); err != nil {
		return nil, err
	}
	return s.outcome(x.ctx(), x.caller, &in)
}

func (s *Server) postCallOutcome(x *exchange) (any, error) {
	in := wire.Outcome{Session: x.values[0], CallID: x.values[1]}
	if err := x.read(&in.OutcomeBody); err != nil {
		return nil, err
	}
	return s.outcome(x.ctx(), x.caller, &in)
}

func (s *Server) postWithdraw(x *exchange) (any, error) {
	in := wire.Withdraw{ID: sayso.ID(x.values[0])}
	if err := x.read(&in.WithdrawBody); err != nil {
		return nil, err
	}
	return s.withdraw(x.ctx(), x.caller, &in)
}

func (s *Server) postBegin(x *exchange) (any, error) {
	in := wire.Begin{Session: x.values[0]}
	if err := x.read(&in.BeginBody); err != nil {
		return nil, err
	}
	return s.begin(x.ctx(), x.caller, &in)
}

func (s *Server) postEnd(x *exchange) (any, error) {
	var none wire.Nothing
	if err := x.read(&none); err != nil {
		return nil, err
	}
	return s.end(x.ctx(), x.caller, &wire.Begin{Session: x.values[0]})
}

// listRequests answers a list of requests. Without a state it is of the open ones.
func (s *Server) listRequests(x *exchange, session string) (any, error) {
	p := wire.ParseParams(x.r.URL.RawQuery)
	q := p.Query()
	if err := p.Done(); err != nil {
		return nil, err
	}
	if session != "" {
		if len(q.Session) > 0 {
			return nil, fmt.Errorf("%w: the session is in the path already", sayso.ErrInvalid)
		}
		q.Session = []string{session}
	}
	if len(q.State) == 0 {
		q.State = []wire.QueryState{"open"}
	}
	if q.Limit == 0 && slices.Equal(q.State, []wire.QueryState{"open"}) {
		q.Limit = wire.MaxLimit // many of one session must not hide those of another
	}
	return s.requests(x.ctx(), x.caller, &q)
}

func (s *Server) getRequests(x *exchange) (any, error)        { return s.listRequests(x, "") }
func (s *Server) getSessionRequests(x *exchange) (any, error) { return s.listRequests(x, x.values[0]) }

func (s *Server) getHistory(x *exchange) (any, error) {
	p := wire.ParseParams(x.r.URL.RawQuery)
	in := p.History()
	if err := p.Done(); err != nil {
		return nil, err
	}
	return s.history(x.ctx(), x.caller, &in)
}

// withoutParams answers a GET whose address has no parameters.
func withoutParams[In any](x *exchange, in *In, f func(context.Context, *caller, *In) (any, error)) (any, error) {
	if err := wire.ParseParams(x.r.URL.RawQuery).Done(); err != nil {
		return nil, err
	}
	return f(x.ctx(), x.caller, in)
}

func (s *Server) getRequest(x *exchange) (any, error) {
	return withoutParams(x, &wire.ByID{ID: x.values[0]}, s.request)
}

func (s *Server) getContent(x *exchange) (any, error) {
	p := wire.ParseParams(x.r.URL.RawQuery)
	in := wire.ByContent{ID: x.values[0], Tokens: p.Bool("tokens")}
	if err := p.Done(); err != nil {
		return nil, err
	}
	return s.content(x.ctx(), x.caller, &in)
}

func (s *Server) getLife(x *exchange) (any, error) {
	return withoutParams(x, &wire.ByID{ID: x.values[0]}, s.life)
}

func (s *Server) getHead(x *exchange) (any, error) { return withoutParams(x, &wire.Nothing{}, s.head) }

func (s *Server) getCall(x *exchange) (any, error) {
	return withoutParams(x, &wire.ByCall{Session: x.values[0], CallID: x.values[1]}, s.call)
}

func (s *Server) postAnswer(x *exchange) (any, error) {
	in := wire.Answer{ID: sayso.ID(x.values[0])}
	if err := x.read(&in.AnswerBody); err != nil {
		return nil, err
	}
	return s.answer(x.ctx(), x.caller, &in)
}

func (s *Server) postCallAnswer(x *exchange) (any, error) {
	var in wire.Answer
	if err := x.read(&in.AnswerBody); err != nil {
		return nil, err
	}
	if _, err := in.Answer(); err != nil {
		return nil, err
	}
	found, err := s.call(x.ctx(), x.caller, &wire.ByCall{Session: x.values[0], CallID: x.values[1]})
	if err != nil {
		return nil, err
	}
	in.ID = found.(*sayso.Request).ID
	return s.answer(x.ctx(), x.caller, &in)
}

func (s *Server) postGroup(x *exchange) (any, error) {
	in := wire.Group{Group: x.values[0]}
	if err := x.read(&in.GroupBody); err != nil {
		return nil, err
	}
	return s.group(x.ctx(), x.caller, &in)
}

func (s *Server) getGrants(x *exchange) (any, error) {
	p := wire.ParseParams(x.r.URL.RawQuery)
	in := wire.Grants{Session: p.One("session"), All: p.Bool("all")}
	if err := p.Done(); err != nil {
		return nil, err
	}
	return s.grants(x.ctx(), x.caller, &in)
}

func (s *Server) deleteGrant(x *exchange) (any, error) {
	return withoutParams(x, &wire.ByID{ID: x.values[0]}, s.revoke)
}

func (s *Server) getSessions(x *exchange) (any, error) {
	p := wire.ParseParams(x.r.URL.RawQuery)
	in := wire.SessionsSince{Since: p.Time("since")}
	if err := p.Done(); err != nil {
		return nil, err
	}
	return s.sessions(x.ctx(), x.caller, &in)
}

func (s *Server) getPolicies(x *exchange) (any, error) {
	return withoutParams(x, &wire.SessionOnly{Session: x.values[0]}, s.policies)
}

func (s *Server) putPolicies(x *exchange) (any, error) {
	in := wire.Policies{Session: x.values[0]}
	if err := x.read(&in.PoliciesBody); err != nil {
		return nil, err
	}
	return s.setPolicies(x.ctx(), x.caller, &in)
}

func (s *Server) getMode(x *exchange) (any, error) {
	p := wire.ParseParams(x.r.URL.RawQuery)
	in := wire.SessionOnly{Session: p.One("session")}
	if err := p.Done(); err != nil {
		return nil, err
	}
	return s.mode(x.ctx(), x.caller, &in)
}

func (s *Server) putMode(x *exchange) (any, error) {
	var in wire.Mode
	if err := x.read(&in); err != nil {
		return nil, err
	}
	return s.setMode(x.ctx(), x.caller, &in)
}

func (s *Server) postCheck(x *exchange) (any, error) {
	var in wire.Check
	if err := x.read(&in); err != nil {
		return nil, err
	}
	return s.check(x.ctx(), x.caller, &in)
}

func (s *Server) postExplain(x *exchange) (any, error) {
	var in wire.Explain
	if err := x.read(&in); err != nil {
		return nil, err
	}
	return s.explain(x.ctx(), x.caller, &in)
}

func (s *Server) postReplay(x *exchange) (any, error) {
	var in wire.Replay
	if err := x.read(&in); err != nil {
		return nil, err
	}
	ctx, end := x.longContext()
	defer end()
	return s.replay(ctx, x.caller, &in)
}

func (s *Server) getNotices(x *exchange) (any, error) {
	return withoutParams(x, &wire.Nothing{}, s.notices)
}

func (s *Server) postRetry(x *exchange) (any, error) {
	var none wire.Nothing
	if err := x.read(&none); err != nil {
		return nil, err
	}
	return s.retry(x.ctx(), x.caller, &wire.ByID{ID: x.values[0]})
}

// sorted is a sorted copy.
func sorted(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
