package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// recentCalls is how many of the newest calls status counts the prompts of:
// enough to tell, few enough to be read at once.
const recentCalls = 500

// prompts says how often people were asked, of the newest calls.
type prompts struct {
	Calls   int     `json:"calls"`
	Prompts int     `json:"prompts"`
	Per100  float64 `json:"per_100_calls"`
	// Rule is the one that asked most often, and how often; empty if none did.
	Rule      string        `json:"rule,omitempty"`
	RuleFile  string        `json:"rule_file,omitempty"`
	RuleLine  int           `json:"rule_line,omitzero"`
	RuleAsked int           `json:"rule_asked,omitzero"`
	Hosts     []hostPrompts `json:"hosts"` // the one that asks most first
}

// hostPrompts is how often people were asked by one host; the empty name is for
// calls that name none.
type hostPrompts struct {
	Host    string  `json:"host"`
	Calls   int     `json:"calls"`
	Prompts int     `json:"prompts"`
	Per100  float64 `json:"per_100_calls"`
}

// recentPrompts counts the prompts of the newest calls that this person may
// see; nil if there is no call.
func recentPrompts(ctx context.Context, in sayso.Inbox) (*prompts, error) {
	calls, err := in.Requests(ctx, sayso.RowQuery{Limit: recentCalls})
	if err != nil {
		return nil, fmt.Errorf("counting prompts: %w", err)
	}
	return countPrompts(calls), nil
}

// countPrompts counts in how many of the calls a person was asked.
func countPrompts(calls []sayso.Request) *prompts {
	if len(calls) == 0 {
		return nil
	}
	p := &prompts{Calls: len(calls)}
	hosts, rules := map[string]*hostPrompts{}, map[asker]int{}
	for i := range calls {
		r := &calls[i]
		h := hosts[r.Host]
		if h == nil {
			h = &hostPrompts{Host: r.Host}
			hosts[r.Host] = h
		}
		h.Calls++
		if !wasAsked(r) {
			continue
		}
		h.Prompts++
		p.Prompts++
		if r.Rule != "" {
			rules[asker{r.Rule, r.File, r.Line}]++
		}
	}
	p.Per100 = per100(p.Prompts, p.Calls)
	for a, n := range rules {
		if n > p.RuleAsked || n == p.RuleAsked && a.less(asker{p.Rule, p.RuleFile, p.RuleLine}) {
			p.Rule, p.RuleFile, p.RuleLine, p.RuleAsked = a.rule, a.file, a.line, n
		}
	}
	for _, h := range hosts {
		h.Per100 = per100(h.Prompts, h.Calls)
	}
	for _, h := range slices.SortedFunc(maps.Values(hosts), func(a, b *hostPrompts) int {
		return cmp.Or(cmp.Compare(b.Per100, a.Per100), cmp.Compare(a.Host, b.Host))
	}) {
		p.Hosts = append(p.Hosts, *h)
	}
	return p
}

// asker is a rule that asks.
type asker struct {
	rule, file string
	line       int
}

func (a asker) less(b asker) bool {
	return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) < 0
}

// wasAsked reports whether a call waited for a person: it still does, nobody
// decided it, or it was not decided without one.
func wasAsked(r *sayso.Request) bool {
	return r.Decision == nil || r.Decision.Source == sayso.SourcePerson || r.Decision.Source == sayso.SourceDeadline || r.Decision.Source == ""
}

func per100(n, of int) float64 { return 100 * float64(n) / float64(of) }

// printPrompts prints how often people were asked, and by which hosts if there
// are several.
func (a *app) printPrompts(p *prompts) {
	if p == nil {
		return
	}
	line := fmt.Sprintf("%.1f in 100 calls (%d of the last %d)", p.Per100, p.Prompts, p.Calls)
	if p.Rule != "" {
		line += fmt.Sprintf("; %d by %q", p.RuleAsked, p.Rule)
		if p.RuleFile != "" {
			line += fmt.Sprintf(" (%s:%d)", p.RuleFile, p.RuleLine)
		}
	}
	a.print("prompts  %s", printable(line))
	if len(p.Hosts) < 2 {
		return
	}
	var hosts []string
	for _, h := range p.Hosts {
		hosts = append(hosts, fmt.Sprintf("%s %.1f", cmp.Or(h.Host, "no host"), h.Per100))
	}
	a.print("         %s", printable(strings.Join(hosts, ", ")))
}
