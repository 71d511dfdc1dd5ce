package broker

import (
	"context"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/cover"
)

// judgment is what is to be done with a call, and on whose word.
type judgment struct {
	sayso.Match
	modeEffect sayso.Effect // what happens in the mode in force
	source     sayso.Source
	mode       sayso.Mode
	verdict    sayso.Verdict
	basis
	besides         *sayso.Besides
	pins            sayso.Digest
	canPin          bool
	elicit          bool           // the client that made the call may put it to its person
	reach           sayso.Remember // how far a yes may be remembered, if a person is asked
	linked          *sayso.Request // the same call at an earlier point, if a person allowed it there
	editedArgs      sayso.Args     // what it was given there instead of its arguments, if it was
	endedGrants     []sayso.Grant  // grants that this call shows to have ended
	assumedNoGrants bool           // that the session has no grant was taken for granted
	subject         *cover.Subject // the call as covers see it, once that was needed
}

// judge asks policy and what has a say besides it, then live grants, and then the
// mode. No grant and no mode turns a deny round.
func (w *waiter) judge(ctx context.Context) (judgment, error) {
	j, err := w.applyPolicy(ctx)
	if err != nil {
		return j, err
	}
	if settled, err := w.applyEdit(ctx, &j); err != nil || settled {
		j.modeEffect = j.Effect
		return j, err
	}
	if err := w.applyGrant(ctx, &j); err != nil {
		return j, err
	}
	if err := w.applyLink(ctx, &j); err != nil {
		return j, err
	}
	j.modeEffect = j.mode.Apply(j.Match)
	if j.Effect == sayso.Ask && j.modeEffect != sayso.Ask {
		j.source = sayso.SourceMode
	}
	return j, nil
}

// applyPolicy asks policy and what has a say besides it, and looks which mode it is.
func (w *waiter) applyPolicy(ctx context.Context) (judgment, error) {
	c := w.a.Call
	j := judgment{source: sayso.SourcePolicy, verdict: w.b.verdict(ctx, c, w.a.Facts), reach: sayso.RememberNever}
	j.pins, j.canPin = cover.Pins(w.a.Facts)
	var err error
	if j.session, err = w.b.cachedSession(ctx, c.Session, sayso.SessionStream(c.Session)); err != nil {
		return j, err
	}
	if err := checkOwner(&j.session, w.actor); err != nil {
		return j, err
	}
	if j.global, err = w.b.cachedSession(ctx, "", sayso.BrokerStream); err != nil {
		return j, err
	}
	state, err := w.b.modeState(ctx, &j.session, &j.global)
	if err != nil {
		return j, err
	}
	if j.mode = state.Mode; w.a.Strict {
		j.mode = sayso.ModeStrict
	}
	j.besides = new(w.b.besides(c, &j.session))
	j.besides.Tool = w.toolSays()
	settled := j.besides.Settle(j.verdict)
	j.Match, j.reach, j.elicit = settled.Match, settled.Reach, settled.Elicit
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

// besides is what has a say about a call besides policy and its tool.
func (b *Broker) besides(c sayso.Call, session *sayso.Session) sayso.Besides {
	out := sayso.Besides{Locked: b.o.Locked(), Unlisted: c.Unlisted()}
	if set, ok := session.Policy(c); ok {
		out.Session = new(set)
	}
	return out
}

// toolSays is the tool's own ask. Only tools may say that they need not be asked
// about.
func (w *waiter) toolSays() sayso.ToolSays {
	switch tool := w.actor.Kind == sayso.PrincipalTool; {
	case !w.a.Asking || !tool && w.a.Ask == nil:
		return ""
	case w.a.Ask == nil:
		return sayso.ToolNeedless
	case w.a.Ask.Required || !tool:
		return sayso.ToolRequired
	}
	return sayso.ToolOptional
}

// applyGrant lets a live grant answer the asks that it covers. A call that none
// may answer ends those for another definition of its tool all the same.
func (w *waiter) applyGrant(ctx context.Context, j *judgment) error {
	if j.reach == sayso.RememberNever && w.a.Call.DefinitionDigest == "" {
		return nil
	}
	if !w.lookedUp && !w.b.grants.hasHadGrant(w.a.Call.Session) {
		j.assumedNoGrants = true
		return nil
	}
	if err := w.findRedefined(ctx, j); err != nil {
		return err
	}
	grant, err := w.findGrant(ctx, j)
	if err != nil || grant == nil {
		return err
	}
	j.grant, j.source = grant, sayso.SourceGrant
	j.Effect, j.Reason = sayso.Allow, "remembered: "+grant.Label
	return nil
}
