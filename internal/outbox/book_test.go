package outbox_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/filelock"
	"github.com/sayso-dev/sayso/internal/outbox"
)

// TestTargets: who is told is as the policy says now. One that is named no more
// is told nothing and loses nothing: named again it goes on where it was.
func TestTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names atomic.Pointer[[]string]
		var fails atomic.Bool
		said := make(chan string, 10)
		w := newWorld(t)
		named(w, &names, outbox.ModeSet)
		w.chat = chatInto(said, &fails)
		o := w.outbox()
		now := func(list ...string) { names.Store(&list); time.Sleep(time.Minute) }
		set := func(m sayso.Mode) {
			t.Helper()
			if err := w.b.InboxOf(root).SetMode(t.Context(), "", m, 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		now()
		w.run(o)
		set(sayso.ModeStrict) // before anybody was told
		now("old", "other")
		fails.Store(true)
		set(sayso.ModeInteractive)
		for _, without := range [][]string{{}, {"other"}, {"new", "other"}} {
			now(without...)
			list, err := o.Letters()
			if err != nil || len(list) != 2 {
				t.Fatalf("named are %q, and kept is %+v, %v", without, list, err)
			}
			for _, l := range list {
				if l.Gone != !slices.Contains(without, l.Target) {
					t.Errorf("named are %q, and of %s it is %t that it is gone", without, l.Target, l.Gone)
				}
			}
			if c := o.Counts(); c[len(c)-2].Target != "old" || !c[len(c)-2].Gone || c[len(c)-2].Waiting != 1 {
				t.Errorf("named are %q, and counted is %+v", without, c)
			}
			if _, err := o.Retry(t.Context(), func(l outbox.Letter) bool { return l.Target == "old" }); !errors.Is(err, sayso.ErrNotFound) {
				t.Errorf("tried again for a target that is gone: %v", err)
			}
		}
		now()
		set(sayso.ModeStrict) // meanwhile
		fails.Store(false)
		now("old")
		time.Sleep(time.Hour)
		if list, err := o.Letters(); err != nil || len(said) != 2 || len(list) != 1 || list[0].Target != "other" {
			t.Errorf("told %d, and kept is %+v, %v", len(said), list, err)
		}
	})
}

// What a target had that is gone for long is dropped, and it is said how much,
// whether or not anybody is told still.
func TestTargets_goneForLong(t *testing.T) {
	for _, rest := range [][]string{{}, {"other"}} {
		synctest.Test(t, func(t *testing.T) {
			var names atomic.Pointer[[]string]
			var fails atomic.Bool
			w := newWorld(t)
			named(w, &names, outbox.ModeSet)
			fails.Store(true)
			w.chat = chatInto(nil, &fails)
			o := w.outbox()
			o.Rarely(10 * time.Minute)
			names.Store(&[]string{"old"})
			w.run(o)
			time.Sleep(time.Hour)
			if err := w.b.InboxOf(root).SetMode(t.Context(), "", sayso.ModeStrict, 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			names.Store(&rest)
			time.Sleep(7 * 24 * time.Hour)
			if list, err := o.Letters(); err != nil || len(list) != 1 || !list[0].Gone {
				t.Errorf("after seven days it has %+v, %v", list, err)
			}
			time.Sleep(2 * time.Hour)
			if list, err := o.Letters(); err != nil || len(list) != 0 {
				t.Errorf("later it has %+v, %v", list, err)
			}
			c := o.Counts()
			i := slices.IndexFunc(c, func(c outbox.Count) bool { return c.Target == "old" })
			if i < 0 || c[i].Dropped != 1 || c[i].Waiting != 0 || !c[i].Gone || !strings.Contains(w.logs.String(), "kept no more") {
				t.Errorf("counted %+v; the log: %s", c, w.logs)
			}
		})
	}
}

// What is kept says nothing of what was asked, and is closed to others.
func TestBook_keepsNoContent(t *testing.T) {
	r := receiving(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	w := newWorld(t, hook(r, outbox.Preview, outbox.Opened))
	o, stop := w.begun()
	w.ask("c1", `{"command":"CANARY"}`)
	eventually(t, "a letter", func() bool { l, err := o.Letters(); return err == nil && len(l) == 1 })
	stop()
	files, err := os.ReadDir(w.folder)
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		path := filepath.Join(w.folder, f.Name())
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text), "CANARY") || strings.Contains(string(text), "whsec") || strings.Contains(string(text), "127.0.0.1") {
			t.Errorf("%s: %s, %v", f.Name(), text, err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), st.Mode(), err)
		}
	}
}

// A book that cannot be read stops sending; nothing is begun anew over it.
func TestBook_broken(t *testing.T) {
	for _, text := range []string{"{", `{"version":2,"targets":{}}`, `{"version":1,"targets":{},"more":1}`} {
		r := receiving(t, nil)
		w := newWorld(t, hook(r, outbox.None, outbox.Opened))
		path := filepath.Join(w.folder, "notices.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stop := w.run(w.outbox().Quick(time.Minute))
		eventually(t, "a word in the log", func() bool { return strings.Contains(w.logs.String(), "notices are not sent") })
		stop()
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("it wrote %s, %v", now, err)
		}
	}
}

// TestBook_held: a process that was stopped while it changed the book holds up
// nobody who has somewhere else to go, and what is sent meanwhile is kept once it
// goes on.
func TestBook_held(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan string, 10)
		w := newWorld(t, outbox.Target{Name: "chat", On: []outbox.Kind{outbox.ModeSet}, Chat: text("x://")})
		w.chat = chatInto(said, &atomic.Bool{})
		o := w.outbox()
		stop := w.run(o)
		w.began(o)
		for _, goesOn := range []bool{true, false} {
			lock, err := filelock.Try(filepath.Join(w.folder, "notices.lock"), filelock.Exclusive)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.b.InboxOf(root).SetMode(t.Context(), "", sayso.ModeStrict, time.Hour); err != nil {
				t.Fatal(err)
			}
			<-said
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := o.Retry(ctx, func(outbox.Letter) bool { return true }); !errors.Is(err, filelock.ErrHeld) {
				t.Errorf("while the book is held: %v", err)
			}
			cancel()
			if goesOn {
				_ = lock.Close()
				time.Sleep(time.Minute)
				continue
			}
			stop()
			_ = lock.Close()
		}
		w.run(w.outbox())
		<-said // what could not be kept is told again
		time.Sleep(time.Minute)
		if len(said) > 0 {
			t.Errorf("what was kept was told again: %s", <-said)
		}
	})
}

// What a crash left of a book that was being written is in nobody's way, and goes.
func TestBook_halfWritten(t *testing.T) {
	w := newWorld(t, hook(receiving(t, nil), outbox.None, outbox.Opened))
	half := filepath.Join(w.folder, "notices.json.new")
	if err := os.WriteFile(half, []byte(`{"vers`), 0o400); err != nil {
		t.Fatal(err)
	}
	w.begun()
	if _, err := os.Lstat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
