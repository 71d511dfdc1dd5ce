//go:build linux

package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

// full fills a log until there is no room, and expects that nothing is lost and
// that it goes on when there is room again.
func full(t *testing.T, l *sqlite.Log, makeRoom func()) {
	t.Helper()
	m := storetest.NewMaker(1)
	var want []sayso.Event
	var err error
	var asked sayso.Batch
	for err == nil {
		if len(want) > 20_000 {
			t.Fatal("the disk does not become full")
		}
		_, asked = m.Request(storetest.Wish{})
		var events []sayso.Event
		events, err = l.Append(t.Context(), asked)
		want = append(want, events...)
	}
	if !errors.Is(err, sayso.ErrUnavailable) || !strings.Contains(err.Error(), "full") {
		t.Errorf("Append says %v", err)
	}
	same(t, "the log on a full disk", all(t, l), want)
	if _, err := l.Append(t.Context(), m.Note(sayso.BrokerStream, 9)); err == nil {
		t.Error("a conflict was taken on a full disk")
	}
	makeRoom()
	want = append(want, add(t, l, asked)...)
	same(t, "the log with room again", all(t, l), want)
	sound(t, l)
}

func TestAppend_noMorePages(t *testing.T) {
	l := open(t, place(t), nil)
	l.Limit(t, 40)
	full(t, l, func() { l.Limit(t, -1) })
}

func TestAppend_fullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v; type: sudo -E go test ./store/sqlite", err)
	}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	l := open(t, filepath.Join(disk, "log.db"), nil)
	full(t, l, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
}
