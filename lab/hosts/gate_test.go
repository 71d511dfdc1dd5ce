//go:build unix

package hosts_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
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

// wired sets a machine up: the host's own settings first, then sayso init.
func wired(t *testing.T, h hosts.Host, rules string) *gate {
	t.Helper()
	g := &gate{machine.New(t), t, h}
	if err := h.Write(g.Home, hosts.Setup{MCP: os.Args[0]}); err != nil {
		t.Fatal(err)
	}
	g.Must("init", h.Name, "--yes")
	if rules != "" {
		g.Write(g.Paths().Policy(), "version: 1\n"+rules)
	}
	return g
}

// start starts the host on a script.
func (g *gate) start(stub *modelstub.Stub, env ...string) (wait func() []modelstub.ToolResult, kill func()) {
	g.t.Helper()
	end, kill := g.h.Start(g.t, hosts.Options{Stub: stub, Dir: g.Dir, Home: g.Home, Env: append(g.Env, env...)})
	return func() []modelstub.ToolResult { g.t.Helper(); return end().Results }, kill
}

// touch is a call that leaves a file.
func (g *gate) touch(id, name string) modelstub.Call {
	return modelstub.Call{ID: id, Name: g.h.Shell, Input: hosts.Command("touch " + name)}
}

// told checks the one result that reached the model.
func (g *gate) told(results []modelstub.ToolResult, words ...string) {
	g.t.Helper()
	if len(results) == 0 {
		g.t.Fatal("the model was told nothing")
	}
	last := results[len(results)-1]
	for _, w := range words {
		if !strings.Contains(last.Content, w) {
			g.t.Errorf("the model was told %q, without %q", last.Content, w)
		}
	}
}

// want checks what ran, and what became of each request in the log.
func (g *gate) want(ran bool, lives ...string) {
	g.t.Helper()
	if got := g.Exists("marker"); got != ran {
		g.t.Errorf("the call ran: %v, want %v", got, ran)
	}
	if diff := cmp.Diff(lives, g.Lives()); diff != "" {
		g.t.Errorf("lives (-want +got):\n%s", diff)
	}
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

const deny = "rules:\n  - deny: \"bash:touch marker\"\n    name: no markers\n"

func TestGate(t *testing.T) {
	for name, run := range map[string]func(t *testing.T, h hosts.Host){
		"policy allows": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "rules:\n  - allow: \"bash:touch marker\"\n")
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			wait()
			g.want(true, "requested resolved redeemed")
		},
		"policy denies": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, deny)
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			g.told(wait(), "Denied by policy", "no markers")
			g.want(false, "requested resolved")
		},
		"a person allows": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "")
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			r := g.Opened(1)[0]
			if g.Exists("marker") {
				t.Error("the call ran before it was answered")
			}
			if r.Said["description"] == "" || r.Tool != "bash" || r.Caller != h.Name+"/main" {
				t.Errorf("asked about %s by %s, said %v", r.Tool, r.Caller, r.Said)
			}
			g.Approve(r)
			wait()
			g.want(true, "requested answered resolved redeemed")
		},
		"a person denies": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "")
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			g.Must("deny", g.Opened(1)[0].ShortID, "--note", "use make marker")
			g.told(wait(), "Denied by", "use make marker")
			g.want(false, "requested answered resolved")
		},
		"a person edits": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "")
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			edit := filepath.Join(g.Home, "edit.json")
			g.Write(edit, `{"command":"touch edited"}`)
			g.Approve(g.Opened(1)[0], "--edit="+edit)
			wait()
			if !g.Exists("edited") {
				t.Error("the edited call did not run")
			}
			g.want(false, "requested answered resolved redeemed")
		},
		"expires": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "deadline: {after: 1s, then: expire}\n")
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			g.told(wait(), "Expired", "not a refusal")
			g.want(false, "requested expired")
		},
		"patience ends": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "")
			again := modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
				g.told(back, "Not decided yet, ticket")
				g.Approve(g.Opened(1)[0])
				return modelstub.Use(g.touch("toolu_2", "marker"))
			})
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker")), again), "SAYSO_PATIENCE=1s")
			wait()
			g.want(true, "requested parked answered resolved taken redeemed")
		},
		"the hook is killed": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "")
			again := modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
				g.told(back, "sayso: the hook failed")
				if g.Exists("marker") {
					t.Error("the call ran although its hook was killed")
				}
				return modelstub.Use(g.touch("toolu_2", "marker"))
			})
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker")), again))
			r := g.Opened(1)[0]
			for _, pid := range g.hooks() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			g.Event(sayso.EventTaken)
			g.Approve(r)
			wait()
			g.want(true, "requested parked taken answered resolved redeemed")
		},
		"the hook is missing": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "rules:\n  - allow: \"bash:touch marker\"\n")
			for _, file := range []string{".gemini/settings.json", ".copilot/hooks/sayso.json"} {
				path := filepath.Join(g.Home, file)
				if text, err := os.ReadFile(path); err == nil {
					g.Write(path, strings.ReplaceAll(string(text), "/sayso-hook ", "/gone/sayso-hook "))
				}
			}
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			g.told(wait(), "sayso: the hook failed")
			g.want(false)
		},
		"the database is broken": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "rules:\n  - allow: \"bash:touch marker\"\n")
			g.Write(g.Paths().Database(), "this is no database, and never was one, however long one looks at it")
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			g.told(wait(), "Could not find out")
			if g.Exists("marker") {
				t.Error("the call ran")
			}
		},
		"the policy is broken": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "rules: 7\n")
			wait, _ := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			g.told(wait(), "Could not find out")
			g.want(false)
		},
		"a tool of a server": func(t *testing.T, h hosts.Host) {
			if h.Name == "copilot" { // it does not say which server, so no rule is about it
				g := wired(t, h, "")
				wait, _ := g.start(modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_1", Name: "lab-deploy", Input: `{"env":"prod"}`})))
				g.Must("deny", g.Opened(1)[0].ShortID, "--note", "no deployments")
				g.told(wait(), "Denied by", "no deployments")
				g.want(false, "requested answered resolved")
				return
			}
			g := wired(t, h, "rules:\n  - deny: mcp__lab__deploy\n    name: no deployments\n")
			wait, _ := g.start(modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_1", Name: "mcp_lab_deploy", Input: `{"env":"prod"}`})))
			g.told(wait(), "Denied by policy", "no deployments")
			g.want(false, "requested resolved")
		},
		"many calls at once": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "rules:\n  - allow: \"bash:touch*\"\n  - deny: \"bash:touch marker\"\n")
			calls := []modelstub.Call{g.touch("toolu_0", "marker")}
			for i := range 19 {
				calls = append(calls, g.touch(fmt.Sprintf("toolu_%d", i+1), fmt.Sprintf("m%d", i)))
			}
			wait, _ := g.start(modelstub.New(modelstub.Use(calls...)))
			if results := wait(); len(results) != 20 {
				t.Errorf("%d results", len(results))
			}
			for i := range 19 {
				if !g.Exists(fmt.Sprintf("m%d", i)) {
					t.Errorf("call %d did not run", i)
				}
			}
			if g.Exists("marker") || len(g.Lives()) != 20 {
				t.Errorf("the denied call ran: %v; %d requests", g.Exists("marker"), len(g.Lives()))
			}
		},
		"the host is killed": func(t *testing.T, h hosts.Host) {
			g := wired(t, h, "")
			_, kill := g.start(modelstub.New(modelstub.Use(g.touch("toolu_1", "marker"))))
			r := g.Opened(1)[0]
			kill()
			g.Event(sayso.EventParked)
			g.Approve(r)
			g.want(false, "requested parked answered resolved")
		},
	} {
		t.Run(name, func(t *testing.T) { each(t, run) })
	}
}
