package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

func TestBackup_isTheWholeLog(t *testing.T) {
	l := open(t, place(t), nil)
	m := lived(t, l, 60)
	archive(t, l, later())
	lived2(t, l, m)
	path := filepath.Join(t.TempDir(), "b", "copy.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second replaces the first
		if err := l.Backup(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the backup there are %v, %v", entries, err)
	}
	events, before := all(t, l), rows(t, l)
	copied := open(t, path, nil)
	same(t, "the log", all(t, copied), events)
	same(t, "the rows", rows(t, copied), before)
	if r := sound(t, copied); r.Segments != 0 {
		t.Errorf("the backup has %d segments", r.Segments)
	}
}

func TestBackup_whileOthersAppend(t *testing.T) {
	path := place(t)
	l, writer := open(t, path, nil), open(t, path, nil)
	m := lived(t, l, 20)
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, asked := m.Request(storetest.Wish{})
				if _, err := writer.Append(t.Context(), asked); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for range 5 {
		to := filepath.Join(t.TempDir(), "state", "copy.db")
		if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := l.Backup(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		sound(t, open(t, to, nil))
	}
	close(stop)
	all.Wait()
}

func TestRestore_revivesNothing(t *testing.T) {
	l := open(t, place(t), nil)
	m := lived(t, l, 80)
	session := sayso.SessionStream("session-1")
	mode := m.Note(session, 0)
	mode.Events[0].Type = sayso.EventModeChanged
	mode.Events[0].Payload = sayso.Args(`{"mode":"approve_all","for_ns":3600000000000}`)
	mode.Events[0].SessionID = "session-1"
	add(t, l, mode)
	backup := filepath.Join(t.TempDir(), "copy.db")
	if err := l.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	head, err := l.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to := place(t)
	r, err := sqlite.Restore(t.Context(), backup, to)
	if err != nil {
		t.Fatal(err)
	}
	if r.Head != head || r.Withdrawn == 0 || r.Voided == 0 || r.Ended == 0 || r.Modes != 1 {
		t.Errorf("restored %+v", r)
	}
	back := open(t, to, nil)
	dead(t, back)
	same(t, "the log up to the backup", all(t, back)[:head.Seq], all(t, l))
	rest, err := back.Since(t.Context(), head.Seq, 0)
	if err != nil || len(rest) != r.Withdrawn+r.Voided+r.Ended+r.Modes {
		t.Errorf("%d events were added, %v", len(rest), err)
	}
	for _, e := range rest {
		if e.Actor.Principal != sayso.BrokerActor.Principal || time.Since(e.At.Wall) > time.Hour {
			t.Errorf("event %d is by %+v at %v", e.Seq, e.Actor, e.At)
		}
	}
	events, err := back.Stream(t.Context(), session, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sayso.FoldSession("session-1", events)
	if err != nil || s.Mode != sayso.ModeInteractive {
		t.Errorf("the mode is %q, %v", s.Mode, err)
	}
	sound(t, back)
	entries, err := os.ReadDir(filepath.Dir(to))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// dead fails the test if anything in a log can still let a call run.
func dead(t *testing.T, l *sqlite.Log) {
	t.Helper()
	requests, err := l.Open(t.Context(), "", 0)
	if err != nil || len(requests) != 0 {
		t.Errorf("%d requests are open, %v", len(requests), err)
	}
	for _, w := range rows(t, l) {
		events, err := l.Stream(t.Context(), sayso.RequestStream(w.ID), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sayso.Fold(events)
		if err != nil || r.State.Open() || r.Unspent() {
			t.Errorf("request %s is %s, unspent %v, %v", w.ID.Short(), r.State, r.Unspent(), err)
		}
	}
	grants, err := l.Grants(t.Context(), nil, "", false)
	if err != nil || len(grants) != 0 {
		t.Errorf("%d grants are live, %v", len(grants), err)
	}
}

func TestRestore_refuses(t *testing.T) {
	e := newEvidence(t)
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	taken := filepath.Join(folder, "taken.db")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), e.path, taken); err == nil {
		t.Error("a file was overwritten")
	}
	forged := filepath.Join(folder, "forged.db")
	copyFile(t, e.path, forged)
	tamper(t, forged, `UPDATE events SET principal = 'eve' WHERE seq = 5`)
	to := filepath.Join(folder, "log.db")
	if _, err := sqlite.Restore(t.Context(), forged, to); err == nil {
		t.Error("a backup that does not verify was restored")
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was restored: %v", err)
	}
	if _, err := sqlite.Restore(t.Context(), filepath.Join(folder, "none.db"), to); err == nil {
		t.Error("a missing backup was restored")
	}
	left, err := filepath.Glob(filepath.Join(folder, ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("%v were left behind, %v", left, err)
	}
}
