package notice_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
