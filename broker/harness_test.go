package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/memory"
)

var (
	agent    = sayso.Actor{Principal: "claude-code", Kind: sayso.PrincipalAgent, Channel: "hook", Owner: "dev", Approvers: []string{"ann", "vera"}}
	program  = sayso.Actor{Principal: "program", Kind: sayso.PrincipalTool, Channel: "embedded", Owner: "dev"}
	dev      = sayso.Actor{Principal: "dev", Kind: sayso.PrincipalPerson, Channel: "terminal"}
	ann      = sayso.Actor{Principal: "ann", Kind: sayso.PrincipalPerson, Channel: "web"}
	stranger = sayso.Actor{Principal: "eve", Kind: sayso.PrincipalPerson, Channel: "web"}
	viewer   = sayso.Actor{Principal: "vera", Kind: sayso.PrincipalViewer, Channel: "web"}
	admin    = sayso.Actor{Principal: "root", Kind: sayso.PrincipalAdmin, Channel: "terminal"}
)

// rules is a policy made of a function, under a version that tests change.
type rules struct {
	mu      sync.Mutex
	version string
	judge   func(sayso.Call) sayso.Verdict
	facts   sayso.Facts // that a call was last judged by
}

func (p *rules) Version() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

func (p *rules) Judge(_ context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.facts = f
	v := p.judge(c)
	v.Policy, v.Risk = p.version, c.EffectiveKind().Risk()
	return v
}

// set replaces the rules by a new version of them.
func (p *rules) set(version string, judge func(sayso.Call) sayso.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = version
	if judge != nil {
		p.judge = judge
	}
}

// ruled is a verdict in which these rules matched.
func ruled(matches ...sayso.Match) sayso.Verdict {
	m := sayso.Combine(matches, sayso.Match{})
	return sayso.Verdict{Match: m, Matches: matches}
}

func rule(e sayso.Effect) sayso.Match {
	return sayso.Match{Effect: e, Cause: sayso.CauseRule, Rule: "always " + e.String(), File: "policy.yaml", Line: 7}
}

// always is a policy with one rule for everything and a deadline of an hour.
func always(e sayso.Effect) *rules { return within(e, sayso.Deadline{After: time.Hour}) }

func within(e sayso.Effect, d sayso.Deadline) *rules {
	return &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict {
		v := ruled(rule(e))
		v.Deadline = d
		return v
	}}
}

// clock is the broker's clock inside a bubble of time: the bubble's, moved by
// what the test did to the wall clock, and with the boot that the test says.
type clock struct {
	mu     sync.Mutex
	boot   string
	booted time.Time
	skew   time.Duration
}

func (c *clock) now() sayso.Moment {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	return sayso.Moment{Wall: at.Add(c.skew).UTC(), Boot: c.boot, Since: at.Sub(c.booted)}
}

// step moves the wall clock, as an administrator or a bad battery would.
func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skew += d
}

// suspend lets the machine sleep: both clocks go on, and no timer does.
func (c *clock) suspend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.booted = c.booted.Add(-d)
	c.skew += d
}

// reboot begins a new boot.
func (c *clock) reboot(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.boot, c.booted = name, time.Now()
}

// harness is a broker on a log in memory.
type harness struct {
	t     *testing.T
	rules *rules
	log   *memory.Log
	memos *memos
	clock *clock
	opts  broker.Options
	b     *broker.Broker
}

func newHarness(t *testing.T, p *rules, change ...func(*harness)) *harness {
	t.Helper()
	w := &harness{t: t, rules: p, log: memory.New(nil), memos: &memos{of: map[sayso.ID]*sayso.Memo{}}, clock: &clock{boot: "boot-1", booted: time.Now()}}
	w.opts.Now = w.clock.now
	for _, c := range change {
		c(w)
	}
	w.start()
	t.Cleanup(func() { w.checkMemos(); w.b.Close(); w.log.Close() })
	return w
}

func (w *harness) start() {
	w.t.Helper()
	b, err := broker.New(memoLog{w.log, w.memos}, w.rules, &w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.b = b
}

// restart ends the broker and its log handle as the death of the process would,
// leases included, and starts another on the same events.
func (w *harness) restart() {
	w.t.Helper()
	next := w.log.Join()
	w.log.Close()
	w.log = next
	w.start()
}

// bubble runs a test with its own time.
func bubble(t *testing.T, p *rules, do func(*testing.T, *harness), change ...func(*harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { do(t, newHarness(t, p, change...)) })
}

// pass lets time pass, and everything happen that then happens.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func bash(id, command string) sayso.Call {
	return sayso.Call{Tool: "Bash", Host: "claude-code", Args: sayso.Args(fmt.Sprintf(`{"command":%q}`, command)),
		Cwd: "/home/dev/app", Session: "s1", CallID: id}
}

// push asks for the call that most tests are about.
func push(id string) sayso.Admission { return sayso.Admission{Call: bash(id, "git push")} }

func patient(id string, d time.Duration) sayso.Admission {
	a := push(id)
	a.Patience = d
	return a
}

func atOnce(id string) sayso.Admission {
	a := push(id)
	a.Immediate = true
	return a
}

// pendingAdmit is an Admit that runs in its own goroutine.
type pendingAdmit struct {
	w    *harness
	done chan struct{}
	d    sayso.Decision
	err  error
}

// givenGate is a gate as servers use it: the admission is the gate's to keep.
type givenGate interface {
	AdmitGiven(context.Context, *sayso.Admission) (*sayso.Decision, error)
}

// ask begins an Admit and returns when it waits, or has returned.
func (w *harness) ask(ctx context.Context, a sayso.Admission) *pendingAdmit {
	w.t.Helper()
	p := w.askAs(ctx, agent, a)
	synctest.Wait()
	return p
}

func (w *harness) askAs(ctx context.Context, who sayso.Actor, a sayso.Admission) *pendingAdmit {
	p := &pendingAdmit{w: w, done: make(chan struct{})}
	gate := w.b.Gate(who)
	go func() { // ends with Admit, at the latest when the log is closed
		defer close(p.done)
		d, err := gate.(givenGate).AdmitGiven(ctx, &a)
		p.d, p.err = *d, err
	}()
	return p
}

// isWaiting reports whether the Admit waits.
func (p *pendingAdmit) isWaiting() bool {
	synctest.Wait()
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *pendingAdmit) result() (sayso.Decision, error) {
	<-p.done
	return p.d, p.err
}

// resultNow is the result of an Admit that has returned, and nothing for one
// that still waits.
func (p *pendingAdmit) resultNow() (sayso.Decision, error) {
	if p.isWaiting() {
		return sayso.Decision{}, nil
	}
	return p.result()
}

// admit is an Admit that the test does not expect to wait for people.
func (w *harness) admit(a sayso.Admission) (sayso.Decision, error) {
	return w.b.Gate(agent).Admit(w.t.Context(), a)
}

// allowed admits a call that needs nobody, and returns the decision.
func (w *harness) allowed(a sayso.Admission) sayso.Decision {
	w.t.Helper()
	d, err := w.admit(a)
	if err != nil || !d.Allowed() {
		w.t.Fatalf("got %+v and %v, want an allow", d, err)
	}
	return d
}

// park admits a call until patience ends and returns its ticket.
func (w *harness) park(id string) sayso.ID {
	w.t.Helper()
	_, err := w.admit(patient(id, time.Second))
	var pending *sayso.PendingError
	if !errors.As(err, &pending) || pending.Stop {
		w.t.Fatalf("got %v, want that it is pending", err)
	}
	return pending.Ticket
}

// request reads one request as the owner of the session sees it.
func (w *harness) request(id sayso.ID) sayso.Request {
	w.t.Helper()
	r, err := w.b.Inbox(dev).Request(context.Background(), string(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// open lists the open requests.
func (w *harness) open() []sayso.Request {
	w.t.Helper()
	rs, err := w.b.Inbox(dev).Requests(context.Background(), sayso.RowQuery{States: []sayso.State{sayso.StateOpen, sayso.StateParked}})
	if err != nil {
		w.t.Fatal(err)
	}
	return rs
}

// onlyOpen returns the one open request.
func (w *harness) onlyOpen() sayso.Request {
	w.t.Helper()
	rs := w.open()
	if len(rs) != 1 {
		w.t.Fatalf("%d requests are open, want one", len(rs))
	}
	return rs[0]
}

func answer(r sayso.Request, e sayso.Effect) sayso.Answer {
	return sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: e}
}

func (w *harness) answer(who sayso.Actor, id sayso.ID, a sayso.Answer) (sayso.Decision, error) {
	return w.b.Inbox(who).Answer(context.Background(), id, a)
}

// answerAsOwner answers a request as its owner.
func (w *harness) answerAsOwner(id sayso.ID, e sayso.Effect) sayso.Decision {
	w.t.Helper()
	d, err := w.answer(dev, id, answer(w.request(id), e))
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// eventTypes lists the types of a request's events.
func (w *harness) eventTypes(id sayso.ID) (got []sayso.EventType) {
	w.t.Helper()
	for _, e := range w.stream(sayso.RequestStream(id)) {
		got = append(got, e.Type)
	}
	return got
}

func (w *harness) stream(name string) []sayso.Event {
	w.t.Helper()
	events, err := w.log.Stream(context.Background(), name, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// expectEvents compares the life of a request with what it should have been; the first
// event is always the same and left out.
func (w *harness) expectEvents(id sayso.ID, want ...sayso.EventType) {
	w.t.Helper()
	want = append([]sayso.EventType{sayso.EventRequested}, want...)
	if diff := cmp.Diff(want, w.eventTypes(id)); diff != "" {
		w.t.Errorf("the life of %s differs (-want +got):\n%s", id.Short(), diff)
	}
}

// allEvents returns every event of the log.
func (w *harness) allEvents() []sayso.Event {
	w.t.Helper()
	events, err := w.log.Since(context.Background(), 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// count returns how many events of a type the log has.
func (w *harness) count(t sayso.EventType) (n int) {
	w.t.Helper()
	for _, e := range w.allEvents() {
		if e.Type == t {
			n++
		}
	}
	return n
}

// lastPayload returns the payload of the newest event of a type, as it is shown.
func (w *harness) lastPayload(t sayso.EventType) string {
	w.t.Helper()
	for _, e := range slices.Backward(w.allEvents()) {
		if e.Type == t {
			public, err := e.Public()
			if err != nil {
				w.t.Fatal(err)
			}
			return string(public.Payload)
		}
	}
	w.t.Fatalf("the log has no %s", t)
	return ""
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}
