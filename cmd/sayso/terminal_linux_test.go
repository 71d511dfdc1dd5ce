package main

import (
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
)

// atTerminal runs do with a program whose person types a script, and returns
// what was on their screen.
func atTerminal(t *testing.T, script []typist, do func(context.Context, *app) error) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	person, program := openTTY(t)
	screen := make(chan string, 1)
	go func() { screen <- typist{}.run(t, person, script) }()
	a := demoApp()
	a.in, a.out, a.err = program, program, program
	err := do(ctx, a)
	program.Close()
	return <-screen, err
}

func TestDemo_atATerminal(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	screen, err := atTerminal(t, []typist{
		{editQuestion, "y"}, {editQuestion, "n"}, {noteQuestion, "keep it\r"}, {editQuestion, "y"}, {editQuestion, "n"}, {noteQuestion, "\r"},
	}, func(ctx context.Context, a *app) error { return a.demo(ctx, demoOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"write_file", "denied by", "keep it", "Next: "} {
		if !strings.Contains(screen, want) {
			t.Errorf("not on the screen: %q", want)
		}
	}
	if strings.Contains(screen, "another terminal\r\n") && strings.Contains(screen, "answered in another") {
		t.Error("an answer given here was said to come from elsewhere")
	}
	for line := range strings.SplitSeq(screen, "\r\n") {
		if i := strings.Index(line, "[esc] deny"); i >= 0 && strings.Contains(line[i:], "call ") {
			t.Errorf("a line of the agent stands in a question: %q", line)
		}
	}
}

// Whoever changed a call is told that it ran with the changes, and as what.
func TestDemo_saysWhatAnEditMade(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	editor := t.TempDir() + "/editor"
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/and welcome/and a warm welcome/; s/notes.bak/copy.txt/' \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	screen, err := atTerminal(t, []typist{
		{editQuestion, "e"}, {changeConfirm, "y\r"}, {editQuestion, "n"}, {noteQuestion, "\r"}, {editQuestion, "e"}, {changeConfirm, "y\r"}, {editQuestion, "n"}, {noteQuestion, "\r"},
	}, func(ctx context.Context, a *app) error {
		a.getenv = func(name string) string { return map[string]string{"EDITOR": editor}[name] }
		return a.demo(ctx, demoOptions{})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`, with changes: write_file greeting\.txt: done\r\n`, `6  bash cp notes\.txt copy\.txt +allowed by \S+, with changes +ran\r\n`, `5  bash rm -rf build +denied by \S+ +did not run\r\n`} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("not on the screen: %s\n%s", want, screen)
		}
	}
}

func TestDemo_leftAtATerminal(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	screen, err := atTerminal(t, []typist{{editQuestion, "\x03"}},
		func(ctx context.Context, a *app) error { return a.demo(ctx, demoOptions{}) })
	if err != nil || !strings.Contains(screen, "the demo was stopped") || strings.Contains(screen, "error") {
		t.Errorf("%v:\n%s", err, screen)
	}
}

func TestExit_whoLeftIsToldThatItWaits(t *testing.T) {
	screen, err := atTerminal(t, []typist{{"allow it? [y/n, then Enter]", "\x1b"}}, func(ctx context.Context, a *app) error {
		_, err := a.confirm(ctx, "allow it?")
		if code := a.exit(err); code != exitNo {
			t.Errorf("exit %d", code)
		}
		return nil
	})
	if err != nil || !strings.Contains(screen, "sayso: left without an answer; the request still waits") {
		t.Errorf("%v:\n%s", err, screen)
	}
}

// Who mistypes what a dangerous call wants is told that, and not only that it waits.
func TestApprove_mistypedIsSaid(t *testing.T) {
	for typed, want := range map[string]bool{"k7fn": true, "y": true, "": false, "k7fm": false} {
		screen, err := atTerminal(t, []typist{{"Type k7fm to go on:", typed + "\r"}}, func(ctx context.Context, a *app) error {
			ok, err := a.slowly(ctx, sayso.Request{ShortID: "k7fm"}, []sayso.Danger{sayso.DangerDelete}, "allow it?")
			if ok != (typed == "k7fm") {
				t.Errorf("%q is %v", typed, ok)
			}
			return err
		})
		if err != nil || strings.Contains(screen, "that is not k7fm: it was mistyped, or is another request") != want {
			t.Errorf("%q: %v:\n%s", typed, err, screen)
		}
	}
}

func TestPolicyCheck_atATerminalDoesNotWait(t *testing.T) {
	file := t.TempDir() + "/rules.yaml"
	if err := os.WriteFile(file, []byte("version: 1\nrules:\n  - ask: bash\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	screen, err := atTerminal(t, nil, func(ctx context.Context, a *app) error {
		return a.policyCheck(ctx, checkOptions{file: file})
	})
	if err != nil || !strings.Contains(screen, file+": 1 rule, no mistakes (") || !strings.Contains(screen, "standard input") {
		t.Errorf("%v:\n%s", err, screen)
	}
}

func TestAsk_atATerminalDoesNotWait(t *testing.T) {
	screen, err := atTerminal(t, nil, func(ctx context.Context, a *app) error {
		if a.exit(a.askOne(ctx, "script")) != exitError {
			t.Error("there was a call")
		}
		return nil
	})
	if err != nil || !strings.Contains(screen, "there is no call") || !strings.Contains(screen, "sayso ask < call.json") {
		t.Errorf("%v:\n%s", err, screen)
	}
}

// TestAsk_stoppedWhileItReads takes an input that nobody writes to, and a person
// who presses Ctrl-C.
func TestAsk_stoppedWhileItReads(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	for name, run := range map[string]func(context.Context, *app) error{
		"ask":         func(ctx context.Context, a *app) error { return a.askOne(ctx, "script") },
		"call digest": func(ctx context.Context, a *app) error { return a.eachCall(ctx, a.digestOf, nil) },
	} {
		ctx, stop := context.WithCancel(t.Context())
		a := demoApp()
		a.in = r
		stop()
		if err := run(ctx, a); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAsk_stoppedLeavesTheCallWaiting(t *testing.T) {
	paths := homeIn(t.TempDir())
	screen, err := atTerminal(t, nil, func(ctx context.Context, a *app) error {
		a.paths = paths
		a.in = strings.NewReader(`{"tool":"bash","args":{"command":"make"},"session":"s1","cwd":"/tmp"}`)
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			e, err := local.OpenEngine(ctx, paths, local.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer e.Close()
			for range e.Inbox(a.person()).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
				break
			}
			stop()
		}()
		if a.exit(a.askOne(ctx, "script")) != exitError {
			t.Error("the call seems to have been decided")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" waits for a person: sayso watch", "Not decided yet, ticket ", "sayso approve "} {
		if !strings.Contains(screen, want) {
			t.Errorf("not on the screen: %q\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "canceled") {
		t.Errorf("it speaks of itself:\n%s", screen)
	}
}

// TestPrompt_oneAfterTheOther has three calls wait. The first is answered here,
// the second was decided elsewhere when the answer came, and still the third is
// asked about.
func TestPrompt_oneAfterTheOther(t *testing.T) {
	paths := homeIn(t.TempDir())
	opened := make(chan sayso.Request, 1)
	e, err := local.OpenEngine(t.Context(), paths, local.Options{Opened: func(r sayso.Request) { opened <- r }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	asking, stop := context.WithCancel(t.Context())
	defer stop()
	var list []sayso.Request
	decided := make(chan sayso.State, 3)
	for _, command := range []string{"make one", "make two", "make three"} {
		go func() {
			call := sayso.Call{Tool: "bash", Args: argsOf(t, command), Session: "s1", Cwd: "/tmp"}
			d, _ := e.Gate(home.OwnActor(sayso.PrincipalAgent, "test", "embedded")).Admit(asking, sayso.Admission{Call: call})
			decided <- d.State
		}()
		list = append(list, <-opened)
	}
	person, program := openTTY(t)
	screen := make(chan string, 1)
	go func() {
		screen <- typist{}.run(t, person, []typist{{plainQuestion, "y"}, {plainQuestion, "y"}, {plainQuestion, "y"}})
	}()
	a := demoApp()
	a.paths, a.in, a.out = paths, program, program
	a.err = seeing{program, func(text string) {
		if !strings.Contains(text, "make two") {
			return
		}
		elsewhere := demoApp()
		if err := elsewhere.record(t.Context(), e.Inbox(a.person()), list[1], sayso.Answer{Effect: sayso.Deny}); err != nil {
			t.Error(err)
		}
	}}
	if err := a.prompt(t.Context(), ""); err != nil {
		t.Error(err)
	}
	program.Close()
	seen := <-screen
	for _, want := range []string{"make one", list[0].ShortID + " allowed by ", "make two", "too late: " + list[1].ShortID + " was already denied", "make three", list[2].ShortID + " allowed by ", "sayso: nothing waits\r\n"} {
		at := strings.Index(seen, want)
		if at < 0 {
			t.Fatalf("not on the screen, or not in this order: %q in\n%s", want, seen)
		}
		seen = seen[at:]
	}
	stop()
	for range list {
		<-decided
	}
}

// TestPrompt_stopsWhenItWasDecidedElsewhere has nobody press a key: the question
// ends by itself, and says who was first.
func TestPrompt_stopsWhenItWasDecidedElsewhere(t *testing.T) {
	w := newWatchedHome(t)
	r := w.ask("make")
	screen, err := atTerminal(t, nil, func(ctx context.Context, a *app) error {
		a.paths = w.paths
		a.err = seeing{a.err, func(text string) {
			if !strings.Contains(text, "[y] allow") {
				return
			}
			if _, err := w.inbox().Answer(ctx, r.ID, sayso.Answer{Effect: sayso.Deny, Digest: r.Digest, Content: r.Content, Note: "not now"}); err != nil {
				t.Error(err)
			}
		}}
		return a.prompt(ctx, r.ShortID)
	})
	if want := "too late: " + r.ShortID + " was already denied by ann: not now"; !errors.Is(err, no{}) || !strings.Contains(screen, want) {
		t.Errorf("%v, not on the screen: %q in\n%s", err, want, screen)
	}
}

// seeing is a screen with somebody before it, who does something about what
// they see.
type seeing struct {
	io.Writer
	do func(text string)
}

func (s seeing) Write(text []byte) (int, error) {
	n, err := s.Writer.Write(text)
	s.do(string(text))
	return n, err
}

// TestVW4_promptHeldKey holds y while one request after the other is asked about:
// the first is allowed, and no other.
func TestVW4_promptHeldKey(t *testing.T) {
	w := newWatchedHome(t)
	list := []sayso.Request{w.ask("make one"), w.ask("make two"), w.ask("make three")}
	person, program := openTTY(t)
	drawn := make(chan struct{})
	a := demoApp()
	a.paths, a.in, a.out = w.paths, program, program
	var once sync.Once
	a.err = seeing{program, func(text string) {
		if strings.Contains(text, "make two") {
			once.Do(func() { close(drawn) })
		}
	}}
	asked := make(chan error, 1)
	go func() { asked <- a.prompt(t.Context(), "") }()
	screen := make(chan string, 1)
	go func() { screen <- typist{}.run(t, person, []typist{{editQuestion, "y"}}) }()
	<-drawn
	late := hold(t, person, "y")
	if _, err := person.WriteString("\x03"); err != nil {
		t.Error(err)
	}
	if err := <-asked; !errors.Is(err, errLeft) && !late {
		t.Errorf("it ended with %v", err)
	}
	program.Close()
	seen := <-screen
	if now := w.state(list[0]); now.State != sayso.StateAllowed {
		t.Errorf("the first is %s\n%s", now.State, seen)
	}
	for _, r := range list[1:] {
		if now := w.state(r); !now.State.Open() && !late {
			t.Errorf("%s is %s\n%s", r.ShortID, now.State, seen)
		}
	}
}

// hold presses a key as a keyboard repeats it, 60 times. late says that the machine
// stood still for so long that a person might have let go of it.
func hold(t *testing.T, tty *os.File, key string) (late bool) {
	t.Helper()
	again := time.NewTicker(33 * time.Millisecond)
	defer again.Stop()
	last := time.Now()
	for range 60 {
		if _, err := tty.WriteString(key); err != nil {
			t.Error(err)
		}
		now := <-again.C
		late = late || now.Sub(last) > 100*time.Millisecond
		last = now
	}
	return late
}
