//go:build failpoint

package sqlite_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/storetest"
)

// TestKill_anywhere kills a process that appends at each place where it can be
// killed, twice: nothing that it reported is lost, nothing is there by half, and
// the next process goes on at once. Run it with -tags failpoint.
func TestKill_anywhere(t *testing.T) {
	for _, name := range []string{
		"append.before-begin", "append.after-insert", "append.before-commit", "append.after-commit",
		"append.before-wake", "append.after-wake",
	} {
		for _, n := range []int{1, 7, 25} {
			t.Run(fmt.Sprintf("%s:%d", name, n), func(t *testing.T) { killAt(t, name, n) })
		}
	}
}

func killAt(t *testing.T, name string, n int) {
	path := place(t)
	counters := filepath.Join(t.TempDir(), "counters")
	p := playWith(t, []string{
		fmt.Sprintf("SAYSO_FAILPOINT=%s:%d", name, n), "SAYSO_FAILPOINT_COUNTERS=" + counters,
	}, "append", path, "1")
	reported := map[sayso.Seq]string{}
	for p.stdout.Scan() {
		seq, hash, _ := strings.Cut(p.stdout.Text(), " ")
		number, err := strconv.ParseUint(seq, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		reported[sayso.Seq(number)] = hash
	}
	var exit *exec.ExitError
	if err := p.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended with %v", err)
	}
	l := open(t, path, nil)
	events := all(t, l)
	if len(reported) != n-1 || len(events) != n-1 && len(events) != n {
		t.Errorf("%d events were reported and %d are there after a death at %d", len(reported), len(events), n)
	}
	if durable := name != "append.before-begin" && name != "append.after-insert" && name != "append.before-commit"; durable !=
		(len(events) == n) {
		t.Errorf("%d events are there", len(events))
	}
	for seq, hash := range reported {
		if int(seq) > len(events) || events[seq-1].Hash.String() != hash {
			t.Errorf("event %d was reported and is not there", seq)
		}
	}
	sound(t, l)
	_, asked := storetest.NewMaker(2).Request(storetest.Wish{})
	add(t, l, asked)
	hit, err := exec.Command("grep", "-c", "-x", name, counters).Output()
	if err != nil || strings.TrimSpace(string(hit)) != strconv.Itoa(n) {
		t.Errorf("%s hits of %s were counted, %v", hit, name, err)
	}
}

// TestKill_whileArchiving kills a process between the steps of archiving, which
// another then completes.
func TestKill_whileArchiving(t *testing.T) {
	for _, name := range []string{"archive.after-copy", "archive.after-enter", "archive.after-sweep"} {
		t.Run(name, func(t *testing.T) {
			path := place(t)
			l := open(t, path, nil)
			lived(t, l, 20)
			events, before := all(t, l), rows(t, l)
			p := playWith(t, []string{"SAYSO_FAILPOINT=" + name + ":1"}, "archive", path)
			if err := p.Wait(); err == nil {
				t.Fatal("the process was not killed")
			}
			for range 2 {
				same(t, "the log", all(t, l), events)
				same(t, "the rows", rows(t, l), before)
				sound(t, l)
				archive(t, l, later())
			}
			if a := archive(t, l, later()); a.Segment != 0 || a.Moved != 0 || int(a.Last) != len(events)-1 {
				t.Errorf("archived %+v when all was archived", a)
			}
		})
	}
}
