//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// behind is the configuration of a server that runs behind the gateway.
func (g *gate) behind() []string {
	config := fmt.Sprintf(`{"mcpServers":{"lab":{"command":%q,"args":["mcp","--name","lab","--",%q],"env":{"LAB_MCP_SERVER":"1","SAYSO_HOME":%q,"SAYSO_NOTICE":"off"}}}}`,
		filepath.Join(g.bin, "sayso"), os.Args[0], filepath.Join(g.home, "sayso"))
	return []string{"--mcp-config", config}
}

// deploy is a call of a tool of that server.
func deploy() modelstub.Call {
	return modelstub.Call{ID: fmt.Sprintf("toolu_%03d", ids.Add(1)), Name: "mcp__lab__deploy", Input: `{"env":"prod"}`}
}

// A call that the hook asks about, and that then comes through the gateway, is
// asked about once.
func TestClaude_hookAndGateway(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	stub := modelstub.New(modelstub.Use(deploy()))
	s := claude.Start(t, claude.Options{Stub: stub, Dir: g.dir, Home: g.home, Mode: "bypassPermissions", Env: g.env, Args: g.behind()})
	r := g.opened(1)[0]
	if r.Server != "lab" || r.Tool != "deploy" || r.Host != "claude-code" {
		t.Errorf("asked: %+v", r)
	}
	g.approve(r)
	told(t, g.end(s), false, "deployed")
	g.want("requested answered resolved redeemed finished", "requested resolved redeemed finished")
}

// Without the hook the gateway asks, and the model is told what a person says.
func TestClaude_gatewayAlone(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	g.sayso("init", "claude-code", "--undo", "--yes")
	stub := modelstub.New(modelstub.Use(deploy()))
	s := claude.Start(t, claude.Options{Stub: stub, Dir: g.dir, Home: g.home, Mode: "bypassPermissions", Env: g.env, Args: g.behind()})
	r := g.opened(1)[0]
	if r.Server != "lab" || r.Tool != "deploy" || r.Host != "mcp" {
		t.Errorf("asked: %+v", r)
	}
	g.sayso("deny", r.ShortID, "--note", "not on a Friday")
	told(t, g.end(s), true, "Denied by", "not on a Friday")
}
