//go:build unix

package machine

import (
	"context"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// Broker opens the machine's database in this process, as one more beside its
// programs, with the built-in rules.
func (m *Machine) Broker(o *broker.Options, do func(context.Context, *broker.Broker)) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Minute)
	defer cancel()
	log, err := sqlite.Open(ctx, m.Paths().Database(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	defer log.Close()
	rules, err := policy.New(policy.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	b, err := broker.New(log, rules, o)
	if err != nil {
		m.t.Fatal(err)
	}
	defer b.Close()
	do(ctx, b)
}

// Inbox looks at the log from this process.
func (m *Machine) Inbox(do func(context.Context, sayso.Inbox)) {
	m.t.Helper()
	m.Broker(nil, func(ctx context.Context, b *broker.Broker) {
		do(ctx, b.Inbox(sayso.Actor{Principal: home.Person(), Kind: sayso.PrincipalAdmin, Channel: "test"}))
	})
}

// Opened waits until n requests are open and returns them, the oldest first.
func (m *Machine) Opened(n int) (open []sayso.Request) {
	m.t.Helper()
	m.Inbox(func(ctx context.Context, in sayso.Inbox) {
		query := sayso.RowQuery{States: sayso.OpenStates(), Oldest: true}
		for _, err := range in.Follow(ctx, 0, sayso.EventQuery{}) {
			if err == nil {
				open, err = in.Requests(ctx, query)
			}
			if err != nil {
				m.t.Fatalf("waiting for %d open requests: %v", n, err)
			}
			if len(open) >= n {
				return
			}
		}
	})
	return open
}

// Event waits until an event of a type is in the log.
func (m *Machine) Event(want sayso.EventType) (found sayso.Event) {
	m.t.Helper()
	m.Inbox(func(ctx context.Context, in sayso.Inbox) {
		for e, err := range in.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{want}}) {
			if err != nil {
				m.t.Fatalf("waiting for %s: %v", want, err)
			}
			found = e
			return
		}
	})
	return found
}

// Approve answers a request on the command line, as somebody who saw it.
func (m *Machine) Approve(r sayso.Request, more ...string) string {
	m.t.Helper()
	return m.Must(append([]string{"approve", r.ShortID, "--yes", "--digest", r.Digest.String()}, more...)...)
}

// Lives tells what became of each request in the log, the oldest first, as the
// last words of its events.
func (m *Machine) Lives() (lives []string) {
	m.t.Helper()
	m.Inbox(func(ctx context.Context, in sayso.Inbox) {
		requests, err := in.Requests(ctx, sayso.RowQuery{Oldest: true})
		if err != nil {
			m.t.Fatal(err)
		}
		for _, r := range requests {
			events, err := in.Life(ctx, r.ID)
			if err != nil {
				m.t.Fatal(err)
			}
			var words []string
			for _, e := range events {
				_, word, _ := strings.Cut(string(e.Type), ".")
				words = append(words, word)
			}
			lives = append(lives, strings.Join(words, " "))
		}
	})
	return lives
}

// Requests are all that are in the log, the oldest first.
func (m *Machine) Requests() (all []sayso.Request) {
	m.t.Helper()
	m.Inbox(func(ctx context.Context, in sayso.Inbox) {
		var err error
		if all, err = in.Requests(ctx, sayso.RowQuery{Oldest: true}); err != nil {
			m.t.Fatal(err)
		}
	})
	return all
}

// Authenticate knows the tokens of the machine.
func (m *Machine) Authenticate(secret string) (sayso.Actor, error) {
	t, err := m.Paths().Tokens().Authenticate(secret, time.Now())
	return t.Actor(""), err
}
