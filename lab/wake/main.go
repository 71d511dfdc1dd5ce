// Wake counts lost wake-ups: askers that wait on although their decision is on
// stable storage. Anybody can run it, for as many cycles as they have time for:
//
//	go run ./lab/wake -cycles 1000000
//
// A cycle is a call that is asked about, answered by a person, and learned of by
// whoever asked. Several processes ask, many calls at a time, and several
// answer, on one log; and every so often one of them is killed with SIGKILL and
// started again, and goes on with the calls that it had under way. An asker
// that has not heard of its decision some seconds after it was recorded is
// lost; one that hears of it late was found by the slow poll that backs the
// wake-ups up, and is counted too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
)

func main() {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintf(os.Stderr, "wake: %s: %v\n", role, err)
			os.Exit(1)
		}
		return
	}
	var l lab
	flag.IntVar(&l.cycles, "cycles", 20_000, "how many cycles")
	flag.IntVar(&l.askers, "askers", 2, "processes that ask")
	flag.IntVar(&l.answerers, "answerers", 2, "processes that answer")
	flag.IntVar(&l.lanes, "lanes", 32, "calls that each has under way at a time")
	flag.DurationVar(&l.kill, "kill", 500*time.Millisecond, "mean time from one kill to the next; 0 for none")
	flag.StringVar(&l.dir, "dir", "", "`folder` on the disk to use; a new one in the folder for temporary files otherwise")
	asJSON := flag.Bool("json", false, "one JSON object")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := l.run(ctx, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "wake:", err)
		os.Exit(1)
	}
}

// lab is one run.
type lab struct {
	cycles, askers, answerers, lanes int
	kill                             time.Duration
	dir, exe                         string

	mu     sync.Mutex // guards what follows
	next   int        // call
	result result
	procs  []*process
}

// result is what a run found.
type result struct {
	Cycles  int     `json:"cycles"`
	Kills   int     `json:"kills"`
	Lost    int     `json:"lost"`
	Slow    int     `json:"slow"`    // heard later than late
	Slowest float64 `json:"slowest"` // seconds
}

// late is when a wake-up was not one: the poll found what was missed. The times
// of events are kept to the millisecond, and a busy machine needs some.
const late = 250 * time.Millisecond

func (l *lab) run(ctx context.Context, asJSON bool) (err error) {
	if l.dir, err = os.MkdirTemp(l.dir, "sayso-wake-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(l.dir)) }()
	if l.exe, err = os.Executable(); err != nil {
		return err
	}
	from := time.Now()
	if err := l.processes(ctx); err != nil {
		return err
	}
	if asJSON {
		text, err := jcs.Marshal(l.result)
		fmt.Println(string(text))
		return err
	}
	r := l.result
	fmt.Printf("%d cycles in %s, %d processes killed\n", r.Cycles, time.Since(from).Round(time.Second), r.Kills)
	fmt.Printf("lost wake-ups: %d\nlater than %s: %d, the slowest %.3f s\n", r.Lost, late, r.Slow, r.Slowest)
	if r.Lost > 0 {
		return fmt.Errorf("%d askers were not told", r.Lost)
	}
	return nil
}

// processes keeps askers and answerers alive until there were enough cycles.
func (l *lab) processes(ctx context.Context) error {
	answering, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, l.askers+l.answerers)
	var asking, all sync.WaitGroup
	for range l.answerers {
		p := l.add(roleAnswer)
		all.Go(func() { failed <- p.keep(answering) })
	}
	for range l.askers {
		p := l.add(roleAsk)
		asking.Go(func() { failed <- p.keep(ctx) })
	}
	all.Go(func() { l.killing(answering) })
	asking.Wait()
	stop()
	all.Wait()
	close(failed)
	var err error
	for e := range failed {
		err = errors.Join(err, e)
	}
	return errors.Join(err, ctx.Err())
}

func (l *lab) add(role string) *process {
	p := &process{lab: l, role: role, under: map[int]bool{}}
	l.procs = append(l.procs, p)
	return p
}

// killing kills one process after the other, at random times.
func (l *lab) killing(ctx context.Context) {
	if l.kill <= 0 {
		return
	}
	for {
		t := time.NewTimer(time.Duration(rand.ExpFloat64() * float64(l.kill)))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		l.procs[rand.IntN(len(l.procs))].die()
	}
}

// more is the next call to make; ok is false when there were enough.
func (l *lab) more() (n int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next >= l.cycles {
		return 0, false
	}
	l.next++
	return l.next, true
}

// heard notes that an asker learned of its decision.
func (l *lab) heard(after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Cycles++
	l.result.Slowest = max(l.result.Slowest, after.Seconds())
	if after > late {
		l.result.Slow++
	}
}

func (l *lab) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Lost++
}

func (l *lab) killed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Kills++
}

func (l *lab) database() string { return filepath.Join(l.dir, "home", "log.db") }
