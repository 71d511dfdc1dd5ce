package enforce_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/saysotest"
)

func admission(patience time.Duration) sayso.Admission {
	return sayso.Admission{
		Call:     sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"true"}`), Session: "s", CallID: "1", Caller: "x/main"},
		Patience: patience, Immediate: true,
	}
}

// What is taken back is withdrawn whether or not Admit said which request it was,
// also by somebody who has gone.
func TestTakeBack(t *testing.T) {
	for _, known := range []bool{true, false} {
		b := saysotest.New(t)
		b.Leave("*")
		_, err := b.Gate().Admit(t.Context(), admission(time.Nanosecond))
		if !errors.Is(err, sayso.ErrPending) {
			t.Fatal(err)
		}
		if !known {
			err = context.Canceled
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		again := 0
		enforce.TakeBack(gone, b.Gate(), sayso.Decision{}, err, "gone", func(ctx context.Context) (sayso.Decision, error) {
			again++
			return b.Gate().Admit(ctx, admission(time.Nanosecond))
		})
		if e := b.Events(sayso.EventWithdrawn); len(e) != 1 || !strings.Contains(string(e[0].Payload), "gone") {
			t.Errorf("known %t: withdrawn %+v", known, e)
		}
		if (again == 0) != known || again > 1 {
			t.Errorf("known %t: asked again %d times", known, again)
		}
	}
}

// A call that came to no request has nothing to be withdrawn.
func TestTakeBack_nothing(t *testing.T) {
	b := saysotest.New(t)
	refused := func(context.Context) (sayso.Decision, error) { return sayso.Decision{}, sayso.ErrUnavailable }
	enforce.TakeBack(t.Context(), b.Gate(), sayso.Decision{}, sayso.ErrUnavailable, "gone", refused)
	if e := b.Events(sayso.EventWithdrawn); len(e) != 0 {
		t.Errorf("withdrawn %+v", e)
	}
}

func TestUnrun(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	d, err := b.Gate().Admit(t.Context(), admission(0))
	if err != nil || !d.Allowed() {
		t.Fatal(d, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	enforce.Unrun(gone, b.Gate(), d.Request)
	if e := b.Events(sayso.EventFinished); len(e) != 1 || !strings.Contains(string(e[0].Payload), `"interrupt":true`) {
		t.Errorf("on the record: %+v", e)
	}
}
