package race_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/sayso-dev/sayso"
)

// soon is a policy under which requests wait for a second.
const soon = "version: 1\ndeadline: {after: 1s}\n"

// People in three processes answer at the moment at which requests expire,
// while their callers wait: each request has one end, and everybody is told it.
func TestRace_answersAtTheDeadline(t *testing.T) {
	w := newWorld(t, soon)
	counts := map[string]int{}
	least := max(*rounds/250, 1)
	near := func() bool { return counts[isExpired] > 0 && counts[isExpired] < counts["all"] }
	for n := 0; n < least || !near() && n < least+10; n++ { // a busy machine may be late for all of them
		atTheDeadline(w, n, 24, counts)
		if t.Failed() {
			t.Fatalf("in round %d", n)
		}
	}
	w.verify()
	t.Logf("%v", counts)
	if !near() {
		t.Errorf("of %d requests %d expired: nothing was near the deadline", counts["all"], counts[isExpired])
	}
}

// atTheDeadline is one round of many requests.
func atTheDeadline(w *world, n, many int, counts map[string]int) {
	doors := []string{doorSocket, doorHTTP, doorFile}
	trials := make([][]trial, many)
	requests := make([]sayso.Request, many)
	for i := range many {
		call := sayso.Call{
			Tool: "bash", Args: sayso.Args(`{"command":"make late"}`), Session: fmt.Sprintf("late-%d-%d", n, i), CallID: "late",
		}
		j := job{Who: agentName, Do: asked{Op: "wait"}, Call: call}
		trials[i] = append(trials[i], trial{j.Do, w.give(doors[i%3], j)})
		r := w.await(call)
		requests[i] = r
		ends := nanoseconds()
		if r.RemainingS != nil { // else this machine was too slow
			ends += int64(*r.RemainingS * float64(time.Second))
		}
		for who := range 3 {
			// From well before the end to a moment behind it.
			at := ends - int64(time.Duration(many-i-6)*25*time.Millisecond)
			j := job{Who: approver(who), Request: r.ID, Digest: r.Digest, Content: r.Content, At: at,
				Do: asked{Op: "answer", Who: approver(who), Phase: []string{isAllowed, isDenied, isAllowed}[who]}}
			trials[i] = append(trials[i], trial{j.Do, w.give(doors[who], j)})
			j.Do = asked{Op: "read"}
			trials[i] = append(trials[i], trial{j.Do, w.give(doors[(who+1)%3], j)})
		}
	}
	for i := range many {
		begun := nanoseconds() - int64(time.Hour)
		ops, ok := gather(w.t, trials[i], nil)
		if !ok {
			return
		}
		final := standing(w.request(requests[i].ID))
		if final.Phase == isExpired {
			ops = append(ops, porcupine.Operation{Input: asked{Op: "expire"}, Output: told{}, Call: begun, Return: nanoseconds()})
		}
		if !porcupine.CheckOperations(request, ops) {
			w.t.Errorf("the history of %s is not linearizable:%s", requests[i].ID, story(ops))
		}
		life := w.life(requests[i].ID)
		if life[sayso.EventResolved]+life[sayso.EventExpired] != 1 || life[sayso.EventAnswered] != life[sayso.EventResolved] {
			w.t.Errorf("%s has the events %v", requests[i].ID, life)
		}
		counts[final.Phase]++
		counts["all"]++
	}
}
