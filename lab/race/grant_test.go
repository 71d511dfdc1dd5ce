package race_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/sayso-dev/sayso"
)

// grantState is a remembered yes as a sequential object.
type grantState struct {
	uses    int
	revoked bool
}

// grantUses is how often the grants of these rounds may be used.
const grantUses = 2

// remembered is the model of a grant: used so often, and not once it was
// revoked. A caller that hears that its call was spent used the grant, and did
// not hear of it the first time.
var remembered = porcupine.Model{
	Init: func() any { return grantState{} },
	Step: func(state, input, output any) (bool, any) {
		s, out := state.(grantState), output.(told)
		live := !s.revoked && s.uses < grantUses
		switch {
		case input.(asked).Op == "revoke":
			s.revoked = true
			return true, s
		case out.Phase == isAllowed || out.Phase == isSpent:
			s.uses++
			return live, s
		}
		return !live, s
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v -> %v", in, out) },
}

func TestRemembered_canFail(t *testing.T) {
	op := func(in string, out string, from, to int64) porcupine.Operation {
		return porcupine.Operation{Input: asked{Op: in}, Output: told{Phase: out}, Call: from, Return: to}
	}
	for name, ops := range map[string][]porcupine.Operation{
		"a use too many":         {op("use", isAllowed, 0, 10), op("use", isAllowed, 0, 10), op("use", isAllowed, 0, 10)},
		"a use after the end":    {op("revoke", isMine, 0, 10), op("use", isAllowed, 20, 30)},
		"asked for no reason":    {op("use", isOpen, 0, 10), op("use", isAllowed, 20, 30)},
		"an end that was undone": {op("revoke", isMine, 0, 10), op("use", isOpen, 11, 12), op("use", isAllowed, 13, 14)},
	} {
		if porcupine.CheckOperations(remembered, ops) {
			t.Errorf("%s: passes", name)
		}
	}
	if !porcupine.CheckOperations(remembered, []porcupine.Operation{op("use", isAllowed, 0, 10), op("revoke", isMine, 0, 10), op("use", isOpen, 5, 20)}) {
		t.Error("a good history does not pass")
	}
}

// A grant for two uses is used by callers in three processes at once while it
// is revoked in a fourth and, in some rounds, the server dies: no two spend one
// use, and nobody uses it once it was revoked.
func TestRace_grantIsRevokedWhileItIsUsed(t *testing.T) {
	w := newWorld(t, "")
	used, revoked := 0, 0
	for n := range max(*rounds/25, 1) {
		u, r := useAndRevoke(w, n)
		used, revoked = used+u, revoked+r
		if t.Failed() {
			t.Fatalf("in round %d", n)
		}
	}
	w.verify()
	t.Logf("%d uses; in %d rounds the end came before the last use; the server died %d times", used, revoked, w.crash)
}

func useAndRevoke(w *world, n int) (used, early int) {
	// In every second round the calls differ, and one wide grant covers them.
	cover, page := sayso.CoverCall, "https://example.org/"
	if n%2 == 1 {
		cover = sayso.CoverHost
	}
	call := sayso.Call{Tool: "web-fetch", Args: sayso.Args(fmt.Sprintf(`{"url":%q}`, page)), Cwd: "/work", Session: fmt.Sprint("grant-", n)}
	g := w.grant(call, cover)
	doors := []string{doorSocket, doorHTTP, doorFile}
	var trials []trial
	for i := range 6 {
		j := job{Who: agentName, Do: asked{Op: "use"}, Call: call}
		if cover != sayso.CoverCall {
			j.Call.Args = sayso.Args(fmt.Sprintf(`{"url":"%s%d"}`, page, i))
		}
		j.Call.CallID = fmt.Sprintf("use-%d-%d", n, i)
		trials = append(trials, trial{j.Do, w.give(doors[i%3], j)})
		if i == n%6 && n%4 < 2 {
			revoke := job{Who: approver(n % approvers), Do: asked{Op: "revoke"}, Grant: g}
			trials = append(trials, trial{revoke.Do, w.give(doors[n%3], revoke)})
		}
	}
	if n%8 == 5 {
		w.restart()
	}
	ops, ok := gather(w.t, trials, nil)
	if !ok {
		return 0, 0
	}
	if !porcupine.CheckOperations(remembered, ops) {
		w.t.Errorf("the history of grant %s is not linearizable:%s", g, story(ops))
	}
	ended := false
	for _, e := range w.stream(sayso.GrantStream(g)) {
		if e.Type == sayso.EventGrantUsed {
			used++
		}
		if ended && e.Type == sayso.EventGrantUsed {
			w.t.Errorf("grant %s was used after it was revoked", g)
		}
		ended = ended || e.Type == sayso.EventGrantRevoked
	}
	if used > grantUses {
		w.t.Errorf("grant %s was used %d times", g, used)
	}
	if ended && used < grantUses {
		early = 1
	}
	return used, early
}

// grant has a person remember a yes to a call, and returns its grant.
func (w *world) grant(call sayso.Call, cover sayso.Cover) sayso.ID {
	w.t.Helper()
	ctx := context.Background()
	call.CallID = "first-" + call.Session
	first := w.give(doorFile, job{Who: agentName, Do: asked{Op: "wait"}, Call: call})
	r := w.await(call)
	in := w.engine.Inbox(owner)
	_, err := in.Answer(ctx, r.ID, sayso.Answer{
		Digest: r.Digest, Content: r.Content, Effect: sayso.Allow, Scope: sayso.ScopeSession, Cover: cover, Uses: grantUses,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if d := <-first; d.Err != "" || d.Told.Phase != isAllowed {
		w.t.Fatalf("the caller was told %v, %s", d.Told, d.Err)
	}
	// The approval itself is out of the way, for it would be taken up.
	if err := w.engine.Gate(sayso.Actor{Principal: agentName, Kind: sayso.PrincipalAgent}).Withdraw(ctx, r.ID, ""); err != nil {
		w.t.Fatal(err)
	}
	gs, err := in.Grants(ctx, call.Session, false)
	if err != nil || len(gs) != 1 {
		w.t.Fatalf("there are %d grants: %v", len(gs), err)
	}
	return gs[0].ID
}
