package policy

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// Withheld is a tool that nothing is suggested for.
type Withheld struct {
	Tool   string `json:"tool"`   // canonical name
	Server string `json:"server"` // that it belongs to; empty for none
	Count  int    `json:"count"`  // calls that were denied and cannot be looked at
	Why    string `json:"why"`    // of the newest of them
}

// lost reports whether a call was denied and cannot be looked at any more. It
// counts those that a suggested rule could allow.
func (f *finder) lost(c *Recorded) bool {
	if c.Gap == "" || !c.Came.refused() {
		return false
	}
	// What a limit or a mode denied nobody decided, and what did harm is never suggested.
	if c.Gap == GapLimit || c.Came.By == string(sayso.SourceMode) || f.deniedStill(c) || slices.ContainsFunc(c.Danger, neverSuggested) {
		return true
	}
	i := slices.IndexFunc(f.withheld, func(w Withheld) bool { return w.Tool == c.Tool && w.Server == c.Server })
	if i < 0 {
		i, f.withheld = len(f.withheld), append(f.withheld, Withheld{Tool: c.Tool, Server: c.Server, Why: c.Gap})
	}
	f.withheld[i].Count++
	return true
}

// neverSuggested reports whether no suggested rule allows a call with a danger.
// Where a call leads, and what a rule calls dangerous, a rule cannot tell.
func neverSuggested(d sayso.Danger) bool { return d != sayso.DangerOutside && d != sayso.DangerRule }

// deniedStill reports whether what denied a call denies it still: a final
// built-in, or a rule that is named after its only pattern and holds always.
func (f *finder) deniedStill(c *Recorded) bool {
	if c.Came.By != string(sayso.SourcePolicy) {
		return false
	}
	if c.Came.File == "" {
		return slices.Contains([]string{ownCommand.Rule, ownState.Rule, floorPath.Rule}, c.Came.Rule)
	}
	return slices.ContainsFunc(f.p.index.all(), func(e *entry) bool {
		if e.effect != sayso.Deny || e.scope != nil || e.when != nil || e.says.Rule != c.Came.Rule {
			return false
		}
		r := f.p.commandRule(e)
		return "deny: "+e.m.text == e.says.Rule || r != nil && r.part != 0 && r.named == nil
	})
}

// withhold bans the rules about tools of which a denied call was lost.
func (f *finder) withhold() {
	for _, c := range f.candidates {
		tool, server := c.from.Tool, c.from.Server
		if slices.ContainsFunc(f.withheld, func(w Withheld) bool { return w.Tool == tool && w.Server == server }) {
			c.banned = true
		}
	}
}
