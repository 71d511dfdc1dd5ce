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
		if o.scan(piece, i == len(pieces)-1) != nil {
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

// Forwarding has a call leave for the server that was not sent there yet, until the
// returned function is called.
func (r *Relay) Forwarding(id, line string) (send func() error) {
	h := &heldCall{toolCall: toolCall{message: message{id: []byte(id)}}, cancel: func() {}}
	r.mu.Lock()
	r.calls[h.key()] = h
	r.mu.Unlock()
	r.markForwarded(h, sayso.ID("leaving"))
	return func() error {
		defer close(h.forwarded)
		return r.server.Send([]byte(line))
	}
}

// Held is how many calls of their client a relay knows.
func (r *Relay) Held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls)
}

// Rounds is how many calls wait for their client.
func (r *Relay) Rounds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rounds)
}

// SetIOTimeout has clients be faster, until the returned function is called.
func SetIOTimeout(d time.Duration) (reset func()) {
	before := ioTimeout
	ioTimeout = d
	return func() { ioTimeout = before }
}

// SetRetryDelay has servers that say nothing of it be left alone for so long, until the
// test has ended, and the handler that it opens then.
func SetRetryDelay(t *testing.T, d time.Duration) {
	before := retryDelay
	retryDelay = d
	t.Cleanup(func() { retryDelay = before })
}

// BackoffDelays are how long a server is left alone that asks for this, before each try, where
// the tries gave: - nothing, 0 a stream that told nothing, 1 one that did.
func BackoffDelays(retry time.Duration, gave string) (all []time.Duration) {
	r := backoff{}
	for _, g := range gave {
		all = append(all, r.delay(retry))
		switch g {
		case '-':
			r.record(nil)
		default:
			r.record(&eventLines{hasMessage: g == '1'})
		}
	}
	return append(all, r.delay(retry))
}

// EventLines are the lines that an event stream is read as.
func EventLines(stream io.Reader) (lines string, last string) {
	e := newEventLines(stream)
	text, _ := io.ReadAll(e) // which ends as the stream does
	return string(text), e.lastID
}

// SetMaxOpen has sessions have fewer and shorter requests that are not
// answered, until the returned function is called.
func SetMaxOpen(n, bytes int) (reset func()) {
	was, long := maxOpen, maxOpenBytes
	maxOpen, maxOpenBytes = n, bytes
	return func() { maxOpen, maxOpenBytes = was, long }
}

// Nobody answers soon in tests, but in those of that.
func init() { taskPatience = time.Nanosecond }

// SetTaskPatience sets how long a call waits before its client has a task, until the
// test has ended.
func SetTaskPatience(t *testing.T, d time.Duration) {
	before := taskPatience
	taskPatience = d
	t.Cleanup(func() { taskPatience = before })
}

// SetMaxTasks has conversations have fewer tasks, until the returned function is
// called.
func SetMaxTasks(n int) (reset func()) {
	before := maxTasks
	maxTasks = n
	return func() { maxTasks = before }
}

// SetMaxInputRequired has fewer tasks of a conversation wait for their client, until the
// returned function is called.
func SetMaxInputRequired(n int) (reset func()) {
	before := maxInputRequired
	maxInputRequired = n
	return func() { maxInputRequired = before }
}

// Tasks is how many tasks a relay knows.
func (r *Relay) Tasks() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tasks)
}

// SetLimits has an owner have so much of a handler, and all of them twice that, until
// the returned function is called.
func SetLimits(requests, bytes, sessions, programs int) (reset func()) {
	before := defaultLimits
	each := usage{requests, bytes, sessions, programs}
	defaultLimits = limits{total: each.plus(each, 1), perOwner: each}
	return func() { defaultLimits = before }
}

// Reconnecting is a stream whose client was sent away.
type Reconnecting struct{ s *stream }

// NewReconnecting is one, which is waited for so long.
func NewReconnecting(t *testing.T, after time.Duration) Reconnecting {
	s := newStream("r")
	r, err := s.openReader(0)
	if err != nil {
		t.Fatal(err)
	}
	r.canReconnect = true
	s.askReconnect(after)
	if _, _, err := r.tryNext(); !errors.Is(err, errReconnect) {
		t.Fatalf("it is not sent away: %v", err)
	}
	r.close()
	return Reconnecting{s}
}

// AddLong has an answer come that passes as it comes.
func (a Reconnecting) AddLong() func(text string) error {
	to := a.s.addLong()
	return func(text string) error {
		_, err := to.Write([]byte(text))
		to.closeWithError(err)
		if to.closed {
			return errors.New("it is lost")
		}
		return err
	}
}

// Read has the client come back, and returns what it has of the answer.
func (a Reconnecting) Read() (string, error) {
	r, err := a.s.openReader(0)
	if err != nil {
		return "", err
	}
	e, _, err := r.tryNext()
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(e.long)
	return string(text), err
}
