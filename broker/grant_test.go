package broker_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

func remembered(r sayso.Request) sayso.Answer {
	a := answer(r, sayso.Allow)
	a.Scope = sayso.ScopeSession
	return a
}

// remember asks for a call and has it remembered.
func (w *harness) remember(a sayso.Admission, change ...func(*sayso.Answer)) sayso.Grant {
	w.t.Helper()
	p := w.ask(w.t.Context(), a)
	r := w.onlyOpen()
	ans := remembered(r)
	for _, c := range change {
		c(&ans)
	}
	if _, err := w.answer(dev, r.ID, ans); err != nil {
		w.t.Fatal(err)
	}
	if d, err := p.result(); err != nil || !d.Allowed() {
		w.t.Fatal(d, err)
	}
	grants := w.grants(false)
	if len(grants) == 0 {
		w.t.Fatal("no grant was made")
	}
	return grants[len(grants)-1]
}

func (w *harness) grants(all bool) []sayso.Grant {
	w.t.Helper()
	gs, err := w.b.Inbox(dev).Grants(w.t.Context(), "s1", all)
	if err != nil {
		w.t.Fatal(err)
	}
	return gs
}

// isAllowedUnasked reports whether a call passes without asking anybody.
func (w *harness) isAllowedUnasked(a sayso.Admission) bool {
	w.t.Helper()
	a.Patience, a.Immediate = time.Millisecond, true
	d, err := w.admit(a)
	if err == nil && d.Redeemed {
		return true
	}
	if !errors.Is(err, sayso.ErrPending) || d.Allowed() {
		w.t.Fatalf("got %+v, %v", d, err)
	}
	for _, r := range w.open() {
		if err := w.b.Gate(agent).Withdraw(w.t.Context(), r.ID, ""); err != nil {
			w.t.Fatal(err)
		}
	}
	return false
}

func TestGrant_silencesTheSameCall(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		g := w.remember(atOnce("c1"))
		if g.SessionID != "s1" || g.By.Principal != "dev" || g.Tool != "bash" || g.Cover != sayso.CoverCall || g.Uses != 0 {
			t.Errorf("the grant is %+v", g)
		}
		before := len(w.allEvents())
		d := w.allowed(atOnce("c2"))
		if d.Source != sayso.SourceGrant || d.Grant != g.ID || d.Who() != "dev" {
			t.Errorf("got %+v", d)
		}
		var types []string
		for _, e := range w.allEvents()[before:] { // one append
			types = append(types, string(e.Type))
			if e.Type == sayso.EventGrantUsed && e.RequestID != d.Request {
				t.Errorf("the use names %s", e.RequestID)
			}
		}
		if got := strings.Join(types, " "); got != "approval.requested grant.used approval.resolved approval.redeemed" {
			t.Errorf("recorded %s", got)
		}
		if g := w.grants(false)[0]; g.Uses != 1 || g.LastUsed == nil {
			t.Errorf("the grant is %+v", g)
		}
	})
}

func TestGrant_coversNothingElse(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c1"))
		for name, change := range map[string]func(*sayso.Admission){
			"arguments":  func(a *sayso.Admission) { a.Call.Args = sayso.Args(`{"command":"git push --force"}`) },
			"directory":  func(a *sayso.Admission) { a.Call.Cwd = "/tmp" },
			"definition": func(a *sayso.Admission) { a.Call.DefinitionDigest = "d" },
			"server":     func(a *sayso.Admission) { a.Call.Server = "git" },
			"pinned files": func(a *sayso.Admission) {
				a.Facts.Files = []sayso.FileFact{{Path: "x", Digest: sayso.HashOf("x")}}
			},
		} {
			a := push("")
			change(&a)
			if w.isAllowedUnasked(a) {
				t.Errorf("other %s were silenced", name)
			}
		}
		if !w.isAllowedUnasked(push("")) {
			t.Error("the grant does not cover its own call")
		}
	})
}

func TestGrant_isOfItsSession(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c1"))
		a := patient("c2", time.Second)
		a.Call.Session = "s2"
		_, err := w.admit(a)
		wantErr(t, err, sayso.ErrPending)
	})
}

func TestGrant_ends(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*sayso.Answer)
		end    func(*testing.T, *harness, sayso.Grant)
		why    string
	}{
		"with its session": {nil, func(t *testing.T, w *harness, _ sayso.Grant) {
			if err := w.b.Gate(agent).End(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
		}, "session ended"},
		"with its session, which began again": {nil, func(t *testing.T, w *harness, _ sayso.Grant) {
			g := w.b.Gate(agent)
			for _, step := range []func() error{
				func() error { return g.End(t.Context(), "s1") },
				func() error { return g.Begin(t.Context(), "s1", "claude-code") },
			} {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
		}, "session ended"},
		"when it is revoked": {nil, func(t *testing.T, w *harness, g sayso.Grant) {
			for range 2 {
				if err := w.b.Inbox(dev).Revoke(t.Context(), g.ID); err != nil {
					t.Fatal(err)
				}
			}
		}, "revoked"},
		"with its policy": {nil, func(t *testing.T, w *harness, _ sayso.Grant) { w.rules.set("v2", nil) }, "policy changed"},
		"when its time is over": {func(a *sayso.Answer) { a.For = time.Hour }, func(t *testing.T, w *harness, _ sayso.Grant) {
			pass(time.Hour)
		}, "expired"},
		"when it is used up": {func(a *sayso.Answer) { a.Uses = 2 }, func(t *testing.T, w *harness, _ sayso.Grant) {
			for range 2 {
				if !w.isAllowedUnasked(push("")) {
					t.Fatal("it ended early")
				}
			}
		}, "used up"},
		"after a day without use": {nil, func(t *testing.T, w *harness, _ sayso.Grant) {
			pass(23 * time.Hour)
			if !w.isAllowedUnasked(push("")) {
				t.Fatal("it ended early")
			}
			pass(23 * time.Hour)
			if !w.isAllowedUnasked(push("")) {
				t.Fatal("its use did not count")
			}
			pass(24*time.Hour + time.Second)
		}, "idle"},
		"with a clock in doubt": {nil, func(t *testing.T, w *harness, _ sayso.Grant) {
			w.clock.step(-tenYears)
			w.clock.reboot("boot-2")
		}, "idle"},
		"ten years on, in another boot": {nil, func(t *testing.T, w *harness, _ sayso.Grant) {
			w.clock.step(tenYears)
			w.clock.reboot("boot-2")
		}, "idle"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				var change []func(*sayso.Answer)
				if c.answer != nil {
					change = append(change, c.answer)
				}
				g := w.remember(atOnce("c1"), change...)
				c.end(t, w, g)
				if live := w.grants(false); len(live) != 0 {
					t.Errorf("it is listed as live: %+v", live)
				}
				if all := w.grants(true); len(all) != 1 || all[0].Ended != c.why {
					t.Errorf("listed as %+v, want that it is %s", all, c.why)
				}
				if w.isAllowedUnasked(push("")) {
					t.Error("it was used after its end")
				}
				if err := w.b.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n := w.count(sayso.EventGrantEnded) + w.count(sayso.EventGrantRevoked); n != 1 {
					t.Errorf("its end was recorded %d times", n)
				}
			})
		})
	}
}

func TestGrant_survives(t *testing.T) {
	for name, do := range map[string]func(w *harness){
		"a restart":         (*harness).restart,
		"ten years on":      func(w *harness) { w.clock.step(tenYears) },
		"ten years back":    func(w *harness) { w.clock.step(-tenYears) },
		"the end of others": func(w *harness) { w.b.Gate(agent).End(w.t.Context(), "s2") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				w.remember(atOnce("c1"))
				pass(time.Minute)
				do(w)
				if !w.isAllowedUnasked(push("")) {
					t.Error("it ended")
				}
			})
		})
	}
}

// A session that ends, begins again and ends again takes the new grants along.
func TestGrant_endsWithASecondLife(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		g := w.b.Gate(agent)
		w.remember(atOnce("c1"))
		g.End(t.Context(), "s1")
		w.remember(atOnce("c2"))
		if err := g.End(t.Context(), "s1"); err != nil {
			t.Fatal(err)
		}
		if w.isAllowedUnasked(push("")) {
			t.Error("the grant outlived its session")
		}
	})
}

func TestGrant_aDenyIsFinal(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c1"))
		w.rules.set("v1", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Ask), rule(sayso.Deny)) })
		if d, err := w.admit(atOnce("c2")); err != nil || d.Effect != sayso.Deny {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c1"))
		if err := w.b.Inbox(dev).SetPolicies(t.Context(), "s1", map[string]sayso.Effect{"bash": sayso.Deny}); err != nil {
			t.Fatal(err)
		}
		if d, err := w.admit(atOnce("c2")); err != nil || d.Effect != sayso.Deny {
			t.Errorf("a session policy of deny: got %+v, %v", d, err)
		}
	})
}

func TestGrant_whatMayBeRemembered(t *testing.T) {
	for _, reach := range []sayso.Remember{sayso.RememberAny, sayso.RememberExact} {
		m := rule(sayso.Ask)
		m.Remember = reach
		p := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Ask), m) }}
		bubble(t, p, func(t *testing.T, w *harness) {
			w.remember(atOnce("c1"))
			if !w.isAllowedUnasked(push("")) {
				t.Errorf("remember %q: asked again", reach)
			}
			m.Remember = sayso.RememberNever // under the same version, which no policy does
			if w.isAllowedUnasked(push("")) {
				t.Error("remember: never was silenced")
			}
		})
	}
}

func TestGR5_pinsTheFiles(t *testing.T) {
	with := func(id, content string, truncated bool) sayso.Admission {
		a := sayso.Admission{Call: bash(id, "./build.sh"), Immediate: true}
		a.Facts = sayso.Facts{Files: []sayso.FileFact{{Path: "build.sh", Digest: sayso.HashOf(content)}}, Truncated: truncated}
		return a
	}
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(with("c1", "make", false))
		for range 3 {
			if !w.isAllowedUnasked(with("", "make", false)) {
				t.Error("the same file asks")
			}
		}
		if w.isAllowedUnasked(with("", "rm -rf /", false)) {
			t.Error("a changed file was silenced")
		}
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) { // nothing could be told: one use
		a := push("c1")
		a.Facts.Truncated = true
		if g := w.remember(a); g.MaxUses != 1 {
			t.Errorf("it may be used %d times", g.MaxUses)
		}
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) { // not all could be told: one use
		if g := w.remember(with("c1", "make", true)); g.MaxUses != 1 {
			t.Errorf("it may be used %d times", g.MaxUses)
		}
		if !w.isAllowedUnasked(with("", "make", true)) || w.isAllowedUnasked(with("", "make", true)) {
			t.Error("it was not for one use")
		}
	})
}

// A yes to a change holds while the file is as it was; where nobody can tell
// that, it is for one use.
func TestGR5_pinsWhatAChangeStartsFrom(t *testing.T) {
	at := func(state sayso.PathState, content string) []sayso.PathFact {
		f := sayso.PathFact{Arg: "path", Path: "a.txt", Resolved: "/srv/app/a.txt", State: state}
		if content != "" {
			f.Digest = sayso.HashOf(content)
		}
		return []sayso.PathFact{f}
	}
	for _, tt := range []struct {
		name, tool string
		operands   []sayso.PathFact
		uses       int
	}{
		{"an edit of a file that was read", "edit_file", at(sayso.PathFile, "old"), 0},
		{"a write of a new file", "write_file", at(sayso.PathMissing, ""), 0},
		{"a read, which changes nothing", "read_file", at(sayso.PathFile, ""), 0},
		{"an edit of a file that was not read", "edit_file", at(sayso.PathFile, ""), 1},
		{"a write of a file that was not read", "write_file", at(sayso.PathFile, ""), 1},
		{"a write of a device", "write_file", at(sayso.PathSpecial, ""), 1},
		{"an edit of nobody knows what", "edit_file", at(sayso.PathUnknown, ""), 1},
		{"an edit without facts", "edit_file", nil, 1},
		{"an edit of one of two files", "edit_file", append(at(sayso.PathFile, "old"), at(sayso.PathFile, "")...), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				a := atOnce("c1")
				a.Call.Host, a.Call.Tool, a.Call.Args = "", tt.tool, sayso.Args(`{"path":"a.txt"}`)
				a.Facts.Operands = tt.operands
				if g := w.remember(a); g.MaxUses != tt.uses {
					t.Errorf("it may be used %d times, want %d", g.MaxUses, tt.uses)
				}
				a.Call.CallID = ""
				if first, second := w.isAllowedUnasked(a), w.isAllowedUnasked(a); !first || second != (tt.uses == 0) {
					t.Errorf("silent: %v, then %v", first, second)
				}
			})
		})
	}
}

func TestGrant_twoBrokersNeverSpendOneUseTwice(t *testing.T) {
	w := newHarness(t, always(sayso.Ask), func(w *harness) { w.opts.MaxAsks = 1 << 20 })
	second, err := broker.New(w.log.Join(), w.rules, &w.opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	for range 30 {
		_, err := w.admit(patient("", time.Nanosecond))
		wantErr(t, err, sayso.ErrPending)
		r := w.onlyOpen()
		a := remembered(r)
		a.Uses = 3
		if _, err := w.answer(dev, r.ID, a); err != nil {
			t.Fatal(err)
		}
		w.allowed(atOnce("")) // takes the request itself up
		var wg sync.WaitGroup
		var mu sync.Mutex
		passed := 0
		for i := range 10 {
			b := []*broker.Broker{w.b, second}[i%2]
			wg.Go(func() {
				adm := atOnce("")
				adm.Patience = -1
				d, err := b.Gate(agent).Admit(t.Context(), adm)
				if err != nil && !errors.Is(err, sayso.ErrPending) {
					t.Error(err)
				}
				if mu.Lock(); d.Redeemed {
					passed++
				}
				mu.Unlock()
			})
		}
		wg.Wait()
		if passed != 3 {
			t.Fatalf("%d calls passed on three uses", passed)
		}
		for _, r := range w.open() {
			if err := w.b.Gate(agent).Withdraw(t.Context(), r.ID, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestGrant_whoMaySeeAndRevoke(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		g := w.remember(atOnce("c1"))
		for _, who := range []sayso.Actor{stranger, viewer, agent, {}} {
			wantErr(t, w.b.Inbox(who).Revoke(t.Context(), g.ID), sayso.ErrNotAllowed)
		}
		under := dev
		under.Channel = broker.ChannelAgentProcess
		wantErr(t, w.b.Inbox(under).Revoke(t.Context(), g.ID), sayso.ErrNotAllowed)
		wantErr(t, w.b.Inbox(dev).Revoke(t.Context(), sayso.NewID(time.Now(), [16]byte{})), sayso.ErrNotFound)
		for _, c := range []struct {
			who sayso.Actor
			n   int
		}{{dev, 1}, {ann, 1}, {admin, 1}, {viewer, 1}, {stranger, 0}} {
			gs, err := w.b.Inbox(c.who).Grants(t.Context(), "", false)
			if err != nil || len(gs) != c.n {
				t.Errorf("%s sees %d grants, %v", c.who.Principal, len(gs), err)
			}
		}
		_, err := w.b.Inbox(agent).Grants(t.Context(), "", false)
		wantErr(t, err, sayso.ErrNotAllowed)
		if !w.isAllowedUnasked(push("")) {
			t.Error("it was revoked")
		}
	})
}
