// Bench measures the figures of docs/performance.md: how long a cycle takes,
// how many there are in a second, what waits cost, how soon things start. Each
// is printed with what it must be and what it aims at, beside the limits of the
// machine measured in the same run: F, the time that makes 4 KiB durable, and
// H, the time of one HTTP round trip on loopback.
//
//	go run ./bench              # or: make bench
//	go run ./bench -run lone    # the rows whose name matches
//	go run ./bench -quick       # a look at whether everything runs
//
// Everything is on: a durable file on a real disk, authentication, validation,
// a policy of a hundred rules, redaction. Servers and clients are processes of
// their own, so that the memory and the time of a server are its own; the
// program starts itself again for that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
)

func main() {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", role, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	rows         string
	json         bool
	quick        bool
	dir          string
	wakeupCycles int
	profile      string
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.rows, "run", "", "regular `expression`: only the rows whose name it matches")
	f.BoolVar(&o.json, "json", false, "one JSON object for each figure")
	f.BoolVar(&o.quick, "quick", false, "small numbers, to see that everything runs; the figures mean nothing")
	f.StringVar(&o.dir, "dir", "", "`folder` on the disk to measure on; a new one in the folder for temporary files otherwise")
	f.IntVar(&o.wakeupCycles, "wakeups", 20_000, "`cycles` in which no wake-up may be lost; the promise is about 1000000")
	f.StringVar(&o.profile, "profile", "", "`folder` for CPU profiles of the servers and clients")
	err = f.Parse(args)
	return o, err
}

// rows are what is measured, in the order of the table.
var rows = []row{
	{"lone", lone}, {"http", overHTTP}, {"socket", overSocket}, {"wakeups", wakeups}, {"parked", parked},
	{"apart", parkedApart},
	{"openlist", openList}, {"start", start}, {"verdict", verdict}, {"line", lines}, {"hook", hook}, {"gateway", gated}, {"followers", followers}, {"page", page},
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	wanted, err := regexp.Compile(o.rows)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	w, err := newWorld(o)
	if err != nil {
		return err
	}
	defer w.close()
	t := table{out: out, json: o.json}
	t.head(w)
	missed := 0
	for _, r := range rows {
		if !wanted.MatchString(r.name) || ctx.Err() != nil {
			continue
		}
		figures, err := w.measure(ctx, r)
		if lacks := (missing{}); errors.As(err, &lacks) {
			fmt.Fprintf(os.Stderr, "bench: %s is left out: %s\n", r.name, lacks.what)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		for _, f := range figures {
			t.print(f)
			if f.verdict() == miss {
				missed++
			}
		}
	}
	t.foot(missed)
	return ctx.Err()
}

// world is where the rows are measured.
type world struct {
	options
	dir    string // on the disk
	system string // the file system there
	limits limits
	exe    string
}

func newWorld(o options) (*world, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if o.profile != "" {
		if o.profile, err = filepath.Abs(o.profile); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(o.dir, "sayso-bench-")
	if err != nil {
		return nil, err
	}
	w := &world{options: o, dir: dir, exe: exe}
	if w.system, err = fileSystem(dir); err == nil {
		w.limits, err = w.measureLimits()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return w, nil
}

func (w *world) close() { _ = os.RemoveAll(w.dir) } // temporary files of ours

// measure gives a row a folder of its own and measures it.
func (w *world) measure(ctx context.Context, r row) ([]figure, error) {
	dir, err := os.MkdirTemp(w.dir, r.name+"-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	runtime.GC() // what the row before left is not this row's
	return r.measure(ctx, w, dir)
}

// few is n, or a small share of it in a quick run.
func (w *world) few(n, quick int) int {
	if w.quick {
		return quick
	}
	return n
}
