package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	engine "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

// part is the environment variable that makes the test binary play a process
// of its own, which the functions in parts do.
const part = "SAYSO_SQLITE_TEST_PART"

var parts = map[string]func(ctx context.Context, path string) error{
	"append": playAppend, "hold": playHold, "lock": playLock, "answer": playAnswer,
	"archive": playArchive,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(part); name != "" {
		if err := parts[name](context.Background(), os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// process is another process that plays a part on the log at a path.
type process struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Scanner
}

func play(t testing.TB, name, path string, args ...string) *process {
	t.Helper()
	return playWith(t, nil, name, path, args...)
}

// playWith also sets variables of the environment.
func playWith(t testing.TB, env []string, name, path string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], append([]string{path}, args...)...)}
	p.Env = append(append(os.Environ(), part+"="+name), env...)
	p.Stderr = os.Stderr
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin, p.stdout = in, bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
	return p
}

// line is the next line that the process says.
func (p *process) line(t testing.TB) string {
	t.Helper()
	if !p.stdout.Scan() {
		t.Fatalf("the other process said nothing: %v", p.stdout.Err())
	}
	return p.stdout.Text()
}

// kill kills the process as kill -9 does and waits until it is dead.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // says that it was killed
}

// playAppend appends requests until stdin ends, and says the seq of each when
// it is durable. Every tenth time it opens the log anew, as a hook does.
func playAppend(ctx context.Context, path string) error {
	seed, err := strconv.ParseUint(os.Args[2], 10, 64)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	m := storetest.NewMaker(seed)
	for {
		l, err := sqlite.Open(ctx, path, &sqlite.Options{Busy: time.Minute})
		if err != nil {
			return err
		}
		for range 10 {
			select {
			case <-ended:
				return l.Close()
			default:
			}
			_, asked := m.Request(storetest.Wish{Session: os.Args[2]})
			events, err := l.Append(ctx, asked)
			if err != nil {
				return err
			}
			fmt.Println(events[0].Seq, events[0].Hash)
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
}

// playHold takes a lease, says its name, and waits for the end.
func playHold(ctx context.Context, path string) error {
	l, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	lease, err := l.Hold(ctx)
	if err != nil {
		return err
	}
	fmt.Println(lease.Name())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// playArchive archives all that it can.
func playArchive(ctx context.Context, path string) error {
	l, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	_, err = l.Archive(ctx, later())
	return errors.Join(err, l.Close())
}

// playLock locks the database for itself until stdin ends.
func playLock(_ context.Context, path string) error {
	c, err := engine.OpenConn(path, engine.OpenReadWrite)
	if err != nil {
		return err
	}
	if err := sqlitex.ExecuteTransient(c, `BEGIN EXCLUSIVE`, nil); err != nil {
		return err
	}
	fmt.Println("locked")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return c.Close()
}

// playAnswer answers every request as soon as it sees it.
func playAnswer(ctx context.Context, path string) error {
	l, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	m := storetest.NewMaker(1000)
	for seen := sayso.Seq(0); ; {
		if _, err := l.WaitSince(ctx, seen); err != nil {
			return err
		}
		events, err := l.Since(ctx, seen, 100)
		if err != nil {
			return err
		}
		for _, e := range events {
			seen = e.Seq
			if e.Type != sayso.EventRequested {
				continue
			}
			if _, err := l.Append(ctx, m.Answer(e.RequestID, 1, sayso.Allow, "")); err != nil {
				return err
			}
		}
	}
}

// TestProcesses_forkNothing has processes append as fast as they can, some of
// them killed in the middle: the chain must be one, and hold all that was
// reported durable.
func TestProcesses_forkNothing(t *testing.T) {
	path := place(t)
	l := open(t, path, nil)
	var mu sync.Mutex
	durable := map[sayso.Seq]string{}
	luck := rand.New(rand.NewPCG(1, 9))
	var running sync.WaitGroup
	for n := range 6 {
		p := play(t, "append", path, strconv.Itoa(n+1))
		lines := 20 + luck.IntN(40)
		running.Go(func() {
			for range lines {
				if !p.stdout.Scan() {
					t.Errorf("process %d ended early", n)
					break
				}
				seq, hash, _ := strings.Cut(p.stdout.Text(), " ")
				number, err := strconv.ParseUint(seq, 10, 64)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				durable[sayso.Seq(number)] = hash
				mu.Unlock()
			}
			if n%2 == 0 {
				_ = p.Process.Kill()
			} else {
				_ = p.stdin.Close()
				_, _ = io.Copy(io.Discard, p.out())
			}
			_ = p.Wait() // says that it was killed
		})
	}
	running.Wait()
	events := all(t, l)
	for seq, hash := range durable {
		if int(seq) > len(events) || events[seq-1].Hash.String() != hash {
			t.Errorf("event %d was reported durable and is not there", seq)
		}
	}
	sound(t, l)
}

// out drains what the process still says, so that it does not block on it.
func (p *process) out() io.Reader { return scanned{p.stdout} }

type scanned struct{ *bufio.Scanner }

func (s scanned) Read([]byte) (int, error) {
	if s.Scan() {
		return 0, nil
	}
	return 0, io.EOF
}

func TestWait_hearsOfOtherProcesses(t *testing.T) {
	path := place(t)
	l := open(t, path, nil)
	play(t, "answer", path)
	m := storetest.NewMaker(1)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 5 {
				id, asked := m.Request(storetest.Wish{})
				if _, err := l.Append(t.Context(), asked); err != nil {
					t.Error(err)
					return
				}
				if _, err := l.Wait(t.Context(), sayso.RequestStream(id), 1, time.Time{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestWait_pollsWithoutHints has a file system that says nothing: commits of
// others are found by looking.
func TestWait_pollsWithoutHints(t *testing.T) {
	sqlite.WithoutHints(t)
	path := place(t)
	l, other := open(t, path, &sqlite.Options{Poll: 20 * time.Millisecond}), open(t, path, nil)
	m := storetest.NewMaker(1)
	for range 5 {
		id, asked := m.Request(storetest.Wish{})
		waited := make(chan error, 1)
		go func() {
			_, err := l.Wait(t.Context(), sayso.RequestStream(id), 0, time.Time{})
			waited <- err
		}()
		add(t, other, asked)
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
	}
}

func TestLease_diesWithItsProcess(t *testing.T) {
	path := place(t)
	l := open(t, path, nil)
	held := func(name string) bool {
		t.Helper()
		ok, err := l.Held(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for range 3 {
		p := play(t, "hold", path)
		name := p.line(t)
		if !held(name) {
			t.Fatal("a lease is not held while its process lives")
		}
		p.kill(t)
		for range 2 { // the first look tidies the file away, the second finds none
			if held(name) {
				t.Fatal("a lease is held though its process is dead")
			}
		}
	}
	left, err := os.ReadDir(strings.TrimSuffix(path, "log.db") + "leases")
	if err != nil || len(left) != 0 {
		t.Errorf("%v were left behind, %v", left, err)
	}
	for _, name := range []string{"", "nobody", "../log", "..", "a/b"} {
		if held(name) {
			t.Errorf("a lease named %q is held", name)
		}
	}
}

func TestAppend_lockedByAnotherProcess(t *testing.T) {
	path := place(t)
	l := open(t, path, &sqlite.Options{Busy: 50 * time.Millisecond})
	m := lived(t, l, 3)
	p := play(t, "lock", path)
	p.line(t)
	before := all(t, l)
	_, asked := m.Request(storetest.Wish{})
	start := time.Now()
	_, err := l.Append(t.Context(), asked)
	if !errors.Is(err, sayso.ErrUnavailable) || !strings.Contains(err.Error(), "locked by another process") {
		t.Errorf("Append says %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v to say so", took)
	}
	same(t, "the log", all(t, l), before)
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	add(t, l, asked)
	sound(t, l)
}

func TestLease_othersTidyUp(t *testing.T) {
	path := place(t)
	l := open(t, path, nil)
	p := play(t, "hold", path)
	stale := filepath.Join(filepath.Dir(path), "leases", p.line(t)+".lock")
	live := play(t, "hold", path)
	held := live.line(t)
	p.kill(t)
	for range 10_000 {
		lease, err := l.Hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(stale); errors.Is(err, fs.ErrNotExist) {
			if ok, err := l.Held(t.Context(), held); !ok || err != nil {
				t.Errorf("a lease of a living process is held: %v, %v", ok, err)
			}
			return
		}
	}
	t.Error("nobody removed what a dead process left")
}
