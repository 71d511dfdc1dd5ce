package local

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/redact"
)

// page is how many requests are read at once when the log is looked back at.
const page = 256

// recorded yields the calls that a person may see, the newest first, from a time
// on; from the beginning if it is zero. An error ends it. Of calls of which part is
// hidden only admins learn what a policy makes: whoever tries many policies finds
// out what they were about.
func (e *Engine) recorded(ctx context.Context, a sayso.Actor, q sayso.RowQuery) iter.Seq2[*policy.Recorded, error] {
	return func(yield func(*policy.Recorded, error) bool) {
		in := e.Inbox(a)
		covers, err := coversOf(ctx, in)
		if err != nil {
			yield(nil, err)
			return
		}
		q.Limit = page
		for {
			list, err := in.Requests(ctx, q)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range list {
				r := policy.RecordedOf(&list[i], covers)
				r.Facts = e.Policy.guarded(r.Facts)
				if r.Gap == "" && len(list[i].Redactions) > 0 && a.Kind != sayso.PrincipalAdmin {
					r.Gap = policy.GapHidden
				}
				if !yield(&r, nil) {
					return
				}
			}
			if len(list) < page {
				return
			}
			q.Before = list[len(list)-1].Life.First
		}
	}
}

// coversOf says what the remembered answers cover that there are and were.
func coversOf(ctx context.Context, in sayso.Inbox) (func(sayso.ID) sayso.Cover, error) {
	grants, err := in.Grants(ctx, "", true)
	if err != nil {
		return nil, err
	}
	covers := make(map[sayso.ID]sayso.Cover, len(grants))
	for _, g := range grants {
		covers[g.ID] = g.Cover
	}
	return func(id sayso.ID) sayso.Cover { return covers[id] }, nil
}

// Replay says which of the calls since a time, of those that a person may see,
// would have come out otherwise under a policy. No more than most of them are
// listed, the worst.
func (e *Engine) Replay(ctx context.Context, a sayso.Actor, p *policy.Policy, since time.Time, most int) (policy.Replay, error) {
	var failed error
	out := p.ReplayWorst(func(yield func(*policy.Recorded) bool) {
		for c, err := range e.recorded(ctx, a, sayso.RowQuery{Since: since}) {
			if failed = err; err != nil || !yield(c) {
				return
			}
		}
	}, most)
	if failed != nil {
		return policy.Replay{}, fmt.Errorf("reading the log: %w", failed)
	}
	return out, nil
}

// Suggest finds rules that would have saved the most prompts since a time. Nothing
// is suggested that a person denied, whenever that was.
func (e *Engine) Suggest(ctx context.Context, a sayso.Actor, p *policy.Policy, since time.Time, o policy.SuggestOptions) (policy.Suggestions, error) {
	var calls []*policy.Recorded
	for c, err := range e.recorded(ctx, a, sayso.RowQuery{Since: since}) {
		if err != nil {
			return policy.Suggestions{}, fmt.Errorf("reading the log: %w", err)
		}
		calls = append(calls, c)
	}
	var failed error
	out := p.Suggest(calls, func(yield func(*policy.Recorded) bool) {
		if since.IsZero() {
			return // they are all among the calls
		}
		for c, err := range e.recorded(ctx, a, sayso.RowQuery{Until: since, States: []sayso.State{sayso.StateDenied}}) {
			if failed = err; err != nil || !yield(c) {
				return
			}
		}
	}, o)
	if failed != nil {
		return policy.Suggestions{}, fmt.Errorf("reading the log: %w", failed)
	}
	return out, nil
}

// ExplainRequest explains a request that a person may see, with the facts that
// were gathered when it was made. What is hidden of it stays hidden.
func (e *Engine) ExplainRequest(r *sayso.Request, p *policy.Policy) (policy.Explanation, error) {
	asked, err := r.Asked()
	if errors.Is(err, sayso.ErrNotFound) {
		return policy.Explanation{}, err
	}
	if err != nil {
		return policy.Explanation{}, fmt.Errorf("reading request %s: %w", r.ShortID, err)
	}
	x := p.Explain(asked.Call, e.Policy.guarded(asked.Facts))
	return x, hideExplained(&x, asked.Call, p.Redaction())
}

// hideExplained hides in an explanation what is hidden of the call itself.
func hideExplained(x *policy.Explanation, c sayso.Call, more policy.Redaction) error {
	texts, into := map[string]string{}, map[string]*string{}
	for i, s := range textsOf(x) {
		name := strconv.Itoa(i)
		texts[name], into[name] = *s, s
	}
	hidden, err := redact.New(&redact.Options{Keys: more.Names}).Call(c.Args, texts)
	if err != nil {
		return err
	}
	for name, s := range into {
		*s = hidden.Texts[name]
	}
	return nil
}

// textsOf are the texts of an explanation that may quote the call.
func textsOf(x *policy.Explanation) []*string {
	list := []*string{&x.Text, &x.Words, &x.Reason}
	for i := range x.Commands {
		list = append(list, &x.Commands[i].Text, &x.Commands[i].Reason)
	}
	for i := range x.Spoke {
		list = append(list, &x.Spoke[i].Reason)
	}
	for i := range x.Changes {
		list = append(list, &x.Changes[i].Why)
		for k := range x.Changes[i].Write {
			list = append(list, &x.Changes[i].Write[k].Text, &x.Changes[i].Write[k].Old)
		}
	}
	if x.Nearest != nil {
		list = append(list, &x.Nearest.Why, &x.Nearest.Pattern)
	}
	return list
}
