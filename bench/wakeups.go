package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// wakeups counts askers that were not told of their decision, while processes
// are killed; see lab/wake.
func wakeups(ctx context.Context, w *world, dir string) ([]figure, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/sayso-dev/sayso/lab/wake",
		"-json", "-dir", dir, "-cycles", strconv.Itoa(w.few(w.wakeupCycles, 300)))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("lab/wake: %w", err)
	}
	var got struct {
		Cycles  int     `json:"cycles"`
		Kills   int     `json:"kills"`
		Lost    int     `json:"lost"`
		Slow    int     `json:"slow"`
		Slowest float64 `json:"slowest"` // seconds
	}
	if err := jcs.UnmarshalLenient(out, &got); err != nil {
		return nil, err
	}
	return []figure{{
		name: fmt.Sprintf("lost wake-ups in %d cycles", got.Cycles), value: float64(got.Lost), unit: times,
		beside: fmt.Sprintf("%d processes killed; %d wake-ups took over 250ms, the slowest %s", got.Kills, got.Slow, seconds.text(got.Slowest)),
	}}, nil
}
