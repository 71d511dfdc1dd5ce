//go:build linux

package readme_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a shell that a person sits at. They answer what they are asked
// with yes.
type terminal struct {
	t   *testing.T
	dir string
	env []string
}

// questions are what programs ask, and what the person types.
var questions = []struct {
	asks *regexp.Regexp
	keys string
}{
	{regexp.MustCompile(`\[y/n, then Enter\] *$`), "y\n"},
	{regexp.MustCompile(`\[esc\] deny *$`), "y"},
	{regexp.MustCompile(`Type (\w{4}) to go on: *$`), "$1\n"},
}

// colours are not part of what is read on the screen.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// limit is how long a block may take.
const limit = 3 * time.Minute

// run runs the lines of a block, as they stand, and returns what was on the
// screen. A block that is run until something appears is interrupted then.
func (s *terminal) run(text, until string) (screen string, exit int) {
	s.t.Helper()
	person, program := openTTY(s.t)
	where := filepath.Join(s.t.TempDir(), "where")
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", text+"\npwd >"+where+"\n")
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = program.Close() // the shell has it
	late := time.AfterFunc(limit, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	var seen strings.Builder
	var typing sync.WaitGroup
	typing.Go(func() { s.sit(person, &seen, until) })
	_ = cmd.Wait() // the exit status tells
	typing.Wait()
	if dir, err := os.ReadFile(where); err == nil {
		s.dir = strings.TrimSpace(string(dir))
	}
	return strings.ReplaceAll(seen.String(), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

// sit reads the screen until the program ends, and answers its questions.
func (s *terminal) sit(tty *os.File, seen *strings.Builder, until string) {
	asked := 0 // up to where questions were answered
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		seen.Write(buf[:n])
		if err != nil {
			return
		}
		fresh := seen.String()[asked:]
		for _, q := range questions {
			if at := q.asks.FindStringSubmatchIndex(fresh); at != nil {
				asked = seen.Len()
				_, _ = tty.Write(q.asks.ExpandString(nil, q.keys, fresh, at)) // a program that has gone reads nothing
				break
			}
		}
		if until != "" && strings.Contains(colours.ReplaceAllString(fresh, ""), until) {
			until = ""
			_, _ = tty.WriteString("\x03") // Ctrl-C
		}
	}
}

// must runs a block that must succeed.
func (s *terminal) must(text, until string) string {
	s.t.Helper()
	screen, exit := s.run(text, until)
	if exit != 0 && (until == "" || exit != 130) {
		s.t.Fatalf("exit status %d of\n%s\nOn the screen:\n%s", exit, text, screen)
	}
	return screen
}

// openTTY returns the two ends of a terminal.
func openTTY(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() }) // once more does no harm
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}
