package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
)

const (
	// Window is how far back calls are counted.
	Window = 7 * 24 * time.Hour
	// MaxCalls is how many are counted, the newest: enough to tell, few enough to
	// be read at once.
	MaxCalls = 1000
	// Enough is how many calls a rate takes. One of fewer says nothing.
	Enough = 20

	maxRules    = 10
	maxSessions = 20
)

// Rate is how often people were asked. Few says that there are too few calls
// for a rate.
type Rate struct {
	Calls   int     `json:"calls"`
	Prompts int     `json:"prompts"`
	Per100  float64 `json:"per_100_calls"`
	Few     bool    `json:"few"`
}

// Counts is how often people were asked, and by what.
type Counts struct {
	Since time.Time `json:"since"` // of the oldest call that counts
	Cut   bool      `json:"cut"`   // there are more calls, older than since
	Rate
	Hosts    []Host    `json:"hosts"`    // the one that asks most first
	Rules    []Rule    `json:"rules"`    // the one that asks most first
	Sessions []Session `json:"sessions"` // the newest first
}

// Host is how often people were asked by one host; the empty name is for calls
// that name none.
type Host struct {
	Host string    `json:"host"`
	Last time.Time `json:"last_seen"`
	Rate
}

// Rule is what asked, and how often. Request is the newest that it asked about.
type Rule struct {
	Rule    string   `json:"rule"`
	File    string   `json:"file"` // empty for built-ins
	Line    int      `json:"line"`
	Asked   int      `json:"asked"`
	Request sayso.ID `json:"request"`
}

// Session is how often people were asked in one session.
type Session struct {
	Session string    `json:"session"`
	Host    string    `json:"host"`
	Cwd     string    `json:"cwd"`
	Last    time.Time `json:"last_seen"`
	Rate
}

// Recent counts the calls of the last week that whoever holds the inbox may see.
func Recent(ctx context.Context, in sayso.Inbox, now time.Time) (Counts, error) {
	calls, err := in.Requests(ctx, sayso.RowQuery{Since: now.Add(-Window), Limit: MaxCalls})
	if err != nil {
		return Counts{}, fmt.Errorf("counting prompts: %w", err)
	}
	out := Count(calls)
	out.Cut = len(calls) == MaxCalls
	if !out.Cut {
		out.Since = now.Add(-Window)
	}
	return out, nil
}

// Count counts in how many of the calls, the newest first, a person was asked.
func Count(calls []sayso.Request) Counts {
	out := Counts{Rate: Rate{Few: true}}
	hosts, sessions, rules := map[string]*Host{}, map[string]*Session{}, map[asker]*Rule{}
	for i := range calls {
		r := &calls[i]
		out.Since = r.CreatedAt
		if r.Staged() {
			continue
		}
		asked := wasAsked(r)
		out.add(asked)
		entry(hosts, r.Host, Host{Host: r.Host, Last: r.CreatedAt}).add(asked)
		entry(sessions, r.SessionID, Session{Session: r.SessionID, Host: r.Host, Cwd: r.Cwd, Last: r.CreatedAt}).add(asked)
		if asked && r.Rule != "" {
			entry(rules, asker{r.Rule, r.File, r.Line}, Rule{Rule: r.Rule, File: r.File, Line: r.Line, Request: r.ID}).Asked++
		}
	}
	out.Hosts = sorted(hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(b.Per100, a.Per100), cmp.Compare(a.Host, b.Host))
	})
	out.Rules = sorted(rules, func(a, b Rule) int {
		return cmp.Or(b.Asked-a.Asked, cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.File, b.File), a.Line-b.Line)
	})
	out.Sessions = sorted(sessions, func(a, b Session) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Session, b.Session))
	})
	out.Rules, out.Sessions = out.Rules[:min(len(out.Rules), maxRules)], out.Sessions[:min(len(out.Sessions), maxSessions)]
	return out
}

// asker is a rule that asks.
type asker struct {
	rule, file string
	line       int
}

// entry is what stands under a key, at first what is given.
func entry[K comparable, V any](in map[K]*V, key K, first V) *V {
	if in[key] == nil {
		in[key] = &first
	}
	return in[key]
}

// sorted are the values of a map, in order.
func sorted[K comparable, V any](in map[K]*V, order func(a, b V) int) []V {
	out := make([]V, 0, len(in))
	for _, v := range in {
		out = append(out, *v)
	}
	slices.SortFunc(out, order)
	return out
}

// add counts one more call.
func (r *Rate) add(asked bool) {
	r.Calls++
	if asked {
		r.Prompts++
	}
	r.Few = r.Calls < Enough
	r.Per100 = 100 * float64(r.Prompts) / float64(r.Calls)
}

// wasAsked reports whether a call waited for a person: it still does, nobody
// decided it, or it was not decided without one. The answer to the same call at an
// earlier point is one answer, and counts there.
func wasAsked(r *sayso.Request) bool {
	d := r.Decision
	if d == nil {
		return true
	}
	return d.Link == "" && (d.Source == sayso.SourcePerson || d.Source == sayso.SourceDeadline || d.Source == "")
}
