package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sayso-dev/sayso"
)

// steps is how many batches a random history has.
const steps = 60

// model is a log as simple as it can be: everything in one list, searched from
// its beginning for each question.
type model struct {
	events []sayso.Event
	head   sayso.Head
	keys   map[string]string
}

func (m *model) stream(name string) (out []sayso.Event) {
	for _, e := range m.events {
		if e.Stream == name {
			out = append(out, e)
		}
	}
	return out
}

// append adds a batch if the contract says so.
func (m *model) append(b sayso.Batch) bool {
	next := model{slices.Clone(m.events), m.head, map[string]string{}}
	for name, want := range b.Expect {
		if want != sayso.AnyLength && want != len(m.stream(name)) {
			return false
		}
	}
	for _, k := range b.Keys {
		if m.keys[k.Name] != "" || next.keys[k.Name] != "" {
			return false
		}
		next.keys[k.Name] = k.Stream
	}
	for _, e := range b.Events {
		before := next.stream(e.Stream)
		for _, old := range before {
			if old.Type.Terminal() && e.Type.Terminal() || old.Type.Spends() && e.Type.Spends() {
				return false
			}
		}
		e.Pos = len(before) + 1
		next.head = e.Chain(next.head)
		next.events = append(next.events, e)
	}
	for i := range next.events {
		if slices.Contains(b.Erase, next.events[i].RequestID) {
			next.events[i].Content, next.events[i].Salt = nil, nil
		}
	}
	for name, stream := range m.keys {
		next.keys[name] = stream
	}
	*m = next
	return true
}

// rows are the rows that the events make, oldest first.
func (m *model) rows(s *stage) (out []sayso.Row) {
	for _, e := range m.events {
		if e.Type == sayso.EventRequested {
			out = append(out, s.rebuilt(m.stream(e.Stream)))
		}
	}
	return out
}

// history appends random batches through two handles and compares with the
// model after each.
func history(s *stage, seed uint64) {
	luck := rand.New(rand.NewPCG(seed, 2))
	logs := []sayso.Log{s.handle(), s.handle()}
	m := &model{}
	for step := range steps {
		b := s.random(luck, m)
		_, err := logs[luck.IntN(2)].Append(s.ctx, b)
		taken := m.append(b)
		if (err == nil) != taken || (err != nil && !errors.Is(err, sayso.ErrConflict)) {
			s.Fatalf("seed %d, step %d: Append returned %v, the model took it: %v\n%s", seed, step, err, taken, describe(b))
		}
		s.compare(logs[luck.IntN(2)], m, b)
		if s.Failed() {
			s.Fatalf("seed %d, step %d: after\n%s", seed, step, describe(b))
		}
	}
	s.same("the log", s.all(logs[0]), m.events)
}

// compare asks a log what the batch may have changed.
func (s *stage) compare(log sayso.Log, m *model, b sayso.Batch) {
	s.Helper()
	s.same("the head", s.head(log), m.head)
	for name := range b.Expect {
		s.same("stream "+name, s.stream(log, name, 0), m.stream(name))
	}
	after := max(len(m.events)-5, 0)
	since, err := log.Since(s.ctx, sayso.Seq(after), 10)
	s.check(err)
	s.same("the end of the log", since, m.events[after:])
	want := m.rows(s)
	rows, err := log.Rows(s.ctx, sayso.RowQuery{Oldest: true, Limit: 10 * steps})
	s.check(err)
	s.same("the rows", rows, want)
	var open []sayso.ID
	for _, w := range want {
		if w.State.Open() {
			open = append(open, w.ID)
		}
	}
	s.same("the open requests", s.ids(log, "", 0), open)
	for name, stream := range m.keys {
		got, err := log.Lookup(s.ctx, name)
		s.check(err)
		s.same("who holds a key", got, stream)
	}
}

// random makes a batch that is legal about two times in three.
func (s *stage) random(luck *rand.Rand, m *model) sayso.Batch {
	var parts []sayso.Batch
	rows := m.rows(s)
	for range 1 + luck.IntN(3) {
		if len(rows) == 0 || luck.IntN(3) == 0 {
			_, b := s.Request(Wish{Session: fmt.Sprint("session-", luck.IntN(2)), CallID: fmt.Sprint("call-", luck.IntN(200))})
			parts = append(parts, b)
			continue
		}
		w := rows[luck.IntN(len(rows))]
		at := sayso.AnyLength
		if luck.IntN(2) == 0 { // mostly right; wrong if the batch names it twice
			at = len(m.stream(sayso.RequestStream(w.ID))) - luck.IntN(6)/5
		}
		parts = append(parts, s.randomNext(luck, w, at))
	}
	return Join(parts...)
}

// randomNext makes something that happens to a request, mostly what can.
func (s *stage) randomNext(luck *rand.Rand, w sayso.Row, at int) sayso.Batch {
	decided := []func() sayso.Batch{
		func() sayso.Batch { return s.Next(w.ID, at, sayso.EventRedeemed, sayso.Redeemed{Policy: "p1"}) },
		func() sayso.Batch { return s.Next(w.ID, at, sayso.EventVoided, sayso.Closed{Reason: "lapsed"}) },
		func() sayso.Batch {
			b := s.Next(w.ID, at, sayso.EventContentErased, sayso.ContentErased{Requests: []sayso.ID{w.ID}})
			b.Erase = []sayso.ID{w.ID}
			return b
		},
		func() sayso.Batch { return s.Answer(w.ID, at, sayso.Allow, "late") },
	}
	open := []func() sayso.Batch{
		func() sayso.Batch {
			return s.Next(w.ID, at, sayso.EventParked, sayso.Parked{Cause: sayso.ParkedPatience})
		},
		func() sayso.Batch { return s.Next(w.ID, at, sayso.EventTaken, sayso.Taken{Holder: "l", CallID: "c"}) },
		func() sayso.Batch { return s.Answer(w.ID, at, sayso.Allow, "yes") },
		func() sayso.Batch { return s.Answer(w.ID, at, sayso.Deny, "no") },
		func() sayso.Batch { return s.Next(w.ID, at, sayso.EventExpired, sayso.Closed{Reason: "late"}) },
		func() sayso.Batch { return s.Next(w.ID, at, sayso.EventWithdrawn, sayso.Closed{Reason: "left"}) },
	}
	if w.State.Open() {
		return open[luck.IntN(len(open))]()
	}
	return decided[luck.IntN(len(decided))]()
}

func describe(b sayso.Batch) (out string) {
	for _, e := range b.Events {
		out += fmt.Sprintf("  %s of %s, expected at %d\n", e.Type, e.Stream, b.Expect[e.Stream])
	}
	return out
}
