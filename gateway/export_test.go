package gateway

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// LongAnswer reports whether the pieces of a message would pass as an answer that
// is too long to be looked at whole.
func LongAnswer(pieces ...[]byte) bool {
	var o outline
	for i, piece := range pieces {
		if o.look(piece, i == len(pieces)-1) != nil {
			return false
		}
	}
	return len(pieces) > 0
}

// SetMaxMessage has messages that are longer pass in pieces, until the returned
// function is called.
func SetMaxMessage(n int) (reset func()) {
	before := maxMessage
	maxMessage = n
	return func() { maxMessage = before }
}

// Leaving has a call leave for the server that was not sent there yet, until the
// returned function is called.
func (r *Relay) Leaving(id, line string) (send func() error) {
	h := &held{called: called{message: message{id: []byte(id)}}, cancel: func() {}}
	r.mu.Lock()
	r.calls[h.key()] = h
	r.mu.Unlock()
	r.leaves(h, sayso.ID("leaving"))
	return func() error {
		defer close(h.gone)
		return r.server.Send([]byte(line))
	}
}

// Rounds is how many calls wait for their client.
func (r *Relay) Rounds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rounds)
}

// SetSlowest has clients be faster, until the returned function is called.
func SetSlowest(d time.Duration) (reset func()) {
	before := slowest
	slowest = d
	return func() { slowest = before }
}

// SetPause has servers that say nothing of it be left alone for so long, until the
// test has ended, and the front that it opens then.
func SetPause(t *testing.T, d time.Duration) {
	before := pause
	pause = d
	t.Cleanup(func() { pause = before })
}

// Rests are how long a server is left alone that asks for this, before each try, where
// the tries gave: - nothing, 0 a stream that told nothing, 1 one that did.
func Rests(retry time.Duration, gave string) (all []time.Duration) {
	r := resting{}
	for _, g := range gave {
		all = append(all, r.asked(retry))
		switch g {
		case '-':
			r.after(nil)
		default:
			r.after(&eventLines{told: g == '1'})
		}
	}
	return append(all, r.asked(retry))
}

// EventLines are the lines that an event stream is read as.
func EventLines(stream io.Reader) (lines string, last string) {
	e := newEventLines(stream)
	text, _ := io.ReadAll(e) // which ends as the stream does
	return string(text), e.lastID
}

// SetMaxUnanswered has sessions have fewer and shorter requests that are not
// answered, until the returned function is called.
func SetMaxUnanswered(n, bytes int) (reset func()) {
	was, long := maxUnanswered, maxAsked
	maxUnanswered, maxAsked = n, bytes
	return func() { maxUnanswered, maxAsked = was, long }
}

// SetMaxTasks has conversations have fewer tasks, until the returned function is
// called.
func SetMaxTasks(n int) (reset func()) {
	before := maxTasks
	maxTasks = n
	return func() { maxTasks = before }
}

// SetMaxWanting has fewer tasks of a conversation wait for their client, until the
// returned function is called.
func SetMaxWanting(n int) (reset func()) {
	before := maxWanting
	maxWanting = n
	return func() { maxWanting = before }
}

// Tasks is how many tasks a relay knows.
func (r *Relay) Tasks() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tasks)
}

// SetShares has an owner have so much of a front, and all of them twice that, until
// the returned function is called.
func SetShares(requests, bytes, sessions, programs int) (reset func()) {
	before := most
	each := share{requests, bytes, sessions, programs}
	most = limits{all: each.plus(each, 1), each: each}
	return func() { most = before }
}

// Away is a stream whose client was sent away.
type Away struct{ s *stream }

// SentAway is one, which is waited for so long.
func SentAway(t *testing.T, after time.Duration) Away {
	s := newStream("r")
	r, err := s.read(0)
	if err != nil {
		t.Fatal(err)
	}
	r.turns = true
	s.comeBack(after)
	if _, _, err := r.take(); !errors.Is(err, errComeBack) {
		t.Fatalf("it is not sent away: %v", err)
	}
	r.stop()
	return Away{s}
}

// Long has an answer come that passes as it comes.
func (a Away) Long() func(text string) error {
	to := a.s.long()
	return func(text string) error {
		_, err := to.Write([]byte(text))
		to.done(err)
		if to.gone {
			return errors.New("it is lost")
		}
		return err
	}
}

// Back has the client come back, and returns what it has of the answer.
func (a Away) Back() (string, error) {
	r, err := a.s.read(0)
	if err != nil {
		return "", err
	}
	e, _, err := r.take()
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(e.long)
	return string(text), err
}
