package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// table prints figures as they come, for people or one JSON object a line.
type table struct {
	out  io.Writer
	json bool
}

const columns = "%-42s %12s %12s %12s  %-4s  %s\n"

func (t table) head(w *world) {
	if t.json {
		t.line(printed{Name: "F", Value: w.limits.sync, Unit: seconds})
		t.line(printed{Name: "H", Value: w.limits.trip, Unit: seconds})
		return
	}
	fmt.Fprintf(t.out, "%s, %d cores in use, %s\n", processor(), runtime.GOMAXPROCS(0), runtime.Version())
	fmt.Fprintf(t.out, "disk: %s\n", w.system)
	fmt.Fprintf(t.out, "F = %s (fdatasync of 4 KiB, p50), H = %s (HTTP round trip, p50)\n", seconds.text(w.limits.sync), seconds.text(w.limits.trip))
	if w.quick {
		fmt.Fprintln(t.out, "quick: the figures mean nothing")
	}
	fmt.Fprintf(t.out, "\n"+columns, "figure", "measured", "must", "aim", "", "beside")
}

// printed is a figure in JSON.
type printed struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    unit    `json:"unit"`
	Must    float64 `json:"must,omitzero"`
	Aim     float64 `json:"aim,omitzero"`
	Verdict string  `json:"verdict,omitempty"`
	Beside  string  `json:"beside,omitempty"`
}

func (t table) print(f figure) {
	if t.json {
		t.line(printed{f.name, f.value, f.unit, f.must, f.aim, f.verdict(), f.beside})
		return
	}
	must, aimed := "", ""
	if f.verdict() != "" {
		must, aimed = f.unit.text(f.must), f.unit.text(f.aim)
	}
	fmt.Fprintf(t.out, columns, f.name, f.unit.text(f.value), must, aimed, f.verdict(), f.beside)
}

func (t table) line(p printed) {
	if text, err := jcs.Marshal(p); err == nil { // numbers and words of ours
		fmt.Fprintln(t.out, string(text))
	}
}

func (t table) foot(missed int) {
	if !t.json && missed > 0 {
		fmt.Fprintf(t.out, "\n%d figures miss what they must be; docs/performance.md says why\n", missed)
	}
}

// processor is the model of the processor, as far as the system tells.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOOS + "/" + runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
