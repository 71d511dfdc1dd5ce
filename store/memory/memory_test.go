package memory_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/memory"
	"github.com/sayso-dev/sayso/store/storetest"
)

func event(stream string) sayso.Batch {
	return sayso.Batch{
		Events: []sayso.Event{{Stream: stream, Type: sayso.EventSessionEnded, Payload: sayso.Args(`{}`)}},
		Expect: map[string]int{stream: sayso.AnyLength},
	}
}

func TestWait_inABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := memory.New(nil)
		woken := make(chan error, 1)
		go func() {
			_, err := log.Wait(t.Context(), "session/s", 0, time.Time{})
			woken <- err
		}()
		synctest.Wait()
		if _, err := log.Append(t.Context(), event("session/other")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-woken:
			t.Fatalf("another stream woke the waiter: %v", err)
		default:
		}
		if _, err := log.Append(t.Context(), event("session/s")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := <-woken; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := log.Wait(ctx, "session/s", 1, time.Time{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the hour is over", err)
		}
	})
}

func TestOptions_fail(t *testing.T) {
	full := errors.New("no space left on device")
	var disk error
	log := memory.New(&memory.Options{Fail: func(sayso.Batch) error { return disk }})
	if _, err := log.Append(t.Context(), event("session/s")); err != nil {
		t.Fatal(err)
	}
	disk = full
	if _, err := log.Append(t.Context(), event("session/s")); !errors.Is(err, full) {
		t.Errorf("got %v, want what the disk said", err)
	}
	if events, err := log.Stream(t.Context(), "session/s", 0); err != nil || len(events) != 1 {
		t.Errorf("got %d events and %v, want the one that was appended", len(events), err)
	}
}

func TestPromises(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		log := memory.New(nil)
		return func(*testing.T) sayso.Log { return log.Join() }
	})
}
