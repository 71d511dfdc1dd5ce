package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
)

// Admit implements [sayso.Gate]. If the connection breaks it asks again with
// the same call, which takes the request up, until patience ends. A call
// without an id gets one for that.
func (c *Client) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	if a.Call.CallID == "" {
		a.Call.CallID = "sayso-" + strings.ToLower(rand.Text())
	}
	digest, err := a.Call.Digest()
	if err != nil {
		return sayso.Decision{}, err
	}
	p := patience{o: &c.o}
	if a.Patience > 0 {
		p.until = time.Now().Add(a.Patience)
	}
	for {
		d, err := c.admit(ctx, a)
		if err == nil {
			return checked(d, a.Call, digest)
		}
		if err := p.again(ctx, err); err != nil {
			d.Effect = sayso.Deny
			return d, err
		}
		if a.Patience > 0 {
			a.Patience = max(time.Until(p.until), time.Millisecond)
		}
	}
}

// checked refuses an allow that is not about the call.
func checked(d sayso.Decision, call sayso.Call, digest sayso.Digest) (sayso.Decision, error) {
	if !d.Allowed() {
		d.Effect = sayso.Deny
		return d, nil
	}
	if len(d.Args) > 0 {
		var err error
		call.Args = d.Args
		if digest, err = call.Digest(); err != nil {
			return sayso.Decision{}, err
		}
	}
	if d.Digest != digest || d.Receipt.Digest != digest || d.Receipt.Request == "" {
		return sayso.Decision{}, fmt.Errorf("%w: the server decided about another call", sayso.ErrMismatch)
	}
	return d, nil
}

// admit asks once, and gathers the facts anew if the server wants others. What
// it wanted last is gathered at once.
func (c *Client) admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	if a.Gather == nil {
		return c.presented(ctx, a)
	}
	var err error
	if want := c.wanted.Load(); want != nil && a.Facts.Policy != want.Policy {
		if a.Facts, err = a.Gather(ctx, *want); err != nil {
			return sayso.Decision{}, fmt.Errorf("gathering the facts: %w", err)
		}
	}
	d, err := c.presented(ctx, a)
	var facts *sayso.FactsWantedError
	if !errors.As(err, &facts) {
		return d, err
	}
	c.wanted.Store(&facts.Wanted)
	if a.Facts, err = a.Gather(ctx, facts.Wanted); err != nil {
		return sayso.Decision{}, fmt.Errorf("gathering the facts: %w", err)
	}
	a.Gather = nil // once: a policy that changes meanwhile asks where it misses a fact
	return c.presented(ctx, a)
}

// presented asks, and builds and sends the presentation if it is wanted.
func (c *Client) presented(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	body := wire.AdmitOf(a)
	d, err := c.decide(ctx, operation{wire.OpAdmit, &body, http.MethodPost, "/v1/admissions", &body})
	var wanted *wire.WantedError
	if !errors.As(err, &wanted) || a.Present == nil {
		return d, err
	}
	shown, err := a.Present(ctx)
	if err != nil {
		return sayso.Decision{}, fmt.Errorf("preparing what a person is shown: %w", err)
	}
	if shown == nil {
		body.Presentation = ""
		return c.decide(ctx, operation{wire.OpAdmit, &body, http.MethodPost, "/v1/admissions", &body})
	}
	d, err = c.decide(ctx, operation{
		wire.OpPresentation, &wire.Present{Ticket: wanted.Ticket, Presentation: *shown},
		http.MethodPost, requestPath(string(wanted.Ticket), "presentation"), shown,
	})
	if errors.Is(err, sayso.ErrNotFound) { // the server forgot, or is another one now
		err = &lostError{where: "sending what a person is shown", err: err}
	}
	return d, err
}

// decide carries out an operation that ends in a decision. The decision of an
// error is the one that the error tells of, for its ticket.
func (c *Client) decide(ctx context.Context, op operation) (sayso.Decision, error) {
	var d sayso.Decision
	err := c.t.do(ctx, op, &d)
	var p *problemError
	if errors.As(err, &p) {
		if p.decision != nil {
			d = *p.decision
		}
		d.Effect = sayso.Deny
		return d, p.err
	}
	return d, err
}

func requestPath(id, verb string) string {
	return "/v1/requests/" + url.PathEscape(id) + "/" + verb
}

func sessionPath(session, rest string) string {
	return "/v1/sessions/" + url.PathEscape(session) + "/" + rest
}

// Redeem implements [sayso.Gate]. It never tries twice: a receipt whose
// redemption is in doubt is spent.
func (c *Client) Redeem(ctx context.Context, r sayso.Receipt, call sayso.Call) error {
	body := wire.RedeemBody{Digest: r.Digest, Call: call}
	var spent wire.Redeemed
	err := c.t.do(ctx, operation{
		wire.OpRedeem, &wire.Redeem{ID: r.Request, RedeemBody: body}, http.MethodPost, requestPath(string(r.Request), "redeem"), &body,
	}, &spent)
	if err == nil && (!spent.Redeemed || spent.ID != r.Request || spent.Digest != r.Digest || r.Digest.IsZero()) {
		err = fmt.Errorf("%w: the server redeemed something else", sayso.ErrMismatch)
	}
	return err
}

// Report implements [sayso.Gate].
func (c *Client) Report(ctx context.Context, o sayso.Outcome) error {
	op := wire.OutcomeOf(o)
	path := requestPath(string(o.Request), "outcome")
	if o.Request == "" {
		path = sessionPath(o.Session, "calls/"+url.PathEscape(o.CallID)+"/outcome")
	}
	return c.t.do(ctx, operation{wire.OpOutcome, &op, http.MethodPost, path, &op.OutcomeBody}, nil)
}

// Withdraw implements [sayso.Gate].
func (c *Client) Withdraw(ctx context.Context, id sayso.ID, reason string) error {
	op := wire.Withdraw{ID: id, WithdrawBody: wire.WithdrawBody{Reason: reason}}
	return c.t.do(ctx, operation{wire.OpWithdraw, &op, http.MethodPost, requestPath(string(id), "withdraw"), &op.WithdrawBody}, nil)
}

// Begin implements [sayso.Gate].
func (c *Client) Begin(ctx context.Context, session, host string) error {
	op := wire.Begin{Session: session, BeginBody: wire.BeginBody{Host: host}}
	return c.t.do(ctx, operation{wire.OpBegin, &op, http.MethodPost, sessionPath(session, "begin"), &op.BeginBody}, nil)
}

// End implements [sayso.Gate].
func (c *Client) End(ctx context.Context, session string) error {
	op := wire.Begin{Session: session}
	return c.t.do(ctx, operation{wire.OpEnd, &op, http.MethodPost, sessionPath(session, "end"), &wire.Nothing{}}, nil)
}
