package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/sqlite"
)

var (
	agent  = sayso.Actor{Principal: "agent", Kind: sayso.PrincipalAgent, Channel: "lab", Owner: "ana"}
	person = sayso.Actor{Principal: "ana", Kind: sayso.PrincipalPerson, Channel: "lab"}
)

// rules ask about everything.
type rules struct{}

func (rules) Version() string { return "wake" }

func (rules) Judge(context.Context, sayso.Call, sayso.Facts) sayso.Verdict {
	m := sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseRule, Rule: "ask"}
	return sayso.Verdict{Match: m, Matches: []sayso.Match{m}, Default: m, Policy: "wake"}
}

// play is one process.
func play(role string) error {
	ctx := context.Background()
	log, err := sqlite.Open(ctx, os.Args[1], nil)
	if err != nil {
		return err
	}
	b, err := broker.New(log, rules{}, &broker.Options{MaxAsks: 1 << 30, MaxOpen: 1 << 30})
	if err != nil {
		return errors.Join(err, log.Close())
	}
	if role == roleAnswer {
		return errors.Join(answer(ctx, b), b.Close(), log.Close())
	}
	a := &asker{log: log, gate: b.Gate(agent), under: map[int]*asked{}}
	return errors.Join(a.work(ctx), b.Close(), log.Close())
}

// asker makes calls.
type asker struct {
	log  sayso.Log
	gate sayso.Gate
	out  sync.Mutex
	all  sync.WaitGroup

	mu    sync.Mutex // guards what follows
	under map[int]*asked
	err   error
}

// asked is a call under way.
type asked struct {
	since    time.Time
	reported bool
}

// hung is how long a decision may be on stable storage before its asker counts
// as lost.
const hung = 10 * time.Second

// work makes the calls whose numbers come in, until no more do.
func (a *asker) work(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go a.watch(ctx)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		a.mu.Lock()
		a.under[n] = &asked{since: time.Now()}
		a.mu.Unlock()
		a.all.Go(func() { a.call(ctx, n) })
	}
	a.all.Wait()
	return errors.Join(a.err, lines.Err())
}

// call is one cycle, seen by the asker.
func (a *asker) call(ctx context.Context, n int) {
	begun := time.Now()
	d, err := a.gate.Admit(ctx, sayso.Admission{Call: sayso.Call{
		Tool: "bash", Session: session(n), CallID: callID(n), Args: fmt.Appendf(nil, `{"command":"git push %d"}`, n),
	}})
	// A decision that was there when this life of the asker began woke nobody.
	after := time.Since(later(d.At, begun))
	a.mu.Lock()
	delete(a.under, n)
	if err == nil && d.State == sayso.StateOpen {
		err = errors.New("an asker was woken without a decision")
	}
	if err != nil {
		a.err = errors.Join(a.err, fmt.Errorf("call %d: %w", n, err))
	}
	a.mu.Unlock()
	if err != nil {
		_ = os.Stdin.Close() // ends work, which tells
		return
	}
	a.say("heard", n, int64(max(after, 0)))
}

func session(n int) string { return fmt.Sprintf("s%d", n%64) }
func callID(n int) string  { return fmt.Sprintf("call-%d", n) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (a *asker) say(words ...any) {
	a.out.Lock()
	defer a.out.Unlock()
	_, _ = io.WriteString(os.Stdout, fmt.Sprintln(words...)) // the other end is gone: so is this one soon
}

// watch looks for askers that wait although there is a decision.
func (a *asker) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, n := range a.suspects() {
			if a.decided(ctx, n) {
				a.report(n)
			}
		}
	}
}

// suspects are calls that have been under way for long.
func (a *asker) suspects() (list []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n, c := range a.under {
		if !c.reported && time.Since(c.since) > hung {
			list = append(list, n)
		}
	}
	return list
}

// decided reports whether a call was decided some time ago.
func (a *asker) decided(ctx context.Context, n int) bool {
	stream, err := a.log.Lookup(ctx, sayso.CallKey(agent.Principal, session(n), callID(n)))
	if err != nil {
		return false
	}
	events, err := a.log.Stream(ctx, stream, 0)
	if err != nil {
		return false
	}
	r, err := sayso.Fold(events)
	return err == nil && !r.State.Open() && time.Since(r.Life.Decided.Wall) > hung
}

// report tells of a lost call once, if it still is under way.
func (a *asker) report(n int) {
	a.mu.Lock()
	c := a.under[n]
	lost := c != nil && !c.reported
	if lost {
		c.reported = true
	}
	a.mu.Unlock()
	if lost {
		a.say("lost", n)
	}
}

// answer allows or denies whatever is open, and whatever opens, until the
// process is killed.
func answer(ctx context.Context, b *broker.Broker) error {
	go func() { // nobody is left to kill us
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	inbox := b.Inbox(person)
	head, err := inbox.Head(ctx)
	if err != nil {
		return err
	}
	open, err := inbox.Requests(ctx, sayso.RowQuery{
		States: sayso.OpenStates(), Oldest: true, Limit: 1 << 20,
	})
	if err != nil {
		return err
	}
	for i := range open {
		if err := decide(ctx, inbox, &open[i]); err != nil {
			return err
		}
	}
	hands := make(chan sayso.Request, 1<<16)
	for range 16 {
		go decideAll(ctx, inbox, hands) // ends with the process
	}
	for e, err := range inbox.Follow(ctx, head.Seq, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			return err
		}
		r, err := sayso.RequestIn(&e)
		if err != nil {
			return err
		}
		hands <- r
	}
	return nil
}

func decideAll(ctx context.Context, inbox sayso.Inbox, requests <-chan sayso.Request) {
	for r := range requests {
		if err := decide(ctx, inbox, &r); err != nil {
			fmt.Fprintln(os.Stderr, "wake: answer:", err)
			os.Exit(1)
		}
	}
}

// decide answers a request, unless somebody else was first.
func decide(ctx context.Context, inbox sayso.Inbox, r *sayso.Request) error {
	a := sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}
	if r.Digest[0]&1 == 0 {
		a.Effect = sayso.Deny
	}
	_, err := inbox.Answer(ctx, r.ID, a)
	var decided *sayso.DecidedError
	if errors.As(err, &decided) {
		return nil
	}
	return err
}
