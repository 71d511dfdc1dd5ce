package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// another is what another terminal is: another handle on the same file.
func another(t *testing.T, path string) sayso.Inbox {
	t.Helper()
	log, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.New(policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.New(log, rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(); log.Close() })
	return b.Inbox(sayso.Actor{Principal: "ana", Kind: sayso.PrincipalPerson})
}

// first waits for the first event of a type and returns its request.
func first(t *testing.T, inbox sayso.Inbox, want sayso.EventType) sayso.Request {
	t.Helper()
	for e, err := range inbox.Follow(t.Context(), 0, sayso.EventQuery{Types: []sayso.EventType{want}}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := inbox.Request(t.Context(), string(e.RequestID))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	t.Fatal("following ended")
	return sayso.Request{}
}

// It waits, is stopped, is started again, and goes on with the same request.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "sayso.db")
	inbox := another(t, path)
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- run(ctx, path, "ana", new(bytes.Buffer)) }()
	r := first(t, inbox, sayso.EventRequested)
	stop()
	if err := <-stopped; err == nil {
		t.Fatal("it deployed without an answer")
	}
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- run(t.Context(), path, "ana", &out) }()
	if taken := first(t, inbox, sayso.EventTaken); taken.ID != r.ID {
		t.Errorf("it asked anew: %s, then %s", r.ID, taken.ID)
	}
	if _, err := inbox.Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "waiting: run sayso watch\ndeploying, as ana said\n" {
		t.Errorf("got %q", got)
	}
}
