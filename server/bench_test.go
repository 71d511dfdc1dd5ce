package server_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/server"
)

// mapGate is a gate and an inbox that keep everything in a map, so that what is
// measured is the way there and back.
type mapGate struct {
	sayso.Gate
	sayso.Inbox
	d *mapGateState
}

type mapGateState struct {
	mu   sync.Mutex
	open map[sayso.ID]chan sayso.Answer
	seen chan sayso.Event
	next atomic.Uint64
}

func (k mapGate) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	digest, err := a.Call.Digest()
	if err != nil {
		return sayso.Decision{}, err
	}
	n := k.d.next.Add(1)
	var random [16]byte
	for i := range 8 {
		random[i] = byte(n >> (8 * i))
	}
	id := sayso.NewID(time.Now(), random)
	answer := make(chan sayso.Answer, 1)
	k.d.mu.Lock()
	k.d.open[id] = answer
	k.d.mu.Unlock()
	k.d.seen <- sayso.Event{
		Seq: sayso.Seq(n), Type: sayso.EventRequested, RequestID: id, CallID: a.Call.CallID, SessionID: a.Call.Session,
		Payload: sayso.Args(`{"id":"` + string(id) + `","digest":"` + digest.String() + `"}`),
	}
	select {
	case got := <-answer:
		d := sayso.Decision{Effect: got.Effect, State: sayso.StateDenied, Request: id, Digest: digest, Source: sayso.SourcePerson}
		if got.Effect == sayso.Allow {
			d.State, d.Receipt = sayso.StateAllowed, sayso.Receipt{Request: id, Digest: digest}
		}
		return d, nil
	case <-ctx.Done():
		return sayso.Decision{}, ctx.Err()
	}
}

func (k mapGate) Answer(_ context.Context, id sayso.ID, a sayso.Answer) (sayso.Decision, error) {
	k.d.mu.Lock()
	answer := k.d.open[id]
	delete(k.d.open, id)
	k.d.mu.Unlock()
	if answer == nil {
		return sayso.Decision{}, sayso.ErrNotFound
	}
	answer <- a
	return sayso.Decision{Effect: a.Effect, State: sayso.StateAllowed, Request: id, Digest: a.Digest, Source: sayso.SourcePerson}, nil
}

func (k mapGate) Head(context.Context) (sayso.Head, error) { return sayso.Head{}, nil }

func (k mapGate) Requests(context.Context, sayso.RowQuery) ([]sayso.Request, error) { return nil, nil }

func (k mapGate) Follow(ctx context.Context, _ sayso.Seq, _ sayso.EventQuery) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		<-ctx.Done()
		yield(sayso.Event{}, ctx.Err())
	}
}

// benchmarkCycles runs cycles of ask and answer with so many askers.
func benchmarkCycles(b *testing.B, askers int, connect func(base, token string) (*client.Client, error)) {
	state := &mapGateState{open: map[sayso.ID]chan sayso.Answer{}, seen: make(chan sayso.Event, 1<<16)}
	base, stop := serveBench(b, func(sayso.Actor) (sayso.Gate, sayso.Inbox) { return mapGate{d: state}, mapGate{d: state} })
	defer stop()
	agent, err := connect(base, "agent")
	if err != nil {
		b.Fatal(err)
	}
	ann, err := connect(base, "person")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	var people sync.WaitGroup
	for range askers {
		people.Go(func() {
			for {
				select {
				case e := <-state.seen:
					if _, err := ann.Answer(ctx, e.RequestID, sayso.Answer{Effect: sayso.Allow}); err != nil {
						b.Error(err)
						return
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	var next atomic.Int64
	b.ResetTimer()
	var agents sync.WaitGroup
	for range askers {
		agents.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(b.N) {
					return
				}
				c := sayso.Call{Tool: "bash", Host: "claude-code", Args: sayso.Args(`{"command":"git push origin main","timeout":1000}`),
					Session: "s1", Run: "r1", CallID: fmt.Sprintf("toolu_%d", n), Cwd: "/home/dev/app", Said: map[string]string{"description": "push the branch"}}
				if d, err := agent.Admit(ctx, sayso.Admission{Call: c, Patience: time.Minute}); err != nil || !d.Allowed() {
					b.Errorf("%+v, %v", d, err)
					return
				}
			}
		})
	}
	agents.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
	cancel()
	people.Wait()
	_, _ = agent.Close(), ann.Close()
}

func BenchmarkCyclesHTTP(b *testing.B) {
	benchmarkCycles(b, 64, func(base, token string) (*client.Client, error) { return client.New(base, token, nil) })
}

func BenchmarkCyclesSocket(b *testing.B) {
	benchmarkCycles(b, 512, func(base, token string) (*client.Client, error) {
		return client.Dial(b.Context(), base, token, nil)
	})
}

func serveBench(b *testing.B, door func(sayso.Actor) (sayso.Gate, sayso.Inbox)) (base string, stop func()) {
	b.Helper()
	s, err := server.New(door, &server.Options{Authenticate: (&tokenList{}).authenticate})
	if err != nil {
		b.Fatal(err)
	}
	return listen(b, s)
}
