package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/store/memory"
)

// tracer is in the place of yours: with OpenTelemetry, Extract of its propagator and
// Start of its tracer.
type tracer struct{}

func (tracer) start(ctx context.Context, parent string) context.Context {
	fmt.Println("begins within", parent)
	return ctx
}

// A server within a program of your own has its spans where the program's others are.
func ExampleOptions_trace() {
	rules, err := policy.New(policy.Options{})
	if err != nil {
		panic(err)
	}
	b, err := broker.New(memory.New(nil), rules, nil)
	if err != nil {
		panic(err)
	}
	defer b.Close()
	s, err := server.New(func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.Gate(a), b.Inbox(a) }, &server.Options{
		Authenticate: func(string) (sayso.Actor, error) { return sayso.Actor{}, errors.New("no such token") },
		Trace: func(ctx context.Context, parent string) (context.Context, func(server.Span)) {
			return tracer{}.start(ctx, parent), func(s server.Span) { fmt.Println("ends:", s.Route, s.Status) }
		},
	})
	if err != nil {
		panic(err)
	}
	front := httptest.NewServer(s)
	defer front.Close()
	ask, err := http.NewRequestWithContext(context.Background(), http.MethodGet, front.URL+"/v1/requests", nil)
	if err != nil {
		panic(err)
	}
	ask.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		panic(err)
	}
	_ = answer.Body.Close()
	// Output:
	// begins within 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
	// ends: /v1/requests 401
}
