package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func init() { maxSSEMessage = 1 << 20 } // so that what is too long can be sent at once

// Answers that nobody reads have room until there is too much of them; what was read, or
// is waited for no more, makes room again.
func TestSSEConn_unread(t *testing.T) {
	c := &sseConn{transport: &sseTransport{}, stop: func() {}, pending: map[string]*sseAnswer{}, more: make(chan struct{}, 1)}
	long := strings.Repeat("x", maxSSEMessage/2)
	var answers []*sseAnswer
	take := func(id int) bool {
		m := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"x":"%s"}}`, id, long)
		parsed, err := readMessage([]byte(m))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, c.expect(parsed.key()))
		return c.take([]byte(m))
	}
	for id := range 3 {
		if !take(id) {
			t.Fatalf("no room for answer %d", id)
		}
	}
	if take(3) {
		t.Error("there was room for all")
	}
	b := &sseAnswerBody{conn: c, key: "0", answer: answers[0], ctx: context.Background(), closed: make(chan struct{})}
	for range 2 { // as callers may
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if !take(4) || c.unread > 2*maxSSEMessage {
		t.Errorf("no room after one was read, of %d bytes", c.unread)
	}
	if take(5) {
		t.Error("there was room twice")
	}
}
