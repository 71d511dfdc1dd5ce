package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/server"
)

// The attack: an agent opens streams of events until the server has no memory
// left for the person who would answer it.
func TestEvents_onePrincipalHasItsShareOfStreams(t *testing.T) {
	w := newHarness(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last, let := context.WithCancel(ctx)
	open := 0
	for refused := false; !refused; open++ {
		if open > 1024 {
			t.Fatal("an agent may follow the log any number of times")
		}
		under := ctx
		if open == 0 {
			under = last
		}
		resp, _ := w.stream(under, "agent", "")
		switch resp.StatusCode {
		case http.StatusOK:
		case http.StatusTooManyRequests:
			refused = true
		default:
			t.Fatalf("stream %d was answered with %d", open, resp.StatusCode)
		}
	}
	var err error
	for _, err = range w.dial("agent").Follow(ctx, 0, sayso.EventQuery{}) {
		break
	}
	if !errors.Is(err, sayso.ErrTooMany) {
		t.Errorf("a WebSocket was let follow as well: %v", err)
	}
	for _, other := range []string{"person", "agent2"} {
		if resp, _ := w.stream(ctx, other, ""); resp.StatusCode != http.StatusOK {
			t.Errorf("%s was answered with %d", other, resp.StatusCode)
		}
	}
	let()
	for {
		resp, _ := w.stream(ctx, "agent", "")
		if resp.StatusCode == http.StatusOK {
			return // in the place of the one that ended
		}
	}
}

// The attack: somebody sends the head of a request and then of its body no more
// than keeps a connection, with and without a token, until there is none left.
func TestBody_thatDoesNotArriveLosesItsConnection(t *testing.T) {
	w := newHarness(t, func(o *server.Options) { o.SetBody(50 * time.Millisecond) })
	for name, tt := range map[string]struct {
		token, path string
		length, now int
	}{
		"with a token":            {"agent", "/v1/admissions", 100, 1},
		"without":                 {"", "/v1/admissions", 100, 1},
		"where none belongs":      {"agent", "/v1/head", 100, 0},
		"more than is taken":      {"agent", "/v1/sessions/s/begin", 200 << 10, 100 << 10},
		"for something unknown":   {"agent", "/v1/nothing", 100, 1},
		"of a person who answers": {"person", "/v1/mode", 100, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", w.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%*s",
				tt.path, w.addr, tt.token, tt.length, tt.now, ""); err != nil {
				t.Fatal(err)
			}
			if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			var late net.Error
			if _, err := io.Copy(io.Discard, c); errors.As(err, &late) && late.Timeout() {
				t.Error("the connection stands")
			}
		})
	}
}
