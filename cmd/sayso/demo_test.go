package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/agentproc"
	"github.com/sayso-dev/sayso/internal/home"
)

// screen is what a program wrote. Like a file, it may be written by several
// goroutines at once.
type screen struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// demoApp is the program as the demo's tests run it.
func demoApp() *app {
	return &app{
		in: strings.NewReader(""), out: &screen{}, err: &screen{}, getenv: func(string) string { return "" },
		now: time.Now, agent: func() (agentproc.Agent, bool) { return agentproc.Agent{}, false },
	}
}

// demoRan runs the demo with scripted answers, through what wrap makes of the
// gate, and returns what is not as the answers and the demo's policy want it.
func demoRan(t *testing.T, answers string, wrap func(sayso.Gate) sayso.Gate) (wrong []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	a := demoApp()
	place, err := newDemoPlace()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(place.root)
	lines := &heldLines{w: a.err}
	agent := &demoAgent{facts: a.facts, folder: place.work, tell: lines.call}
	o := demoOptions{answers: strings.Split(answers, ",")}
	l, err := a.demoGate(ctx, place, o, agent.opened)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	gate, err := l.Gate(ctx, home.OwnActor(sayso.PrincipalAgent, "demo-agent", "embedded"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := l.Inbox(ctx, a.person())
	if err != nil {
		t.Fatal(err)
	}
	agent.gate = wrap(gate)
	results, err := a.demoRun(ctx, agent, in, o, lines)
	if err != nil {
		t.Fatal(err)
	}
	return compareDemo(place.work, results, o.answers)
}

// compareDemo compares what ran, and what is in the folder, with the answers.
func compareDemo(work string, results []demoResult, answers []string) (wrong []string) {
	yes := func(i int) bool { return answers[i] == "y" }
	want := []bool{true, true, true, yes(0), yes(1), yes(2), yes(3)}
	for i, r := range results {
		if r.Ran != want[i] {
			wrong = append(wrong, fmt.Sprintf("%s: ran %v, want %v", r.Call, r.Ran, want[i]))
		}
	}
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(work, name)); return err == nil }
	greeting, _ := os.ReadFile(filepath.Join(work, "greeting.txt"))
	for what, pair := range map[string][2]bool{
		"the greeting was written": {strings.Contains(string(greeting), "welcome"), yes(0)},
		"build is still there":     {exists("build/app.o"), !yes(1)},
		"notes.bak was made":       {exists("notes.bak"), yes(2)},
		"releases was made":        {exists("releases"), yes(3)},
	} {
		if pair[0] != pair[1] {
			wrong = append(wrong, fmt.Sprintf("%s: %v, want %v", what, pair[0], pair[1]))
		}
	}
	return wrong
}

func TestDemo_doesWhatIsAnswered(t *testing.T) {
	for _, answers := range []string{"y,n,y,n", "n,y,n,y", "y,y,y,y", "n,n,n,n"} {
		t.Run(answers, func(t *testing.T) {
			for _, w := range demoRan(t, answers, func(g sayso.Gate) sayso.Gate { return g }) {
				t.Error(w)
			}
		})
	}
}

// fixed is a gate that always answers the same.
type fixed struct {
	sayso.Gate
	allow bool
}

func (g fixed) Admit(_ context.Context, a sayso.Admission) (sayso.Decision, error) {
	if !g.allow {
		return sayso.Decision{State: sayso.StateDenied}, nil
	}
	digest, err := a.Call.Digest()
	if err != nil {
		return sayso.Decision{}, err
	}
	return sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Digest: digest}, nil
}

func (fixed) Redeem(context.Context, sayso.Receipt, sayso.Call) error { return nil }

func (fixed) Report(context.Context, sayso.Outcome) error { return nil }

func TestDemo_showsAGateThatDoesNotAsk(t *testing.T) {
	for name, allow := range map[string]bool{"always deny": false, "always allow": true} {
		t.Run(name, func(t *testing.T) {
			if wrong := demoRan(t, "y,n,y,n", func(sayso.Gate) sayso.Gate { return fixed{allow: allow} }); len(wrong) == 0 {
				t.Error("the demo's test would pass with such a gate")
			}
		})
	}
}

// Without a terminal the demo says how else to answer, and is over when nobody
// did.
func TestDemo_withoutATerminal(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := demoApp()
	if err := a.demo(ctx, demoOptions{patience: time.Second}); err != nil {
		t.Fatal(err)
	}
	said := a.err.(*screen).String()
	for _, want := range []string{
		"There is no terminal to ask at here.", " demo --answers y,n,y,n\n", "each call within 1s:",
		"export SAYSO_HOME=" + a.paths.Home + "\n", " watch\n", "answer from another terminal: ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	out := a.out.(*screen).String()
	if n := strings.Count(out, "expired"); n != 4 || strings.Count(out, "did not run") != n || !strings.Contains(out, "whole and unchanged") {
		t.Errorf("%d calls are told to have expired, want 4:\n%s", n, out)
	}
	var welcome screen
	a.err = &welcome
	a.demoWelcome(demoPlace{}, demoOptions{})
	if !strings.Contains(welcome.String(), "each call within 10m") {
		t.Errorf("how long a call waits is told as\n%s", welcome.String())
	}
}

func TestDemo_fromTheCommandLine(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out, errs screen
	if code := run(t.Context(), []string{"demo", "--answers", "y,n,y,n", "--json"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	if n := strings.Count(out.String(), `"ran": true`); n != 5 {
		t.Errorf("%d calls ran, want 5:\n%s", n, out.String())
	}
	for _, said := range []string{"rm -rf build", "+Hello, and welcome.", "danger", "delete"} {
		if !strings.Contains(errs.String(), said) {
			t.Errorf("it was not shown: %q", said)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if d := cmp.Diff(0, len(left)); d != "" || err != nil {
		t.Errorf("the demo left %v behind, %v", left, err)
	}
	for _, bad := range []string{"y", "y,n,maybe,n"} {
		if code := run(t.Context(), []string{"demo", "--answers", bad}, strings.NewReader(""), &out, &errs); code != exitError {
			t.Errorf("--answers %s: exit %d", bad, code)
		}
	}
}
