// Kills shows that nothing is lost: processes that ask and processes that
// answer work on one log and are killed with SIGKILL, nearly always inside an
// append, a commit, a wake or a reply, and are started again. What they were
// promised before they died is kept outside, in this process, and compared with
// the log at the end of each round:
//
//   - a decision that anybody was told is the one in the log, and no request
//     has two;
//   - a call ran at most once, and only if it was allowed;
//   - every call is decided in the end: no waiter hangs;
//   - the log verifies.
//
// It prints how often each place was reached and how many kills landed there.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/store/sqlite"
)

func main() {
	rounds := flag.Int("rounds", 50, "how many rounds")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the first round")
	parallel := flag.Int("parallel", 2, "rounds at once")
	share := flag.Float64("share", 0.8, "of the kills that must land at a place")
	flag.Parse()
	if err := run(*rounds, *seed, *parallel, *share); err != nil {
		fmt.Fprintln(os.Stderr, "kills:", err)
		os.Exit(1)
	}
}

// places are where processes are killed: inside an append, before and after
// its commit, while waiters are woken, around the reply, and while they wait
// under a lease that only their death ends.
var places = []string{
	"append.before-begin", "append.after-insert", "append.before-commit", "append.after-commit",
	"append.before-wake", "append.after-wake", "reply.before-write", "reply.after-write",
	"lease.taken", "wait.asleep", "wait.woken",
}

func run(rounds int, seed uint64, parallel int, share float64) error {
	dir, err := os.MkdirTemp("", "sayso-kills-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	worker := filepath.Join(dir, "worker")
	build := exec.Command("go", "build", "-tags", "failpoint", "-o", worker, "github.com/sayso-dev/sayso/lab/kills/worker")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the worker: %w", err)
	}
	t := &tally{placed: map[string]int{}, reached: map[string]int{}}
	jobs, failed := make(chan int), make(chan error, parallel)
	for range parallel {
		go func() { failed <- rest(jobs, dir, worker, seed, t) }() // ends when jobs is closed, and is waited for below
	}
	for i := range rounds {
		jobs <- i
	}
	close(jobs)
	var all error
	for range parallel {
		all = errors.Join(all, <-failed)
	}
	t.print(os.Stdout, rounds)
	if all == nil && t.share() < share {
		all = fmt.Errorf("%.0f%% of the kills landed at a place; %.0f%% must", 100*t.share(), 100*share)
	}
	return all
}

// rest runs rounds until there are no more. After a failure it only drains.
func rest(jobs <-chan int, dir, worker string, seed uint64, t *tally) (failed error) {
	for i := range jobs {
		if failed != nil {
			continue
		}
		r := &round{kind: i % 3, dir: filepath.Join(dir, fmt.Sprint(i)), worker: worker, tally: t,
			dice: rand.New(rand.NewPCG(seed, uint64(i))), told: map[sayso.ID]string{}}
		if err := r.run(); err != nil {
			failed = fmt.Errorf("round %d of seed %d: %w", i, seed, err)
		}
	}
	return failed
}

// tally counts kills over all rounds.
type tally struct {
	mu      sync.Mutex // guards what follows
	reached map[string]int
	placed  map[string]int
	random  int
	calls   int
	ran     int
	answers int
}

func (t *tally) share() float64 {
	placed := 0
	for _, n := range t.placed {
		placed += n
	}
	if placed+t.random == 0 {
		return 0
	}
	return float64(placed) / float64(placed+t.random)
}

func (t *tally) print(w io.Writer, rounds int) {
	total := t.random
	for _, n := range t.placed {
		total += n
	}
	fmt.Fprintf(w, "%d rounds, %d calls, %d answers told, %d runs, %d kills\n", rounds, t.calls, t.answers, t.ran, total)
	fmt.Fprintf(w, "  %-22s %7s %7s\n", "place", "reached", "killed")
	for _, p := range places {
		fmt.Fprintf(w, "  %-22s %7d %7d\n", p, t.reached[p], t.placed[p])
	}
	fmt.Fprintf(w, "  %-22s %7s %7d\n  inside: %.0f%%\n", "anywhere else", "", t.random, 100*t.share())
}

// round is one log, two askers and two answerers.
type round struct {
	dir, worker string
	kind        int // who goes through a server
	tally       *tally

	mu   sync.Mutex // guards what follows
	dice *rand.Rand
	told map[sayso.ID]string // what anybody was told of a request
	done map[string]bool     // calls whose asker was told
	err  error
}

const (
	askers   = 2
	calls    = 8 // each
	lives    = 6 // of a process, before it is left alone
	deadline = 90 * time.Second
)

func (r *round) run() error {
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	r.done = map[string]bool{}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	answering, stop := context.WithCancel(ctx)
	var people, agents sync.WaitGroup
	// Two rounds of three have a server: in one everybody uses it, in the other
	// one asker and one person do and the others open the log themselves.
	socket := filepath.Join(r.dir, "s")
	served := func(i int) []string {
		if r.kind == 1 || r.kind == 2 && i == 0 {
			return []string{"-socket", socket}
		}
		return nil
	}
	if r.kind != 0 {
		people.Go(func() { r.keep(answering, func() []string { return []string{"-role", "serve", "-socket", socket} }) })
	}
	for i, name := range []string{"ana", "ben"} {
		people.Go(func() {
			r.keep(answering, func() []string { return append([]string{"-role", "answer", "-name", name}, served(i)...) })
		})
	}
	for a := range askers {
		var ids []string
		for c := range calls {
			ids = append(ids, fmt.Sprintf("%s-%d-%d", filepath.Base(r.dir), a, c))
		}
		agents.Go(func() { r.keep(ctx, func() []string { return r.unfinished(ids, served(a)) }) })
	}
	agents.Wait()
	stop()
	people.Wait()
	if ctx.Err() != nil && r.err == nil {
		return fmt.Errorf("a waiter hung: %d of %d calls came back within %s", len(r.done), askers*calls, deadline)
	}
	if r.err != nil {
		return r.err
	}
	return errors.Join(r.check(), r.reached())
}

// unfinished are the arguments of an asker that goes on where it died.
func (r *round) unfinished(ids, more []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var left []string
	for _, id := range ids {
		if !r.done[id] {
			left = append(left, id)
		}
	}
	if left == nil {
		return nil
	}
	return append([]string{"-role", "ask", "-calls", strings.Join(left, ",")}, more...)
}

// keep starts a process again each time it was killed, until it has nothing
// left to do or ctx ends.
func (r *round) keep(ctx context.Context, args func() []string) {
	for life := 0; ctx.Err() == nil; life++ {
		a := args()
		if a == nil {
			return
		}
		killed, err := r.live(ctx, a, life < lives)
		if err != nil && ctx.Err() == nil {
			r.fail(err)
			return
		}
		if !killed && a[1] == "ask" && err == nil {
			return
		}
	}
}

func (r *round) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
}

// live runs one process to its end, and hears what it was promised.
func (r *round) live(ctx context.Context, args []string, mortal bool) (killed bool, err error) {
	cmd := exec.CommandContext(ctx, r.worker, append(args, "-db", filepath.Join(r.dir, "log.db"), "-ran", filepath.Join(r.dir, "ran"))...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	place, after := r.fate(mortal)
	cmd.Env = append(os.Environ(), "SAYSO_FAILPOINT="+place, "SAYSO_FAILPOINT_COUNTERS="+r.counters())
	if err := cmd.Start(); err != nil {
		return false, err
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if err := r.hear(lines.Bytes()); err != nil {
			return false, err
		}
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && ctx.Err() == nil {
		r.count(place, after > 0)
		return true, nil
	}
	if err != nil && ctx.Err() == nil {
		return false, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return false, nil
}

// fate is where or when a process dies: nearly always at a place.
func (r *round) fate(mortal bool) (place string, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !mortal:
		return "", 0
	case r.dice.IntN(10) == 0:
		return "", time.Duration(1+r.dice.IntN(60)) * time.Millisecond
	}
	return fmt.Sprintf("%s:%d", places[r.dice.IntN(len(places))], 1+r.dice.IntN(4)), 0
}

// counters is the file in which processes count the places that they reach.
func (r *round) counters() string { return filepath.Join(r.dir, "reached") }

// reached adds up the places that were reached.
func (r *round) reached() error {
	text, err := os.ReadFile(r.counters())
	if err != nil {
		return err
	}
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	for place := range strings.FieldsSeq(string(text)) {
		r.tally.reached[place]++
	}
	return nil
}

func (r *round) count(place string, random bool) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	if random {
		r.tally.random++
		return
	}
	name, _, _ := strings.Cut(place, ":")
	r.tally.placed[name]++
}

// promise is one line of a worker.
type promise struct {
	Call    string   `json:"call"`
	Request sayso.ID `json:"request"`
	Effect  string   `json:"effect"`
	Spent   bool     `json:"spent"`
}

// hear keeps a promise, and refuses two that differ.
func (r *round) hear(line []byte) error {
	var p promise
	if err := jcs.Unmarshal(line, &p); err != nil {
		return fmt.Errorf("a worker wrote %q: %w", line, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Call != "" {
		r.done[p.Call] = true
	}
	if p.Spent {
		return nil
	}
	if was, ok := r.told[p.Request]; ok && was != p.Effect {
		return fmt.Errorf("request %s: one was told %s, another %s", p.Request, was, p.Effect)
	}
	r.told[p.Request] = p.Effect
	r.tally.mu.Lock()
	r.tally.answers++
	r.tally.mu.Unlock()
	return nil
}

// check compares what was promised and what ran with the log.
func (r *round) check() error {
	ctx := context.Background()
	log, err := sqlite.Open(ctx, filepath.Join(r.dir, "log.db"), nil)
	if err != nil {
		return err
	}
	defer log.Close()
	report, err := log.Verify(ctx, nil)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return fmt.Errorf("the log does not verify: %w", err)
	}
	rows, err := log.Rows(ctx, sayso.RowQuery{Session: "kills", Limit: 10 * askers * calls})
	if err != nil {
		return err
	}
	effects := map[string]sayso.Effect{}
	for _, row := range rows {
		events, err := log.Stream(ctx, sayso.RequestStream(row.ID), 0)
		if err != nil {
			return err
		}
		req, err := sayso.Fold(events)
		if err != nil {
			return err
		}
		if req.Decision == nil {
			return fmt.Errorf("request %s is left %s", req.ID, req.State)
		}
		if told, ok := r.told[req.ID]; ok && told != req.Decision.Effect.String() {
			return fmt.Errorf("request %s: somebody was told %s, the log says %s", req.ID, told, req.Decision.Effect)
		}
		if _, twice := effects[req.CallID]; twice {
			return fmt.Errorf("call %s has two requests", req.CallID)
		}
		effects[req.CallID] = req.Decision.Effect
		delete(r.told, req.ID)
	}
	for id := range r.told {
		return fmt.Errorf("request %s was promised and is not in the log", id)
	}
	return r.checkRuns(effects)
}

func (r *round) checkRuns(effects map[string]sayso.Effect) error {
	text, err := os.ReadFile(filepath.Join(r.dir, "ran"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	runs := strings.Fields(string(text))
	slices.Sort(runs)
	for i, id := range runs {
		if i > 0 && runs[i-1] == id {
			return fmt.Errorf("call %s ran twice", id)
		}
		if effects[id] != sayso.Allow {
			return fmt.Errorf("call %s ran and was not allowed", id)
		}
	}
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	r.tally.calls += len(effects)
	r.tally.ran += len(runs)
	return nil
}
