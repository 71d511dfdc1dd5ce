package broker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// TestModeTimesCause is the whole table of what becomes of an ask, through the
// gate: every mode, and every cause of an ask.
func TestModeTimesCause(t *testing.T) {
	const (
		A = sayso.Allow
		Q = sayso.Ask
		D = sayso.Deny
	)
	because := func(c sayso.Cause) sayso.Match { m := rule(sayso.Ask); m.Cause = c; return m }
	with := func(m sayso.Match, change func(*sayso.Match)) sayso.Match { change(&m); return m }
	tool := func(required bool) *sayso.ToolAsk { return &sayso.ToolAsk{Required: required} }
	rows := []struct {
		name                            string
		match                           *sayso.Match // a rule that matched
		ask                             *sayso.ToolAsk
		interactive, approveAll, strict sayso.Effect
	}{
		{"tool-optional", nil, tool(false), Q, A, A},
		{"tool-required", nil, tool(true), Q, A, D},
		{"rule", new(because(sayso.CauseRule)), nil, Q, A, D},
		{"default", new(because(sayso.CauseDefault)), nil, Q, A, D},
		{"session", new(because(sayso.CauseSession)), nil, Q, A, D},
		{"builtin", new(because(sayso.CauseBuiltin)), nil, Q, A, D},
		{"not-understood", new(because(sayso.CauseNotUnderstood)), nil, Q, Q, D},
		{"a control file", new(with(rule(Q), func(m *sayso.Match) { m.Person = true })), nil, Q, Q, D},
		{"remember: never", new(with(rule(Q), func(m *sayso.Match) { m.Remember = sayso.RememberNever })), nil, Q, Q, D},
		{"remember: exact", new(with(rule(Q), func(m *sayso.Match) { m.Remember = sayso.RememberExact })), nil, Q, A, D},
		{"optional, but personal", new(with(because(sayso.CauseToolOptional), func(m *sayso.Match) { m.Person = true })), nil, Q, Q, D},
		{"allowed by a rule", new(rule(A)), nil, A, A, A},
		{"allowed by a rule, the tool asks", new(rule(A)), tool(true), A, A, A},
		{"denied by a rule", new(rule(D)), nil, D, D, D},
		{"denied by a rule, the tool asks", new(rule(D)), tool(true), D, D, D},
		{"asked by a rule, the tool would like", new(rule(Q)), tool(false), Q, A, D},
	}
	for _, r := range rows {
		for mode, want := range map[sayso.Mode]sayso.Effect{
			sayso.ModeInteractive: r.interactive, sayso.ModeApproveAll: r.approveAll, sayso.ModeStrict: r.strict,
		} {
			t.Run(fmt.Sprintf("%s/%s", r.name, mode), func(t *testing.T) {
				p := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict {
					if r.match == nil { // nothing spoke
						def := rule(sayso.Ask)
						def.Cause = sayso.CauseDefault
						return sayso.Verdict{Match: def, Default: def}
					}
					v := ruled(*r.match)
					v.Default = rule(sayso.Ask)
					return v
				}}
				bubble(t, p, func(t *testing.T, w *harness) {
					w.b.Gate(program).Begin(t.Context(), "s1", "")
					if err := w.b.Inbox(dev).SetMode(t.Context(), "s1", mode, time.Hour); err != nil {
						t.Fatal(err)
					}
					a := push("c1")
					a.Ask, a.Asking = r.ask, r.ask != nil
					pending := w.askAs(t.Context(), program, a)
					if pending.isWaiting() != (want == sayso.Ask) {
						t.Fatalf("it waits: %v, want %s", !(want == sayso.Ask), want)
					}
					if want == sayso.Ask {
						return
					}
					d, err := pending.result()
					if err != nil || d.Effect != want {
						t.Fatalf("got %+v, %v, want %s", d, err, want)
					}
					if byMode := r.interactive == sayso.Ask; (d.Source == sayso.SourceMode) != byMode {
						t.Errorf("decided by %s", d.Source)
					}
				})
			})
		}
	}
}

// A tool that knows itself speaks where no rule does; what it may say depends
// on its credential.
func TestToolAsk(t *testing.T) {
	yes, no := &sayso.ToolAsk{Required: true}, &sayso.ToolAsk{}
	for name, c := range map[string]struct {
		def  sayso.Effect
		who  sayso.Actor
		ask  *sayso.ToolAsk
		want sayso.Effect
	}{
		"a tool sees no need":                    {sayso.Ask, program, nil, sayso.Allow},
		"a tool asks":                            {sayso.Ask, program, yes, sayso.Ask},
		"a tool asks where all is allowed":       {sayso.Allow, program, yes, sayso.Ask},
		"a tool would like to ask":               {sayso.Allow, program, no, sayso.Ask},
		"an agent sees no need":                  {sayso.Ask, agent, nil, sayso.Ask},
		"an agent asks where all is allowed":     {sayso.Allow, agent, yes, sayso.Ask},
		"an agent says it is optional":           {sayso.Ask, agent, no, sayso.Ask},
		"an agent asks where all is denied":      {sayso.Deny, agent, yes, sayso.Deny},
		"a tool does not turn a denial round":    {sayso.Deny, program, nil, sayso.Deny},
		"a tool that asks does not do so either": {sayso.Deny, program, yes, sayso.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			p := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict {
				def := rule(c.def)
				def.Cause = sayso.CauseDefault
				return sayso.Verdict{Match: def, Default: def}
			}}
			bubble(t, p, func(t *testing.T, w *harness) {
				a := push("c1")
				a.Asking, a.Ask = true, c.ask
				if got := w.effectAs(c.who, a); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		})
	}
}

// Only a tool may leave arguments out of what a yes matches on, or choose what
// is shown instead of them.
func TestToolAsk_ofAnAgentIsNotTrusted(t *testing.T) {
	ask := &sayso.ToolAsk{Required: true, Payload: sayso.Args(`{"x":1}`), Ignores: []string{"command"},
		Display: sayso.Args(`{"command":"something harmless"}`)}
	for _, who := range []sayso.Actor{agent, program} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			a := push("c1")
			a.Asking, a.Ask = true, ask
			w.askAs(t.Context(), who, a).isWaiting()
			r := w.onlyOpen()
			trusted := who.Kind == sayso.PrincipalTool
			if (r.Fingerprint != r.Digest) != trusted || (len(r.Ignores) > 0) != trusted {
				t.Errorf("%s: fingerprint %s, ignores %v", who.Kind, r.Fingerprint, r.Ignores)
			}
			if got := string(r.Preview); (got == `{"command":"something harmless"}`) != trusted {
				t.Errorf("%s: shown %s", who.Kind, got)
			}
		})
	}
}

// TestAnswer_byTheRulesInForce is the whole table of what becomes of a yes, and
// of remembering it, where the policy, the session and the lock are others than
// when people were asked.
func TestAnswer_byTheRulesInForce(t *testing.T) {
	remembering := func(e sayso.Effect, r sayso.Remember) *sayso.Match { m := rule(e); m.Remember = r; return &m }
	policies := map[string]*sayso.Match{
		"allow": remembering(sayso.Allow, sayso.RememberAny), "deny": remembering(sayso.Deny, sayso.RememberAny), "ask": remembering(sayso.Ask, sayso.RememberAny),
		"ask, exact": remembering(sayso.Ask, sayso.RememberExact), "ask, never": remembering(sayso.Ask, sayso.RememberNever), "nothing": nil,
	}
	for name, m := range policies {
		for _, session := range [...]string{"", "deny", "ask", "allow"} {
			for _, locked := range [...]bool{false, true} {
				for _, c := range [...]sayso.Cover{"", sayso.CoverCall, sayso.CoverPrefix} {
					now := change{match: m, session: session, locked: locked}
					t.Run(fmt.Sprintf("%s/session %s/locked %v/%s", name, session, locked, c), func(t *testing.T) {
						wantErr(t, now.answered(t, c), now.want(name, c))
					})
				}
			}
		}
	}
}

// change is what is in force when an answer comes.
type change struct {
	match   *sayso.Match // of policy; nil where nothing speaks
	session string       // what its own policy says; empty for nothing
	locked  bool
}

// answered asks about a call, changes what is in force, and says yes.
func (now change) answered(t *testing.T, c sayso.Cover) (err error) {
	locked := false
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), calls("git add a"))
		r := w.onlyOpen()
		w.rules.set("v1", func(sayso.Call) sayso.Verdict {
			v := sayso.Verdict{Default: rule(sayso.Ask)}
			if now.match != nil {
				v.Matches = []sayso.Match{*now.match}
			}
			v.Match = sayso.Combine(v.Matches, v.Default)
			return v
		})
		if now.session != "" {
			says := map[string]sayso.Effect{"deny": sayso.Deny, "ask": sayso.Ask, "allow": sayso.Allow}[now.session]
			if err := w.b.Inbox(dev).SetPolicies(t.Context(), "s1", map[string]sayso.Effect{"bash": says}); err != nil {
				t.Fatal(err)
			}
		}
		locked = now.locked
		a := answer(r, sayso.Allow)
		if c != "" {
			a = remembered(r)
			a.Cover = c
		}
		_, err = w.answer(dev, r.ID, a)
	}, func(w *harness) { w.opts.Locked = func() bool { return locked } })
	return err
}

// want is what becomes of the yes, by the rules in words: a deny is final, and a
// yes is remembered no further than any ask lets it.
func (now change) want(policy string, c sayso.Cover) error {
	switch {
	case policy == "deny", now.session == "deny":
		return sayso.ErrNotAllowed
	case c != "" && (now.locked || policy == "ask, never"), c == sayso.CoverPrefix && policy == "ask, exact":
		return sayso.ErrInvalid
	}
	return nil
}
