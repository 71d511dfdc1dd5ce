//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/modelstub"
)

// want compares the lives of all requests with what they must be.
func (g *gate) want(lives ...string) {
	g.t.Helper()
	var got []string
	for _, life := range g.lives() {
		var words []string
		for _, e := range life {
			_, word, _ := strings.Cut(string(e), ".")
			words = append(words, word)
		}
		got = append(got, strings.Join(words, " "))
	}
	if diff := cmp.Diff(lives, got); diff != "" {
		g.t.Errorf("the log (-want +got):\n%s", diff)
	}
	g.sayso("log", "verify")
}

// told checks the one result that reached the model.
func told(t *testing.T, results []modelstub.ToolResult, failed bool, words ...string) {
	t.Helper()
	if len(results) != 1 {
		t.Fatalf("%d results reached the model: %+v", len(results), results)
	}
	check(t, results[0], failed, words...)
}

func check(t *testing.T, r modelstub.ToolResult, failed bool, words ...string) {
	t.Helper()
	if r.IsError != failed {
		t.Errorf("the model saw error %v, want %v: %s", r.IsError, failed, r.Content)
	}
	for _, w := range words {
		if !strings.Contains(r.Content, w) {
			t.Errorf("the model was told %q, want %q in it", r.Content, w)
		}
	}
}

func TestClaude_policyAllows(t *testing.T) {
	t.Parallel()
	g := wired(t, "version: 1\nrules:\n  - allow: \"bash:touch marker\"\n")
	told(t, g.end(g.start(modelstub.New(modelstub.Use(touch("marker"))))), false)
	g.didRun("marker")
	g.want("requested resolved redeemed finished")
}

func TestClaude_policyDenies(t *testing.T) {
	t.Parallel()
	g := wired(t, "version: 1\nrules:\n  - deny: \"bash:touch marker\"\n    name: no markers\n")
	told(t, g.end(g.start(modelstub.New(modelstub.Use(touch("marker"))))), true, "Denied by policy", "no markers", "policy.yaml:3")
	g.didNotRun("marker")
	g.want("requested resolved")
}

func TestClaude_personAllows(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	s := g.start(modelstub.New(modelstub.Use(touch("marker"))))
	r := g.opened(1)[0]
	g.didNotRun("marker")
	if r.Said["description"] != "make a marker" {
		t.Errorf("the agent said %v", r.Said)
	}
	g.approve(r)
	told(t, g.end(s), false)
	g.didRun("marker")
	g.want("requested answered resolved redeemed finished")
}

func TestClaude_personDeniesWithANote(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	s := g.start(modelstub.New(modelstub.Use(touch("marker"))))
	g.sayso("deny", g.opened(1)[0].ShortID, "--note", "use make marker")
	told(t, g.end(s), true, "Denied by", "use make marker")
	g.didNotRun("marker")
	g.want("requested answered resolved")
}

func TestClaude_personEdits(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	s := g.start(modelstub.New(modelstub.Use(touch("marker"))))
	edit := filepath.Join(g.home, "edit.json")
	g.write(edit, `{"command":"touch edited"}`)
	g.approve(g.opened(1)[0], "--edit="+edit)
	told(t, g.end(s), false)
	g.didNotRun("marker")
	g.didRun("edited")
	g.want("requested answered resolved redeemed finished")
}

func TestClaude_expires(t *testing.T) {
	t.Parallel()
	g := wired(t, "version: 1\ndeadline: {after: 1s, then: expire}\n")
	told(t, g.end(g.start(modelstub.New(modelstub.Use(touch("marker"))))), true, "Expired", "not a refusal")
	g.didNotRun("marker")
	g.want("requested expired")
}

// The caller's patience ends, a person answers meanwhile, and the same call
// made again runs on that answer.
func TestClaude_patienceEndsAndTheCallIsTakenUp(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	again := modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
		check(t, back[len(back)-1], true, "Not decided yet, ticket", "exactly the same call again")
		g.approve(g.opened(1)[0])
		return modelstub.Use(touch("marker"))
	})
	results := g.end(g.start(modelstub.New(modelstub.Use(touch("marker")), again), "SAYSO_PATIENCE=1s"))
	if len(results) != 2 {
		t.Fatalf("%d results", len(results))
	}
	check(t, results[1], false)
	g.didRun("marker")
	g.want("requested parked answered resolved taken redeemed finished")
}

// The hook is killed while it waits: the call does not run, and the same call
// made again goes on waiting for the same answer.
func TestClaude_hookKilled(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	again := modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
		check(t, back[len(back)-1], true)
		g.didNotRun("marker")
		return modelstub.Use(touch("marker"))
	})
	s := g.start(modelstub.New(modelstub.Use(touch("marker")), again))
	r := g.opened(1)[0]
	for _, pid := range g.hooks(s) {
		kill(t, pid)
	}
	g.event(sayso.EventTaken)
	g.approve(r)
	if results := g.end(s); len(results) != 2 || results[1].IsError {
		t.Errorf("the model saw %+v", results)
	}
	g.didRun("marker")
	g.want("requested parked taken answered resolved redeemed finished")
}

// A server serves the hook and is killed while it waits: the hook goes on with
// the database and hears the answer there.
func TestClaude_serverKilled(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	server := g.serve()
	s := g.start(modelstub.New(modelstub.Use(touch("marker"))))
	r := g.opened(1)[0]
	kill(t, server.Process.Pid)
	_ = server.Wait() // it was killed
	g.event(sayso.EventTaken)
	g.approve(r)
	told(t, g.end(s), false)
	g.didRun("marker")
	g.want("requested parked taken answered resolved redeemed finished")
}

// Everything of sayso is gone and comes back between the question and the
// answer: hook killed, server killed, a new server, another process answers.
func TestClaude_answeredAfterARestart(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	first := g.serve()
	again := modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
		g.serve()
		g.approve(g.opened(1)[0])
		return modelstub.Use(touch("marker"))
	})
	s := g.start(modelstub.New(modelstub.Use(touch("marker")), again))
	g.opened(1)
	for _, pid := range g.hooks(s) {
		kill(t, pid)
	}
	kill(t, first.Process.Pid)
	_ = first.Wait() // it was killed
	if results := g.end(s); len(results) != 2 || results[1].IsError {
		t.Errorf("the model saw %+v", results)
	}
	g.didRun("marker")
}

// Ten calls of one turn ask at once; the host lets reads do that.
func TestClaude_tenAtOnce(t *testing.T) {
	t.Parallel()
	g := wired(t, "version: 1\nrules:\n  - ask: \"file-read:**\"\n")
	var calls []modelstub.Call
	for i := range 10 {
		g.write(filepath.Join(g.dir, fmt.Sprintf("%d.txt", i)), fmt.Sprintf("content %d\n", i))
		calls = append(calls, modelstub.Call{ID: fmt.Sprintf("toolu_%02d", i), Name: "Read",
			Input: fmt.Sprintf(`{"file_path":%q}`, filepath.Join(g.dir, fmt.Sprintf("%d.txt", i)))})
	}
	s := g.start(modelstub.New(modelstub.Use(calls...)))
	open := g.opened(10)
	for i, r := range open {
		if i%2 == 0 {
			g.approve(r)
		} else {
			g.sayso("deny", r.ShortID)
		}
	}
	results := g.end(s)
	if len(results) != 10 {
		t.Fatalf("%d results", len(results))
	}
	for i, r := range open {
		at := slices.IndexFunc(results, func(res modelstub.ToolResult) bool { return res.ID == r.CallID })
		if at < 0 {
			t.Errorf("no result for %s", r.CallID)
			continue
		}
		check(t, results[at], i%2 != 0)
		if read := strings.Contains(results[at].Content, "content "); read != (i%2 == 0) {
			t.Errorf("%s: the model read %q", r.CallID, results[at].Content)
		}
	}
	g.sayso("log", "verify")
}

// serve starts a server on this machine's socket and waits until it answers.
func (g *gate) serve() *exec.Cmd {
	g.t.Helper()
	cmd := g.command("serve", "--listen", "none")
	out, err := cmd.StderrPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have been killed by the test
		_ = cmd.Wait()
	})
	ready := make(chan bool, 1)
	go func() { // ends with the server
		buf := make([]byte, 4096)
		for first := true; ; first = false {
			if _, err := out.Read(buf); err != nil {
				return
			}
			if first {
				ready <- true
			}
		}
	}()
	select {
	case <-ready:
	case <-g.t.Context().Done():
	}
	if _, err := os.Lstat(g.paths().Socket()); err != nil {
		g.t.Fatalf("the server said something and has no socket: %v", err)
	}
	return cmd
}
