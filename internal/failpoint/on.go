//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Enabled says whether this build can be killed at a place.
const Enabled = true

var places = sync.OnceValue(func() *state {
	s := &state{left: map[string]int{}}
	if err := s.read(os.Getenv("SAYSO_FAILPOINT")); err != nil {
		fmt.Fprintln(os.Stderr, "failpoint:", err)
		os.Exit(2)
	}
	if path := os.Getenv("SAYSO_FAILPOINT_COUNTERS"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintln(os.Stderr, "failpoint:", err)
			os.Exit(2)
		}
		s.counters = f
	}
	return s
})

type state struct {
	mu       sync.Mutex
	left     map[string]int // hits until the process dies
	counters *os.File
}

func (s *state) read(spec string) error {
	for part := range strings.SplitSeq(spec, ",") {
		if part == "" {
			continue
		}
		name, count, _ := strings.Cut(part, ":")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return fmt.Errorf("SAYSO_FAILPOINT: %q is not name:count", part)
		}
		s.left[name] = n
	}
	return nil
}

// Hit marks a place, and kills the process if this is the hit it is to die at.
func Hit(name string) {
	s := places()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counters != nil {
		_, _ = s.counters.WriteString(name + "\n") // a lost count only hides a hit
	}
	if _, named := s.left[name]; !named {
		return
	}
	if s.left[name]--; s.left[name] == 0 {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {} // until the signal arrives
	}
}
