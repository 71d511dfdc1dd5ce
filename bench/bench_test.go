package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", role, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Every row runs and gives figures that are numbers. How large they are is for
// `make bench` on a machine with nothing else to do.
func TestRun_quick(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if lacks := (missing{}); r.name == "page" {
				if _, _, err := browserAndPage(); errors.As(err, &lacks) {
					t.Skipf("the page is not measured: %s; type: make web", lacks)
				}
			}
			var out bytes.Buffer
			if err := run(t.Context(), []string{"-quick", "-json", "-dir", t.TempDir(), "-run", "^" + r.name + "$"}, &out); err != nil {
				t.Fatal(err)
			}
			figures := 0
			for line := range strings.Lines(out.String()) {
				var f printed
				if err := jcs.Unmarshal([]byte(line), &f); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if f.Value < 0 || f.Value == 0 && f.Unit != times {
					t.Errorf("%s is %v", f.Name, f.Value)
				}
				if f.Verdict != "" {
					figures++
				}
			}
			if figures == 0 {
				t.Errorf("no figure with a verdict:\n%s", out.String())
			}
		})
	}
}

func TestFigure_verdict(t *testing.T) {
	tests := map[string]struct {
		figure figure
		want   string
	}{
		"below the aim":        {figure{value: 1, unit: seconds, must: 3, aim: 2}, aim},
		"between the two":      {figure{value: 2.5, unit: seconds, must: 3, aim: 2}, pass},
		"above what it must":   {figure{value: 4, unit: seconds, must: 3, aim: 2}, miss},
		"enough of them":       {figure{value: 4, unit: perSecond, must: 3, aim: 5, atLeast: true}, pass},
		"too few of them":      {figure{value: 2, unit: perSecond, must: 3, aim: 5, atLeast: true}, miss},
		"none, as it must be":  {figure{value: 0, unit: times}, pass},
		"one too many":         {figure{value: 1, unit: times}, miss},
		"need not be anything": {figure{value: 1, unit: seconds}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.figure.verdict(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDurations_at(t *testing.T) {
	d := durations{4 * time.Second, time.Second, 3 * time.Second, 2 * time.Second}
	for share, want := range map[float64]float64{0: 1, 0.5: 3, 0.99: 4, 1: 4} {
		if got := d.at(share); got != want {
			t.Errorf("at(%v) = %v, want %v", share, got, want)
		}
	}
	if got := (durations{}).at(0.5); got != 0 {
		t.Errorf("nothing measured is %v", got)
	}
}

func TestUnit_text(t *testing.T) {
	tests := map[string]struct {
		unit  unit
		value float64
		want  string
	}{
		"microseconds": {seconds, 0.0001234567, "123µs"},
		"milliseconds": {seconds, 0.0123456, "12.3ms"},
		"rate":         {perSecond, 1234.5, "1234/s"},
		"memory":       {bytesUsed, 400 << 20, "400 MB"},
		"count":        {times, 3, "3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.unit.text(tt.value); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
