package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// demoPolicy is the policy of the demo: one ordinary command needs no person.
const demoPolicy = `version: 1
rules:
  - name: counting lines needs no person
    allow: "bash:wc -l notes.txt"
`

// demoFiles is the project that the demo's agent works in.
var demoFiles = map[string]string{
	"README.md":       "# A small project\n\nIt greets people.\n",
	"notes.txt":       "say hello\nsay it nicely\nsay goodbye\n",
	"greeting.txt":    "Hello.\n",
	"build/app.o":     "not really an object file\n",
	"build/cache.bin": "not really a cache\n",
}

// demoCall is one call that the demo's agent makes.
type demoCall struct {
	tool, why string
	args      map[string]any
}

// demoScript is what the demo's agent does: the calls of one step at once, the
// steps one after the other.
var demoScript = [][]demoCall{
	{{"read_file", "to see what the project is", map[string]any{"path": "README.md"}}},
	{{"read_file", "to see what is to be done", map[string]any{"path": "notes.txt"}}},
	{{"bash", "to see how much that is", map[string]any{"command": "wc -l notes.txt"}}},
	{{"write_file", "to make the greeting nicer", map[string]any{"path": "greeting.txt", "content": "Hello, and welcome.\nIt is good to see you.\n"}}},
	{{"bash", "to build from scratch", map[string]any{"command": "rm -rf build"}}},
	{
		{"bash", "to keep a copy", map[string]any{"command": "cp notes.txt notes.bak"}},
		{"bash", "to have a place for releases", map[string]any{"command": "mkdir releases"}},
	},
}

// demoResult is what became of one call.
type demoResult struct {
	Call    string `json:"call"`
	State   string `json:"state"`
	By      string `json:"by"`
	Because string `json:"because"`
	Edited  bool   `json:"edited,omitzero"` // a person changed it; call is what they made of it
	Ran     bool   `json:"ran"`
	Output  string `json:"output,omitempty"`
}

// demoAgent makes the calls of the script, through a gate, in a folder.
type demoAgent struct {
	gate   sayso.Gate
	facts  func(context.Context, sayso.Call) sayso.Facts
	folder string
	tell   func(n int, line string)

	mu      sync.Mutex // guards what follows
	results []demoResult
	waiting map[string]chan struct{} // by call id; closed when the call waits for a person
}

// opened notes that a call waits for a person.
func (g *demoAgent) opened(r sayso.Request) { g.settled(r.CallID) }

// settled ends the wait of whoever waits for a call to be stopped or through.
func (g *demoAgent) settled(callID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.waiting[callID]; c != nil {
		close(c)
		delete(g.waiting, callID)
	}
}

// expect returns what ends when a call waits for a person or is through.
func (g *demoAgent) expect(callID string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting == nil {
		g.waiting = map[string]chan struct{}{}
	}
	c := make(chan struct{})
	g.waiting[callID] = c
	return c
}

// run makes all calls, and returns what became of each, in order.
func (g *demoAgent) run(ctx context.Context) ([]demoResult, error) {
	n := 0
	for _, step := range demoScript {
		first := n
		n += len(step)
		g.results = append(g.results, make([]demoResult, len(step))...)
		errs := make([]error, len(step))
		var wg sync.WaitGroup
		for i, c := range step {
			stopped := g.expect(callID(first + i))
			wg.Go(func() {
				errs[i] = g.one(ctx, first+i, c)
				g.settled(callID(first + i))
			})
			<-stopped // so that calls of one step are asked about in their order
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return g.results, err
			}
		}
	}
	return g.results, nil
}

// one makes one call: admitted, redeemed, carried out, reported.
func (g *demoAgent) one(ctx context.Context, n int, c demoCall) error {
	call, err := g.call(n, c)
	if err != nil {
		return err
	}
	g.tell(n, fmt.Sprintf("%s %s, %s", c.tool, firstArgument(c), c.why))
	d, err := g.gate.Admit(ctx, sayso.Admission{Call: call, Facts: g.facts(ctx, call), CanEdit: true, Present: g.present(call)})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	r := demoResult{Call: c.tool + " " + firstArgument(c), State: string(d.State), By: d.Who(), Because: d.Note}
	if d.Source == sayso.SourcePolicy {
		r.Because = d.Rule
	}
	switch {
	case errors.Is(err, sayso.ErrExpired):
		r.State = string(sayso.StateExpired)
	case err != nil:
		r.State, r.Because = "not decided", err.Error()
	case d.Allowed():
		if err := g.carryOut(ctx, call, d, &r); err != nil {
			return err
		}
	}
	g.mu.Lock()
	g.results[n] = r
	g.mu.Unlock()
	g.tell(n, "   "+outcomeLine(r))
	return nil
}

// carryOut redeems the receipt and runs exactly what was approved.
func (g *demoAgent) carryOut(ctx context.Context, call sayso.Call, d sayso.Decision, r *demoResult) error {
	if len(d.Args) > 0 {
		call.Args, r.Edited = d.Args, true
		r.Call = call.Tool + " " + editedArgument(d.Args)
	}
	if err := g.gate.Redeem(ctx, d.Receipt, call); err != nil {
		r.State, r.Because = "not redeemed", err.Error()
		return nil
	}
	begun := time.Now()
	out, err := g.do(ctx, call)
	r.Ran, r.Output = err == nil, string(out)
	if err != nil {
		r.Output = err.Error()
	}
	return g.gate.Report(ctx, sayso.Outcome{
		Request: d.Request, Failed: err != nil, Output: sayso.HashOf("sayso/output/1", out), Took: time.Since(begun),
	})
}

func (g *demoAgent) call(n int, c demoCall) (sayso.Call, error) {
	args, err := jcs.Marshal(c.args)
	return sayso.Call{
		Tool: c.tool, Args: args, Cwd: g.folder, Session: "demo", CallID: callID(n),
		Caller: "demo-agent", Said: map[string]string{"purpose": c.why},
	}, err
}

func callID(n int) string { return fmt.Sprintf("call-%d", n+1) }

// demoArgs are the arguments that the demo's tools have.
type demoArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Command string `json:"command"`
}

// do carries a call out, for real.
func (g *demoAgent) do(ctx context.Context, c sayso.Call) ([]byte, error) {
	var args demoArgs
	if err := jcs.UnmarshalLenient(c.Args, &args); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(g.folder) // also what a person edited stays in the demo's folder
	if err != nil {
		return nil, err
	}
	defer root.Close()
	switch c.Tool {
	case "read_file":
		return root.ReadFile(args.Path)
	case "write_file":
		return nil, root.WriteFile(args.Path, []byte(args.Content), 0o600)
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", args.Command)
	cmd.Dir = g.folder
	return cmd.CombinedOutput()
}

// present shows what a write would change.
func (g *demoAgent) present(c sayso.Call) func(context.Context) (*sayso.Presentation, error) {
	return func(context.Context) (*sayso.Presentation, error) {
		var args demoArgs
		if err := jcs.UnmarshalLenient(c.Args, &args); err != nil || c.Tool != "write_file" {
			return nil, err
		}
		old, err := os.ReadFile(filepath.Join(g.folder, args.Path))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		p := present.Diff(args.Path, string(old), args.Content)
		return &p, nil
	}
}

// firstArgument is what a call is about.
func firstArgument(c demoCall) string {
	for _, name := range []string{"path", "command"} {
		if v, ok := c.args[name].(string); ok {
			return v
		}
	}
	return ""
}

// editedArgument is what a call is about that a person changed.
func editedArgument(args sayso.Args) string {
	var now demoArgs
	if err := jcs.UnmarshalLenient(args, &now); err != nil {
		return "" // which will not run either
	}
	return cmp.Or(now.Path, now.Command)
}

// decidedBy is what became of a call, and by whose word.
func decidedBy(r demoResult) string {
	if r.By == "" {
		return r.State
	}
	if r.Edited {
		return r.State + " by " + r.By + ", with changes"
	}
	return r.State + " by " + r.By
}

// outcomeLine is what became of a call, in a line.
func outcomeLine(r demoResult) string {
	line := decidedBy(r)
	if r.Because != "" {
		line += " (" + r.Because + ")"
	}
	if !r.Ran {
		return line + ": nothing ran"
	}
	if r.Edited {
		line += ": " + safe(r.Call)
	}
	out := bytes.TrimSpace([]byte(r.Output))
	if i := bytes.IndexByte(out, '\n'); i >= 0 {
		out = append(out[:i:i], " …"...)
	}
	if len(out) == 0 {
		return line + ": done"
	}
	return line + ": got " + safe(string(out))
}
