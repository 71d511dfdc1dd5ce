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
		t.Skipf("there are no terminals here: %v; type: sudo mount -t devpts devpts /dev/pts", err)
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

// run types the script, and returns all that was on the screen once the
// program's end of the terminal is closed.
func (p typist) run(t *testing.T, tty *os.File, script []typist) string {
	r := bufio.NewReader(tty)
	var seen bytes.Buffer
	var all strings.Builder
	for _, step := range script {
		for !strings.HasSuffix(strings.TrimRight(seen.String(), " "), step.question) {
			b, err := r.ReadByte()
			if err != nil {
				return all.String() // the program has gone
			}
			seen.WriteByte(b)
			all.WriteByte(b)
		}
		seen.Reset()
		if _, err := tty.WriteString(step.keys); err != nil {
			t.Errorf("typing %q: %v", step.keys, err)
		}
	}
	for { // what is printed must go somewhere
		b, err := r.ReadByte()
		if err != nil {
			return all.String()
		}
		all.WriteByte(b)
	}
}

const (
	plainQuestion = "[y] allow  [n] deny  [s] session  [v] view  [esc] deny"
	editQuestion  = "[y] allow  [n] deny  [s] session  [v] view  [e] edit  [esc] deny"
	changeConfirm = "allow it with these changes? [y/n, then Enter]"
	noteQuestion  = "(enter for nothing):"
)

func TestVW4_prompt(t *testing.T) {
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
			return []typist{{plainQuestion, "y"}, {"to go on:", "y\r"}, {plainQuestion, "\x03"}}
		}, sayso.StateOpen, "", false},
		{"escape leaves the slow question", "rm -rf build", "", func(string) []typist {
			return []typist{{plainQuestion, "y"}, {"to go on:", "x"}, {"x", "\x1b"}}
		}, sayso.StateOpen, "", false},
		{"escape leaves the note, and denies nothing", "make", "", func(string) []typist {
			return []typist{{plainQuestion, "n"}, {noteQuestion, "\x1b"}}
		}, sayso.StateOpen, "", false},
		{"ctrl-c leaves the note, and denies nothing", "make", "", func(string) []typist {
			return []typist{{plainQuestion, "n"}, {noteQuestion, "not"}, {"not", "\x03"}}
		}, sayso.StateOpen, "", false},
		{"a note can be mended while it is typed", "make", "", func(string) []typist {
			return []typist{{plainQuestion, "n"}, {noteQuestion, "wrong\x15n\u00e4\x7fot now\r"}}
		}, sayso.StateDenied, "not now", false},
		{"leaving leaves it open", "make", "", func(string) []typist { return []typist{{plainQuestion, "\x03"}} }, sayso.StateOpen, "", false},
		{"a long call is not allowed before it was seen", "make\n" + strings.Repeat("x\n", 100), "", func(string) []typist {
			return []typist{{"view all of it first  [esc] deny", "y"}, {"view all of it first  [esc] deny", "v"}, {plainQuestion, "y"}}
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

// editors are what people do in their editor, as shell commands on the file $1.
const (
	editNothing = `touch "$1"`
	editLess    = `sed -i 's/make/make -n/' "$1"`
	editDanger  = `sed -i 's/make/rm -rf build/' "$1"`
	editReorder = `printf '{ "command" : "m\u0061ke" }' > "$1"`
	editOrder   = `printf '{"timeout":5, "command":"make -n"}' > "$1"`
	editBroken  = `if grep -q make-more "$1"; then sed -i 's/,}/}/' "$1"; else sed -i 's/make"/make-more",}/; /^}/d' "$1"; fi`
)

func TestPrompt_edit(t *testing.T) {
	for _, c := range []struct {
		name, editor string
		script       func(short string) []typist
		want         sayso.State
		ran          string
	}{
		{"unchanged is no answer", editNothing, func(string) []typist {
			return []typist{{editQuestion, "e"}, {"nothing was changed; not answered\r\n" + editQuestion, "\x03"}}
		}, sayso.StateOpen, ""},
		{"equal arguments are unchanged", editReorder, func(string) []typist {
			return []typist{{editQuestion, "e"}, {"nothing was changed; not answered\r\n" + editQuestion, "\x03"}}
		}, sayso.StateOpen, ""},
		{"a change is shown and confirmed", editLess, func(string) []typist {
			return []typist{{editQuestion, "e"}, {"you changed:", ""}, {changeConfirm, "y\r"}}
		}, sayso.StateAllowed, `{"command":"make -n"}`},
		{"members stay in the order in which they were written", editOrder, func(string) []typist {
			return []typist{{editQuestion, "e"}, {changeConfirm, "y\r"}}
		}, sayso.StateAllowed, `{"timeout":5,"command":"make -n"}`},
		{"a change that is not confirmed is no answer", editLess, func(string) []typist {
			return []typist{{editQuestion, "e"}, {changeConfirm, "n\r"}, {editQuestion, "\x03"}}
		}, sayso.StateOpen, ""},
		{"a change for the worse takes the ticket", editDanger, func(short string) []typist {
			return []typist{{editQuestion, "e"}, {"to go on:", "y\r"}, {editQuestion, "e"}, {"to go on:", short + "\r"}}
		}, sayso.StateAllowed, `{"command":"rm -rf build"}`},
		{"a mistake loses no text", editBroken, func(string) []typist {
			return []typist{{editQuestion, "e"}, {"open it again? [y/n, then Enter]", "y\r"}, {changeConfirm, "y\r"}}
		}, sayso.StateAllowed, `{"command":"make-more"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			editor := t.TempDir() + "/editor"
			if err := os.WriteFile(editor, []byte("#!/bin/sh\n"+c.editor+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			r, _, ran := answeredBy(t, "make", "", editor, c.script)
			if r.State != c.want || string(ran.Args) != c.ran {
				t.Errorf("the request is %s and ran with %s; want %s, %s", r.State, ran.Args, c.want, c.ran)
			}
		})
	}
}

// What was dangerous about a call is not said of the one that it was changed to.
func TestPrompt_editThatTakesTheDangerAway(t *testing.T) {
	editor := t.TempDir() + "/editor"
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/rm -rf build/make/' \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, _, ran := answeredBy(t, "rm -rf build", "", editor, func(string) []typist {
		return []typist{{editQuestion, "e"}, {changeConfirm, "y\r"}}
	})
	if r.State != sayso.StateAllowed || string(ran.Args) != `{"command":"make"}` {
		t.Errorf("the request is %s and ran with %s", r.State, ran.Args)
	}
}

// prompted has one call asked about at a terminal, and returns what became of
// it and how much is remembered.
func prompted(t *testing.T, command, before string, script func(short string) []typist) (sayso.Request, int) {
	t.Helper()
	r, grants, _ := answeredBy(t, command, before, "", script)
	return r, len(grants)
}

// answeredBy is prompted for a person with an editor, if one is named. It
// returns the decision that the caller got, too.
func answeredBy(t *testing.T, command, before, editor string, script func(short string) []typist) (sayso.Request, []sayso.Grant, sayso.Decision) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	paths := homeIn(t.TempDir())
	opened := make(chan sayso.Request, 1)
	e, err := local.OpenEngine(ctx, paths, local.Options{Opened: func(r sayso.Request) { opened <- r }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a := demoApp()
	asking, stop := context.WithCancel(ctx)
	defer stop()
	asked := make(chan sayso.Decision, 1)
	go func() {
		call := sayso.Call{Tool: "bash", Args: argsOf(t, command), Session: "s1", Cwd: "/tmp"}
		d, _ := e.Gate(home.OwnActor(sayso.PrincipalAgent, "test", "embedded")).Admit(asking, sayso.Admission{Call: call, CanEdit: editor != ""})
		asked <- d
	}()
	r := <-opened
	person, program := openTTY(t)
	if _, err := person.WriteString(before); err != nil {
		t.Fatal(err)
	}
	go typist{}.run(t, person, script(r.ShortID))
	a.in, a.err = program, program
	a.getenv = func(name string) string { return map[string]string{"EDITOR": editor}[name] }
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
	if now.State.Open() {
		stop()
	}
	return now, grants, <-asked
}

func argsOf(t *testing.T, command string) sayso.Args {
	t.Helper()
	return sayso.Args(fmt.Sprintf(`{"command":%q}`, command))
}
