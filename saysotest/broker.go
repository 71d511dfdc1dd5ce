package saysotest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/memory"
)

// The principals of a [Broker].
var (
	// Program asks: an enforcement point inside a program.
	Program = sayso.Actor{Principal: "program", Kind: sayso.PrincipalTool, Channel: "embedded", Owner: "person"}
	// Person answers what Program asks.
	Person = sayso.Actor{Principal: "person", Kind: sayso.PrincipalPerson, Channel: "terminal"}
)

// admin sets what a broker cannot be started with.
var admin = sayso.Actor{Principal: "admin", Kind: sayso.PrincipalAdmin, Channel: "terminal"}

// Option changes a [Broker] before it starts.
type Option func(*settings)

type settings struct {
	policy sayso.Policy
	mode   sayso.Mode
	script script
}

// ApproveAll has the person approve what no other line of the script speaks of.
func ApproveAll() Option {
	return func(s *settings) { s.script.add("*", say(sayso.Answer{Effect: sayso.Allow})) }
}

// DenyAll has the person deny what no other line of the script speaks of, with
// a note.
func DenyAll(note string) Option {
	return func(s *settings) { s.script.add("*", say(sayso.Answer{Effect: sayso.Deny, Note: note})) }
}

// WithPolicy judges by p instead of asking about everything.
func WithPolicy(p sayso.Policy) Option { return func(s *settings) { s.policy = p } }

// WithMode starts in a mode instead of the interactive one. Approving all ends
// after a day, which is the longest that it may last.
func WithMode(m sayso.Mode) Option { return func(s *settings) { s.mode = m } }

// Broker is a real broker on a log in memory, with a person who answers by
// script. Its methods may be called from many goroutines.
type Broker struct {
	t      testing.TB
	broker *broker.Broker
	script *script

	mu    sync.Mutex // guards asked
	asked []sayso.Request
}

// New starts a broker that ends with the test.
func New(t testing.TB, opts ...Option) *Broker {
	t.Helper()
	s := settings{policy: AskAlways{}}
	for _, o := range opts {
		o(&s)
	}
	log := memory.New(nil)
	opened := make(chan sayso.ID, 1024)
	b := &Broker{t: t, script: &s.script}
	var err error
	b.broker, err = broker.New(log, s.policy, &broker.Options{
		Now: clock(), Mode: func() sayso.Mode { return s.mode }, MaxOpen: 1 << 30, MaxAsks: 1 << 30,
		Opened: func(r sayso.Request) { b.note(r); opened <- r.ID },
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.mode == sayso.ModeApproveAll {
		if err := b.broker.Inbox(admin).SetMode(context.Background(), "", s.mode, 24*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); b.person(ctx, opened) }() // ends with the test
	t.Cleanup(func() {
		stop()
		<-done
		if err := errors.Join(b.broker.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// clock is the broker's clock by the time of this process or, inside a bubble,
// of the bubble.
func clock() func() sayso.Moment {
	start := time.Now()
	return func() sayso.Moment {
		now := time.Now()
		return sayso.Moment{Wall: now.UTC(), Boot: "test", Since: now.Sub(start)}
	}
}

// Gate is what the code under test gets: the gate of [Program].
func (b *Broker) Gate() sayso.Gate { return b.broker.Gate(Program) }

// GateOf is the gate of another requester.
func (b *Broker) GateOf(a sayso.Actor) sayso.Gate { return b.broker.Gate(a) }

// Inbox is the inbox of [Person], for what the script cannot say.
func (b *Broker) Inbox() sayso.Inbox { return b.broker.Inbox(Person) }

// InboxOf is the inbox of somebody else.
func (b *Broker) InboxOf(a sayso.Actor) sayso.Inbox { return b.broker.Inbox(a) }

// Approve has the person approve the calls that a pattern matches; see [Broker]
// for which line of the script counts, and [Broker.Answer] for more than yes
// and no. A pattern is a tool, or a tool, a colon and the argument that matters
// most: bash, bash:git *, web-fetch:https://example.org/*, github/create_issue.
// Stars match any characters.
func (b *Broker) Approve(pattern string) {
	b.script.add(pattern, say(sayso.Answer{Effect: sayso.Allow}))
}

// Deny has the person deny the calls that a pattern matches, with a note.
func (b *Broker) Deny(pattern, note string) {
	b.script.add(pattern, say(sayso.Answer{Effect: sayso.Deny, Note: note}))
}

// Leave leaves the calls that a pattern matches open: the test answers them by
// itself, or lets them expire.
func (b *Broker) Leave(pattern string) { b.script.add(pattern, nil) }

// Answer has a function answer all calls. The answer need not name the digest
// and the content; the zero answer denies.
func (b *Broker) Answer(f func(sayso.Request) sayso.Answer) { b.script.add("*", f) }

// Asked returns what the person was asked so far, in order.
func (b *Broker) Asked() []sayso.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

func (b *Broker) note(r sayso.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, r)
}

// Events returns the log so far, as the person sees it; with types, the events
// of those types.
func (b *Broker) Events(types ...sayso.EventType) []sayso.Event {
	b.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	head, err := b.Inbox().Head(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	var events []sayso.Event
	if head.Seq == 0 {
		return nil
	}
	for e, err := range b.broker.Inbox(auditor).Follow(ctx, 0, sayso.EventQuery{}) {
		if err != nil {
			b.t.Fatal(err)
		}
		if len(types) == 0 || slices.Contains(types, e.Type) {
			events = append(events, e)
		}
		if e.Seq >= head.Seq {
			break
		}
	}
	return events
}

// auditor sees all events, so that the last one is among them.
var auditor = sayso.Actor{Principal: "auditor", Kind: sayso.PrincipalAdmin, Channel: "embedded"}
