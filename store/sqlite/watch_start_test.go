package sqlite_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// Whoever is first to wait, and does so for the database, does not hold up the
// next one.
func TestWatch_firstWaitsForTheDatabase(t *testing.T) {
	l := open(t, place(t), nil)
	free := l.Busy()
	first, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { _, _ = l.WaitSince(first, 0) }) // it ends with first
	for range 20 {
		ctx, end := context.WithTimeout(t.Context(), 2*time.Millisecond)
		if _, err := l.WaitSince(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the next one: %v", err)
		}
		end()
	}
	if first.Err() != nil {
		t.Error("the next one waited for the first")
	}
	cancel()
	wg.Wait()
	free()
}
