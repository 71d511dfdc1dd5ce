package broker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// refusals lists why answers were refused, in the order of the log.
func (w *harness) refusals() (whys []string) {
	for _, e := range w.allEvents() {
		if e.Type == sayso.EventAnswerRefused {
			_, why, _ := strings.Cut(string(e.Payload), `"why":"`)
			whys = append(whys, e.Actor.Principal+": "+strings.TrimSuffix(why, `"}`))
		}
	}
	return whys
}

func TestRQ3_theSecondIsToldWhoWasFirst(t *testing.T) {
	for _, first := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			w.ask(t.Context(), push("c1"))
			r := w.onlyOpen()
			stands := w.answerAsOwner(r.ID, first)
			pass(time.Minute)
			for _, second := range []sayso.Effect{sayso.Allow, sayso.Deny} {
				d, err := w.answer(ann, r.ID, answer(r, second))
				var decided *sayso.DecidedError
				if !errors.As(err, &decided) || !errors.Is(err, sayso.ErrDecided) {
					t.Fatalf("%s after %s: got %v", second, first, err)
				}
				if got := decided.Decision; got.Who() != "dev" || got.Effect != first || !got.At.Equal(stands.At) || got.Receipt != (sayso.Receipt{}) {
					t.Errorf("%s after %s: told %+v", second, first, got)
				}
				if d.Allowed() {
					t.Errorf("%s after %s: an allow came with an error", second, first)
				}
			}
			if got := fmt.Sprint(w.refusals()); got != "[ann: decided ann: decided]" {
				t.Errorf("recorded %s", got)
			}
			if got := w.request(r.ID).Decision; got.Effect != first {
				t.Errorf("what stands is now %s", got.Effect)
			}
		})
	}
}

func TestAnswer_theSameAgainIsASuccess(t *testing.T) {
	for name, a := range map[string]sayso.Answer{
		"allow":    {Effect: sayso.Allow},
		"deny":     {Effect: sayso.Deny, Note: "no"},
		"session":  {Effect: sayso.Allow, Scope: sayso.ScopeSession, Uses: 3, For: time.Hour},
		"edited":   {Effect: sayso.Allow, Args: sayso.Args(`{"command":"git push --dry-run"}`)},
		"explicit": {Effect: sayso.Allow, Scope: sayso.ScopeOnce},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				adm := push("c1")
				adm.CanEdit = true
				w.ask(t.Context(), adm)
				r := w.onlyOpen()
				a.Digest, a.Content = r.Digest, r.Content
				first, err := w.answer(dev, r.ID, a)
				if err != nil {
					t.Fatal(err)
				}
				before := len(w.allEvents())
				again, err := w.answer(dev, r.ID, a)
				if err != nil || fmt.Sprint(again) != fmt.Sprint(first) || len(w.allEvents()) != before {
					t.Errorf("got %+v, %v and %d events, want %+v and none", again, err, len(w.allEvents())-before, first)
				}
				other := dev
				other.Channel = "web"
				if _, err := w.answer(other, r.ID, a); err != nil {
					t.Errorf("the same person elsewhere: %v", err)
				}
				_, err = w.answer(ann, r.ID, a)
				wantErr(t, err, sayso.ErrDecided)
				changed := a
				changed.Effect, changed.Scope, changed.Uses, changed.For, changed.Args = sayso.Deny, "", 0, 0, nil
				if a.Effect == sayso.Deny {
					changed.Effect = sayso.Allow
				}
				_, err = w.answer(dev, r.ID, changed)
				wantErr(t, err, sayso.ErrDecided)
			})
		})
	}
}

func TestRQ2_namesWhatWasShown(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		other := sayso.HashOf("another")
		for _, a := range []sayso.Answer{
			{Effect: sayso.Allow, Digest: other, Content: r.Content},
			{Effect: sayso.Allow, Digest: r.Digest, Content: other},
			{Effect: sayso.Allow, Digest: r.Digest},
			{Effect: sayso.Allow, Content: r.Content},
			{Effect: sayso.Allow},
			{Effect: sayso.Deny, Digest: other, Content: r.Content},
		} {
			d, err := w.answer(dev, r.ID, a)
			wantErr(t, err, sayso.ErrMismatch)
			if d.Allowed() {
				t.Errorf("got %+v", d)
			}
		}
		if !p.isWaiting() || len(w.refusals()) != 6 || w.refusals()[0] != "dev: mismatch" {
			t.Errorf("recorded %v", w.refusals())
		}
	})
}

func TestRQ4_whoMayAnswer(t *testing.T) {
	under := dev
	under.Channel = broker.ChannelAgentProcess
	self := sayso.Actor{Principal: agent.Principal, Kind: sayso.PrincipalPerson, Channel: "web"}
	lister := agent // an agent that lists itself and claims to be a person elsewhere
	lister.Approvers = append([]string{self.Principal}, agent.Approvers...)
	for name, c := range map[string]struct {
		who sayso.Actor
		why string // empty if they may
	}{
		"the owner":                     {dev, ""},
		"a listed approver":             {ann, ""},
		"an admin":                      {admin, ""},
		"a stranger":                    {stranger, "not-allowed"},
		"a viewer, though listed":       {viewer, "not-allowed"},
		"the agent":                     {agent, "not-allowed"},
		"a tool":                        {program, "not-allowed"},
		"the broker":                    {sayso.BrokerActor, "not-allowed"},
		"nobody":                        {sayso.Actor{}, "not-allowed"},
		"a person without a name":       {sayso.Actor{Kind: sayso.PrincipalPerson}, "not-allowed"},
		"the agent as a person":         {self, "requester"},
		"the owner from under an agent": {under, "agent-process"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				p := w.askAs(t.Context(), lister, push("c1"))
				p.isWaiting()
				r := w.onlyOpen()
				d, err := w.answer(c.who, r.ID, answer(r, sayso.Allow))
				if c.why == "" {
					if err != nil || !d.Allowed() {
						t.Errorf("got %+v, %v", d, err)
					}
					return
				}
				wantErr(t, err, sayso.ErrNotAllowed)
				if !p.isWaiting() || d.Allowed() {
					t.Error("it was decided")
				}
				if got := fmt.Sprint(w.refusals()); got != "["+c.who.Principal+": "+c.why+"]" {
					t.Errorf("recorded %s", got)
				}
			})
		})
	}
}

// A session that nobody owns is answered for by admins alone.
func TestAnswer_withoutAnOwner(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.askAs(t.Context(), sayso.Actor{Principal: "orphan", Kind: sayso.PrincipalAgent}, push("c1")).isWaiting()
		rs, err := w.b.Inbox(admin).Requests(t.Context(), sayso.RowQuery{States: []sayso.State{sayso.StateOpen}})
		if err != nil || len(rs) != 1 {
			t.Fatal(rs, err)
		}
		_, err = w.answer(dev, rs[0].ID, answer(rs[0], sayso.Allow))
		wantErr(t, err, sayso.ErrNotAllowed)
		if _, err := w.answer(admin, rs[0].ID, answer(rs[0], sayso.Allow)); err != nil {
			t.Error(err)
		}
	})
}

// Whoever meets a session first says whose it is. The requester of another
// owner can neither take it over nor have its own calls answered there.
func TestAnswer_theFirstOwnerStands(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), push("c1"))
		thief := sayso.Actor{Principal: "thief", Kind: sayso.PrincipalAgent, Owner: "eve", Approvers: []string{"eve"}}
		g := w.b.Gate(thief)
		before := len(w.allEvents())
		wantErr(t, g.Begin(t.Context(), "s1", "claude-code"), sayso.ErrNotAllowed)
		wantErr(t, g.End(t.Context(), "s1"), sayso.ErrNotAllowed)
		for _, e := range []sayso.Effect{sayso.Ask, sayso.Allow} {
			w.rules.set("v1", func(sayso.Call) sayso.Verdict { return ruled(rule(e)) })
			d, err := g.Admit(t.Context(), push("c2"))
			if wantErr(t, err, sayso.ErrNotAllowed); d.Allowed() {
				t.Errorf("got %+v", d)
			}
		}
		if n := len(w.allEvents()); n != before {
			t.Errorf("%d events were recorded", n-before)
		}
		w.rules.set("v1", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Ask)) })
		r := w.onlyOpen()
		_, err := w.answer(stranger, r.ID, answer(r, sayso.Allow))
		wantErr(t, err, sayso.ErrNotAllowed)
		w.answerAsOwner(r.ID, sayso.Allow)
	})
}

func TestAnswer_words(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		before := len(w.allEvents())
		for name, a := range map[string]sayso.Answer{
			"ask":               {Effect: sayso.Ask},
			"no effect":         {Effect: 9},
			"a scope":           {Effect: sayso.Allow, Scope: "forever"},
			"a cover":           {Effect: sayso.Allow, Scope: sayso.ScopeSession, Cover: "everything"},
			"negative uses":     {Effect: sayso.Allow, Scope: sayso.ScopeSession, Uses: -1},
			"negative time":     {Effect: sayso.Allow, Scope: sayso.ScopeSession, For: -1},
			"uses without":      {Effect: sayso.Allow, Uses: 1},
			"cover without":     {Effect: sayso.Allow, Cover: sayso.CoverCall},
			"time without":      {Effect: sayso.Allow, For: time.Hour},
			"a remembered deny": {Effect: sayso.Deny, Scope: sayso.ScopeSession},
			"an edited deny":    {Effect: sayso.Deny, Args: sayso.Args(`{}`)},
			"a remembered edit": {Effect: sayso.Allow, Scope: sayso.ScopeSession, Args: sayso.Args(`{}`)},
			"a long note":       {Effect: sayso.Deny, Note: strings.Repeat("n", 4001)},
			"a duplicate key":   {Effect: sayso.Allow, Args: sayso.Args(`{"command":"a","command":"b"}`)},
			"no object":         {Effect: sayso.Allow, Args: sayso.Args(`"x"`)},
		} {
			a.Digest, a.Content = r.Digest, r.Content
			if d, err := w.answer(dev, r.ID, a); !errors.Is(err, sayso.ErrInvalid) || d.Allowed() {
				t.Errorf("%s: got %+v, %v", name, d, err)
			}
		}
		if !p.isWaiting() || len(w.allEvents()) != before {
			t.Error("something was recorded")
		}
		_, err := w.answer(dev, sayso.NewID(time.Now(), [16]byte{1}), answer(r, sayso.Allow))
		wantErr(t, err, sayso.ErrNotFound)
	})
}

func TestAnswer_carriesTheNote(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		a := answer(r, sayso.Deny)
		a.Note = "use the release branch\x1b[2J"
		if _, err := w.answer(dev, r.ID, a); err != nil {
			t.Fatal(err)
		}
		d, err := p.result()
		if err != nil || d.Note != `use the release branch\x1b[2J` {
			t.Errorf("the agent is told %q, %v", d.Note, err)
		}
		if told := sayso.Told(d, err); !strings.Contains(told, "use the release branch") || !strings.Contains(told, "dev") {
			t.Errorf("the agent is told %q", told)
		}
	})
}

// The policy may have changed since the person was asked; a deny is final.
func TestAnswer_isJudgedAnew(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), atOnce("c1"))
		r := w.onlyOpen()
		w.rules.set("v2", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Deny)) })
		_, err := w.answer(dev, r.ID, answer(r, sayso.Allow))
		wantErr(t, err, sayso.ErrNotAllowed)
		if !p.isWaiting() {
			t.Fatal("it was decided")
		}
		w.rules.set("v3", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Ask)) })
		w.answerAsOwner(r.ID, sayso.Allow)
		if d, err := p.result(); err != nil || !d.Redeemed {
			t.Errorf("an answer under the policy in force: got %+v, %v", d, err)
		}
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		if err := w.b.Inbox(dev).SetPolicies(t.Context(), "s1", map[string]sayso.Effect{"bash": sayso.Deny}); err != nil {
			t.Fatal(err)
		}
		_, err := w.answer(ann, r.ID, answer(r, sayso.Allow))
		wantErr(t, err, sayso.ErrNotAllowed)
		if _, err := w.answer(ann, r.ID, answer(r, sayso.Deny)); err != nil {
			t.Error(err)
		}
	})
}

// Somebody who clicks for ever on what is decided adds to the log for a while
// and then no more. What they are told does not change, and what others do is
// recorded as before.
func TestAnswer_refusedForEver(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		w.answerAsOwner(r.ID, sayso.Deny)
		late := func(who sayso.Actor) string {
			_, err := w.answer(who, r.ID, answer(r, sayso.Allow))
			wantErr(t, err, sayso.ErrDecided)
			return err.Error()
		}
		told := late(ann)
		for range 1000 {
			if got := late(ann); got != told {
				t.Fatalf("told %q, and %q before", got, told)
			}
		}
		if n := len(w.refusals()); n != 16 {
			t.Errorf("%d refusals are recorded, want 16", n)
		}
		late(dev)
		web := ann
		web.Channel = "api"
		late(web)
		under := ann
		under.Channel = broker.ChannelAgentProcess
		for range 20 {
			_, err := w.answer(under, r.ID, answer(r, sayso.Allow))
			wantErr(t, err, sayso.ErrNotAllowed)
		}
		if n := len(w.refusals()); n != 16+1+1+16 {
			t.Errorf("%d refusals are recorded, want those of others too", n)
		}
		w.restart()
		late(ann)
		if n := len(w.refusals()); n != 16+1+1+16 {
			t.Errorf("%d refusals are recorded after a restart", n)
		}
	})
}

// What another process did meanwhile counts, whatever this one remembers.
func TestAnswer_afterAnotherProcessActed(t *testing.T) {
	for name, c := range map[string]struct {
		act func(*testing.T, *broker.Broker, sayso.Request) error
		err error
	}{
		"a session policy of deny": {func(t *testing.T, b *broker.Broker, _ sayso.Request) error {
			return b.Inbox(dev).SetPolicies(t.Context(), "s1", map[string]sayso.Effect{"bash": sayso.Deny})
		}, sayso.ErrNotAllowed},
		"a withdrawal": {func(t *testing.T, b *broker.Broker, r sayso.Request) error {
			return b.Gate(agent).Withdraw(t.Context(), r.ID, "")
		}, sayso.ErrWithdrawn},
		"an answer": {func(t *testing.T, b *broker.Broker, r sayso.Request) error {
			_, err := b.Inbox(ann).Answer(t.Context(), r.ID, answer(r, sayso.Deny))
			return err
		}, sayso.ErrDecided},
		"a mode": {func(t *testing.T, b *broker.Broker, r sayso.Request) error {
			return b.Inbox(dev).SetMode(t.Context(), "s1", sayso.ModeStrict, time.Hour)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				p := w.ask(t.Context(), push("c1"))
				r := w.onlyOpen()
				other, err := broker.New(w.log.Join(), w.rules, &w.opts)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.act(t, other, r); err != nil {
					t.Fatal(err)
				}
				d, err := w.answer(dev, r.ID, answer(r, sayso.Allow))
				wantErr(t, err, c.err)
				if d.Allowed() != (c.err == nil) {
					t.Errorf("got %+v", d)
				}
				if got, _ := p.resultNow(); got.Allowed() != (c.err == nil) {
					t.Errorf("the caller got %+v", got)
				}
			})
		})
	}
}
