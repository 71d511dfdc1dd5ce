package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
)

// openTTY returns the two ends of a terminal: that of the person, and that of
// the program.
func openTTY(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
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
	t.Cleanup(func() { program.Close() })
	return person, program
}

// typist types each key when its question appears.
type typist struct{ question, keys string }

func (p typist) run(t *testing.T, tty *os.File, script []typist) {
	r := bufio.NewReader(tty)
	var seen bytes.Buffer
	for _, step := range script {
		for !strings.HasSuffix(strings.TrimRight(seen.String(), " "), step.question) {
			b, err := r.ReadByte()
			if err != nil {
				return // the program has gone
			}
			seen.WriteByte(b)
		}
		seen.Reset()
		if _, err := tty.WriteString(step.keys); err != nil {
			t.Errorf("typing %q: %v", step.keys, err)
		}
	}
	for { // what is printed must go somewhere
		if _, err := r.ReadByte(); err != nil {
			return
		}
	}
}

const (
	plainQuestion = "[y] allow  [n] deny  [s] session  [v] view"
	noteQuestion  = "(enter for nothing):"
)

func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		name    string
		command string
		before  string // typed before there is any question
		script  func(short string) []typist
		want    sayso.State
		note    string
		scope   bool // remembered
	}{
		{"y allows", "make", "", func(string) []typist { return []typist{{plainQuestion, "y"}} }, sayso.StateAllowed, "", false},
		{"s remembers", "make", "", func(string) []typist { return []typist{{plainQuestion, "s"}} }, sayso.StateAllowed, "", true},
		{"n denies with a note", "make", "", func(string) []typist {
			return []typist{{plainQuestion, "n"}, {noteQuestion, "not now\r"}}
		}, sayso.StateDenied, "not now", false},
		{"escape denies", "make", "", func(string) []typist { return []typist{{plainQuestion, "\x1b"}} }, sayso.StateDenied, "", false},
		{"enter and arrows are no answers", "make", "", func(string) []typist {
			return []typist{{plainQuestion, "\r"}, {plainQuestion, "\x1b[A"}, {plainQuestion, " "}, {plainQuestion, "yy"}, {plainQuestion, "\x1b"}}
		}, sayso.StateDenied, "", false},
		{"what was typed ahead is no answer", "make", "y", func(string) []typist { return []typist{{plainQuestion, "\x1b"}} }, sayso.StateDenied, "", false},
		{"danger takes the ticket", "rm -rf build", "", func(short string) []typist {
			return []typist{{plainQuestion, "y"}, {"to go on:", short + "\r"}}
		}, sayso.StateAllowed, "", false},
		{"danger takes no key", "rm -rf build", "", func(string) []typist {
			return []typist{{plainQuestion, "y"}, {"to go on:", "y\r"}}
		}, sayso.StateOpen, "", false},
		{"leaving leaves it open", "make", "", func(string) []typist { return []typist{{plainQuestion, "\x03"}} }, sayso.StateOpen, "", false},
		{"a long call is not allowed before it was seen", "make\n" + strings.Repeat("x\n", 100), "", func(string) []typist {
			return []typist{{"view all of it first", "y"}, {"view all of it first", "v"}, {plainQuestion, "y"}}
		}, sayso.StateAllowed, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, grants := prompted(t, c.command, c.before, c.script)
			if r.State != c.want || (grants > 0) != c.scope {
				t.Errorf("the request is %s and %d are remembered; want %s, %v", r.State, grants, c.want, c.scope)
			}
			if r.Decision != nil && r.Decision.Note != c.note {
				t.Errorf("note %q, want %q", r.Decision.Note, c.note)
			}
		})
	}
}

// prompted has one call asked about at a terminal, and returns what became of
// it.
func prompted(t *testing.T, command, before string, script func(short string) []typist) (sayso.Request, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	paths := home.Paths{State: t.TempDir() + "/home"}
	paths.Config, paths.Runtime, paths.Home = paths.State, paths.State, paths.State
	opened := make(chan sayso.Request, 1)
	e, err := local.OpenEngine(ctx, paths, local.Options{Opened: func(r sayso.Request) { opened <- r }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a := demoApp()
	asking, stop := context.WithCancel(ctx)
	defer stop()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		call := sayso.Call{Tool: "bash", Args: argsOf(t, command), Session: "s1", Cwd: "/tmp"}
		_, _ = e.Gate(home.OwnActor(sayso.PrincipalAgent, "test", "embedded")).Admit(asking, sayso.Admission{Call: call})
	}()
	r := <-opened
	person, program := openTTY(t)
	if _, err := person.WriteString(before); err != nil {
		t.Fatal(err)
	}
	go typist{}.run(t, person, script(r.ShortID))
	a.in, a.err = program, program
	in := e.Inbox(a.person())
	s, err := look(ctx, in, string(r.ID))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.promptFor(ctx, in, s); err != nil && !errors.Is(err, errLeft) {
		t.Fatal(err)
	}
	now, err := in.Request(ctx, string(r.ID))
	if err != nil {
		t.Fatal(err)
	}
	grants, err := in.Grants(ctx, "", false)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	<-asked
	return now, len(grants)
}

func argsOf(t *testing.T, command string) sayso.Args {
	t.Helper()
	return sayso.Args(fmt.Sprintf(`{"command":%q}`, command))
}
