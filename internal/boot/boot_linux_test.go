package boot_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The kernel tells both facts as text too.
func TestNowAgreesWithProc(t *testing.T) {
	id, since := now(t)
	if want := strings.TrimSpace(read(t, "/proc/sys/kernel/random/boot_id")); id != want {
		t.Errorf("boot id = %q, want %q", id, want)
	}
	var seconds float64
	if _, err := fmt.Sscan(read(t, "/proc/uptime"), &seconds); err != nil {
		t.Fatal(err)
	}
	// /proc/uptime counts sleep as well. It was read later, on a machine that
	// may be busy.
	uptime := time.Duration(seconds * float64(time.Second))
	if diff := (uptime - since).Abs(); diff > time.Minute {
		t.Errorf("time since boot = %v, /proc/uptime = %v", since, uptime)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("this system does not show %s: %v; type: sudo mount -t proc proc /proc", path, err)
	}
	return string(text)
}
