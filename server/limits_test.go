package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/server"
)

// Many requests of one session neither hide those of another nor keep it from
// being asked and answered.
func TestOneSessionDoesNotCrowdOutAnother(t *testing.T) {
	w := newHarness(t, nil)
	flood := w.dial("agent")
	ctx, cancel := context.WithCancel(t.Context())
	var askers sync.WaitGroup
	defer askers.Wait()
	defer cancel()
	const many = 300
	for i := range many {
		askers.Go(func() {
			c := call("bash", fmt.Sprintf("flood%d", i))
			if _, err := flood.Admit(ctx, sayso.Admission{Call: c}); !errors.Is(err, context.Canceled) {
				t.Errorf("flood %d: %v", i, err)
			}
		})
	}
	got := make(chan error, 1)
	c := call("bash", "quiet")
	c.Session = "theirs"
	go func() {
		d, err := w.client("agent2").Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Minute})
		if err == nil && !d.Allowed() {
			err = errors.New("denied")
		}
		got <- err
	}()
	quiet := w.waitForRequest("theirs", "quiet")
	w.waitForRequest("s1", fmt.Sprintf("flood%d", many-1))
	for token, query := range map[string]string{"eve": "", "admin": "", "viewer": "?session=theirs"} {
		r := w.request(token, "GET", "/v1/requests"+query, "")
		if r.status != http.StatusOK || !strings.Contains(string(r.body), string(quiet.ID)) {
			t.Errorf("%s does not see the quiet session: %.200s", token, r.body)
		}
	}
	if _, err := w.client("eve").Answer(t.Context(), quiet.ID, allow(quiet)); err != nil {
		t.Error(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestWrongCodesHaveAnEnd(t *testing.T) {
	w := newHarness(t, nil)
	status := 0
	for range 70 {
		status = w.request("", "POST", "/v1/login", `{"code":"guess"}`).status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("after 70 wrong codes: %d", status)
	}
}

func TestLogout(t *testing.T) {
	w := newHarness(t, nil)
	if r := w.request("person", "POST", "/v1/logout", `{}`); r.status != http.StatusNoContent {
		t.Fatal(r.status)
	}
	if r := w.request("person", "GET", "/v1/requests", ""); r.status != http.StatusUnauthorized {
		t.Errorf("the token works on: %d", r.status)
	}
}

func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var parents []string
	var spans []server.Span
	w := newHarness(t, func(o *server.Options) {
		o.Trace = func(ctx context.Context, parent string) (context.Context, func(server.Span)) {
			mu.Lock()
			defer mu.Unlock()
			parents = append(parents, parent)
			return ctx, func(s server.Span) {
				mu.Lock()
				defer mu.Unlock()
				spans = append(spans, s)
			}
		}
	})
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	w.request("agent", "POST", "/v1/admissions", `{"call":{"tool":"file-read","args":{"path":"`+canary+`"},"session":"s1","call_id":"c1"}}`,
		"Traceparent: "+parent)
	mu.Lock()
	defer mu.Unlock()
	if len(parents) != 1 || parents[0] != parent || len(spans) != 1 || spans[0] != (server.Span{Route: "/v1/admissions", Status: 200}) {
		t.Errorf("spans %v within %v", spans, parents)
	}
}
