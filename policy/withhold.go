package policy

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// Withheld is a tool that nothing is suggested for.
type Withheld struct {
	Tool   string   `json:"tool"`   // canonical name
	Server string   `json:"server"` // that it belongs to; empty for none
	Count  int      `json:"count"`  // calls that were denied and cannot be looked at
	Why    string   `json:"why"`    // of the newest of them
	Newest sayso.ID `json:"newest"` // of them, to look at what is left
}

// isErased reports whether a call was denied and cannot be looked at any more. It
// counts those that a suggested rule could allow.
func (f *suggester) isErased(c *Recorded) bool {
	if c.Gap == "" || !c.Came.refused() {
		return false
	}
	// What a limit or a mode denied nobody decided, and what did harm is never suggested.
	if c.Gap == GapLimit || c.Came.By == string(sayso.SourceMode) || f.isStillDenied(c) || slices.ContainsFunc(c.Danger, neverSuggested) {
		return true
	}
	i := slices.IndexFunc(f.withheld, func(w Withheld) bool { return w.Tool == c.Tool && w.Server == c.Server })
	if i < 0 {
		i, f.withheld = len(f.withheld), append(f.withheld, Withheld{Tool: c.Tool, Server: c.Server, Why: c.Gap, Newest: c.ID})
	}
	f.withheld[i].Count++
	return true
}

// neverSuggested reports whether no suggested rule allows a call with a danger.
// Where a call leads, and what a rule calls dangerous, a rule cannot tell.
func neverSuggested(d sayso.Danger) bool { return d != sayso.DangerOutside && d != sayso.DangerRule }

// isStillDenied reports whether what denied a call denies it still, or what had a
// person asked who denied it asks still: a built-in that nothing lifts, or a rule
// that is named after its only pattern and holds always. What is suggested allows
// nothing beside them.
func (f *suggester) isStillDenied(c *Recorded) bool {
	switch by := c.Came.By; {
	case by != string(sayso.SourcePolicy) && c.Came.Effect == sayso.Ask:
		return f.isStillAsked(c)
	case by != string(sayso.SourcePolicy):
		return false
	case c.Came.File == "":
		return slices.Contains([]string{ownCommand.Rule, ownState.Rule, floorPath.Rule}, c.Came.Rule)
	}
	return slices.ContainsFunc(f.p.index.all(), func(e *entry) bool {
		if e.effect != sayso.Deny || !isUnconditional(e) || e.says.Rule != c.Came.Rule {
			return false
		}
		r := f.p.commandRule(e)
		return afterPattern(e) || r != nil && r.part != 0 && r.named == nil
	})
}

// isStillAsked is isStillDenied for a call that a person was asked about. Only a
// rule of the person's own file counts: an ask of shell.rules may have others
// before it by now, and one of the organisation may be for others to decide.
func (f *suggester) isStillAsked(c *Recorded) bool {
	if c.Came.File == "" {
		return c.Gap != GapOlder && slices.ContainsFunc(permanentFloors, func(m *sayso.Match) bool { return m.Rule == c.Came.Rule })
	}
	return slices.ContainsFunc(f.p.index.all(), func(e *entry) bool {
		return e.effect <= sayso.Ask && e.tier == TierUser && isUnconditional(e) && e.says.Rule == c.Came.Rule && afterPattern(e)
	})
}

// permanentFloors are the floors that look at the call and at the facts about it alone,
// so that they hold again under any policy. One that a release makes looser leaves
// this list: what it asked about before may be asked about no more.
var permanentFloors = []*sayso.Match{
	&floorArgs, &floorUnlisted, &floorURL, &floorSpelling, &floorStrays, &floorControl, &floorNames, &floorRoot,
	&floorLine, &floorDynamic, &floorInline, &ownHidden,
}

// isUnconditional reports whether a rule holds everywhere, whatever else is true.
func isUnconditional(e *entry) bool { return e.scope == nil && e.when == nil }

// afterPattern reports whether a rule is named after its only pattern.
func afterPattern(e *entry) bool { return e.effect.String()+": "+e.m.text == e.says.Rule }

// withhold bans the rules about tools of which a denied call was lost.
func (f *suggester) withhold() {
	for _, c := range f.candidates {
		tool, server := c.from.Tool, c.from.Server
		if slices.ContainsFunc(f.withheld, func(w Withheld) bool { return w.Tool == tool && w.Server == server }) {
			c.banned = true
		}
	}
}
