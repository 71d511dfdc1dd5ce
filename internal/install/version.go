package install

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
)

// ClaudeVersion asks a Claude Code program for its version.
func ClaudeVersion(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if _, ok := numbers(version); !ok {
		return "", fmt.Errorf("%w: %s --version says %q", sayso.ErrInvalid, program, version)
	}
	return version, nil
}

// OldEnough reports nil for a version of Claude Code that this gate holds in.
func OldEnough(version string) error {
	have, ok := numbers(version)
	want, _ := numbers(claudecode.Oldest)
	if !ok {
		return fmt.Errorf("%w: %q is no version", sayso.ErrInvalid, version)
	}
	for i := range want {
		if have[i] != want[i] {
			if have[i] > want[i] {
				return nil
			}
			return fmt.Errorf("%w: Claude Code %s runs a call when its hook fails; %s is the first that does not", sayso.ErrNotAllowed, version, claudecode.Oldest)
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
