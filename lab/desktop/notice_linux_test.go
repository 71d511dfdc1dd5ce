package desktop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/notice"
	"github.com/sayso-dev/sayso/lab/machine"
)

// with gives a machine a PATH on which one of the programs that show notices is
// found, and no other.
func with(t *testing.T, m *machine.Machine, program string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("there is no %s on this machine; type: sudo apt-get install libnotify-bin libglib2.0-bin", program)
	}
	bin := t.TempDir()
	if err := os.Symlink(path, filepath.Join(bin, program)); err != nil {
		t.Fatal(err)
	}
	m.Env = append(m.Env, "PATH="+m.Bin+string(os.PathListSeparator)+bin, "SAYSO_NOTICE=on")
}

// next is what the desktop is asked to show next.
func next(t *testing.T, asked <-chan shown) shown {
	t.Helper()
	select {
	case s := <-asked:
		return s
	case <-time.After(time.Minute):
		t.Fatal("the desktop was asked to show nothing")
	}
	return shown{}
}

// A request that nobody watches for is told of on the desktop, by its tool and
// its ticket, whichever program there is to tell it.
func TestNotice(t *testing.T) {
	for _, program := range []string{"notify-send", "gdbus"} {
		t.Run(program, func(t *testing.T) {
			m := machine.New(t)
			with(t, m, program)
			address := bus(t)
			m.Env = append(m.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+address)
			asked := desktop(t, address)

			w := m.Start(m.Touch("1", "canary-of-the-notice"))
			r := m.Opened(1)[0]
			got, want := next(t, asked), shown{"sayso", "sayso: claude-code waits for you", "bash, ticket " + r.ShortID + ". Type: sayso show " + r.ShortID}
			if got != want {
				t.Errorf("the desktop shows %+v, want %+v", got, want)
			}
			m.Must("deny", r.ShortID)
			w.Wait().Denied(t)

			// Who watches is told there, and nowhere else.
			watch := m.Command("watch")
			if err := watch.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = watch.Process.Kill(); _ = watch.Wait() }() // nothing of it is kept
			until(t, "somebody watches", func() bool { return notice.Watched(m.Paths().Watchers()) })
			w = m.Start(m.Touch("2", "canary-of-the-notice"))
			r = m.Opened(1)[0]
			m.Must("deny", r.ShortID)
			w.Wait().Denied(t)
			select {
			case s := <-asked:
				t.Errorf("somebody watches, and the desktop shows %+v", s)
			default:
			}
		})
	}
}

// A desktop that is asked and does not answer, or that is none, delays nobody
// and fails nothing.
func TestNotice_withoutDesktop(t *testing.T) {
	m := machine.New(t)
	with(t, m, "gdbus")
	for name, address := range map[string]string{"no bus": filepath.Join(t.TempDir(), "none"), "a bus without a desktop": bus(t)} {
		w := m.Start(m.Touch(strings.ReplaceAll(name, " ", "-"), "marker"), "DBUS_SESSION_BUS_ADDRESS=unix:path="+address)
		r := m.Opened(1)[0]
		m.Must("deny", r.ShortID)
		if said := w.Wait(); said.Exit != 2 && !strings.Contains(said.Stdout, "deny") || strings.Contains(said.Stderr, "GDBus") {
			t.Errorf("%s: %+v", name, said)
		}
	}
}
