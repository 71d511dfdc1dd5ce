package policy

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
)

// Replay is what a policy would have made of the calls of a log.
type Replay struct {
	Policy string    `json:"policy"` // its version
	From   time.Time `json:"from,omitzero"`
	To     time.Time `json:"to,omitzero"`

	Calls       int   `json:"calls"`        // that the log has
	Replayed    int   `json:"replayed"`     // that were judged again
	NotReplayed []Gap `json:"not_replayed"` // why the others were not

	// DenialsAllowed are the calls that were denied and would be allowed.
	DenialsAllowed  int `json:"denials_allowed"`
	DeniedByPolicy  int `json:"denied_by_policy"` // of them, or by the mode
	DeniedByPerson  int `json:"denied_by_person"` // of them
	AllowancesEnded int `json:"allowances_ended"` // calls that ran unasked and would be denied

	PromptsBefore int `json:"prompts_before"` // calls that a person was asked about, of those judged again
	PromptsAfter  int `json:"prompts_after"`
	PromptsSaved  int `json:"prompts_saved"`
	PromptsAdded  int `json:"prompts_added"`

	Turns   []Turn   `json:"turns"`    // how many went from what to what, the worst first
	Changes []Turned `json:"changes"`  // each of them, in the same order
	LeftOut int      `json:"left_out"` // of them are not listed, see [Policy.ReplayWorst]
}

// Gap is a reason why calls could not be judged again, and how many.
type Gap struct {
	Why   string `json:"why"`
	Count int    `json:"count"`
}

// Turn is a way to come out otherwise.
type Turn struct {
	From  sayso.Effect `json:"from"`
	To    sayso.Effect `json:"to"`
	Count int          `json:"count"`
}

// Turned is a call that would have come out otherwise.
type Turned struct {
	Request sayso.ID  `json:"request"`
	ShortID string    `json:"short_id"`
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	Host    string    `json:"host"`
	Tool    string    `json:"tool"`
	Text    string    `json:"text"` // what is shown of it, with hidden values hidden
	Was     Came      `json:"was"`
	Now     Came      `json:"now"`
}

// Replay judges the calls of a log again. It says of each that would have come
// out otherwise what it was and what it would have been, all else as it was: what
// its tool said of it, the session's own policy, the mode, and the remembered yes
// that answered it. What the record does not suffice for is counted, and nothing
// is said of it.
func (p *Policy) Replay(calls iter.Seq[*Recorded]) Replay { return p.ReplayWorst(calls, math.MaxInt) }

// ReplayWorst is [Policy.Replay], but lists no more than most of the changes,
// the worst. All of them are counted.
func (p *Policy) ReplayWorst(calls iter.Seq[*Recorded], most int) Replay {
	out := Replay{Policy: p.version, NotReplayed: []Gap{}, Turns: []Turn{}, Changes: []Turned{}}
	for c := range calls {
		out.Calls++
		out.seen(c.At)
		now, _, gap := p.again(c)
		if gap != "" {
			out.skip(gap)
			continue
		}
		out.Replayed++
		out.count(c, now)
		if len(out.Changes)/2 > most { // as many are kept as may be listed, whatever the log holds
			out.cut(most)
		}
	}
	slices.SortStableFunc(out.Turns, func(a, b Turn) int { return weightOf(a.From, a.To) - weightOf(b.From, b.To) })
	out.cut(most)
	return out
}

// cut sorts what changed, the worst first, and lists no more than most of it.
func (r *Replay) cut(most int) {
	slices.SortStableFunc(r.Changes, func(a, b Turned) int {
		return cmp.Or(a.weight()-b.weight(), a.At.Compare(b.At), strings.Compare(string(a.Request), string(b.Request)))
	})
	if n := len(r.Changes); n > most {
		clear(r.Changes[most:])
		r.Changes, r.LeftOut = r.Changes[:most], r.LeftOut+n-most
	}
}

func (r *Replay) seen(at time.Time) {
	if r.From.IsZero() || at.Before(r.From) {
		r.From = at
	}
	if at.After(r.To) {
		r.To = at
	}
}

func (r *Replay) skip(why string) {
	for i := range r.NotReplayed {
		if r.NotReplayed[i].Why == why {
			r.NotReplayed[i].Count++
			return
		}
	}
	r.NotReplayed = append(r.NotReplayed, Gap{why, 1})
}

func (r *Replay) count(c *Recorded, now Came) {
	was := c.Came
	if was.asked() {
		r.PromptsBefore++
	}
	if now.asked() {
		r.PromptsAfter++
	}
	if was.Effect == now.Effect {
		return
	}
	switch {
	case was.asked():
		r.PromptsSaved++
	case now.asked():
		r.PromptsAdded++
	}
	switch {
	case now.Effect == sayso.Allow && was.Effect == sayso.Deny:
		r.DenialsAllowed++
		r.DeniedByPolicy++
	case now.Effect == sayso.Allow && was.refused():
		r.DenialsAllowed++
		r.DeniedByPerson++
	case now.Effect == sayso.Deny && was.Effect == sayso.Allow:
		r.AllowancesEnded++
	}
	i := slices.IndexFunc(r.Turns, func(t Turn) bool { return t.From == was.Effect && t.To == now.Effect })
	if i < 0 {
		i, r.Turns = len(r.Turns), append(r.Turns, Turn{From: was.Effect, To: now.Effect})
	}
	r.Turns[i].Count++
	r.Changes = append(r.Changes, Turned{
		Request: c.ID, ShortID: c.ID.Short(), At: c.At, Session: c.Session, Host: c.Host, Tool: c.Tool, Text: c.Text, Was: was, Now: now,
	})
}

// Looser reports whether a call that was denied would be allowed.
func (t *Turned) Looser() bool { return t.Now.Effect == sayso.Allow && t.Was.refused() }

// weight orders what changed, the worst first.
func (t *Turned) weight() int {
	n := 2 * weightOf(t.Was.Effect, t.Now.Effect)
	if t.Looser() && t.Was.Effect != sayso.Deny {
		return 1 // right behind what policy denied
	}
	return n
}

// turns are all ways to come out otherwise, the worst first.
var turns = [...][2]sayso.Effect{
	{sayso.Deny, sayso.Allow}, {sayso.Deny, sayso.Ask}, {sayso.Ask, sayso.Allow},
	{sayso.Allow, sayso.Deny}, {sayso.Allow, sayso.Ask}, {sayso.Ask, sayso.Deny},
}

func weightOf(from, to sayso.Effect) int { return slices.Index(turns[:], [2]sayso.Effect{from, to}) }
