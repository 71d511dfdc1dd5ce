//go:build unix

package down_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/lab/machine"
)

// cases are the tests, by the rows that they are for.
var cases = map[string]func(*testing.T, *machine.Machine) seen{
	"no server":                                        noServer,
	"the server dies while a call waits":               serverDies,
	"database locked":                                  databaseLocked,
	"database damaged":                                 databaseDamaged,
	"disk full":                                        diskFull,
	"state folder not writable":                        folderReadOnly,
	"state folder open to others":                      folderOpen,
	"policy broken":                                    policyBroken,
	"policy file that others may write":                policyOpen,
	"a setting is wrong":                               settingWrong,
	"the hook is missing or crashes":                   hookMissing,
	"the hook is killed while a call waits":            hookKilled,
	"the hook panics":                                  hookPanics,
	"the answer cannot be written":                     answerLost,
	"half a call, or none":                             halfACall,
	"a call that is too large":                         tooLarge,
	"an event that the hook does not know":             unknownEvent,
	"nobody answers in time":                           expires,
	"nobody answers in time, with then: deny":          deadlineDenies,
	"you answer too late for the agent's patience":     patienceEnds,
	"the socket of a server that is gone":              staleSocket,
	"a server elsewhere does not answer":               serverElsewhere,
	"a server elsewhere, and no token":                 tokenMissing,
	"hook and server are releases too far apart":       versionSkew,
	"the clock was set back while the machine was off": clockSetBack,
	"sayso off is in force":                            off,
	"sayso lock is in force":                           lock,
}

// lives compares what became of the requests in the log.
func lives(t *testing.T, m *machine.Machine, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, m.Lives()); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	m.Must("log", "verify")
}

// allow makes a policy that allows what the tests ask for, so that only what is
// down can be the reason of a denial.
func allow(m *machine.Machine) {
	m.Write(m.Paths().Policy(), "version: 1\nrules:\n  - allow: \"bash:touch marker\"\n")
}

func databaseLocked(t *testing.T, m *machine.Machine) seen {
	allow(m)
	m.Hook(m.Touch("1", "marker")).Allowed(t)
	c, err := sqlite.OpenConn(m.Paths().Database(), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := sqlitex.ExecuteTransient(c, "BEGIN EXCLUSIVE", nil); err != nil {
		t.Fatal(err)
	}
	told := m.Hook(m.Touch("2", "marker")).Denied(t)
	person := m.Sayso("status").Both()
	if err := sqlitex.ExecuteTransient(c, "ROLLBACK", nil); err != nil {
		t.Fatal(err)
	}
	lives(t, m, "requested resolved redeemed")
	m.Hook(m.Touch("2", "marker")).Allowed(t) // and it goes on
	return seen{told, person}
}

func databaseDamaged(t *testing.T, m *machine.Machine) seen {
	allow(m)
	m.Hook(m.Touch("1", "marker")).Allowed(t)
	kept := filepath.Join(m.Home, "kept.db")
	m.Must("backup", kept)
	damage := func() {
		for _, end := range []string{"-wal", "-shm"} {
			_ = os.Remove(m.Paths().Database() + end) // it need not be there
		}
		m.Write(m.Paths().Database(), strings.Repeat("this is no database\n", 1000))
	}
	damage()
	told := m.Hook(m.Touch("2", "marker")).Denied(t)
	person := m.Sayso("status").Both()
	if err := os.Rename(m.Paths().Database(), filepath.Join(m.Home, "damaged.db")); err != nil {
		t.Fatal(err)
	}
	person += m.Must("restore", kept)
	lives(t, m, "requested resolved redeemed")
	m.Hook(m.Touch("2", "marker")).Allowed(t)
	return seen{told, person}
}

func folderReadOnly(t *testing.T, m *machine.Machine) seen {
	allow(m)
	m.Hook(m.Touch("1", "marker")).Allowed(t)
	writable := readOnly(t, m.Paths().State)
	told := m.Hook(m.Touch("2", "marker")).Denied(t)
	person := m.Sayso("status").Both()
	writable()
	lives(t, m, "requested resolved redeemed")
	m.Hook(m.Touch("2", "marker")).Allowed(t)
	return seen{told, person}
}

// readOnly makes a folder read-only until it is called back, or the test ends.
func readOnly(t *testing.T, dir string) (writable func()) {
	t.Helper()
	var again func()
	if os.Getuid() == 0 {
		again = remount(t, dir)
	} else {
		mode := func(m os.FileMode) {
			if err := os.Chmod(dir, m); err != nil {
				t.Error(err)
			}
		}
		mode(0o500)
		again = func() { mode(0o700) }
	}
	again = sync.OnceFunc(again)
	t.Cleanup(again)
	return again
}

func folderOpen(t *testing.T, m *machine.Machine) seen {
	allow(m)
	m.Hook(m.Touch("1", "marker")).Allowed(t)
	if err := os.Chmod(m.Paths().State, 0o755); err != nil {
		t.Fatal(err)
	}
	told := m.Hook(m.Touch("2", "marker")).Denied(t)
	person := m.Sayso("status").Both() + m.Sayso("inbox").Both()
	if err := os.Chmod(m.Paths().State, 0o700); err != nil {
		t.Fatal(err)
	}
	lives(t, m, "requested resolved redeemed")
	return seen{told, person}
}

func diskFull(t *testing.T, m *machine.Machine) seen {
	if err := os.MkdirAll(m.Paths().State, 0o700); err != nil {
		t.Fatal(err)
	}
	smallDisk(t, m.Paths().State)
	allow(m)
	m.Hook(m.Touch("1", "marker")).Allowed(t)
	ballast := filepath.Join(m.Paths().State, "ballast")
	fill(t, ballast)
	var told string
	for i := 0; told == "" && i < 200; i++ { // what is left in the last page takes a few calls
		if r := m.Hook(m.Touch(strings.Repeat("x", i+2), "marker")); r.Exit != 0 {
			told = r.Denied(t)
		}
	}
	if told == "" {
		t.Fatal("the disk does not become full")
	}
	person := m.Sayso("status").Both()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	m.Hook(m.Touch("again", "marker")).Allowed(t)
	m.Must("log", "verify")
	return seen{told, person}
}

// fill writes a file until there is no room.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := bytes.Repeat([]byte("x"), 4096); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
}

// answerLost: an allow that the host could not hear is none.
func answerLost(t *testing.T, m *machine.Machine) seen {
	allow(m)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("there is nothing here that cannot be written to: %v; type: sudo mknod -m 666 /dev/full c 1 7", err)
	}
	defer full.Close()
	cmd := m.HookCommand(m.Touch("1", "marker"))
	cmd.Stdout = full
	if r := m.Run(cmd); r.Exit != 2 {
		t.Errorf("the hook ended with %+v", r)
	}
	// Nor is one of which nothing can be written at all.
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	cmd = m.HookCommand(m.Touch("2", "marker"))
	cmd.Stdout = writer
	if r := m.Run(cmd); r.Exit == 0 {
		t.Errorf("the hook ended with %+v", r)
	}
	lives(t, m, "requested resolved redeemed", "requested resolved redeemed")
	return seen{"", m.Must("log")}
}
