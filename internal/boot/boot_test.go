package boot_test

import (
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/boot"
)

func TestNowGrowsWithinOneBoot(t *testing.T) {
	id, since := now(t)
	if since <= 0 {
		t.Errorf("time since boot = %v, want more than nothing", since)
	}
	for range 1000 {
		nextID, next := now(t)
		if nextID != id {
			t.Fatalf("boot id changed from %q to %q", id, nextID)
		}
		if next < since {
			t.Fatalf("time since boot went back from %v to %v", since, next)
		}
		since = next
	}
}

func TestNowFromManyGoroutines(t *testing.T) {
	want, _ := now(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if id, _, err := boot.Now(); err != nil || id != want {
				t.Errorf("Now() = %q, %v, want %q", id, err, want)
			}
		})
	}
	wg.Wait()
}

func now(t *testing.T) (string, time.Duration) {
	t.Helper()
	id, since, err := boot.Now()
	if err != nil {
		t.Fatal(err)
	}
	return id, since
}
