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

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/server"
)

// Many requests of one session neither hide those of another nor keep it from
// being asked and answered.
func TestOneSessionDoesNotCrowdOutAnother(t *testing.T) {
	w := newWorld(t, nil)
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
	quiet := w.await("theirs", "quiet")
	w.await("s1", fmt.Sprintf("flood%d", many-1))
	for token, query := range map[string]string{"eve": "", "admin": "", "viewer": "?session=theirs"} {
		r := w.do(token, "GET", "/v1/requests"+query, "")
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
	w := newWorld(t, nil)
	status := 0
	for range 70 {
		status = w.do("", "POST", "/v1/login", `{"code":"guess"}`).status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("after 70 wrong codes: %d", status)
	}
}

func TestLogout(t *testing.T) {
	w := newWorld(t, nil)
	if r := w.do("person", "POST", "/v1/logout", `{}`); r.status != http.StatusNoContent {
		t.Fatal(r.status)
	}
	if r := w.do("person", "GET", "/v1/requests", ""); r.status != http.StatusUnauthorized {
		t.Errorf("the token works on: %d", r.status)
	}
}

// spans is a tracer that keeps what it is told.
type spans struct {
	noop.Tracer
	mu    sync.Mutex
	names []string
	attrs []attribute.KeyValue
	trace []trace.TraceID
}

type span struct {
	noop.Span
	of *spans
}

func (s *spans) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace = append(s.trace, trace.SpanContextFromContext(ctx).TraceID())
	return ctx, &span{of: s}
}

func (s *span) SetName(name string) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.names = append(s.of.names, name)
}

func (s *span) SetAttributes(kv ...attribute.KeyValue) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.attrs = append(s.of.attrs, kv...)
}

func TestTraces(t *testing.T) {
	var tracer spans
	w := newWorld(t, func(o *server.Options) { o.Tracer = &tracer })
	w.do("agent", "POST", "/v1/admissions", `{"call":{"tool":"file-read","args":{"path":"`+canary+`"},"session":"s1","call_id":"c1"}}`,
		"Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	tracer.mu.Lock()
	defer tracer.mu.Unlock()
	if len(tracer.names) != 1 || tracer.names[0] != "/v1/admissions" || tracer.trace[0].String() != "4bf92f3577b34da6a3ce929d0e0e4736" {
		t.Errorf("spans %v in %v", tracer.names, tracer.trace)
	}
	if text := fmt.Sprint(tracer.attrs); strings.Contains(text, canary) || !strings.Contains(text, "200") {
		t.Errorf("attributes %s", text)
	}
}
