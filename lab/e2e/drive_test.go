//go:build unix

package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// machine is one with nothing installed in any host, with a policy if one is given.
func machine(t *testing.T, rules string) *gate {
	t.Helper()
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, home: t.TempDir(), dir: t.TempDir(), bin: dir}
	g.env = []string{"SAYSO_HOME=" + filepath.Join(g.home, "sayso"), "SAYSO_NOTICE=off"}
	if rules != "" {
		g.write(g.paths().Policy(), rules)
	}
	return g
}

// driver is a run of sayso that drives a host.
type driver struct {
	g         *gate
	cmd       *exec.Cmd
	stub      *modelstub.Stub
	out, errs bytes.Buffer
	done      chan struct{}
}

// drive starts a driver with the surroundings that its host needs.
func (g *gate) drive(stub *modelstub.Stub, env func(url string) []string, args ...string) *driver {
	g.t.Helper()
	url, stop, err := stub.Listen()
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(stop)
	d := &driver{g: g, cmd: g.command(args...), stub: stub, done: make(chan struct{})}
	d.cmd.Env = append(env(url), g.env...)
	d.cmd.Stdout, d.cmd.Stderr, d.cmd.WaitDelay = &d.out, &d.errs, 5*time.Second
	if err := d.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	go func() { defer close(d.done); _ = d.cmd.Wait() }() // how it ended is in its state
	g.t.Cleanup(func() { _ = d.cmd.Process.Kill(); <-d.done })
	return d
}

// driveClaude has Claude Code driven, with more arguments for it.
func (g *gate) driveClaude(stub *modelstub.Stub, more ...string) *driver {
	g.t.Helper()
	env := func(url string) []string { return claude.Environment(g.home, url) }
	return g.drive(stub, env, append([]string{"claude", "--program", claude.Binary(g.t), "go", "--", "--model", "claude-sonnet-5"}, more...)...)
}

// end waits for the end of the driver, and returns what reached the model, by call.
func (d *driver) end(status int) map[string]modelstub.ToolResult {
	d.g.t.Helper()
	select {
	case <-d.done:
	case <-time.After(time.Minute):
		_ = d.cmd.Process.Signal(syscall.SIGQUIT)
		d.g.t.Fatalf("the driver did not end")
	}
	if got := d.cmd.ProcessState.ExitCode(); got != status {
		d.g.t.Errorf("the driver ended with %d, want %d\n%s%s", got, status, d.out.String(), d.errs.String())
	}
	results := map[string]modelstub.ToolResult{}
	for _, r := range d.stub.Results() {
		results[r.ID] = r
	}
	return results
}

// killed kills the driver while a call waits, which takes its host with it, and
// approves the call.
func (d *driver) killed() {
	d.g.t.Helper()
	r := d.g.opened(1)[0]
	started := below(d.g.t, d.cmd.Process.Pid)
	if len(started) == 0 {
		d.g.t.Fatal("there is no host to be seen below the driver")
	}
	kill(d.g.t, d.cmd.Process.Pid)
	<-d.done
	for _, pid := range started {
		gone(d.g.t, pid)
	}
	d.g.approve(r) // it was parked, and nobody takes it up
}

// below are the processes below a driver.
func below(t *testing.T, driver int) (pids []int) {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err == nil && parent == driver {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-tick.C {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
	}
	t.Errorf("process %d outlived its driver", pid)
}

// The driver is told to end while a call waits: it ends with its host, nothing runs,
// and what was asked stays, unless the host took it back.
func TestDrive_toldToEnd(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*gate) *driver{
		"claude": func(g *gate) *driver { return g.driveClaude(modelstub.New(modelstub.Use(touch("marker")))) },
		"codex":  func(g *gate) *driver { return g.driveCodex(modelstub.New(modelstub.Use(shell("touch marker"))), "") },
	} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				g := machine(t, "")
				d := start(g)
				g.opened(1)
				if err := d.cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				select {
				case <-d.done:
				case <-time.After(time.Minute):
					t.Fatal("the driver did not end")
				}
				if d.cmd.ProcessState.Success() {
					t.Error("it ended as if all were well")
				}
				last := []sayso.EventType{sayso.EventParked, sayso.EventWithdrawn} // a host may take its question back
				if life := g.lives()[0]; g.ran("marker") || !slices.Contains(last, life[len(life)-1]) {
					t.Errorf("ran: %v; the life of the request is %v", g.ran("marker"), life)
				}
			})
		}
	}
}
