//go:build unix

package hosts_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/hosts"
	"github.com/sayso-dev/sayso/lab/machine"
)

// gate is a machine on which a host is wired as a person would wire it.
type gate struct {
	*machine.Machine
	t testing.TB
	h hosts.Host
}

// bare is a machine on which nothing is wired yet.
func bare(t testing.TB, h hosts.Host) *gate {
	t.Helper()
	return &gate{machine.New(t), t, h}
}

// wire sets a machine up: the host's own settings first, then sayso init, with
// flags if there are any, and what a person does after it.
func (g *gate) wire(rules string, flags ...string) {
	g.t.Helper()
	if err := g.h.Write(g.Home, hosts.Setup{MCP: os.Args[0]}); err != nil {
		g.t.Fatal(err)
	}
	g.Must(append([]string{"init", g.h.Name, "--yes"}, flags...)...)
	g.h.Ready(g.t, g.Dir, g.Home, g.Env)
	if rules != "" {
		g.Write(g.Paths().Policy(), "version: 1\n"+rules)
	}
}

// hook is a program in the place of our hook, which init is told of.
func (g *gate) hook(script string) string {
	g.t.Helper()
	program := filepath.Join(g.Home, "other", "sayso-hook")
	g.Write(program, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(program, 0o700); err != nil {
		g.t.Fatal(err)
	}
	return "--hook=" + program
}

// announced is our hook, behind a program that says when it is asked.
func (g *gate) announced() string {
	g.t.Helper()
	pipe := filepath.Join(g.Home, "asked")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		g.t.Fatal(err)
	}
	return g.hook(fmt.Sprintf(`call=$(cat); case $call in *'touch marker'*) [ ! -p '%[1]s' ] || echo asked >'%[1]s';; esac
printf '%%s' "$call" | exec '%[2]s' "$@"`, pipe, filepath.Join(g.Bin, "sayso-hook")))
}

// heardHook waits until such a hook is asked for the first time.
func (g *gate) heardHook() {
	pipe := filepath.Join(g.Home, "asked")
	_, err := os.ReadFile(pipe)
	if err = errors.Join(err, os.Remove(pipe)); err != nil {
		g.t.Error(err)
	}
}

// start starts the host on a script.
func (g *gate) start(stub *modelstub.Stub, env ...string) (wait func() []modelstub.ToolResult, kill func()) {
	g.t.Helper()
	end, kill := g.h.Start(g.t, hosts.Options{Stub: stub, Dir: g.Dir, Home: g.Home, Env: append(slices.Clone(g.Env), env...)})
	return func() []modelstub.ToolResult {
		g.t.Helper()
		r := end()
		if n := stub.Left(); n != 0 {
			g.t.Errorf("the host did not ask for %d turns: %+v", n, r)
		}
		return r.Results
	}, kill
}

// touch is a call that leaves a file.
func (g *gate) touch(id, name string) modelstub.Call { return g.h.Call(id, "touch "+name) }

// one is a model that makes the call of most cases.
func (g *gate) one() *modelstub.Stub {
	return modelstub.New(modelstub.Use(g.touch("toolu_1", "marker")))
}

// files are what calls left in the project.
func (g *gate) files() []string {
	g.t.Helper()
	entries, err := os.ReadDir(g.Dir)
	if err != nil {
		g.t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // the host's own
			names = append(names, e.Name())
		}
	}
	return names
}

// hooks are the processes of our hook on this machine.
func (g *gate) hooks() (pids []int) {
	g.t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	if err != nil {
		g.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var pid int
		var program string
		if _, err := fmt.Sscan(line, &pid, &program); err == nil && filepath.Base(program) == "sayso-hook" && strings.Contains(line, g.Home) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killHooks kills them as nothing can be killed harder.
func (g *gate) killHooks() {
	g.t.Helper()
	pids := g.hooks()
	if len(pids) == 0 {
		g.t.Error("there is no hook to kill")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			g.t.Fatal(err)
		}
	}
}
