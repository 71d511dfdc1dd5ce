//go:build unix

package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
	"github.com/sayso-dev/sayso/lab/codex"
	"github.com/sayso-dev/sayso/lab/hosts"
	"github.com/sayso-dev/sayso/lab/npm"
)

// listed is a machine on which nothing but the list of a client is wired: what
// the gate is asked, it is asked by sayso mcp.
func listed(t *testing.T) *gate {
	t.Helper()
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, home: t.TempDir(), dir: t.TempDir(), bin: dir}
	g.env = []string{"SAYSO_HOME=" + filepath.Join(g.home, "sayso"), "SAYSO_NOTICE=off", "CLAUDE_CONFIG_DIR=" + filepath.Join(g.home, ".claude")}
	return g
}

// client runs the client's own program, to change its list or show it.
func (g *gate) client(program string, args ...string) string {
	g.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = g.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.home, "CODEX_HOME=" + filepath.Join(g.home, ".codex"),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(g.home, ".claude"), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "NO_COLOR=1",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("%s %q: %v\n%s", filepath.Base(program), args, err, out)
	}
	return string(out)
}

func (g *gate) read(name string) string {
	g.t.Helper()
	text, err := os.ReadFile(filepath.Join(g.home, name))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(text)
}

// behindTheGate puts the servers of a list that a client wrote behind the gate,
// and checks that undo gives back what the client wrote.
func (g *gate) behindTheGate(client, list string) {
	g.t.Helper()
	wrote := g.read(list)
	g.sayso("init", "mcp", client, "--yes")
	g.sayso("init", "mcp", client, "--undo", "--yes")
	if now := g.read(list); now != wrote {
		g.t.Errorf("undo left a trace:\n%s\nwhere %s wrote\n%s", now, client, wrote)
	}
	g.sayso("init", "mcp", client, "--yes")
	if now := g.read(list); !strings.Contains(now, `"--name"`) {
		g.t.Fatalf("the server is not behind the gate:\n%s", now)
	}
}

// Claude Code, whose own program added the server: the call waits, and runs when
// a person says so. The agent is told nothing of where the gate is.
func TestClients_claude(t *testing.T) {
	t.Parallel()
	g := listed(t)
	g.client(claude.Binary(t), "mcp", "add", "--scope", "user", "lab", "-e", "LAB_MCP_SERVER=1", "--", os.Args[0])
	g.behindTheGate("claude-code", ".claude/.claude.json")
	s := claude.Start(t, claude.Options{Stub: modelstub.New(modelstub.Use(deploy())), Dir: g.dir, Home: g.home, Mode: "bypassPermissions"})
	r := g.opened(1)[0]
	if r.Server != "lab" || r.Tool != "deploy" || r.Host != "mcp" {
		t.Errorf("asked: %+v", r)
	}
	g.approve(r)
	told(t, g.end(s), false, "deployed")
	g.want("requested answered resolved redeemed finished")
}

// Codex likewise, which passes on little of its environment.
func TestClients_codex(t *testing.T) {
	t.Parallel()
	g := listed(t)
	g.write(filepath.Join(g.home, ".codex", "config.toml"), "model_reasoning_effort = \"low\" # mine\n")
	g.client(codex.Binary(t), "mcp", "add", "lab", "--env", "LAB_MCP_SERVER=1", "--", os.Args[0])
	g.behindTheGate("codex", ".codex/config.toml")
	call := script(`text(await tools.mcp__lab__deploy({env: "prod"}));`)
	stub := modelstub.New(modelstub.Use(call))
	wait := codex.Start(t, codex.Options{Stub: stub, Dir: g.dir, Home: g.home, Config: g.read(".codex/config.toml")})
	r := g.opened(1)[0]
	if r.Server != "lab" || r.Tool != "deploy" || r.Host != "mcp" {
		t.Errorf("asked: %+v", r)
	}
	g.sayso("deny", r.ShortID, "--note", "not on a Friday")
	if res := wait(); len(res.Results) != 1 || !strings.Contains(res.Results[0].Content, "not on a Friday") {
		t.Errorf("the model was told %+v\n%s", res.Results, res.Stderr)
	}
	g.want("requested answered resolved")
}

// Gemini CLI and Copilot CLI: a call waits too.
func TestClients_others(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host      hosts.Host
		list, run string
	}{{hosts.Gemini, ".gemini/settings.json", "mcp_lab_deploy"}, {hosts.Copilot, ".copilot/mcp-config.json", "lab-deploy"}} {
		t.Run(c.host.Name, func(t *testing.T) {
			t.Parallel()
			c.host.Program(t)
			g := listed(t)
			if err := c.host.Write(g.home, hosts.Setup{MCP: os.Args[0]}); err != nil {
				t.Fatal(err)
			}
			g.behindTheGate(c.host.Name, c.list)
			wait, _ := c.host.Start(t, hosts.Options{
				Stub: modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_1", Name: c.run, Input: `{"env":"prod"}`})), Dir: g.dir, Home: g.home,
			})
			g.approve(g.opened(1)[0])
			res := wait()
			if len(res.Results) != 1 || !strings.Contains(res.Results[0].Content, "deployed") {
				t.Errorf("the model was told %+v\n%s%s", res.Results, res.Stdout, res.Stderr)
			}
			g.want("requested answered resolved redeemed finished")
		})
	}
}

// opencode starts the server behind the gate and gets its tools.
func TestClients_opencode(t *testing.T) {
	t.Parallel()
	release := npm.Package{
		Title: "opencode 1.18.33", Cache: "opencode-1.18.33", Spec: "opencode-ai@1.18.33",
		File: "node_modules/opencode-" + runtime.GOOS + "*/bin/opencode",
	}
	program := release.Path(t)
	g := listed(t)
	list := filepath.Join(g.home, ".config", "opencode", "opencode.jsonc")
	g.write(list, "{\n  // mine\n  \"mcp\": {\"lab\": {\"type\": \"local\", \"command\": [\""+os.Args[0]+"\"], \"environment\": {\"LAB_MCP_SERVER\": \"1\"}}},\n}\n")
	g.behindTheGate("opencode", ".config/opencode/opencode.jsonc")
	out := g.client(program, "mcp", "list")
	if !strings.Contains(out, "connected") || !strings.Contains(out, "sayso mcp --name lab") {
		t.Errorf("opencode says of its servers:\n%s", out)
	}
	if pinned := g.sayso("tools"); !bytes.Contains([]byte(pinned), []byte("deploy")) {
		t.Errorf("the gate has seen no tools of it:\n%s", pinned)
	}
}
