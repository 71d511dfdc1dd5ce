package broker

import (
	"context"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// judged is what is to be done with a call, and on whose word.
type judged struct {
	sayso.Match
	effect  sayso.Effect // what happens in the mode in force
	source  sayso.Source
	mode    sayso.Mode
	verdict sayso.Verdict
	grant   *sayso.Grant
	session sayso.Session
	global  sayso.Session // what holds for all sessions
	pins    sayso.Digest
	canPin  bool
}

// judge asks policy, the session and live grants, in this order, and then the
// mode. No grant and no mode turns a deny round.
func (w *waiter) judge(ctx context.Context) (judged, error) {
	c := w.a.Call
	j := judged{source: sayso.SourcePolicy, verdict: w.verdict(ctx, c, w.a.Facts)}
	j.pins, j.canPin = pins(w.a.Facts)
	var err error
	if j.session, err = w.recall(ctx, c.Session, sayso.SessionStream(c.Session)); err != nil {
		return j, err
	}
	if err := foreign(&j.session, w.actor); err != nil {
		return j, err
	}
	if j.global, err = w.recall(ctx, "", sayso.BrokerStream); err != nil {
		return j, err
	}
	state, err := w.modeState(ctx, &j.session, &j.global)
	if err != nil {
		return j, err
	}
	if j.mode = state.Mode; w.a.Strict {
		j.mode = sayso.ModeStrict
	}
	matches, otherwise := j.verdict.Matches, w.otherwise(j.verdict.Default)
	set, isSet := j.session.Policy(c)
	if isSet && set != sayso.Allow {
		matches = append(matches[:len(matches):len(matches)], sessionMatch(set))
	}
	locked := w.o.Locked()
	if locked {
		matches = append(matches[:len(matches):len(matches)], lockMatch)
	}
	j.Match = sayso.Combine(matches, otherwise)
	if j.verdict.Effect == sayso.Deny && j.Effect != sayso.Deny {
		j.Match = j.verdict.Match // a default that denies is not turned round by what a tool says of itself
	}
	if j.Effect == sayso.Ask && !locked {
		if err := w.silence(ctx, &j, matches, otherwise, isSet && set == sayso.Allow); err != nil {
			return j, err
		}
	}
	j.effect = j.mode.Apply(j.Match)
	if j.Effect == sayso.Ask && j.effect != sayso.Ask {
		j.source = sayso.SourceMode
	}
	return j, nil
}

// verdict asks policy, and makes one of the two things that a verdict says: what
// decided is among the matches, or the default, and nothing that spoke is
// stricter than it. A policy that contradicts itself is as strict as the
// strictest that it says. One that does not name its version is of the version
// in force before it was asked.
func (b *Broker) verdict(ctx context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	version := b.policy.Version()
	v := b.policy.Judge(ctx, c, f)
	if v.Policy == "" {
		v.Policy = version
	}
	if len(v.Matches) == 0 && v.Default == (sayso.Match{}) {
		v.Matches = []sayso.Match{v.Match} // it says what decided and nothing else
	}
	decided := sayso.Combine(v.Matches, v.Default)
	switch {
	case v.Match.Effect > decided.Effect:
		v.Match = decided
	case v.Match != decided:
		v.Matches = append(v.Matches[:len(v.Matches):len(v.Matches)], v.Match)
		v.Match = sayso.Combine(v.Matches, v.Default)
	}
	return v
}

func sessionMatch(e sayso.Effect) sayso.Match {
	return sayso.Match{Effect: e, Cause: sayso.CauseSession, Rule: "session policy",
		Reason: "the policy of this session says " + e.String() + " for this tool"}
}

var lockMatch = sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "locked", Person: true,
	Remember: sayso.RememberNever, Reason: "sayso is locked: everything is asked and nothing remembered"}

// otherwise is what holds if no rule speaks: the tool's own ask, or the
// default. Only tools may say that they need not be asked about.
func (w *waiter) otherwise(def sayso.Match) sayso.Match {
	if !w.a.Asking || w.actor.Kind != sayso.PrincipalTool && w.a.Ask == nil {
		return def
	}
	if w.a.Ask == nil {
		return sayso.Match{Effect: sayso.Allow, Cause: sayso.CauseToolOptional, Reason: "the tool sees no need to ask"}
	}
	if w.a.Ask.Required || w.actor.Kind != sayso.PrincipalTool {
		return sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseToolRequired, Reason: "the tool asks to be approved"}
	}
	return sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseToolOptional, Reason: "the tool would like to be approved"}
}

// silence lets a live grant, or a session policy of allow, answer the asks that
// it covers. What remains decides.
func (w *waiter) silence(ctx context.Context, j *judged, matches []sayso.Match, otherwise sayso.Match, sessionAllows bool) error {
	asks := asking(matches, otherwise)
	if sessionAllows {
		rest := keep(asks, func(m sayso.Match) bool {
			return m.Person || m.Remember != sayso.RememberAny || m.Cause == sayso.CauseNotUnderstood
		})
		if len(rest) == 0 {
			j.Match = sessionMatch(sayso.Allow)
			return nil
		}
		asks = rest
	}
	j.Match = sayso.Combine(asks, otherwise)
	rest := keep(asks, func(m sayso.Match) bool { return m.Remember == sayso.RememberNever })
	if len(rest) > 0 {
		j.Match = sayso.Combine(rest, otherwise)
		return nil
	}
	grant, err := w.liveGrant(ctx, j)
	if err != nil || grant == nil {
		return err
	}
	j.grant, j.source = grant, sayso.SourceGrant
	j.Effect, j.Reason = sayso.Allow, "remembered: "+grant.Label
	return nil
}

// asking are the asks that decided: of the rules, or else the default.
func asking(matches []sayso.Match, otherwise sayso.Match) []sayso.Match {
	if len(matches) == 0 {
		return []sayso.Match{otherwise}
	}
	return keep(matches, func(m sayso.Match) bool { return m.Effect == sayso.Ask })
}

func keep(matches []sayso.Match, ok func(sayso.Match) bool) []sayso.Match {
	var kept []sayso.Match
	for _, m := range matches {
		if ok(m) {
			kept = append(kept, m)
		}
	}
	return kept
}

// liveGrant finds a grant that covers the call and still lives.
func (w *waiter) liveGrant(ctx context.Context, j *judged) (*sayso.Grant, error) {
	key := sayso.GrantKey(sayso.CoverCall, w.digest, j.pins, j.verdict.Policy)
	streams, err := w.log.Grants(ctx, key, "", false)
	if err != nil {
		return nil, fmt.Errorf("looking for grants: %w", err)
	}
	for _, stream := range streams {
		g, err := w.grant(ctx, stream)
		if err != nil {
			return nil, err
		}
		now, recorded, err := w.clock(ctx)
		if err != nil {
			return nil, err
		}
		if _, ok := g.Live(now, recorded); ok && g.SessionID == w.a.Call.Session && g.Key == key {
			return &g, nil
		}
	}
	return nil, nil
}

// pins is the digest of what a call named when it was judged: where its
// directory and its paths led, and what was in the files that a command runs.
// ok is false where not all of that is known, as for a command that may run
// files nobody can tell from its text: a remembered yes is then for one use.
func pins(f sayso.Facts) (d sayso.Digest, ok bool) {
	var parts [][]byte
	if f.Cwd != "" {
		parts = append(parts, []byte("cwd"), []byte(f.Cwd))
	}
	for _, o := range f.Operands {
		parts = append(parts, []byte("operand"), []byte(o.Arg), []byte(o.Resolved))
	}
	for _, file := range f.Files {
		parts = append(parts, []byte("file"), []byte(file.Path), file.Digest[:])
	}
	if len(parts) == 0 {
		return d, !f.Truncated
	}
	return sayso.HashOf("sayso/pins/1", parts...), !f.Truncated
}
