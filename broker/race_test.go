package broker_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// lab/race has 500 of the same in three processes.
var rounds = flag.Int("rounds", 100, "how many requests eight approvers race for")

// said is what one operation on a request said or returned: who decided, and
// what. The zero said is a request that nobody decided yet.
type said struct {
	who    string
	effect sayso.Effect
}

// decided is a request as a sequential object: the first answer stands, and
// everybody is told it. Reads have no input.
var decided = porcupine.Model{
	Init: func() any { return said{} },
	Step: func(state, input, output any) (bool, any) {
		now, in, out := state.(said), input.(said), output.(said)
		if now == (said{}) && in != (said{}) {
			now = in
		}
		return out == now, now
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v -> %v", in, out) },
}

// history records operations for porcupine.
type history struct {
	mu    sync.Mutex
	start time.Time
	ops   []porcupine.Operation
}

func (h *history) record(client int, in said, do func() said) {
	call := time.Since(h.start)
	out := do()
	end := time.Since(h.start)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: int64(call), Output: out, Return: int64(end)})
}

func TestModel_canFail(t *testing.T) {
	a, b := said{"ann", sayso.Allow}, said{"bob", sayso.Deny}
	op := func(client int, in, out said, from, to int64) porcupine.Operation {
		return porcupine.Operation{ClientId: client, Input: in, Output: out, Call: from, Return: to}
	}
	for name, ops := range map[string][]porcupine.Operation{
		"two winners":        {op(0, a, a, 0, 10), op(1, b, b, 0, 10)},
		"a second, unheard":  {op(0, a, a, 0, 10), op(1, b, b, 20, 30)},
		"the last wins":      {op(0, a, b, 0, 10), op(1, b, b, 20, 30)},
		"a read in between":  {op(0, a, a, 0, 10), op(1, said{}, said{}, 20, 30)},
		"a decision unmade":  {op(0, said{}, a, 0, 10), op(1, b, b, 20, 30)},
		"read, then changed": {op(0, a, a, 0, 30), op(1, said{}, a, 5, 10), op(2, said{}, said{}, 15, 20)},
	} {
		if porcupine.CheckOperations(decided, ops) {
			t.Errorf("%s passes", name)
		}
	}
	if !porcupine.CheckOperations(decided, []porcupine.Operation{op(0, a, a, 0, 10), op(1, b, a, 0, 30), op(2, said{}, said{}, 0, 20)}) {
		t.Error("a good history does not pass")
	}
}

// Eight approvers in two brokers answer one request at once, half allow and
// half deny: one wins, all are told the same, and so are those who wait.
func TestRQ3_RaceOfEightApprovers(t *testing.T) {
	w := newHarness(t, always(sayso.Ask), func(w *harness) { w.opts.MaxAsks = 1 << 30 })
	second, err := broker.New(w.log.Join(), w.rules, &w.opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	brokers := []*broker.Broker{w.b, second}
	asker := agent
	for i := range 8 {
		asker.Approvers = append(asker.Approvers, fmt.Sprint("approver-", i))
	}
	for round := range *rounds {
		race(t, w, brokers, asker, round)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

func race(t *testing.T, w *harness, brokers []*broker.Broker, asker sayso.Actor, round int) {
	call := sayso.Admission{Call: bash(fmt.Sprint("c", round), fmt.Sprint("echo ", round)), Immediate: true, Patience: -1}
	var pending *sayso.PendingError
	if _, err := brokers[0].Gate(asker).Admit(t.Context(), call); !errors.As(err, &pending) {
		t.Fatal(err)
	}
	r := w.request(pending.Ticket)
	h := &history{start: time.Now()}
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range 8 {
		in := brokers[i%2].Inbox(sayso.Actor{Principal: fmt.Sprint("approver-", i), Kind: sayso.PrincipalPerson})
		mine := said{fmt.Sprint("approver-", i), []sayso.Effect{sayso.Allow, sayso.Deny}[i/2%2]}
		wg.Go(func() {
			<-begin
			h.record(i, mine, func() said { return told(t, in, r, mine.effect) })
			h.record(i, said{}, func() said { return stands(t, in, r.ID) })
		})
	}
	wg.Go(func() {
		<-begin
		h.record(8, said{}, func() said { return stands(t, brokers[1].Inbox(dev), r.ID) })
	})
	call.Patience = 0
	wg.Go(func() {
		<-begin
		h.record(9, said{}, func() said {
			d, err := brokers[1].Gate(asker).Admit(t.Context(), call)
			if err != nil || d.Redeemed != (d.Effect == sayso.Allow) {
				t.Errorf("the caller got %+v, %v", d, err)
			}
			return said{d.Who(), d.Effect}
		})
	})
	close(begin)
	wg.Wait()
	if result, info := porcupine.CheckOperationsVerbose(decided, h.ops, 0); result != porcupine.Ok {
		t.Errorf("the history is not linearizable: %+v (%v)", h.ops, info)
	}
	counts := map[sayso.EventType]int{}
	for _, e := range w.eventTypes(r.ID) {
		counts[e]++
	}
	if counts[sayso.EventResolved] != 1 || counts[sayso.EventAnswered] != 1 || counts[sayso.EventAnswerRefused] != 7 || counts[sayso.EventRedeemed] > 1 {
		t.Errorf("the log has %v", counts)
	}
}

// told answers and returns what the approver was told that stands.
func told(t *testing.T, in sayso.Inbox, r sayso.Request, e sayso.Effect) said {
	d, err := in.Answer(context.Background(), r.ID, answer(r, e))
	var decided *sayso.DecidedError
	if errors.As(err, &decided) {
		d = decided.Decision
	} else if err != nil {
		t.Error(err)
	}
	return said{d.Who(), d.Effect}
}

func stands(t *testing.T, in sayso.Inbox, id sayso.ID) said {
	r, err := in.Request(context.Background(), string(id))
	if err != nil {
		t.Error(err)
	}
	if r.Decision == nil {
		return said{}
	}
	return said{r.Decision.Who(), r.Decision.Effect}
}

// A grant that is revoked while it is used is used before or not at all.
func TestRace_revokeAGrantWhileItIsUsed(t *testing.T) {
	w := newHarness(t, always(sayso.Ask), func(w *harness) { w.opts.MaxAsks, w.opts.MaxOpen = 1<<30, 1<<30 })
	for round := range 20 {
		call := sayso.Admission{Call: bash("", fmt.Sprint("echo ", round)), Immediate: true, Patience: -1}
		var pending *sayso.PendingError
		if _, err := w.admit(call); !errors.As(err, &pending) {
			t.Fatal(err)
		}
		if _, err := w.answer(dev, pending.Ticket, remembered(w.request(pending.Ticket))); err != nil {
			t.Fatal(err)
		}
		w.allowed(call)
		gs := w.grants(false)
		g := gs[len(gs)-1]
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if d, err := w.admit(call); err != nil && !errors.Is(err, sayso.ErrPending) || err != nil && d.Allowed() {
					t.Errorf("got %+v, %v", d, err)
				}
			})
		}
		wg.Go(func() {
			if err := w.b.Inbox(dev).Revoke(t.Context(), g.ID); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		revoked := false
		for _, e := range w.stream(sayso.GrantStream(g.ID)) {
			if e.Type == sayso.EventGrantUsed && revoked {
				t.Error("it was used after it was revoked")
			}
			revoked = revoked || e.Type == sayso.EventGrantRevoked
		}
		if d, err := w.admit(call); !errors.Is(err, sayso.ErrPending) || d.Allowed() {
			t.Errorf("after it was revoked: %+v, %v", d, err)
		}
	}
}

// A hook has its yes and is gone for a while; whoever drives the host waits no more and
// asks. Then all come at once, the hook and its next process among them: one uses the yes,
// and it counts at one later point.
func TestRace_hookAndDriverForOneYes(t *testing.T) {
	w := newHarness(t, always(sayso.Ask), func(w *harness) { w.opts.MaxAsks = 1 << 30 })
	second, err := broker.New(w.log.Join(), w.rules, &w.opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	brokers := []*broker.Broker{w.b, second}
	hook := agent
	hook.Principal = "claude-code"
	for round := range 20 {
		call := sayso.Admission{Call: bash(fmt.Sprint("c", round), "make"), Patience: -1}
		call.Call.Session = fmt.Sprint("s", round)
		var pending *sayso.PendingError
		if _, err := w.b.Gate(hook).Admit(t.Context(), call); !errors.As(err, &pending) {
			t.Fatal(err)
		}
		w.answerAsOwner(pending.Ticket, sayso.Allow)
		call.Patience = 0
		d, err := w.b.Gate(hook).Admit(t.Context(), call)
		if err != nil || !d.Allowed() || d.Redeemed {
			t.Fatalf("the hook got %+v, %v", d, err)
		}
		behind := call
		behind.Immediate, behind.Patience = true, -1
		if d, err := second.Gate(driver).Admit(t.Context(), behind); !errors.Is(err, sayso.ErrPending) || d.Allowed() {
			t.Fatalf("before the hook used its yes the driver got %+v, %v", d, err)
		}
		var used, counted atomic.Int32
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for i := range 4 {
			wg.Go(func() {
				<-begin
				switch err := brokers[i%2].Gate(hook).Redeem(t.Context(), d.Receipt, call.Call); {
				case err == nil:
					used.Add(1)
				case !errors.Is(err, sayso.ErrSpent):
					t.Error(err)
				}
			})
			by := driver
			by.Principal = fmt.Sprint("driver-", i)
			wg.Go(func() {
				<-begin
				for range 4 {
					d, err := brokers[i%2].Gate(by).Admit(t.Context(), behind)
					if err == nil && d.Allowed() {
						counted.Add(1)
						return
					}
				}
			})
		}
		close(begin)
		wg.Wait()
		if d, err := w.b.Gate(driver).Admit(t.Context(), behind); err == nil && d.Allowed() { // whoever had no luck comes again
			counted.Add(1)
		}
		if used.Load() != 1 || counted.Load() != 1 {
			t.Fatalf("in round %d the yes was used by %d and counted for %d later", round, used.Load(), counted.Load())
		}
	}
}
