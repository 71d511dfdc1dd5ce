package local_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/local"
)

// A file that could not be read for a moment must not stay unread until somebody
// touches it.
func TestRules_areReadAgainAfterAReadThatFailed(t *testing.T) {
	p := at(t)
	policyIs(t, p, "version: 1\n")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(p.Policy(), long, long); err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	files := func(most uint64) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: limit.Max}); err != nil {
			t.Fatal(err)
		}
	}
	defer files(limit.Cur)
	files(0)
	rules := local.NewRules(p)
	if rules.Err() == nil {
		t.Fatal("the policy was read without a file")
	}
	files(limit.Cur)
	if err := rules.Err(); err != nil {
		t.Errorf("the policy stays unread: %v", err)
	}
}
