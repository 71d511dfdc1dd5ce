package notice_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/notice"
)

func TestTell(t *testing.T) {
	tty := filepath.Join(t.TempDir(), "tty")
	if err := os.WriteFile(tty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	n := notice.Notifier{Terminal: tty, Run: func(_ context.Context, name string, args ...string) error {
		got = append([]string{name}, args...)
		return nil
	}}
	n.Tell(sayso.Request{Host: "claude-code", ShortID: "k7fm", Tool: "x\" & do shell script \"\x1b]0;", Preview: sayso.Args(`{"command":"secret"}`)})
	n.Wait()
	if bell, err := os.ReadFile(tty); err != nil || string(bell) != "\a" {
		t.Errorf("the terminal got %q, %v", bell, err)
	}
	all := strings.Join(got, " ")
	if !strings.Contains(all, "k7fm") || strings.Contains(all, "secret") || strings.ContainsAny(all, "\x1b\\&") {
		t.Errorf("ran %q", got)
	}
}

// Nothing that a desktop or a terminal would obey or show otherwise than it is
// stands in a notice, and no name makes it longer than one.
func TestTell_showsNamesPlainly(t *testing.T) {
	for _, name := range []string{
		"\x1b[2J", "a\u009b2J", "a\u202eb", "a\u200bb", "a\u00adb", "\u2066x", "pаypal", "<b>x</b>", "a\nb", `a\"b`, "a\x00b", "\xff", strings.Repeat("long", 1000),
	} {
		var got []string
		n := notice.Notifier{Terminal: filepath.Join(t.TempDir(), "none"), Run: func(_ context.Context, _ string, args ...string) error {
			got = args
			return nil
		}}
		n.Tell(sayso.Request{Host: name, ShortID: "k7fm", Tool: name})
		n.Wait()
		all := strings.Join(got, " ")
		if !strings.Contains(all, "k7fm") || len(all) > 400 {
			t.Errorf("%.20q: %d bytes: %.80q", name, len(all), all)
		}
		for _, c := range all {
			if !unicode.IsPrint(c) || c > 0x24f && c != '…' || strings.ContainsRune("<>\\", c) {
				t.Errorf("%.20q: the notice holds %U", name, c)
			}
		}
	}
}

func TestWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "watch")
	if notice.Watched(dir) {
		t.Fatal("watched from the start")
	}
	stop, err := notice.Watch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !notice.Watched(dir) {
		t.Error("a watcher is not seen")
	}
	stop()
	if notice.Watched(dir) {
		t.Error("watched after the watcher left")
	}
	dead := filepath.Join(dir, "1.lock")
	if err := os.WriteFile(dead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if notice.Watched(dir) {
		t.Error("a file without a lock counts as a watcher")
	}
}
