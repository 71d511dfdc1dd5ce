package saysotest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// Doors opens the gate and the inbox of one principal, whose owner and
// approvers come with it as they would with its credential. The channel is for
// the implementation to say.
type Doors func(sayso.Actor) (sayso.Gate, sayso.Inbox)

// TestGateInbox tests the promises of [sayso.Gate] and [sayso.Inbox], as far as
// they can be seen through the doors. open is called for each subtest; it
// starts an empty gate that judges by the policy and that ends with the test,
// and returns its doors.
//
//	saysotest.TestGateInbox(t, func(t *testing.T, p sayso.Policy) saysotest.Doors {
//		b := …
//		return func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.Gate(a), b.Inbox(a) }
//	})
func TestGateInbox(t *testing.T, open func(t *testing.T, policy sayso.Policy) Doors) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			policy := &byName{}
			policy.setVersion("v1")
			p.test(newHouse(t, policy, open(t, policy)))
		})
	}
}

// promises are filled in by the files beside this one.
var promises []promise

type promise struct {
	name string
	test func(*house)
}

func promised(more ...promise) bool {
	promises = append(promises, more...)
	return true
}

// The principals of the suite.
var (
	suiteAgent    = sayso.Actor{Principal: "agent", Kind: sayso.PrincipalAgent, Owner: "owner", Approvers: []string{"helper", "looker"}}
	suiteTool     = sayso.Actor{Principal: "tool", Kind: sayso.PrincipalTool, Owner: "owner", Approvers: []string{"helper", "looker"}}
	suiteForeign  = sayso.Actor{Principal: "foreign", Kind: sayso.PrincipalAgent, Owner: "stranger"}
	suiteOwner    = sayso.Actor{Principal: "owner", Kind: sayso.PrincipalPerson}
	suiteHelper   = sayso.Actor{Principal: "helper", Kind: sayso.PrincipalPerson}
	suiteStranger = sayso.Actor{Principal: "stranger", Kind: sayso.PrincipalPerson}
	suiteLooker   = sayso.Actor{Principal: "looker", Kind: sayso.PrincipalViewer}
	suiteAdmin    = sayso.Actor{Principal: "boss", Kind: sayso.PrincipalAdmin}
)

// The tools of the suite, by what becomes of their calls.
const (
	toolAsks    = "bash"       // a person is asked; --force is denied
	toolAllowed = "file-read"  //
	toolDenied  = "delegate"   //
	toolExpires = "web-fetch"  // asked, for a moment
	toolDenies  = "web-search" // asked for a moment, and then denied
)

// moment is how long the deadlines and the patience last that a test waits for.
const moment = 30 * time.Millisecond

// byName is the policy of the suite.
type byName struct{ version atomic.Value }

func (p *byName) setVersion(v string) { p.version.Store(v) }

// Version implements sayso.Policy.
func (p *byName) Version() string { return p.version.Load().(string) }

// Judge implements sayso.Policy.
func (p *byName) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	version := p.Version()
	effect := map[string]sayso.Effect{toolAsks: sayso.Ask, toolAllowed: sayso.Allow, toolExpires: sayso.Ask, toolDenies: sayso.Ask}[c.Tool]
	if strings.Contains(string(c.Args), "--force") {
		effect = sayso.Deny
	}
	v := verdict(effect, c)
	switch c.Tool {
	case toolExpires:
		v.Deadline = sayso.Deadline{After: moment}
	case toolDenies:
		v.Deadline = sayso.Deadline{After: moment, Deny: true}
	}
	v.Policy = version
	return v
}

// house is one gate with everybody who goes in and out.
type house struct {
	*testing.T
	policy *byName
	doors  Doors
	agent  sayso.Gate  // of suiteAgent
	owner  sayso.Inbox // of suiteOwner
	ctx    context.Context
}

func newHouse(t *testing.T, p *byName, doors Doors) *house {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(stop)
	h := &house{T: t, policy: p, doors: doors, ctx: ctx}
	h.agent, _ = doors(suiteAgent)
	_, h.owner = doors(suiteOwner)
	return h
}

func (h *house) gate(a sayso.Actor) sayso.Gate {
	g, _ := h.doors(a)
	return g
}

func (h *house) inbox(a sayso.Actor) sayso.Inbox {
	_, in := h.doors(a)
	return in
}

// call is a call of a tool, with an id of its own.
func call(tool, id, what string) sayso.Call {
	return sayso.Call{Tool: tool, Args: sayso.Args(fmt.Sprintf(`{"command":%q}`, what)), Cwd: "/home/dev", Session: "s1", CallID: id}
}

func asks(id, what string) sayso.Admission { return sayso.Admission{Call: call(toolAsks, id, what)} }

// atOnce makes the admission one of a caller that runs the call at once.
func atOnce(a sayso.Admission) sayso.Admission { a.Immediate = true; return a }

func impatient(a sayso.Admission) sayso.Admission { a.Patience = moment; return a }

// waiter is an Admit in its own goroutine.
type waiter struct {
	h    *house
	stop context.CancelFunc
	done chan struct{}
	d    sayso.Decision
	err  error
}

// admit begins an Admit; it is given up when the test ends.
func (h *house) admit(g sayso.Gate, a sayso.Admission) *waiter {
	ctx, stop := context.WithCancel(h.ctx)
	w := &waiter{h: h, stop: stop, done: make(chan struct{})}
	go func() { // ends with its context at the latest
		defer close(w.done)
		w.d, w.err = g.Admit(ctx, a)
	}()
	h.Cleanup(func() { stop(); <-w.done })
	return w
}

// result waits for the Admit to return. No allow may come with an error.
func (w *waiter) result() (sayso.Decision, error) {
	w.h.Helper()
	<-w.done
	if w.err != nil && w.d.Effect == sayso.Allow {
		w.h.Errorf("an allow came with %v", w.err)
	}
	return w.d, w.err
}

func (w *waiter) waits() bool {
	select {
	case <-w.done:
		return false
	default:
		return true
	}
}

// now is an Admit that is not expected to wait for people.
func (h *house) now(a sayso.Admission) (sayso.Decision, error) {
	h.Helper()
	return h.admit(h.agent, a).result()
}

// opened begins an Admit and returns it with its request, once there is one.
func (h *house) opened(a sayso.Admission) (*waiter, sayso.Request) {
	h.Helper()
	w := h.admit(h.agent, a)
	return w, h.requestOf(a.Call.CallID)
}

// parked admits a call until its patience ends.
func (h *house) parked(a sayso.Admission) sayso.Request {
	h.Helper()
	_, err := h.now(impatient(a))
	var pending *sayso.PendingError
	if !errors.As(err, &pending) {
		h.Fatalf("got %v, want that it is pending", err)
	}
	return h.request(pending.Ticket)
}

// requestOf waits for the request of a call id.
func (h *house) requestOf(callID string) sayso.Request {
	h.Helper()
	e := h.event(func(e sayso.Event) bool { return e.Type == sayso.EventRequested && e.CallID == callID })
	return h.request(e.RequestID)
}

func (h *house) request(id sayso.ID) sayso.Request {
	h.Helper()
	r, err := h.owner.Request(h.ctx, string(id))
	h.must(err)
	return r
}

// event waits for the first event that fits.
func (h *house) event(fits func(sayso.Event) bool) sayso.Event {
	h.Helper()
	for e, err := range h.inbox(suiteAdmin).Follow(h.ctx, 0, sayso.EventQuery{}) {
		if err != nil {
			h.Fatalf("following: %v", err)
		}
		if fits(e) {
			return e
		}
	}
	h.Fatal("following ended without an error")
	return sayso.Event{}
}

// lived waits until a request's life is this long, and compares it.
func (h *house) lived(id sayso.ID, want ...sayso.EventType) {
	h.Helper()
	events, err := h.owner.Life(h.ctx, id)
	h.must(err)
	var got []sayso.EventType
	for i, e := range events {
		got = append(got, e.Type)
		if e.RequestID != id || e.Pos != i+1 {
			h.Errorf("event %d of %s is event %d of %s", i+1, id, e.Pos, e.RequestID)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		h.Errorf("the life of %s is %v, want %v", id.Short(), got, want)
	}
}

func answer(r sayso.Request, e sayso.Effect) sayso.Answer {
	return sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: e}
}

// says has the owner answer.
func (h *house) says(r sayso.Request, e sayso.Effect) sayso.Decision {
	h.Helper()
	d, err := h.owner.Answer(h.ctx, r.ID, answer(r, e))
	h.must(err)
	return d
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// want reports an error that is not the wanted one; nil wants none.
func (h *house) want(what string, err, want error) {
	h.Helper()
	if !errors.Is(err, want) {
		h.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// all runs functions at once and waits for them.
func all(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}
