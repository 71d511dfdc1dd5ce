package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/web"
)

// page measures the page in a real browser, with five thousand requests that
// wait and fifty events in a second. What happens in the browser is told by
// web/ui/e2e/figures.mjs.
func page(ctx context.Context, w *world, dir string) (_ []figure, err error) {
	ui, browser, err := browserAndPage()
	if err != nil {
		return nil, err
	}
	task := watching{Browser: browser, Waiting: w.few(5000, 300), Seconds: w.few(10, 1)}
	if err := wait(ctx, dir, task.Waiting); err != nil {
		return nil, err
	}
	s, err := w.start(roleServer, serving{Dir: dir, Page: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.read(&task.At); err != nil {
		return nil, err
	}
	node := exec.Command("node", "e2e/figures.mjs")
	node.Dir, node.Env = ui, os.Environ()
	p, err := launch(node, task)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := p.read(&struct{}{}); err != nil {
		return nil, err
	}
	busy, rest := context.WithCancel(ctx)
	churned := make(chan error, 1)
	go func() { churned <- churn(busy, task.At) }() // ends with busy, below
	var seen watched
	err = p.read(&seen)
	rest()
	return seen.figures(task), errors.Join(err, <-churned)
}

// watching is the task of the script.
type watching struct {
	At      ready  `json:"at"`
	Browser string `json:"browser"`
	Waiting int    `json:"waiting"` // requests that wait
	Seconds int    `json:"seconds"` // how long each figure is looked at
}

// watched is what became of it; times are in milliseconds.
type watched struct {
	Frames  []float64 `json:"frames"`  // while the list is scrolled
	Wheel   []float64 `json:"wheel"`   // the same with a wheel, the pointer over the list
	Filter  []float64 `json:"filter"`  // from a key in the filter to what it left being drawn
	Arrive  []float64 `json:"arrive"`  // from asking for an event to its being drawn
	Rows    int       `json:"rows"`    // of the list that were drawn, at most
	Scripts int       `json:"scripts"` // bytes, gzipped
}

func (s watched) figures(task watching) []figure {
	frames, wheel, filter, arrive := milliseconds(s.Frames), milliseconds(s.Wheel), milliseconds(s.Filter), milliseconds(s.Arrive)
	return []figure{{
		name: fmt.Sprintf("page, %d wait, frame while scrolling, p95", task.Waiting), value: max(frames.at(0.95), wheel.at(0.95)), unit: seconds, must: 0.033, aim: 0.017,
		beside: fmt.Sprintf("50 events/s; %d frames, p99 %s; under the wheel %d, p99 %s", len(frames), seconds.text(frames.at(0.99)), len(wheel), seconds.text(wheel.at(0.99))),
	}, {
		name: "  a key in the filter, p95", value: filter.at(0.95), unit: seconds, must: 0.1, aim: 0.05,
		beside: fmt.Sprintf("%d keys, to the frame with what it left; slowest %s", len(filter), seconds.text(filter.at(1))),
	}, {
		name: "  event to screen, p99", value: arrive.at(0.99), unit: seconds, must: 0.2, aim: 0.1,
		beside: fmt.Sprintf("%d events, p50 %s; from asking for it, so the commit is in it", len(arrive), seconds.text(arrive.at(0.5))),
	}, {
		name: "  rows in the document", value: float64(s.Rows), unit: times, must: 300,
	}, {
		name: "  scripts to begin with, gzipped, bytes", value: float64(s.Scripts), unit: times, must: 60_000,
	}}
}

func milliseconds(list []float64) durations {
	d := make(durations, len(list))
	for i, ms := range list {
		d[i] = time.Duration(ms * float64(time.Millisecond))
	}
	return d
}

// missing says what a row needs and this machine does not have.
type missing struct{ what string }

func (m missing) Error() string { return m.what }

// browserAndPage finds the sources of the page and a browser, or says what is
// missing.
func browserAndPage() (ui, browser string, err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if browser, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return "", "", missing{"no browser: apt-get install chromium"}
	}
	if _, err := exec.LookPath("node"); err != nil {
		return "", "", missing{"no Node: install Node 20 or newer"}
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", "", fmt.Errorf("where the sources are: %w", err)
	}
	ui = filepath.Join(string(out[:max(len(out)-1, 0)]), "web", "ui")
	if _, err := os.Stat(filepath.Join(ui, "node_modules", "playwright-core")); err != nil || !web.Built() {
		return "", "", missing{"no page: make web"}
	}
	return ui, browser, nil
}

// wait makes a home in which n requests wait, in fifty sessions.
func wait(ctx context.Context, dir string, n int) (err error) {
	paths, err := homeIn(dir)
	if err != nil {
		return err
	}
	b, closing, err := engine(ctx, paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	errs := make(chan error, 64)
	for hand := range cap(errs) {
		go func() { // ends when its share is asked
			var err error
			for i := hand; i < n && err == nil; i += cap(errs) {
				_, err = park(ctx, b.Gate(agentActor), waitingCall(i))
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		err = errors.Join(err, <-errs)
	}
	return err
}

// park asks about a call and does not wait for the answer.
func park(ctx context.Context, g sayso.Gate, c sayso.Call) (sayso.ID, error) {
	_, err := g.Admit(ctx, sayso.Admission{Call: c, Patience: time.Nanosecond})
	var pending *sayso.PendingError
	if errors.As(err, &pending) {
		return pending.Ticket, nil
	}
	return "", errors.Join(errors.New("a call was not asked about"), err)
}

// waitingCall is one call of several agents at work.
func waitingCall(n int) sayso.Call {
	c := sayso.Call{
		Host: "claude-code", Session: oldSession(n), CallID: "toolu_" + strconv.Itoa(n), Cwd: fmt.Sprintf("/home/ada/project%d", n%9),
		Caller: "claude-code/" + []string{"main", "reviewer", "tests"}[n%3],
	}
	var args map[string]string
	switch n % 5 {
	case 0:
		c.Tool, args = "Edit", map[string]string{"file_path": fmt.Sprintf("%s/internal/part%d.go", c.Cwd, n), "old_string": "one", "new_string": "two"}
	case 1:
		c.Tool, args = "WebFetch", map[string]string{"url": fmt.Sprintf("https://docs%d.example.org/page?n=%d", n%40, n), "prompt": "what does it say"}
	case 2:
		c.Tool, args = "Bash", map[string]string{"command": fmt.Sprintf("git push origin release-%d && make -C deploy/%d", n%700, n%11)}
	default:
		c.Tool, args = "Bash", map[string]string{"command": fmt.Sprintf("npm run build -- --part %d", n%3000)}
	}
	c.Args, _ = jcs.Marshal(args) // strings
	return c
}

// churn makes fifty events in a second until its context ends: a request opens,
// parks, and a little later is withdrawn. Each says when it was asked for.
func churn(ctx context.Context, at ready) error {
	c, err := connect(ctx, at, at.Agent, true)
	if err != nil {
		return err
	}
	defer c.Close()
	const eventsOfOne, staying = 3, 8
	tick := time.NewTicker(eventsOfOne * time.Second / 50)
	defer tick.Stop()
	var waiting []sayso.ID
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := strconv.FormatInt(time.Now().UnixMilli(), 10)
		id, err := park(ctx, c, sayso.Call{
			Host: "claude-code", Tool: "Bash", Session: "new", CallID: stamp + strconv.Itoa(n), Cwd: "/home/ada/project",
			Args: []byte(`{"command":"git commit -m ` + stamp + now + `"}`),
		})
		if waiting = append(waiting, id); err == nil && len(waiting) > staying {
			err, waiting = c.Withdraw(ctx, waiting[0], "not needed any more"), waiting[1:]
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}
