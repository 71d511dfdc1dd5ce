//go:build unix

// Package machine is a computer with sayso on it, for tests that drive the
// programs themselves: a home folder, a project, the two programs of this tree,
// and nothing of the environment that the tests run in.
package machine

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/home"
)

// Machine is such a computer. Everything on it is gone when the test ends.
type Machine struct {
	t     testing.TB
	Home  string   // of the person
	Dir   string   // of the project
	Bin   string   // of the programs
	Env   []string // KEY=value, beside PATH and HOME
	typed []string // the command lines of sayso that were run
}

// New makes a machine on which nothing is set up yet.
func New(t testing.TB) *Machine {
	t.Helper()
	return &Machine{
		t: t, Home: t.TempDir(), Dir: t.TempDir(), Bin: Programs(t),
		Env: []string{"SAYSO_NOTICE=off", "LANG=C.UTF-8"},
	}
}

// Environ is the whole environment of programs on the machine.
func (m *Machine) Environ(more ...string) []string {
	env := []string{"PATH=" + m.Bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + m.Home}
	return append(append(env, m.Env...), more...)
}

// Paths says where everything lies on the machine.
func (m *Machine) Paths() home.Paths {
	m.t.Helper()
	paths, err := home.Find(func(name string) (found string) {
		for _, kv := range m.Environ() {
			if k, v, _ := strings.Cut(kv, "="); k == name {
				found = v
			}
		}
		return found
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return paths
}

// Write makes a file that is closed to others, and its folders.
func (m *Machine) Write(path, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// Exists reports whether a file of the project is there.
func (m *Machine) Exists(name string) bool {
	m.t.Helper()
	_, err := os.Stat(filepath.Join(m.Dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.t.Fatal(err)
	}
	return err == nil
}

// Result is what a program that ended left behind.
type Result struct {
	Exit           int // -1 if a signal ended it
	Stdout, Stderr string
}

// Both is all that was printed.
func (r Result) Both() string { return r.Stdout + r.Stderr }

// limit is how long a program may take to its end.
const limit = time.Minute

// Run runs a command to its end.
func (m *Machine) Run(cmd *exec.Cmd) Result {
	m.t.Helper()
	var out, errs bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &errs
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatalf("%s: %v", cmd, err)
	}
	late := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() }) // it may have ended by itself
	_ = cmd.Wait()                                                   // ProcessState says how it ended
	if !late.Stop() {
		m.t.Fatalf("%s did not end in %s: %s%s", cmd, limit, out.String(), errs.String())
	}
	return Result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// Command is a run of sayso as the person of this machine.
func (m *Machine) Command(args ...string) *exec.Cmd {
	m.typed = append(m.typed, strings.Join(append([]string{"sayso"}, args...), " "))
	cmd := exec.Command(filepath.Join(m.Bin, "sayso"), args...)
	cmd.Env, cmd.Dir = m.Environ(), m.Dir
	return cmd
}

// Sayso runs a command of sayso, whatever its exit status.
func (m *Machine) Sayso(args ...string) Result {
	m.t.Helper()
	return m.Run(m.Command(args...))
}

// Must runs a command of sayso that must succeed and returns what it printed.
func (m *Machine) Must(args ...string) string {
	m.t.Helper()
	r := m.Sayso(args...)
	if r.Exit != 0 {
		m.t.Fatalf("sayso %s: exit status %d\n%s", strings.Join(args, " "), r.Exit, r.Both())
	}
	return r.Stdout
}

// Typed are the command lines of sayso that were run so far.
func (m *Machine) Typed() []string { return slices.Clone(m.typed) }
