package policy_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// recorded is a call as the log has it, made while old was in force: with the
// facts that were gathered for old, and what it came to.
func recorded(t testing.TB, old *policy.Policy, c sayso.Call, n int) *policy.Recorded {
	t.Helper()
	r := &policy.Recorded{
		ID: sayso.ID(fmt.Sprintf("%036d", n)), At: time.Date(2026, 11, 20, 0, 0, n, 0, time.UTC), Session: "s1", Tool: c.Tool, Text: string(c.Args),
		Call: c, Facts: gatherFor(old, machine, c), Mode: sayso.ModeInteractive,
	}
	settled := r.Besides.Settle(judge(old, c))
	r.Came = policy.Came{Effect: settled.Effect, By: "policy", Rule: settled.Rule}
	if settled.Effect == sayso.Ask {
		r.Came.By, r.Came.Answer = "person", "allow"
	}
	return r
}

// random is a policy of the person made at random.
func (d dice) random(t testing.TB) *policy.Policy {
	t.Helper()
	for {
		if p, err := tryMade(d.tiers()); err == nil {
			return p
		}
	}
}

// What is said of a call is what would have come of it: facts that were gathered
// for one policy suffice for another, or the call is counted as not replayed.
func TestReplay_neverGuesses(t *testing.T) {
	t.Parallel()
	d := newDice(7)
	pairs, replayed, turned := 1000, 0, 0
	for i := range pairs {
		old, other, c := d.random(t), d.random(t), d.call(t)
		r := recorded(t, old, c, i)
		was := r.Came
		want := r.Besides.Settle(judge(other, c))
		out := other.Replay(slices.Values([]*policy.Recorded{r}))
		if out.Calls != 1 || out.Replayed+len(out.NotReplayed) != 1 {
			t.Fatalf("%+v", out)
		}
		if out.Replayed == 0 {
			if out.NotReplayed[0].Why != policy.GapFacts {
				t.Fatalf("%+v", out.NotReplayed)
			}
			continue
		}
		replayed++
		if want.Effect == was.Effect {
			if len(out.Changes) != 0 {
				t.Fatalf("%s %s: %+v, would be %s", c.Tool, c.Args, out.Changes, want.Effect)
			}
			continue
		}
		turned++
		if len(out.Changes) != 1 || out.Changes[0].Now.Effect != want.Effect || out.Changes[0].Now.Rule != want.Rule {
			t.Fatalf("%s %s: %+v, would be %s by %q", c.Tool, c.Args, out.Changes, want.Effect, want.Rule)
		}
	}
	t.Logf("%d of %d were replayed, %d turned", replayed, pairs, turned)
	if replayed < pairs*8/10 || turned < pairs/10 {
		t.Errorf("%d of %d were replayed, %d turned: too few to say anything", replayed, pairs, turned)
	}
}

// The policy that judged a call changes nothing, and every number adds up.
func TestReplay_counts(t *testing.T) {
	d := newDice(8)
	for range 40 {
		old, other := d.random(t), d.random(t)
		var calls []*policy.Recorded
		for i := range 50 {
			r := recorded(t, old, d.call(t), i)
			if r.Came.Effect == sayso.Ask && d.IntN(3) == 0 {
				r.Came.Answer = "deny"
			}
			if d.IntN(20) == 0 {
				r.Gap = policy.GapErased
			}
			calls = append(calls, r)
		}
		if same := old.Replay(slices.Values(calls)); len(same.Changes) != 0 || same.PromptsBefore != same.PromptsAfter || same.DenialsAllowed != 0 {
			t.Fatalf("the same policy: %+v", same)
		}
		x := other.Replay(slices.Values(calls))
		gaps, turns := 0, 0
		for _, g := range x.NotReplayed {
			gaps += g.Count
		}
		for _, n := range x.Turns {
			turns += n.Count
		}
		looser := 0
		for i, ch := range x.Changes {
			if ch.Looser() {
				looser++
				if looser != i+1 {
					t.Fatalf("a denial that would be allowed stands behind others: %+v", x.Changes)
				}
			}
		}
		if x.Calls != 50 || x.Replayed+gaps != 50 || turns != len(x.Changes) || looser != x.DenialsAllowed ||
			x.DeniedByPolicy+x.DeniedByPerson != x.DenialsAllowed || x.PromptsBefore-x.PromptsSaved+x.PromptsAdded != x.PromptsAfter || x.LeftOut != 0 {
			t.Fatalf("%+v", x)
		}
		for _, most := range []int{0, 1, 3, 50} {
			want := x
			want.Changes, want.LeftOut = x.Changes[:min(most, len(x.Changes))], max(0, len(x.Changes)-most)
			if got := other.ReplayWorst(slices.Values(calls), most); !reflect.DeepEqual(got, want) {
				t.Fatalf("at most %d: %+v, want %+v", most, got, want)
			}
		}
	}
}

// A call that waited in one mode and was allowed when it was asked for again, in another,
// is replayed in that one.
func TestReplay_modeOfTheDecision(t *testing.T) {
	r := sayso.Request{State: sayso.StateAllowed, Life: sayso.Life{Mode: sayso.ModeInteractive}, Decision: &sayso.Decision{
		Effect: sayso.Allow, Source: sayso.SourceMode, Mode: sayso.ModeApproveAll,
	}}
	if got := policy.RecordedOf(&r, nil).Mode; got != sayso.ModeApproveAll {
		t.Errorf("it is replayed in mode %s", got)
	}
	r.Decision = &sayso.Decision{Effect: sayso.Allow, Source: sayso.SourcePerson}
	if got := policy.RecordedOf(&r, nil).Mode; got != sayso.ModeInteractive {
		t.Errorf("what a person allowed is replayed in mode %s", got)
	}
}

// byGrant has a remembered yes answer a harmless command.
func byGrant(t *testing.T, r *policy.Recorded, c sayso.Cover) {
	t.Helper()
	*r = *recorded(t, load(t, "version: 1\n"), bash(t, "git status"), 1)
	r.Payload, r.Cover, r.Came = sayso.Args(`{"repository":"app"}`), c, policy.Came{Effect: sayso.Allow, By: "grant"}
}

// What stands besides policy stays as it was.
func TestReplay_besides(t *testing.T) {
	none := load(t, "version: 1\n")
	push := bash(t, "git push")
	allow, deny, ask := sayso.Allow, sayso.Deny, sayso.Ask
	for _, tt := range []struct {
		name string
		file string // NEW
		set  func(*policy.Recorded)
		want string // how it turns, empty if it does not
	}{
		{"a prompt is saved", rules(`allow: "bash:git push"`), nil, "ask→allow"},
		{"a prompt becomes a denial", rules(`deny: "bash:git push*"`), nil, "ask→deny"},
		{"a session that denies", rules(`allow: "bash:git push"`), func(r *policy.Recorded) {
			r.Besides.Session, r.Came = &deny, policy.Came{Effect: deny, By: "policy"}
		}, ""},
		{"a session that asks", rules(`allow: "bash:git push"`), func(r *policy.Recorded) { r.Besides.Session = &ask }, ""},
		{"a session that allows", "version: 1\n", func(r *policy.Recorded) {
			r.Besides.Session, r.Came = &allow, policy.Came{Effect: allow, By: "policy"}
		}, ""},
		{"a session that allows what each time is asked", rules("ask: \"bash:git push\"\n    remember: never"), func(r *policy.Recorded) {
			r.Besides.Session, r.Came = &allow, policy.Came{Effect: allow, By: "policy"}
		}, "allow→ask"},
		{"the lock", rules(`allow: "bash:git push"`), func(r *policy.Recorded) { r.Besides.Locked = true }, ""},
		{"a tool that must be asked about", "version: 1\n", func(r *policy.Recorded) { r.Besides.Tool = sayso.ToolRequired }, ""},
		{"a tool that sees no need", "version: 1\n", func(r *policy.Recorded) {
			r.Besides.Tool, r.Came = sayso.ToolNeedless, policy.Came{Effect: allow, By: "policy"}
		}, ""},
		{"a remembered yes", "version: 1\n", func(r *policy.Recorded) {
			r.Cover, r.Came = sayso.CoverCall, policy.Came{Effect: allow, By: "grant"}
		}, ""},
		{"a remembered yes to what is asked each time", rules("ask: \"bash:git push\"\n    remember: never"), func(r *policy.Recorded) {
			r.Cover, r.Came = sayso.CoverCall, policy.Came{Effect: allow, By: "grant"}
		}, "allow→ask"},
		{"a wide yes to what is remembered exactly", rules("ask: \"bash:git push\"\n    remember: exact"), func(r *policy.Recorded) {
			r.Cover, r.Came = sayso.CoverPrefix, policy.Came{Effect: allow, By: "grant"}
		}, "allow→ask"},
		{"a wide yes", rules(`ask: "bash:git status"`), func(r *policy.Recorded) { byGrant(t, r, sayso.CoverPrefix) }, ""},
		{"a wide yes to what is dangerous now", rules("ask: \"bash:git status\"\n    danger: true"), func(r *policy.Recorded) { byGrant(t, r, sayso.CoverPrefix) }, "allow→ask"},
		{"a yes to what its tool takes for the same", rules(`ask: "bash:git status"`), func(r *policy.Recorded) { byGrant(t, r, sayso.CoverFingerprint) }, ""},
		{"such a yes to what is dangerous now", rules("ask: \"bash:git status\"\n    danger: true"), func(r *policy.Recorded) { byGrant(t, r, sayso.CoverFingerprint) }, "allow→ask"},
		{"such a yes, where its tool said nothing", rules(`ask: "bash:git status"`), func(r *policy.Recorded) {
			byGrant(t, r, sayso.CoverFingerprint)
			r.Payload = nil
		}, "allow→ask"},
		{"strict", "version: 1\n", func(r *policy.Recorded) {
			r.Mode, r.Came = sayso.ModeStrict, policy.Came{Effect: deny, By: "mode"}
		}, ""},
		{"strict, and allowed", rules(`allow: "bash:git push"`), func(r *policy.Recorded) {
			r.Mode, r.Came = sayso.ModeStrict, policy.Came{Effect: deny, By: "mode"}
		}, "deny→allow!"},
		{"a person denied it", rules(`allow: "bash:git push"`), func(r *policy.Recorded) { r.Came.Answer = "deny" }, "ask→allow!"},
		{"approve_all", rules("ask: \"bash:git push\"\n    remember: never"), func(r *policy.Recorded) {
			r.Mode, r.Came = sayso.ModeApproveAll, policy.Came{Effect: allow, By: "mode"}
		}, "allow→ask"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := recorded(t, none, push, 1)
			if tt.set != nil {
				tt.set(r)
			}
			x := load(t, tt.file).Replay(slices.Values([]*policy.Recorded{r}))
			got := ""
			for _, ch := range x.Changes {
				got = ch.Was.Effect.String() + "→" + ch.Now.Effect.String()
				if ch.Looser() {
					got += "!"
				}
			}
			if got != tt.want || x.Replayed != 1 {
				t.Errorf("%q, want %q: %+v", got, tt.want, x)
			}
		})
	}
}
