package broker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

// calls is a call of Claude's Bash with a command.
func calls(command string) sayso.Admission { return sayso.Admission{Call: bash("", command)} }

// mcp is a call of a tool of an MCP server, under a definition.
func mcp(definition, args string) sayso.Admission {
	return sayso.Admission{Call: sayso.Call{Tool: "create_issue", Server: "github", Args: sayso.Args(args), Session: "s1", DefinitionDigest: definition}}
}

// covering makes an answer that chooses a cover.
func covering(c sayso.Cover) func(*sayso.Answer) {
	return func(a *sayso.Answer) { a.Cover = c }
}

// offers are the covers of a request, each with what it shows.
func offers(r sayso.Request) (out []string) {
	for _, o := range r.Covers {
		out = append(out, strings.TrimSpace(string(o.Cover)+" "+o.Pattern))
	}
	return out
}

// immediate makes a call that runs at once.
func immediate(a sayso.Admission) sayso.Admission {
	a.Immediate = true
	return a
}

func TestGR3_aGrantCoversWhatItShowed(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		g := w.remember(immediate(calls("git add a")), covering(sayso.CoverPrefix))
		if g.Cover != sayso.CoverPrefix || g.Pattern != "bash:git add*" || g.Label != "git add with any plain arguments in /home/dev/app" {
			t.Errorf("the grant is %+v", g)
		}
		for command, want := range map[string]bool{
			"git add a": true, "git add b c": true, "git add -p": true, "git status": false, "git add a; rm b": false,
			"git add $(rm b)": false, "sudo git add a": false, "git add a > /tmp/b": false,
		} {
			if got := w.isAllowedUnasked(calls(command)); got != want {
				t.Errorf("%s: silent is %v", command, got)
			}
		}
		d := w.allowed(immediate(calls("git add z")))
		if d.Grant != g.ID || d.Reason != "remembered: "+g.Label {
			t.Errorf("got %+v", d)
		}
	})
}

func TestGR3_offersOfARequest(t *testing.T) {
	with := func(change func(*sayso.Match)) *rules {
		m := rule(sayso.Ask)
		change(&m)
		return &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict { return ruled(m) }}
	}
	all := []string{"call", "prefix bash:git add*", "tool bash"}
	for name, c := range map[string]struct {
		rules *rules
		want  []string
	}{
		"a rule":                   {always(sayso.Ask), all},
		"remember: exact":          {with(func(m *sayso.Match) { m.Remember = sayso.RememberExact }), all[:1]},
		"remember: never":          {with(func(m *sayso.Match) { m.Remember = sayso.RememberNever }), nil},
		"remember: a word unknown": {with(func(m *sayso.Match) { m.Remember = "sometimes" }), nil},
		"not understood":           {with(func(m *sayso.Match) { m.Cause = sayso.CauseNotUnderstood }), all[:1]},
		"a control file":           {with(func(m *sayso.Match) { m.Person = true }), all[:1]},
		"a built-in":               {with(func(m *sayso.Match) { m.Cause = sayso.CauseBuiltin }), all[:1]},
		"the default":              {with(func(m *sayso.Match) { m.Cause = sayso.CauseDefault }), all},
		"something dangerous": {&rules{version: "v1", judge: func(sayso.Call) sayso.Verdict {
			v := ruled(rule(sayso.Ask))
			v.Danger = []sayso.Danger{sayso.DangerDelete}
			return v
		}}, all[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, c.rules, func(t *testing.T, w *harness) {
				w.ask(t.Context(), calls("git add a"))
				r := w.onlyOpen()
				if diff := cmp.Diff(c.want, offers(r)); diff != "" {
					t.Errorf("offered (-want +got):\n%s", diff)
				}
				for _, cover := range append(sayso.Covers(), "everything") {
					a := remembered(r)
					a.Cover = cover
					if slices.ContainsFunc(r.Covers, func(o sayso.CoverOffer) bool { return o.Cover == cover }) {
						continue
					}
					_, err := w.answer(dev, r.ID, a)
					wantErr(t, err, sayso.ErrInvalid)
				}
				if w.onlyOpen().ID != r.ID || w.count(sayso.EventGrantCreated) > 0 {
					t.Error("a cover that was not offered was taken")
				}
			})
		})
	}
}

// The rules that hold when a yes is given and when it is used decide, not those
// that held when it was asked for.
func TestGR3_whatIsStricterMeanwhile(t *testing.T) {
	m := rule(sayso.Ask)
	p := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict { return ruled(m) }}
	exact := func(w *harness) {
		m.Remember = sayso.RememberExact // under the same version, to show that more than the version counts
	}
	bubble(t, p, func(t *testing.T, w *harness) {
		w.ask(t.Context(), calls("git add a"))
		r := w.onlyOpen()
		exact(w)
		a := remembered(r)
		a.Cover = sayso.CoverPrefix
		_, err := w.answer(dev, r.ID, a)
		wantErr(t, err, sayso.ErrInvalid)
	})
	m.Remember = sayso.RememberAny
	bubble(t, p, func(t *testing.T, w *harness) {
		w.remember(immediate(calls("git add a")), covering(sayso.CoverPrefix))
		exact(w)
		if w.isAllowedUnasked(calls("git add b")) {
			t.Error("a wide grant silenced an ask that only the exact call does")
		}
		m.Remember = sayso.RememberAny
		m.Effect = sayso.Deny
		if d, err := w.admit(immediate(calls("git add b"))); err != nil || d.Effect != sayso.Deny || d.Grant != "" {
			t.Errorf("DE2: a deny was turned round: %+v, %v", d, err)
		}
		m.Effect = sayso.Ask
		if !w.isAllowedUnasked(calls("git add b")) {
			t.Error("the grant ended")
		}
		locked := w.opts
		locked.Locked = func() bool { return true }
		w.opts = locked
		w.restart()
		if w.isAllowedUnasked(calls("git add b")) {
			t.Error("it was used while sayso was locked")
		}
	})
}

// Of several grants that cover a call the narrowest is used, whichever is older.
func TestGR4_theNarrowestIsUsed(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		order := []sayso.Cover{sayso.CoverTool, sayso.CoverCall, sayso.CoverPrefix}
		var asked []*pendingAdmit
		for range order {
			asked = append(asked, w.ask(t.Context(), immediate(calls("git add a"))))
		}
		for i, r := range w.open() {
			a := remembered(r)
			a.Cover, a.Uses = order[i], 1
			if _, err := w.answer(dev, r.ID, a); err != nil {
				t.Fatal(err)
			}
			asked[i].result()
		}
		for _, want := range []sayso.Cover{sayso.CoverCall, sayso.CoverPrefix, sayso.CoverTool} {
			d := w.allowed(immediate(calls("git add a")))
			for _, g := range w.grants(true) {
				if g.ID == d.Grant && g.Cover != want {
					t.Errorf("used the one for %s, want %s", g.Cover, want)
				}
			}
		}
		if w.isAllowedUnasked(calls("git add a")) {
			t.Error("a use too many")
		}
	})
}

func TestGR4_nothingIsRememberedWhileLocked(t *testing.T) {
	locked := false
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), calls("git add a"))
		open := w.onlyOpen()
		locked = true
		_, err := w.answer(dev, open.ID, remembered(open))
		wantErr(t, err, sayso.ErrInvalid)
		w.ask(t.Context(), calls("git add b"))
		if r := w.open()[1]; len(r.Covers) > 0 {
			t.Errorf("offered %v", offers(r))
		}
	}, func(w *harness) { w.opts.Locked = func() bool { return locked } })
}

func TestGR4_definitionChanged(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(immediate(mcp("sha256:1", `{"title":"a"}`)), covering(sayso.CoverTool))
		if !w.isAllowedUnasked(mcp("sha256:1", `{"title":"b"}`)) {
			t.Fatal("the same tool asks again")
		}
		if w.isAllowedUnasked(mcp("sha256:2", `{"title":"c"}`)) {
			t.Error("another definition was covered")
		}
		if all := w.grants(true); len(all) != 1 || all[0].Ended != "definition changed" {
			t.Errorf("listed as %+v", all)
		}
		if w.isAllowedUnasked(mcp("sha256:1", `{"title":"d"}`)) {
			t.Error("the grant came back with the old definition")
		}
		if n := w.count(sayso.EventGrantEnded); n != 1 {
			t.Errorf("its end was recorded %d times", n)
		}
	})
}

// That policy says no to the other definition, or asks each time, does not keep
// what was remembered for the first.
func TestGR4_definitionChangedWhereNothingIsRemembered(t *testing.T) {
	never := rule(sayso.Ask)
	never.Remember = sayso.RememberNever
	for _, m := range []sayso.Match{rule(sayso.Deny), rule(sayso.Allow), never} {
		p := always(sayso.Ask)
		asks := p.judge
		p.judge = func(c sayso.Call) sayso.Verdict {
			if c.DefinitionDigest == "sha256:2" {
				return ruled(m)
			}
			return asks(c)
		}
		bubble(t, p, func(t *testing.T, w *harness) {
			w.remember(immediate(mcp("sha256:1", `{"title":"a"}`)), covering(sayso.CoverTool))
			other := immediate(mcp("sha256:2", `{"title":"c"}`))
			other.Patience = time.Second
			_, _ = w.admit(other) // it is denied, runs or waits
			if all := w.grants(true); len(all) != 1 || all[0].Ended != "definition changed" {
				t.Errorf("%s: listed as %+v", m.Effect, all)
			}
		})
	}
}

// A fingerprint that leaves arguments out counts from tools, never from agents.
func TestGR1_fingerprintOfATool(t *testing.T) {
	write := func(content string) sayso.Admission {
		return sayso.Admission{
			Call:   sayso.Call{Tool: "save", Args: sayso.Args(fmt.Sprintf(`{"path":"log.txt","content":%q}`, content)), Session: "s1"},
			Asking: true, Immediate: true,
			Ask: &sayso.ToolAsk{Required: true, Payload: sayso.Args(`{"sandbox":"notes","path":"log.txt"}`)},
		}
	}
	for _, who := range []sayso.Actor{program, agent} {
		t.Run(string(who.Kind), func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				w.askAs(t.Context(), who, write("one"))
				pass(time.Second)
				r := w.onlyOpen()
				a := remembered(r)
				a.Cover = sayso.CoverFingerprint
				_, err := w.answer(dev, r.ID, a)
				if who.Kind == sayso.PrincipalAgent {
					wantErr(t, err, sayso.ErrInvalid)
					if want := []string{"call", "tool save"}; !slices.Equal(offers(r), want) || len(r.Ignores) > 0 {
						t.Errorf("offered %v, ignores %v", offers(r), r.Ignores)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				want := []string{"call", `fingerprint {"path":"log.txt","sandbox":"notes"}`, "tool save"}
				if diff := cmp.Diff(want, offers(r)); diff != "" || r.Covers[1].Label != "this call with any content" || !slices.Equal(r.Ignores, []string{"content"}) {
					t.Errorf("offered %v, ignores %v (-want +got):\n%s", r.Covers, r.Ignores, diff)
				}
				d, err := w.b.Gate(program).Admit(t.Context(), write("two"))
				if err != nil || d.Source != sayso.SourceGrant {
					t.Errorf("other content asks again: %+v, %v", d, err)
				}
			})
		})
	}
}

// What would have to be hidden or escaped is not offered: a person chooses what
// they see.
func TestGR3_onlyWhatCanBeShown(t *testing.T) {
	for payload, want := range map[string]int{
		`{"path":"log.txt"}`:                                  3,
		`{"password":"hunter2-hunter2"}`:                      2,
		`{"path":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}`: 2,
		`{"path":"a` + "\u202e" + `b"}`:                       2,
	} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			w.askAs(t.Context(), program, sayso.Admission{
				Call:   sayso.Call{Tool: "save", Args: sayso.Args(`{"content":"x"}`), Session: "s1"},
				Asking: true, Ask: &sayso.ToolAsk{Required: true, Payload: sayso.Args(payload)},
			})
			pass(time.Second)
			r := w.onlyOpen()
			if len(r.Covers) != want || len(r.Redactions) > 0 {
				t.Errorf("%s: offered %v, hidden %v", payload, r.Covers, r.Redactions)
			}
		})
	}
}

// What was answered while a request waits counts for it.
func TestGR3_coveredWhileItWaits(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), immediate(calls("git add a")))
		first := w.onlyOpen()
		for _, command := range []string{"git add b", "make"} {
			other := calls(command)
			other.Call.Session = "s2"
			w.ask(t.Context(), immediate(other))
			for _, r := range w.open() {
				if r.ID != first.ID {
					w.answerAsOwner(r.ID, sayso.Allow)
				}
			}
		}
		for _, o := range w.request(first.ID).Covers {
			want := 1
			if o.Cover == sayso.CoverCall {
				want = 0
			}
			if o.LookedAt != 2 || o.WouldHaveCovered != want {
				t.Errorf("%s: %d of %d, want %d of 2", o.Cover, o.WouldHaveCovered, o.LookedAt, want)
			}
		}
	})
}

func TestGR3_whatWouldHaveBeenCovered(t *testing.T) {
	p := always(sayso.Ask)
	p.judge = func(c sayso.Call) sayso.Verdict {
		if strings.Contains(string(c.Args), "forbidden") {
			return ruled(rule(sayso.Deny))
		}
		return ruled(rule(sayso.Ask))
	}
	bubble(t, p, func(t *testing.T, w *harness) {
		for _, c := range []struct {
			command string
			e       sayso.Effect
		}{
			{"git add a", sayso.Allow}, {"git add b", sayso.Deny}, {"git add c", sayso.Allow}, {"git add d; rm d", sayso.Deny},
			{"git status", sayso.Allow}, {"make", sayso.Deny},
		} {
			a := w.ask(t.Context(), immediate(calls(c.command)))
			w.answerAsOwner(w.onlyOpen().ID, c.e)
			a.result()
		}
		w.admit(immediate(calls("git add forbidden")))
		w.admit(immediate(calls("sayso approve " + sayso.Canary + " forbidden"))) // of sayso doctor: it counts for nothing
		w.admit(immediate(sayso.Admission{Call: sayso.Call{Tool: "odd", Args: sayso.Args(`{"a":"forbidden ` + sayso.Canary + `"}`), Session: "s1"}}))
		w.ask(t.Context(), immediate(sayso.Admission{Call: sayso.Call{Tool: "Read", Host: "claude-code", Args: sayso.Args(`{}`), Session: "s1"}}))
		other := calls("git add a")
		other.Call.Session = "s2"
		w.answerAsOwner(w.open()[0].ID, sayso.Deny)
		w.ask(t.Context(), other)
		w.ask(t.Context(), calls("git add a"))
		var r sayso.Request
		for _, o := range w.open() {
			if r = o; o.SessionID == "s1" {
				break
			}
		}
		if r.Covers[0].LookedAt != 0 {
			t.Error("a list counts, which is what one request is looked at for")
		}
		got := w.request(r.ID).Covers
		for i, want := range []sayso.CoverOffer{
			{Cover: sayso.CoverCall, WouldHaveCovered: 2, Denied: 0},   // in both sessions
			{Cover: sayso.CoverPrefix, WouldHaveCovered: 4, Denied: 1}, // not the one that policy denies, not the one with rm
			{Cover: sayso.CoverTool, WouldHaveCovered: 5, Denied: 1},   // git status too
		} {
			want.LookedAt, want.Label, want.Pattern = 9, got[i].Label, got[i].Pattern
			if diff := cmp.Diff(want, got[i]); diff != "" {
				t.Errorf("cover %s (-want +got):\n%s", want.Cover, diff)
			}
		}
		vis, err := w.b.Inbox(viewer).Request(t.Context(), string(r.ID))
		if err != nil || vis.Covers[0].LookedAt != 0 {
			t.Errorf("for one who cannot answer it was counted: %+v, %v", vis.Covers, err)
		}
	})
}
