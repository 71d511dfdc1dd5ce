//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
	"github.com/sayso-dev/sayso/lab/hosts"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// bin is where the two programs of this tree are, built once.
var bin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sayso-e2e-bin-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"sayso", "sayso-hook"} {
		cmd := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, name), "github.com/sayso-dev/sayso/cmd/"+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

// TestMain makes the test binary an MCP server when a host starts it as one.
func TestMain(m *testing.M) {
	switch os.Getenv("LAB_MCP_SERVER") {
	case "1":
		hosts.ServeMCP(os.Stdin, os.Stdout)
		return
	case "forges":
		forgeMCP(os.Stdin, os.Stdout)
		return
	}
	code := m.Run()
	if dir, err := bin(); err == nil {
		_ = os.RemoveAll(dir) // what is left of it lies in the temporary folder
	}
	os.Exit(code)
}

// gate is a machine with sayso wired to Claude Code, as `sayso init` does it.
type gate struct {
	t    *testing.T
	home string // of the user; everything lies below it
	dir  string // the project
	bin  string
	env  []string
}

// wired makes such a machine, with a policy if one is given.
func wired(t *testing.T, rules string) *gate {
	t.Helper()
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, home: t.TempDir(), dir: t.TempDir(), bin: dir}
	g.env = []string{"SAYSO_HOME=" + filepath.Join(g.home, "sayso"), "SAYSO_NOTICE=off"}
	g.sayso("init", "claude-code", "--yes", "--claude", claude.Binary(t))
	if rules != "" {
		g.write(g.paths().Policy(), rules)
	}
	return g
}

func (g *gate) write(path, text string) {
	g.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gate) paths() home.Paths {
	g.t.Helper()
	paths, err := home.Find(func(name string) string {
		for _, kv := range g.environment() {
			if k, v, _ := strings.Cut(kv, "="); k == name {
				return v
			}
		}
		return ""
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return paths
}

func (g *gate) environment() []string {
	return append([]string{"PATH=" + g.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + g.home}, g.env...)
}

// command is a run of sayso as the person of this machine.
func (g *gate) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(g.bin, "sayso"), args...)
	cmd.Env, cmd.Dir = g.environment(), g.dir
	return cmd
}

// sayso runs a command that must succeed, and returns what it printed.
func (g *gate) sayso(args ...string) string {
	g.t.Helper()
	cmd := g.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		g.t.Fatalf("sayso %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

// start starts the agent, which asks the model in the script.
func (g *gate) start(stub *modelstub.Stub, env ...string) *claude.Session {
	g.t.Helper()
	return claude.Start(g.t, claude.Options{
		Stub: stub, Dir: g.dir, Home: g.home, Mode: "bypassPermissions", Env: append(slices.Clone(g.env), env...), Timeout: 90 * time.Second,
	})
}

// end waits for the agent and returns what reached its model.
func (g *gate) end(s *claude.Session) []modelstub.ToolResult {
	g.t.Helper()
	res := s.Wait()
	if res.TimedOut {
		g.t.Fatalf("the agent did not end\n%s%s", res.Stdout, res.Stderr)
	}
	return res.Results
}

// inbox follows the log from this process, as a third one beside the agent's
// and the commands'.
func (g *gate) inbox(do func(context.Context, sayso.Inbox)) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 60*time.Second)
	defer cancel()
	log, err := sqlite.Open(ctx, g.paths().Database(), nil)
	if err != nil {
		g.t.Fatal(err)
	}
	defer log.Close()
	rules, err := policy.New(policy.Options{})
	if err != nil {
		g.t.Fatal(err)
	}
	b, err := broker.New(log, rules, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	defer b.Close()
	do(ctx, b.Inbox(sayso.Actor{Principal: home.Person(), Kind: sayso.PrincipalAdmin, Channel: "test"}))
}

// opened waits until n requests are open and returns them.
func (g *gate) opened(n int) (open []sayso.Request) {
	g.t.Helper()
	g.inbox(func(ctx context.Context, in sayso.Inbox) {
		for _, err := range in.Follow(ctx, 0, sayso.EventQuery{}) {
			if err != nil {
				g.t.Fatalf("waiting for %d open requests: %v", n, err)
			}
			open, err = in.Requests(ctx, sayso.RowQuery{States: []sayso.State{sayso.StateOpen, sayso.StateParked}})
			if err != nil {
				g.t.Fatal(err)
			}
			if len(open) >= n {
				return
			}
		}
	})
	return open
}

// event waits until an event of a type is in the log, and returns it.
func (g *gate) event(want sayso.EventType) (found sayso.Event) {
	g.t.Helper()
	g.inbox(func(ctx context.Context, in sayso.Inbox) {
		for e, err := range in.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{want}}) {
			if err != nil {
				g.t.Fatalf("waiting for %s: %v", want, err)
			}
			found = e
			return
		}
	})
	return found
}

// lives returns the types of events of each request, in order.
func (g *gate) lives() (lives [][]sayso.EventType) {
	g.t.Helper()
	byRequest, order := map[sayso.ID][]sayso.EventType{}, []sayso.ID{}
	for line := range strings.Lines(g.sayso("log", "--json")) {
		var e sayso.Event
		if err := jcs.UnmarshalLenient([]byte(line), &e); err != nil {
			g.t.Fatalf("%s: %v", line, err)
		}
		if !strings.HasPrefix(e.Stream, "request/") {
			continue
		}
		if byRequest[e.RequestID] == nil {
			order = append(order, e.RequestID)
		}
		byRequest[e.RequestID] = append(byRequest[e.RequestID], e.Type)
	}
	for _, id := range order {
		lives = append(lives, byRequest[id])
	}
	return lives
}

// approve answers a request by the command line, as somebody who saw it.
func (g *gate) approve(r sayso.Request, more ...string) {
	g.t.Helper()
	g.sayso(append([]string{"approve", r.ShortID, "--yes", "--digest", r.Digest.String()}, more...)...)
}

// ran reports whether a file of the project is there.
func (g *gate) ran(name string) bool {
	g.t.Helper()
	_, err := os.Stat(filepath.Join(g.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		g.t.Fatal(err)
	}
	return err == nil
}

// didRun checks that a call ran, by the file that it leaves.
func (g *gate) didRun(name string) {
	g.t.Helper()
	if !g.ran(name) {
		g.t.Errorf("%s did not run", name)
	}
}

// didNotRun checks that a call did not run.
func (g *gate) didNotRun(name string) {
	g.t.Helper()
	if g.ran(name) {
		g.t.Errorf("%s ran", name)
	}
}

// touch is a call that leaves a file. Each has an id of its own, as each call
// of a model has.
func touch(name string) modelstub.Call {
	return modelstub.Call{ID: fmt.Sprintf("toolu_%03d", ids.Add(1)), Name: "Bash", Input: `{"command":"touch ` + name + `","description":"make a marker"}`}
}

var ids atomic.Int64

// hooks are the hook processes below the agent.
func (g *gate) hooks(s *claude.Session) (pids []int) {
	g.t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		g.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err == nil && parent == s.Pid() && strings.Contains(line, "sayso-hook") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
