package clients_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
)

// failure is an error of a client of another language.
type failure struct {
	Class    string          `json:"class"` // that it is there
	Code     wire.Code       `json:"code"`
	Detail   string          `json:"detail"`
	Told     string          `json:"told"` // to an agent
	Ticket   sayso.ID        `json:"ticket"`
	Deadline *time.Time      `json:"deadline,omitempty"`
	Stop     bool            `json:"stop,omitempty"`
	Decision *sayso.Decision `json:"decision,omitempty"`
	Context  bool            `json:"context,omitempty"` // it hangs on another error
}

func (f *failure) Error() string { return f.Class + ": " + f.Detail }

// Unwrap is the error that the Go client would have returned.
func (f *failure) Unwrap() error {
	if f.Code == "fault" {
		return nil
	}
	p := wire.Problem{Code: f.Code, Detail: f.Detail, Ticket: f.Ticket, Deadline: f.Deadline, Stop: f.Stop, Decision: f.Decision}
	return p.Err()
}

// driven is a Gate and an Inbox that a client of another language is.
type driven struct {
	b              *bridge
	address, token string
	retry          time.Duration
	wrong          func(format string, args ...any) // is told of what is wrong but for the result
}

var (
	_ sayso.Gate  = (*driven)(nil)
	_ sayso.Inbox = (*driven)(nil)
)

type in = map[string]any

func (d *driven) do(ctx context.Context, op string, in any, out any, meet func(reply)) error {
	o := order{Op: op, Address: d.address, Token: d.token, Retry: d.retry.Seconds(), In: in}
	text, err := d.b.do(ctx, o, meet)
	if err != nil || out == nil {
		return d.looked(err)
	}
	return jcs.UnmarshalLenient(text, out)
}

// looked looks an error over: its text, and what it hangs on.
func (d *driven) looked(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if f.Context || f.Code == "fault" || strings.Contains(f.Told+f.Detail, d.token) {
		d.wrong("%s: %+v", d.b.language, f)
	}
	var decision sayso.Decision
	if f.Decision != nil {
		decision = *f.Decision
	}
	want := sayso.Told(decision, f.Unwrap())
	if f.Class == "Denied" {
		want = sayso.Told(decision, nil)
	}
	if f.Told != want {
		d.wrong("%s: an agent is told %q, want %q", d.b.language, f.Told, want)
	}
	return err
}

// written is a call as text, also where it is none.
func written(c sayso.Call) string {
	args := string(c.Args)
	c.Args = nil
	text, err := jcs.Marshal(c)
	if err != nil {
		panic(err) // the suite has none that cannot be written
	}
	if args == "" {
		args = "{}"
	}
	return strings.Replace(string(text), `"args":{}`, `"args":`+args, 1)
}

// Admit implements sayso.Gate.
func (d *driven) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	body := in{"call": written(a.Call), "presents": a.Present != nil, "immediate": a.Immediate, "can_edit": a.CanEdit, "strict": a.Strict}
	if a.Patience > 0 {
		body["patience"] = a.Patience.Seconds()
	}
	var out sayso.Decision
	err := d.do(ctx, "admit", body, &out, func(r reply) {
		shown, err := a.Present(ctx)
		if err == nil {
			err = d.b.send(&order{ID: r.ID, Op: "presented", In: shown})
		}
		if err != nil {
			d.wrong("presenting: %v", err)
		}
	})
	var f *failure
	if errors.As(err, &f) && f.Class == "Denied" && f.Decision != nil {
		return *f.Decision, nil
	}
	if err == nil && !out.Allowed() {
		d.wrong("%s returns what is no yes: %+v", d.b.language, out)
	}
	if f != nil && f.Decision != nil {
		out = *f.Decision
		out.Effect = sayso.Deny
	}
	return out, err
}

// Redeem implements sayso.Gate.
func (d *driven) Redeem(ctx context.Context, r sayso.Receipt, c sayso.Call) error {
	return d.do(ctx, "redeem", in{"receipt": r, "call": written(c)}, nil, nil)
}

// Report implements sayso.Gate.
func (d *driven) Report(ctx context.Context, o sayso.Outcome) error {
	body := in{"request": o.Request, "session": o.Session, "call_id": o.CallID, "failed": o.Failed, "took": o.Took.Seconds()}
	if o.ExitStatus != nil {
		body["exit_status"] = *o.ExitStatus
	}
	return d.do(ctx, "report", body, nil, nil)
}

// Withdraw implements sayso.Gate.
func (d *driven) Withdraw(ctx context.Context, id sayso.ID, reason string) error {
	return d.do(ctx, "withdraw", in{"request": id, "reason": reason}, nil, nil)
}

// Begin implements sayso.Gate.
func (d *driven) Begin(ctx context.Context, session, host string) error {
	return d.do(ctx, "begin", in{"session": session, "host": host}, nil, nil)
}

// End implements sayso.Gate.
func (d *driven) End(ctx context.Context, session string) error {
	return d.do(ctx, "end", in{"session": session}, nil, nil)
}

// Requests implements sayso.Inbox.
func (d *driven) Requests(ctx context.Context, q sayso.RowQuery) (out []sayso.Request, err error) {
	query := wire.QueryOf(q)
	if len(query.State) == 0 {
		query.State = wire.EveryState
	}
	return out, d.do(ctx, "requests", query.Values(), &out, nil)
}

// Request implements sayso.Inbox.
func (d *driven) Request(ctx context.Context, id string) (out sayso.Request, err error) {
	return out, d.do(ctx, "request", in{"id": id}, &out, nil)
}

// Content implements sayso.Inbox.
func (d *driven) Content(ctx context.Context, id sayso.ID) (out sayso.RequestedFull, err error) {
	return out, d.do(ctx, "content", in{"id": id}, &out, nil)
}

// said is an answer as the clients take it.
func said(a sayso.Answer, more in) in {
	body := wire.AnswerOf(a)
	more["effect"] = a.Effect.String()
	for name, v := range (in{"scope": body.Scope, "cover": body.Cover, "for_": body.For, "uses": body.Uses, "note": body.Note}) {
		more[name] = v
	}
	if len(a.Args) > 0 {
		more["args"] = a.Args
	}
	return more
}

// Answer implements sayso.Inbox.
func (d *driven) Answer(ctx context.Context, id sayso.ID, a sayso.Answer) (out sayso.Decision, err error) {
	shown := in{"id": id, "digest": a.Digest, "content": a.Content}
	return out, d.do(ctx, "answer", said(a, in{"request": shown}), &out, nil)
}

// AnswerGroup implements sayso.Inbox.
func (d *driven) AnswerGroup(ctx context.Context, group string, members []sayso.Member, a sayso.Answer) ([]sayso.MemberResult, error) {
	var out []struct {
		ID       sayso.ID       `json:"id"`
		Decision sayso.Decision `json:"decision"`
		Error    *failure       `json:"error"`
	}
	if members == nil {
		members = []sayso.Member{}
	}
	err := d.do(ctx, "answer_group", said(a, in{"group": group, "members": members}), &out, nil)
	var results []sayso.MemberResult
	for _, m := range out {
		r := sayso.MemberResult{ID: m.ID, Decision: m.Decision}
		if m.Error != nil {
			r.Err = d.looked(m.Error)
		}
		results = append(results, r)
	}
	return results, err
}

// Life implements sayso.Inbox.
func (d *driven) Life(ctx context.Context, id sayso.ID) (out []sayso.Event, err error) {
	return out, d.do(ctx, "life", in{"id": id}, &out, nil)
}

// Follow implements sayso.Inbox.
func (d *driven) Follow(ctx context.Context, since sayso.Seq, q sayso.EventQuery) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		left := false
		types := q.Types
		if types == nil {
			types = []sayso.EventType{}
		}
		query := in{"since": since, "session": q.Session, "types": types, "request": q.Request}
		err := d.do(ctx, "follow", query, nil, func(r reply) {
			var e sayso.Event
			err := jcs.UnmarshalLenient(r.Event, &e)
			if !left && !yield(e, err) {
				left = true
				stop()
			}
		})
		if !left {
			yield(sayso.Event{}, err)
		}
	}
}

// Head implements sayso.Inbox.
func (d *driven) Head(ctx context.Context) (sayso.Head, error) {
	var out wire.Head
	err := d.do(ctx, "head", nil, &out, nil)
	return sayso.Head{Seq: out.Seq, Hash: out.Hash, At: sayso.Moment{Wall: out.At}}, err
}

// Grants implements sayso.Inbox.
func (d *driven) Grants(ctx context.Context, session string, all bool) (out []sayso.Grant, err error) {
	return out, d.do(ctx, "grants", in{"session": session, "all": all}, &out, nil)
}

// Revoke implements sayso.Inbox.
func (d *driven) Revoke(ctx context.Context, id sayso.ID) error {
	return d.do(ctx, "revoke", in{"grant": id}, nil, nil)
}

// Sessions implements sayso.Inbox.
func (d *driven) Sessions(ctx context.Context, since time.Time) (out []sayso.SessionInfo, err error) {
	return out, d.do(ctx, "sessions", in{"since": since.Format(time.RFC3339Nano)}, &out, nil)
}

// Policies implements sayso.Inbox.
func (d *driven) Policies(ctx context.Context, session string) (out map[string]sayso.Effect, err error) {
	return out, d.do(ctx, "policies", in{"session": session}, &out, nil)
}

// SetPolicies implements sayso.Inbox.
func (d *driven) SetPolicies(ctx context.Context, session string, p map[string]sayso.Effect) error {
	if p == nil {
		p = map[string]sayso.Effect{}
	}
	return d.do(ctx, "set_policies", in{"session": session, "policies": p}, nil, nil)
}

// Mode implements sayso.Inbox.
func (d *driven) Mode(ctx context.Context, session string) (sayso.ModeState, error) {
	var out wire.ModeState
	err := d.do(ctx, "mode", in{"session": session}, &out, nil)
	return out.State(), err
}

// SetMode implements sayso.Inbox.
func (d *driven) SetMode(ctx context.Context, session string, m sayso.Mode, last time.Duration) error {
	body := wire.ModeOf(session, m, last)
	return d.do(ctx, "set_mode", in{"session": body.Session, "mode": body.Mode, "for_": body.For}, nil, nil)
}

// Explain implements sayso.Inbox.
func (d *driven) Explain(ctx context.Context, c sayso.Call, _ sayso.Facts) (sayso.Verdict, error) {
	var out wire.Verdict
	if err := d.do(ctx, "explain", in{"call": written(c)}, &out, nil); err != nil {
		return sayso.Verdict{}, err
	}
	return out.Verdict(), nil
}

// String names the client in failures.
func (d *driven) String() string { return fmt.Sprintf("the client in %s", d.b.language) }
