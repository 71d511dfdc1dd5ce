package tool_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/tool"
)

var linkRounds = flag.Int("links", 10_000, "how many set-ups TestFS1_links tries")

// TestFS1_links plays against the file tools: each round makes folders, files
// and links at random, calls a tool with a path at random, and swaps folders and
// files for links that lead out of the roots all the while. Nothing outside may
// be read, listed or touched, and nothing in the folders that are only read may
// change.
//
// That the swaps hit where it hurts is counted: at least one in ten falls
// between the moment when a call was decided on and the moment when it is done.
func TestFS1_links(t *testing.T) {
	base := playground(t)
	var seen tally
	var wg sync.WaitGroup
	workers := min(4, max(2, runtime.GOMAXPROCS(0)))
	for w := range workers {
		wg.Go(func() {
			for n := w; n < *linkRounds && !t.Failed(); n += workers {
				r := round{T: t, n: n, rnd: rand.New(rand.NewPCG(uint64(n), 7)), base: filepath.Join(base, fmt.Sprint(w)), tally: &seen}
				r.play()
			}
		})
	}
	wg.Wait()
	t.Logf("%d set-ups, %d calls done, %d refused, %d by what had changed; %d swaps, %d of them between check and use; %d rounds",
		*linkRounds, seen.done.Load(), seen.refused.Load(), seen.changed.Load(), seen.swaps.Load(), seen.between.Load(), *linkRounds)
	if t.Failed() {
		return
	}
	if 10*seen.between.Load() < seen.swaps.Load() || seen.swaps.Load() < int64(*linkRounds) {
		t.Errorf("too few swaps between check and use: %d of %d", seen.between.Load(), seen.swaps.Load())
	}
	for what, n := range map[string]int64{"done": seen.done.Load(), "refused": seen.refused.Load(), "refused for a change": seen.changed.Load()} {
		if 20*n < int64(*linkRounds) {
			t.Errorf("only %d calls of %d were %s: the game has no point", n, *linkRounds, what)
		}
	}
}

// playground is a folder in memory, where there is one: nothing in it is worth
// a disk's time.
func playground(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "links")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tally is what happened in all rounds.
type tally struct{ done, refused, changed, swaps, between atomic.Int64 }

// round is one set-up with one call.
//
//	work/free/           rw
//	work/free/inner/     ro, inside of it
//	work/only/           ro
//	outside/             what nobody may touch
type round struct {
	*testing.T
	*tally
	n    int
	rnd  *rand.Rand
	base string
	swap []string // names that are swapped, each with the name .alt of it beside
}

const mark = "canary"

func (r *round) at(name string) string { return filepath.Join(r.base, name) }

func (r *round) must(err error) {
	if err != nil {
		r.Helper()
		r.Fatalf("round %d: %v", r.n, err)
	}
}

func (r *round) chance(n int) bool { return r.rnd.IntN(n) == 0 }

func pick[T any](r *round, of ...T) T { return of[r.rnd.IntN(len(of))] }

// folders all have the same names in them, so that a path goes on whatever a
// folder is swapped for.
var folders = []string{"work/free", "work/free/d", "work/free/d/e", "work/free/inner", "work/free/inner/d", "work/only", "work/only/d", "outside", "outside/d", "outside/d/e"}

func (r *round) setUp() {
	r.must(os.RemoveAll(r.at("work")))
	for _, dir := range folders {
		if _, err := os.Lstat(r.at(dir)); err == nil {
			continue // what is outside stays, and stays the same
		}
		r.must(os.MkdirAll(r.at(dir), 0o700))
		for _, name := range []string{"f", "g"} {
			text := "old text of " + dir
			if strings.HasPrefix(dir, "outside") {
				text = mark + " " + dir
			}
			r.must(os.WriteFile(r.at(dir+"/"+name), []byte(text+"\n"), 0o600))
		}
	}
	r.must(os.WriteFile(r.at("outside/"+mark+"-name"), nil, 0o600))
	for i := range 1 + r.rnd.IntN(4) {
		dir := pick(r, "work/free", "work/free/d", "work/free/d/e", "work/only", "work/free/inner")
		r.must(os.Symlink(r.target(dir), r.at(fmt.Sprintf("%s/l%d", dir, i))))
	}
	names := []string{"work/free/d", "work/free/d/e", "work/free/d/f", "work/free/f", "work/free/d/e/f", "work/only/d", "work/only/f", "work/free/new", "work/free/d/new"}
	for range 1 + r.rnd.IntN(2) {
		r.prepare(pick(r, names...))
	}
}

// target is where a link in dir leads.
func (r *round) target(dir string) string {
	up := strings.Repeat("../", strings.Count(dir, "/")+1)
	return pick(r,
		r.at("outside"), r.at("outside/f"), r.at("outside/new"), up+"outside", up+"outside/d/f", up+"outside/d/new", r.at("work/free/d"),
		up+"work/free/d", up+"work/free/d/f", up+"work/only/d", up+"work/free/inner", up+"work/free/d/e/..", "f", "d", ".", "..", "l0", "/proc/self/cwd", up+"work/free/nowhere",
	)
}

// prepare puts a link out of the roots beside a name, to be swapped for it.
func (r *round) prepare(name string) {
	out := "outside" + strings.TrimPrefix(strings.TrimPrefix(name, "work/free"), "work/only")
	if r.chance(4) {
		out = pick(r, "work/only/d", "work/free/inner/d", "outside/d/f", "outside/d")
	}
	to := r.at(out)
	if r.chance(2) {
		to = strings.Repeat("../", strings.Count(name, "/")) + out
	}
	if os.Symlink(to, r.at(name+".alt")) != nil {
		return // it is prepared already
	}
	if _, err := os.Lstat(r.at(name)); errors.Is(err, fs.ErrNotExist) {
		r.must(os.WriteFile(r.at(name), []byte("old text of new\n"), 0o600))
	}
	r.swap = append(r.swap, name)
}

// path is a path at random, as an agent may write it: mostly to or through a
// name that is swapped.
func (r *round) path() string {
	var path string
	if r.chance(4) {
		parts := []string{pick(r, "free", "free", "free", "only")}
		for range r.rnd.IntN(4) {
			parts = append(parts, pick(r, "d", "d", "d", "e", "inner", "l0", "l1", "l2", "..", ".", "nowhere"))
		}
		path = strings.Join(append(parts, pick(r, "f", "f", "new", "made/new")), "/")
	} else {
		path = strings.TrimPrefix(pick(r, r.swap...), "work/")
		if last := path[strings.LastIndexByte(path, '/')+1:]; last == "d" || last == "e" {
			path += pick(r, "/f", "/f", "/g", "/new", "/made/new", "/e/f", "/l0", "")
		}
	}
	if r.chance(6) {
		path = strings.Replace(path, "/d/", pick(r, "/./d//", "/d/../d/", "/d/e/../", "/inner/../d/"), 1)
	}
	if r.chance(4) {
		return r.at("work") + "/" + path
	}
	return path
}

func (r *round) call() sayso.Call {
	switch pick(r, 0, 1, 1, 2, 3, 4, 5, 6) {
	case 0:
		return calls(r, tool.ReadFile, obj{"path": r.path()})
	case 1, 2:
		return calls(r, tool.WriteFile, obj{"path": r.path(), "content": "new text\n"})
	case 3:
		return calls(r, tool.EditFile, obj{"path": r.path(), "old_string": "old", "new_string": "new"})
	case 4:
		return calls(r, tool.ListFiles, obj{"path": r.path()})
	case 5:
		return calls(r, tool.DeleteFile, obj{"path": r.path()})
	}
	return calls(r, tool.MoveFile, obj{"from": r.path(), "to": r.path()})
}

func (r *round) play() {
	r.setUp()
	f, err := tool.OpenFiles(r.at("work"), sayso.PathRules{Roots: []sayso.PathRoot{
		{Name: "free", Root: "free", Read: sayso.Allow, Write: sayso.Allow},
		{Name: "inner", Root: "free/inner", Read: sayso.Allow},
		{Name: "only", Root: "only", Read: sayso.Allow},
	}})
	r.must(err)
	defer f.Close()
	before := r.state()
	c := r.call()
	s := r.swapping()
	set := tool.Set(f)
	if !r.chance(4) {
		set = tool.Wrap(r.gate(s), f, nil)
	}
	s.ask(r.rnd.IntN(4))
	res, err := set.Call(r.Context(), c)
	s.stop()
	r.swaps.Add(s.done.Load())
	switch {
	case err == nil:
		r.done.Add(1)
	case errors.Is(err, sayso.ErrMismatch):
		r.changed.Add(1)
	default:
		r.refused.Add(1)
	}
	told := res.Text
	if err != nil {
		told += err.Error()
	}
	if strings.Contains(strings.ReplaceAll(told, r.base, ""), mark) {
		r.Errorf("round %d: %s %s: told what is outside: %s", r.n, c.Tool, c.Args, told)
	}
	if after := r.state(); after != before {
		r.Errorf("round %d: %s %s: %v\nwhat nobody may change was\n%s\nand is\n%s", r.n, c.Tool, c.Args, err, before, after)
	}
}

// gate is one that lets everything pass, when some swaps have gone by.
func (r *round) gate(s *swapper) sayso.Gate {
	var from int64
	g := &fake{}
	g.decide = func(a sayso.Admission) (sayso.Decision, error) {
		from = s.done.Load()
		s.ask(1 + r.rnd.IntN(4))
		s.wait()
		return yes(a)
	}
	g.redeem = func(sayso.Receipt, sayso.Call) error {
		r.between.Add(s.done.Load() - from)
		s.ask(r.rnd.IntN(3)) // they fall into the run, somewhere
		return nil
	}
	return g
}

// swapper swaps names for the links beside them, as often as it is asked to and
// when it comes to it.
type swapper struct {
	asked atomic.Int64
	done  atomic.Int64
	over  atomic.Bool
	ended chan struct{}
}

func (r *round) swapping() *swapper {
	s := &swapper{ended: make(chan struct{})}
	rnd := rand.New(rand.NewPCG(uint64(r.n), 8)) // the other one is the caller's
	go func() {                                  // until stop
		defer close(s.ended)
		for !s.over.Load() {
			if s.done.Load() >= s.asked.Load() {
				runtime.Gosched()
				continue
			}
			for range rnd.IntN(200) { // a moment, at random
				_ = s.over.Load()
			}
			name := r.at(r.swap[rnd.IntN(len(r.swap))])
			// That it fails where a call has just deleted the name is part of the game.
			_ = unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, name+".alt", unix.RENAME_EXCHANGE)
			s.done.Add(1)
		}
	}()
	return s
}

func (s *swapper) ask(n int) { s.asked.Add(int64(n)) }

func (s *swapper) wait() {
	for s.done.Load() < s.asked.Load() {
		runtime.Gosched()
	}
}

func (s *swapper) stop() {
	s.over.Store(true)
	<-s.ended
}

// state is everything that nobody may change: all that is outside, and the files
// of the folders that are only read, by what they hold.
func (r *round) state() string {
	var b strings.Builder
	for _, dir := range []string{"outside", "work/only", "work/free/inner"} {
		err := filepath.WalkDir(r.at(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Type().IsRegular() {
				text, err := os.ReadFile(path)
				fmt.Fprintf(&b, "%s %s", strings.ReplaceAll(strings.TrimPrefix(path, r.base), ".alt", ""), text)
				return err
			}
			return nil
		})
		r.must(err)
	}
	return sorted(b.String())
}

// sorted puts the lines of a text in order: of two names that were swapped
// either may stand first.
func sorted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}
