package filelock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/filelock"
)

// holder is the program that holds a file until it is killed.
const holder = "SAYSO_TEST_HOLD"

func TestMain(m *testing.M) {
	path := os.Getenv(holder)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := filelock.Hold(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends, if nobody kills us
}

func held(t *testing.T, path string) bool {
	t.Helper()
	h, err := filelock.Held(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHold_endsWithTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sign")
	if held(t, path) {
		t.Error("held before anybody came")
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), holder+"="+path)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("held"))); err != nil {
		t.Fatal(err)
	}
	for range 2 { // looking changes nothing
		if !held(t, path) {
			t.Error("not held while its holder lives")
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if held(t, path) {
		t.Error("held by the dead")
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what the dead left behind is still there: %v", err)
	}
}

func TestRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sign")
	f, err := filelock.Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := filelock.Release(f); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// Who looks is not taken for a holder, however many look at once, and a holder
// who comes while they look is not taken for dead.
func TestHeld_atOnce(t *testing.T) {
	dir := t.TempDir()
	for round := range 200 {
		path := filepath.Join(dir, "sign")
		if err := os.WriteFile(path, nil, 0o600); err != nil { // left behind
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var wrong atomic.Int32
		for range 8 {
			wg.Go(func() {
				if h, err := filelock.Held(path); h || err != nil {
					wrong.Add(1)
				}
			})
		}
		wg.Wait()
		if n := wrong.Load(); n > 0 {
			t.Fatalf("round %d: %d of 8 took another one who looked for a holder", round, n)
		}
		var f *os.File
		var err error
		for range 4 {
			wg.Go(func() { _, _ = filelock.Held(path) })
		}
		wg.Go(func() { f, err = filelock.Hold(path) })
		wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if !held(t, path) {
			t.Fatalf("round %d: a holder who came while others looked is not seen", round)
		}
		if err := filelock.Release(f); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, c := range []struct {
		first, second filelock.Kind
		held          bool
	}{
		{filelock.Exclusive, filelock.Exclusive, true},
		{filelock.Exclusive, filelock.Shared, true},
		{filelock.Shared, filelock.Exclusive, true},
		{filelock.Shared, filelock.Shared, false},
	} {
		one, err := filelock.Wait(path, c.first)
		if err != nil {
			t.Fatal(err)
		}
		two, err := filelock.Try(path, c.second)
		if errors.Is(err, filelock.ErrHeld) != c.held || err == nil == c.held {
			t.Errorf("%v then %v: %v, want held: %v", c.first, c.second, err, c.held)
		}
		if err == nil {
			_ = two.Close()
		}
		_ = one.Close()
		again, err := filelock.Try(path, c.second)
		if err != nil {
			t.Fatalf("closing the file does not let go: %v", err)
		}
		_ = again.Close()
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", st, err)
	}
}

func TestWait_waits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			f, err := filelock.Wait(path, filelock.Exclusive)
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d at once", n)
			}
			inside.Add(-1)
			_ = f.Close()
		})
	}
	wg.Wait()
}

// Who waits for a lock that nobody lets go of can be called back, and gets the
// lock as soon as somebody does.
func TestWaitFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	one, err := filelock.Wait(path, filelock.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := filelock.WaitFor(ctx, path, filelock.Exclusive); !errors.Is(err, filelock.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("called back: %v", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		f, err := filelock.WaitFor(t.Context(), path, filelock.Exclusive)
		if err != nil {
			t.Error(err)
			return
		}
		_ = f.Close()
	})
	_ = one.Close()
	wg.Wait()
	f, err := filelock.WaitFor(ctx, path, filelock.Shared) // free: taken, though ctx has ended
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("other", link); err != nil {
		t.Fatal(err)
	}
	_, hold := filelock.Hold(link)
	_, wait := filelock.Wait(link, filelock.Shared)
	_, try := filelock.Try(link, filelock.Shared)
	_, waitFor := filelock.WaitFor(t.Context(), link, filelock.Shared)
	_, look := filelock.Held(link)
	for name, err := range map[string]error{"Hold": hold, "Wait": wait, "WaitFor": waitFor, "Try": try, "Held": look} {
		if err == nil {
			t.Errorf("%s follows a link", name)
		}
	}
}
