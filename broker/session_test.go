package broker_test

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

func (w *harness) policies(p map[string]sayso.Effect) {
	w.t.Helper()
	if err := w.b.Inbox(dev).SetPolicies(w.t.Context(), "s1", p); err != nil {
		w.t.Fatal(err)
	}
}

// effect is what an admission comes to: ask if a person is asked.
func (w *harness) effect(a sayso.Admission) sayso.Effect { return w.effectAs(agent, a) }

func (w *harness) effectAs(who sayso.Actor, a sayso.Admission) sayso.Effect {
	w.t.Helper()
	p := w.askAs(w.t.Context(), who, a)
	if p.isWaiting() {
		return sayso.Ask
	}
	d, err := p.result()
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Effect
}

func TestSessionPolicy(t *testing.T) {
	person := rule(sayso.Ask)
	person.Person = true
	exact := rule(sayso.Ask)
	exact.Remember = sayso.RememberExact
	never := rule(sayso.Ask)
	never.Remember = sayso.RememberNever
	blurred := rule(sayso.Ask)
	blurred.Cause = sayso.CauseNotUnderstood
	for name, c := range map[string]struct {
		policy  []sayso.Match
		session sayso.Effect
		want    sayso.Effect
	}{
		"allow silences an ask":                    {[]sayso.Match{rule(sayso.Ask)}, sayso.Allow, sayso.Allow},
		"allow does not silence a deny":            {[]sayso.Match{rule(sayso.Ask), rule(sayso.Deny)}, sayso.Allow, sayso.Deny},
		"allow does not silence what is personal":  {[]sayso.Match{rule(sayso.Ask), person}, sayso.Allow, sayso.Ask},
		"allow does not silence what is exact":     {[]sayso.Match{exact}, sayso.Allow, sayso.Ask},
		"allow does not silence never":             {[]sayso.Match{never}, sayso.Allow, sayso.Ask},
		"allow does not silence what nobody reads": {[]sayso.Match{blurred}, sayso.Allow, sayso.Ask},
		"ask joins an allow":                       {[]sayso.Match{rule(sayso.Allow)}, sayso.Ask, sayso.Ask},
		"ask leaves a deny":                        {[]sayso.Match{rule(sayso.Deny)}, sayso.Ask, sayso.Deny},
		"deny denies an allow":                     {[]sayso.Match{rule(sayso.Allow)}, sayso.Deny, sayso.Deny},
		"deny denies an ask":                       {[]sayso.Match{rule(sayso.Ask)}, sayso.Deny, sayso.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			p := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict { return ruled(c.policy...) }}
			bubble(t, p, func(t *testing.T, w *harness) {
				if err := w.b.Gate(agent).Begin(t.Context(), "s1", "claude-code"); err != nil {
					t.Fatal(err)
				}
				w.policies(map[string]sayso.Effect{"bash": c.session})
				if got := w.effect(push("c1")); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				a := push("c2")
				a.Call.Session = "s2"
				w.rules.set("v1", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Ask)) })
				if got := w.effect(a); got != sayso.Ask {
					t.Errorf("another session got %s", got)
				}
			})
		})
	}
}

func TestSessionPolicy_names(t *testing.T) {
	mcp := sayso.Call{Tool: "mcp__github__create_issue", Host: "claude-code", Args: sayso.Args(`{}`), Session: "s1"}
	for name, c := range map[string]struct {
		policies map[string]sayso.Effect
		call     sayso.Call
		want     sayso.Effect
	}{
		"canonical":            {map[string]sayso.Effect{"bash": sayso.Allow}, push("").Call, sayso.Allow},
		"the host's":           {map[string]sayso.Effect{"Bash": sayso.Allow}, push("").Call, sayso.Allow},
		"both, the strictest":  {map[string]sayso.Effect{"Bash": sayso.Allow, "bash": sayso.Deny}, push("").Call, sayso.Deny},
		"another":              {map[string]sayso.Effect{"file-read": sayso.Allow}, push("").Call, sayso.Ask},
		"another case":         {map[string]sayso.Effect{"BASH": sayso.Allow}, push("").Call, sayso.Ask},
		"a tool of a server":   {map[string]sayso.Effect{"github/create_issue": sayso.Allow}, mcp, sayso.Allow},
		"the tool without it":  {map[string]sayso.Effect{"create_issue": sayso.Allow}, mcp, sayso.Ask},
		"of another server":    {map[string]sayso.Effect{"gitlab/create_issue": sayso.Allow}, mcp, sayso.Ask},
		"the host's full name": {map[string]sayso.Effect{"mcp__github__create_issue": sayso.Allow}, mcp, sayso.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				w.b.Gate(agent).Begin(t.Context(), "s1", "")
				w.policies(c.policies)
				if got := w.effect(sayso.Admission{Call: c.call}); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			})
		})
	}
}

func TestSessionPolicy_isReplacedAndRead(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.b.Gate(agent).Begin(t.Context(), "s1", "")
		for _, p := range []map[string]sayso.Effect{{"bash": sayso.Deny, "file-read": sayso.Allow}, {"bash": sayso.Ask}, {}} {
			w.policies(p)
			got, err := w.b.Inbox(ann).Policies(t.Context(), "s1")
			if err != nil || fmt.Sprint(got) != fmt.Sprint(p) {
				t.Errorf("got %v, %v, want %v", got, err, p)
			}
		}
		under := dev
		under.Channel = broker.ChannelAgentProcess
		for _, who := range []sayso.Actor{stranger, viewer, agent, under} {
			wantErr(t, w.b.Inbox(who).SetPolicies(t.Context(), "s1", map[string]sayso.Effect{"bash": sayso.Allow}), sayso.ErrNotAllowed)
		}
		_, err := w.b.Inbox(stranger).Policies(t.Context(), "s1")
		wantErr(t, err, sayso.ErrNotAllowed)
		wantErr(t, w.b.Inbox(dev).SetPolicies(t.Context(), "s1", map[string]sayso.Effect{"": sayso.Allow}), sayso.ErrInvalid)
		if got := w.effect(push("c1")); got != sayso.Ask {
			t.Errorf("got %s", got)
		}
	})
}

// What one broker was told, the other one on the same log follows at once.
func TestSessionPolicy_ofAnotherProcess(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.effect(push("")) // the session is met and remembered
		w.b.Gate(agent).Withdraw(t.Context(), w.onlyOpen().ID, "")
		other, err := broker.New(w.log.Join(), w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []sayso.Effect{sayso.Deny, sayso.Allow, sayso.Ask} {
			if err := other.Inbox(dev).SetPolicies(t.Context(), "s1", map[string]sayso.Effect{"bash": e}); err != nil {
				t.Fatal(err)
			}
			if got := w.effect(push("")); got != e {
				t.Errorf("set to %s, and it got %s", e, got)
			}
			for _, r := range w.open() {
				w.b.Gate(agent).Withdraw(t.Context(), r.ID, "")
			}
		}
		for _, m := range []struct {
			session string
			mode    sayso.Mode
			want    sayso.Effect
		}{
			{"s1", sayso.ModeStrict, sayso.Deny}, {"s1", sayso.ModeInteractive, sayso.Ask},
			{"", sayso.ModeStrict, sayso.Deny}, {"", sayso.ModeInteractive, sayso.Ask},
		} {
			if err := other.Inbox(admin).SetMode(t.Context(), m.session, m.mode, 0); err != nil {
				t.Fatal(err)
			}
			if got := w.effect(push("")); got != m.want {
				t.Errorf("%q is %s, and it got %s", m.session, m.mode, got)
			}
		}
	})
}

func TestMode_forASessionAndForAll(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.b.Gate(agent).Begin(t.Context(), "s1", "")
		set := func(who sayso.Actor, session string, m sayso.Mode, d time.Duration) error {
			return w.b.Inbox(who).SetMode(t.Context(), session, m, d)
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		other := func(id string) sayso.Admission { a := push(id); a.Call.Session = "s2"; return a }
		mode := func(session string) sayso.ModeState {
			t.Helper()
			m, err := w.b.Inbox(admin).Mode(t.Context(), session)
			must(err)
			return m
		}
		for name, err := range map[string]error{
			"approve_all without an end":     set(dev, "s1", sayso.ModeApproveAll, 0),
			"approve_all for a week":         set(dev, "s1", sayso.ModeApproveAll, 7*24*time.Hour),
			"an end in the past":             set(dev, "s1", sayso.ModeStrict, -1),
			"no mode":                        set(dev, "s1", "yolo", time.Hour),
			"approve_all for all, endlessly": set(admin, "", sayso.ModeApproveAll, 0),
		} {
			if wantErr(t, err, sayso.ErrInvalid); err == nil {
				t.Error(name)
			}
		}
		under := admin
		under.Channel = broker.ChannelAgentProcess
		for name, err := range map[string]error{
			"a person for all":       set(dev, "", sayso.ModeStrict, 0),
			"a viewer":               set(viewer, "s1", sayso.ModeStrict, 0),
			"a stranger":             set(stranger, "s1", sayso.ModeStrict, 0),
			"an agent":               set(agent, "s1", sayso.ModeApproveAll, time.Hour),
			"from under an agent":    set(under, "", sayso.ModeApproveAll, time.Hour),
			"and for the session":    set(under, "s1", sayso.ModeApproveAll, time.Hour),
			"a stranger, for no one": set(stranger, "", sayso.ModeInteractive, 0),
		} {
			if wantErr(t, err, sayso.ErrNotAllowed); err == nil {
				t.Error(name)
			}
		}

		must(set(dev, "s1", sayso.ModeApproveAll, time.Hour))
		if got := mode("s1"); got.Mode != sayso.ModeApproveAll || got.Left != time.Hour {
			t.Errorf("the mode is %+v", got)
		}
		d := w.allowed(atOnce("c1"))
		if d.Source != sayso.SourceMode || d.Mode != sayso.ModeApproveAll {
			t.Errorf("got %+v", d)
		}
		if got := w.effect(other("c1")); got != sayso.Ask {
			t.Errorf("another session got %s", got)
		}
		pass(time.Hour)
		if got := mode("s1"); got.Mode != sayso.ModeInteractive {
			t.Errorf("after its end the mode is %+v", got)
		}
		if got := w.effect(push("c2")); got != sayso.Ask {
			t.Errorf("after its end: %s", got)
		}

		must(set(admin, "", sayso.ModeStrict, time.Hour))
		must(set(dev, "s1", sayso.ModeApproveAll, 2*time.Hour))
		for _, a := range []sayso.Admission{push("c3"), other("c3")} {
			if d, err := w.admit(a); err != nil || d.Effect != sayso.Deny || d.Source != sayso.SourceMode || d.Mode != sayso.ModeStrict {
				t.Errorf("strict for all: got %+v, %v", d, err)
			}
		}
		pass(time.Hour)
		if got := w.effect(push("c4")); got != sayso.Allow {
			t.Errorf("after strict for all ended: %s", got)
		}
		must(set(dev, "s1", sayso.ModeInteractive, 0))
		must(set(admin, "", sayso.ModeApproveAll, time.Hour))
		if got := w.effect(push("c5")); got != sayso.Ask {
			t.Errorf("a session's own mode: %s", got)
		}
		if got := w.effect(other("c5")); got != sayso.Allow {
			t.Errorf("approve_all for all: %s", got)
		}
	})
}

// approve_all must not outlive a clock that went wrong; strict does.
func TestMode_acrossBoots(t *testing.T) {
	for _, step := range []time.Duration{tenYears, -tenYears} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			w.b.Gate(agent).Begin(t.Context(), "s1", "")
			if err := w.b.Inbox(dev).SetMode(t.Context(), "s1", sayso.ModeApproveAll, time.Hour); err != nil {
				t.Fatal(err)
			}
			w.clock.step(step) // within the boot it changes nothing
			if got := w.effect(push("c1")); got != sayso.Allow {
				t.Errorf("%v: got %s", step, got)
			}
			w.clock.step(step)
			w.clock.reboot("boot-2")
			w.restart()
			if got := w.effect(push("c2")); got != sayso.Ask {
				t.Errorf("%v, in another boot: got %s", step, got)
			}
		})
	}
}

func TestOptions_mode(t *testing.T) {
	for m, want := range map[sayso.Mode]sayso.Effect{
		"": sayso.Ask, sayso.ModeInteractive: sayso.Ask, sayso.ModeStrict: sayso.Deny,
		sayso.ModeApproveAll: sayso.Ask, // it has no end here
		"Strict":             sayso.Deny, "approve-all": sayso.Deny,
	} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			if got := w.effect(push("c1")); got != want {
				t.Errorf("%q: got %s, want %s", m, got, want)
			}
			if err := w.b.Inbox(dev).SetMode(t.Context(), "s1", sayso.ModeInteractive, 0); err != nil {
				t.Fatal(err)
			}
			if got := w.effect(push("c2")); got != sayso.Ask {
				t.Errorf("%q: what was set for the session: %s", m, got)
			}
		}, func(w *harness) { w.opts.Mode = func() sayso.Mode { return m } })
	}
}

func TestOptions_modeChangesWhileTheBrokerRuns(t *testing.T) {
	var m sayso.Mode
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		for i, c := range []struct {
			mode sayso.Mode
			want sayso.Effect
		}{{"", sayso.Ask}, {sayso.ModeStrict, sayso.Deny}, {sayso.ModeInteractive, sayso.Ask}, {sayso.ModeStrict, sayso.Deny}} {
			m = c.mode
			if got := w.effect(push(fmt.Sprint("c", i))); got != c.want {
				t.Errorf("%q: got %s, want %s", m, got, c.want)
			}
			in, err := w.b.Inbox(dev).Mode(t.Context(), "s1")
			if want := cmp.Or(m, sayso.ModeInteractive); err != nil || in.Mode != want {
				t.Errorf("the inbox says %q, want %q, %v", in.Mode, want, err)
			}
		}
	}, func(w *harness) { w.opts.Mode = func() sayso.Mode { return m } })
}

func TestOptions_locked(t *testing.T) {
	locked := false
	change := func(w *harness) { w.opts.Locked = func() bool { return locked } }
	for name, c := range map[string]struct {
		policy sayso.Effect
		mode   sayso.Mode
		want   sayso.Effect
	}{
		"an allow asks":               {sayso.Allow, "", sayso.Ask},
		"an ask asks":                 {sayso.Ask, "", sayso.Ask},
		"a deny denies":               {sayso.Deny, "", sayso.Deny},
		"approve_all asks":            {sayso.Allow, sayso.ModeApproveAll, sayso.Ask},
		"strict denies":               {sayso.Allow, sayso.ModeStrict, sayso.Deny},
		"approve_all denies a denial": {sayso.Deny, sayso.ModeApproveAll, sayso.Deny},
	} {
		locked = true
		bubble(t, always(c.policy), func(t *testing.T, w *harness) {
			if c.mode != "" {
				if err := w.b.Inbox(admin).SetMode(t.Context(), "", c.mode, time.Hour); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.effect(push("c1")); got != c.want {
				t.Errorf("%s: got %s", name, got)
			}
		}, change)
	}
	locked = false
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c1"))
		w.policies(map[string]sayso.Effect{"file-read": sayso.Allow})
		read := sayso.Admission{Call: sayso.Call{Tool: "file-read", Args: sayso.Args(`{"path":"x"}`), Session: "s1"}}
		if w.effect(read) != sayso.Allow || w.effect(push("")) != sayso.Allow {
			t.Fatal("they do not pass unlocked")
		}
		locked = true
		if w.effect(read) != sayso.Ask || w.effect(push("")) != sayso.Ask {
			t.Error("grants or session policies pass while locked")
		}
	}, change)
}

func TestSession_beginAndEnd(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		g := w.b.Gate(agent)
		types := func() (got []sayso.EventType) {
			for _, e := range w.stream(sayso.SessionStream("s1")) {
				got = append(got, e.Type)
			}
			return got
		}
		steps := []struct {
			do   func() error
			want string
		}{
			{func() error { return g.End(t.Context(), "s1") }, "[]"},
			{func() error { return g.Begin(t.Context(), "s1", "claude-code") }, "[session.started]"},
			{func() error { return g.Begin(t.Context(), "s1", "claude-code") }, "[session.started]"},
			{func() error { _, err := w.admit(push("c1")); return err }, "[session.started]"},
			{func() error { return g.End(t.Context(), "s1") }, "[session.started session.ended]"},
			{func() error { return g.End(t.Context(), "s1") }, "[session.started session.ended]"},
			{func() error { return g.Begin(t.Context(), "s1", "claude-code") }, "[session.started session.ended session.started]"},
			{func() error { return g.End(t.Context(), "s1") }, "[session.started session.ended session.started session.ended]"},
			{func() error { _, err := w.admit(push("c2")); return err }, "[session.started session.ended session.started session.ended session.started]"},
		}
		for i, s := range steps {
			if err := s.do(); err != nil || fmt.Sprint(types()) != s.want {
				t.Errorf("step %d: %v, %v, want %s", i, types(), err, s.want)
			}
		}
	})
}

// The switches lie beside the log. It tells of them, and nothing follows from
// that: the mode in force stays, and calls are decided as before.
func TestSwitched_isRecordedAndChangesNothing(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		if err := w.b.Inbox(admin).SetMode(t.Context(), "", sayso.ModeStrict, time.Hour); err != nil {
			t.Fatal(err)
		}
		for to, d := range map[sayso.Switch]time.Duration{
			sayso.SwitchOff: time.Minute, sayso.SwitchOn: 0, sayso.SwitchLocked: 0, sayso.SwitchReleased: 0,
		} {
			if err := w.b.Switched(t.Context(), admin, to, d); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`{"mode":"","for_ns":%d,"switch":%q}`, d, to)
			if d == 0 {
				want = fmt.Sprintf(`{"mode":"","switch":%q}`, to)
			}
			if got := w.lastPayload(sayso.EventModeChanged); got != want {
				t.Errorf("recorded %s, want %s", got, want)
			}
		}
		pass(2 * time.Minute)
		if m, err := w.b.Inbox(dev).Mode(t.Context(), ""); err != nil || m.Mode != sayso.ModeStrict || m.Left != 58*time.Minute {
			t.Errorf("the mode is %+v, %v", m, err)
		}
		if d, err := w.admit(push("c1")); err != nil || d.Effect != sayso.Deny || d.Source != sayso.SourceMode {
			t.Errorf("got %+v, %v", d, err)
		}
		for to, d := range map[sayso.Switch]time.Duration{"": 0, "strict": 0, sayso.SwitchOff: -1} {
			wantErr(t, w.b.Switched(t.Context(), admin, to, d), sayso.ErrInvalid)
		}
		for _, e := range w.stream(sayso.BrokerStream) {
			if e.Actor.Principal != admin.Principal || e.Actor.Kind != sayso.PrincipalAdmin {
				t.Errorf("%s by %+v", e.Type, e.Actor)
			}
		}
	})
}
