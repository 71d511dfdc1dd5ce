package install

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso"
)

// versionPatience is how long a program may take to say its version. Some load much
// before they do, and machines may be busy.
const versionPatience = time.Minute

// Version asks a program of a host for its version.
func Version(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("%s --version did not end within %v", program, versionPatience)
	case errors.Is(err, syscall.ENOEXEC):
		return "", fmt.Errorf("%s cannot be run here (%w): it may not be whole, as after npm install --ignore-scripts; install it again", program, err)
	case err != nil:
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	for _, word := range strings.Fields(string(out)) { // some say their name first, in a sentence
		word = strings.TrimRight(word, ".,")
		if _, ok := numbers(word); ok {
			return word, nil
		}
	}
	return "", fmt.Errorf("%w: %s --version says %q", sayso.ErrInvalid, program, strings.TrimSpace(string(out)))
}

// Fits reports nil for a version of the host that this gate holds in.
func (h Host) Fits(version string) error {
	have, ok := numbers(version)
	want, _ := numbers(h.Oldest)
	if !ok {
		return fmt.Errorf("%w: %q is no version", sayso.ErrInvalid, version)
	}
	for i := range want {
		if have[i] != want[i] {
			if have[i] > want[i] {
				return nil
			}
			return fmt.Errorf("%w: %s %s %s", sayso.ErrNotAllowed, h.Title, version, fmt.Sprintf(h.Older, h.Oldest))
		}
	}
	return nil
}

// numbers takes a version apart; what follows the third number is left out.
func numbers(version string) (n [3]int, ok bool) {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) != 3 {
		return n, false
	}
	parts[2], _, _ = strings.Cut(parts[2], "-")
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 {
			return n, false
		}
		n[i] = v
	}
	return n, true
}
