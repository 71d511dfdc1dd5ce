package main

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role); err != nil {
			os.Stderr.WriteString("wake: " + role + ": " + err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A few cycles, of which none may be lost. The rest is for those who have time.
func TestWake_losesNothing(t *testing.T) {
	l := lab{cycles: 400, askers: 2, answerers: 2, lanes: 8, kill: 300 * time.Millisecond, dir: t.TempDir()}
	if err := l.run(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if l.result.Cycles != 400 || l.result.Lost != 0 {
		t.Errorf("%+v", l.result)
	}
}
