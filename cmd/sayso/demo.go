package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
)

// demoOptions are the flags of demo.
type demoOptions struct {
	answers            []string
	keep               bool
	strict, approveAll bool
	lasts              time.Duration
	patience           time.Duration // how long a call waits where there is no terminal; demoPatience if zero
}

func (a *app) demoCommand() *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use: "demo", GroupID: "wire", Short: "shows the whole thing, in a temporary place", Args: cobra.NoArgs,
		Long: `Runs a small agent in a temporary folder, behind a real gate with a database of
its own. Some of its calls policy allows; the others wait for you, here or in
another terminal. What you say is what happens. Nothing outside that folder is
touched.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), o) },
	}
	c.Flags().StringSliceVar(&o.answers, "answers", nil, "answer by script, in order: y or n, separated by commas")
	c.Flags().BoolVar(&o.keep, "keep", false, "leave the temporary place behind")
	c.Flags().BoolVar(&o.strict, "strict", false, "deny whatever would be asked")
	c.Flags().BoolVar(&o.approveAll, "approve-all", false, "allow whatever would be asked; needs --for")
	durationFlag(c.Flags(), &o.lasts, "for", 0, "how long --approve-all lasts")
	return c
}

// demoPatience is how long a call of the demo waits where nobody is at a terminal:
// nothing may ever answer.
const demoPatience = 10 * time.Minute

// demoPlace is the temporary place of a demo.
type demoPlace struct{ root, work string }

func newDemoPlace() (demoPlace, error) {
	root, err := os.MkdirTemp("", "sayso-demo-") // made with mode 0700
	if err != nil {
		return demoPlace{}, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return demoPlace{}, err
	}
	p := demoPlace{root, filepath.Join(root, "work")}
	for name, text := range demoFiles {
		path := filepath.Join(p.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return p, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return p, err
		}
	}
	return p, os.Mkdir(filepath.Join(p.work, ".git"), 0o700) // so that the folder is a project
}

func (a *app) demo(ctx context.Context, o demoOptions) (err error) {
	if err := checkModes("demo", o.strict, o.approveAll, o.lasts); err != nil {
		return err
	}
	for _, answer := range o.answers {
		if answer != "y" && answer != "n" {
			return usage(fmt.Errorf("%w: an answer is y or n, not %q", sayso.ErrInvalid, answer), "sayso demo --answers y,n,y,n")
		}
	}
	place, err := newDemoPlace()
	if err != nil {
		return err
	}
	if !o.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(place.root)) }()
	}
	lines := &heldLines{w: a.err, columns: width(a.err)}
	agent := &demoAgent{facts: a.facts, folder: place.work, tell: lines.call}
	l, err := a.demoGate(ctx, place, o, agent.opened)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	agent.gate, err = l.Gate(ctx, home.OwnActor(sayso.PrincipalAgent, "demo-agent", "embedded"))
	if err != nil {
		return err
	}
	in, err := l.Inbox(ctx, a.person())
	if err != nil {
		return err
	}
	if o.approveAll {
		e, _ := l.Engine()
		if err := e.Inbox(a.admin()).SetMode(ctx, "", sayso.ModeApproveAll, o.lasts); err != nil {
			return err
		}
	}
	a.demoWelcome(place, o)
	results, err := a.demoRun(ctx, agent, in, o, lines)
	if errors.Is(err, errLeft) || ctx.Err() != nil {
		a.note("the demo was stopped")
		if len(o.answers) > 0 {
			return no{} // a script wanted to see it through
		}
		return nil
	}
	if err != nil {
		return err
	}
	if err := a.demoSummary(results); err != nil {
		return err
	}
	e, ok := l.Engine()
	if !ok {
		return errors.New("the demo works on a database of its own, and has none")
	}
	return a.demoVerify(ctx, e)
}

// demoGate opens a gate in the demo's place.
func (a *app) demoGate(ctx context.Context, place demoPlace, o demoOptions, opened func(sayso.Request)) (*local.Local, error) {
	paths, err := home.Find(func(name string) string {
		return map[string]string{"SAYSO_HOME": filepath.Join(place.root, "home")}[name]
	})
	if err != nil {
		return nil, err
	}
	if err := paths.Make(); err != nil {
		return nil, err
	}
	text := demoPolicy
	if _, tty := a.terminal(); !tty {
		text += "deadline: {after: " + cmp.Or(o.patience, demoPatience).String() + "}\n"
	}
	if err := home.Write(paths.Policy(), []byte(text)); err != nil {
		return nil, err
	}
	a.paths = paths
	lo := local.Options{Direct: true, Opened: opened}
	if o.strict {
		lo.Mode = sayso.ModeStrict
	}
	return local.Open(ctx, paths, lo)
}

func (a *app) demoWelcome(place demoPlace, o demoOptions) {
	fmt.Fprintf(a.err, "An agent works in %s.\nEach of its calls stops at the gate. Policy lets some through;\nthe others wait for you.\n", place.work)
	if len(o.answers) == 0 && !o.strict && !o.approveAll {
		here := "Answer here, or in another terminal:"
		if _, tty := a.terminal(); !tty {
			here = "There is no terminal to ask at here. To answer by script, stop this and type\n\n  " + self() + " demo --answers y,n,y,n\n\nOr answer in another terminal, each call within " + span(cmp.Or(o.patience, demoPatience)) + ":"
		}
		fmt.Fprintf(a.err, "%s\n\n  export SAYSO_HOME=%s\n  %s watch\n\n", here, a.paths.Home, self())
	}
}

// self is how this program is typed: by its name if the PATH leads to it.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return "sayso"
	}
	if found, err := exec.LookPath("sayso"); err == nil {
		a, errA := os.Stat(path)
		b, errB := os.Stat(found)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return "sayso"
		}
	}
	return path
}

// demoRun runs the agent, and meanwhile answers what it asks.
func (a *app) demoRun(ctx context.Context, agent *demoAgent, in sayso.Inbox, o demoOptions, lines *heldLines) ([]demoResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	answered := make(chan error, 1)
	wg.Go(func() { // ends with ctx, or with the first answer that cannot be given
		answered <- a.demoAnswers(ctx, in, o, lines)
		cancel()
	})
	results, err := agent.run(ctx)
	cancel()
	wg.Wait()
	if failed := <-answered; failed != nil && !errors.Is(failed, context.Canceled) {
		return results, failed
	}
	return results, err
}

// heldLines print what the agent does, a line at a time, and hold the lines
// back while a question is on the screen.
type heldLines struct {
	w       io.Writer
	columns int // of the terminal; zero for none

	mu   sync.Mutex // guards what follows
	held bool
	kept []string
}

// call prints a line about a call, the first of which has number 0.
func (h *heldLines) call(n int, line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	head := fmt.Sprintf("call %d  ", n+1)
	text := strings.TrimLeft(printable(line), " ")
	head += strings.Repeat(" ", len(printable(line))-len(text))
	h.kept = append(h.kept, hanging(h.columns, len(head), head, text)+"\n")
	h.flush()
}

func (h *heldLines) flush() {
	if h.held {
		return
	}
	for _, line := range h.kept {
		_, _ = io.WriteString(h.w, line) // a line for people, or none
	}
	h.kept = nil
}

// hold holds lines back until the returned function is called.
func (h *heldLines) hold() (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.held = false
		h.flush()
	}
}

// demoAnswers answers each request as it opens: by the script, or by asking at
// the terminal. Without either it waits for answers from elsewhere.
func (a *app) demoAnswers(ctx context.Context, in sayso.Inbox, o demoOptions, lines *heldLines) error {
	_, tty := a.terminal()
	left := o.answers
	for e, err := range in.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		s, err := look(ctx, in, string(e.RequestID))
		if err != nil {
			return err
		}
		switch {
		case !s.Request.State.Open():
		case len(o.answers) > 0 && len(left) == 0:
			return usage(errors.New("the script has fewer answers than the agent has questions"), "sayso demo --answers y,n,y,n")
		case len(o.answers) > 0:
			err = a.demoScripted(ctx, in, s, left[0])
			left = left[1:]
		case tty:
			release := lines.hold()
			err = a.demoPrompt(ctx, in, s)
			release()
		default:
			a.draw(a.err, s, promptLines)
			fmt.Fprintf(a.err, "answer from another terminal: %s approve %s, or %s deny %s\n", self(), s.Request.ShortID, self(), s.Request.ShortID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// demoScripted gives the answer of the script, after showing what it is for.
func (a *app) demoScripted(ctx context.Context, in sayso.Inbox, s shownRequest, answer string) error {
	a.draw(a.err, s, 0)
	fmt.Fprintf(a.err, "answer by script: %s\n", answer)
	given := sayso.Answer{Digest: s.Request.Digest, Content: s.Request.Content, Effect: sayso.Allow}
	if answer == "n" {
		given.Effect, given.Note = sayso.Deny, "not this time"
	}
	_, err := in.Answer(ctx, s.Request.ID, given)
	return err
}

// demoPrompt asks at the terminal, until there is a decision from here or from
// elsewhere.
func (a *app) demoPrompt(ctx context.Context, in sayso.Inbox, s shownRequest) error {
	quiet := *a
	quiet.out = discard{}
	for {
		answered, err := quiet.promptFor(ctx, in, s)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errElsewhere):
			a.note("answered in another terminal")
			return nil
		case errors.Is(err, no{}) || answered && err == nil:
			return nil
		case err != nil:
			return err
		}
	}
}

// discard is an output that nobody reads.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// demoSummary prints what ran and what did not.
func (a *app) demoSummary(results []demoResult) error {
	if a.json {
		return a.printJSON(results)
	}
	a.print("\nWhat became of it:")
	rows := [][]string{}
	for i, r := range results {
		ran := "did not run"
		if r.Ran {
			ran = "ran"
		}
		rows = append(rows, []string{fmt.Sprintf("  %d", i+1), safe(r.Call), decidedBy(r), ran})
	}
	return table(a.out, rows)
}

// demoVerify reads the demo's log once more.
func (a *app) demoVerify(ctx context.Context, e *local.Engine) error {
	head, err := verifyLog(ctx, e.Log, sayso.Head{})
	if err != nil {
		return err
	}
	if !a.json {
		next := "sayso init claude-code"
		if self() != "sayso" {
			next = "make install, then " + next
		}
		a.print("\nThe log: %s, whole and unchanged.\nNext: %s", count(int(head.Seq), "event"), next)
	}
	return nil
}
