package failpoint_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sayso-dev/sayso/internal/failpoint"
)

func TestMain(m *testing.M) {
	if os.Getenv("SAYSO_FAILPOINT_TEST") != "" {
		for range 3 {
			failpoint.Hit("a")
			failpoint.Hit("b")
		}
		return
	}
	os.Exit(m.Run())
}

// run runs this test's binary, which hits a and b three times in turn.
func run(t *testing.T, spec string) (counted string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "counters")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "SAYSO_FAILPOINT_TEST=1", "SAYSO_FAILPOINT="+spec, "SAYSO_FAILPOINT_COUNTERS="+path)
	err = cmd.Run()
	text, readErr := os.ReadFile(path)
	if readErr != nil && !errors.Is(readErr, os.ErrNotExist) {
		t.Fatal(readErr)
	}
	return string(text), err
}

func TestHit(t *testing.T) {
	for _, tt := range []struct {
		spec   string
		killed bool
		counts string
	}{
		{"", false, "a\nb\na\nb\na\nb\n"},
		{"a:1", true, "a\n"},
		{"b:2", true, "a\nb\na\nb\n"},
		{"c:1,b:3", true, "a\nb\na\nb\na\nb\n"},
		{"a:9", false, "a\nb\na\nb\na\nb\n"},
	} {
		counts, err := run(t, tt.spec)
		var exit *exec.ExitError
		killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if !failpoint.Enabled {
			tt.killed, tt.counts = false, ""
		}
		if killed != tt.killed || counts != tt.counts {
			t.Errorf("with %q: killed %v, counted %q; want %v, %q", tt.spec, killed, counts, tt.killed, tt.counts)
		}
	}
	if _, err := run(t, "a:x"); (err != nil) != failpoint.Enabled {
		t.Errorf("a wrong specification came to %v", err)
	}
}
