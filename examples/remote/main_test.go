package main

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/server"
)

// serve puts a gate on the network whose person answers by script.
func serve(t *testing.T) (b *saysotest.Broker, address string) {
	t.Helper()
	b = saysotest.New(t)
	s, err := server.New(
		func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.GateOf(a), b.InboxOf(a) },
		&server.Options{Authenticate: func(token string) (sayso.Actor, error) {
			if token != "sayso_tool_secret" {
				return sayso.Actor{}, errors.New("no such token")
			}
			return saysotest.Program, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return b, h.URL
}

func TestRun(t *testing.T) {
	b, address := serve(t)
	b.Approve("bash:make *")
	var out bytes.Buffer
	if err := run(t.Context(), address, "sayso_tool_secret", time.Minute, &out); err != nil || out.String() != "deploying\n" {
		t.Errorf("approved: %q, %v", out.String(), err)
	}
	if got := b.Events(sayso.EventFinished); len(got) != 1 {
		t.Errorf("the outcome was reported %d times", len(got))
	}
	for _, c := range []struct {
		name     string
		script   func()
		token    string
		patience time.Duration
		want     string
	}{
		{"denied", func() { b.Deny("bash", "not on a Friday") }, "sayso_tool_secret", time.Minute, ": not on a Friday"},
		{"unanswered", func() { b.Leave("bash") }, "sayso_tool_secret", time.Millisecond, "Not decided yet, ticket "},
		{"another token", func() {}, "sayso_tool_other", time.Minute, "Could not find out"},
	} {
		c.script()
		if err := run(t.Context(), address, c.token, c.patience, &out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if out.String() != "deploying\n" {
		t.Errorf("it deployed without an approval: %q", out.String())
	}
}
