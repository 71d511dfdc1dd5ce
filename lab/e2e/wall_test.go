//go:build unix

package e2e_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
	"github.com/sayso-dev/sayso/lab/hosts"
)

// With the second wall an agent that is told to ask nobody asks nobody twice
// while the hook is there, and does not run what nobody allowed once it is gone.
func TestWall_claude(t *testing.T) {
	t.Parallel()
	g := listed(t)
	g.sayso("init", "claude-code", "--second-wall", "--yes", "--claude", claude.Binary(t))
	run := func(file string) *claude.Session {
		return claude.Start(t, claude.Options{
			Stub: modelstub.New(modelstub.Use(touch(file))), Dir: g.dir, Home: g.home, Mode: "bypassPermissions", Env: g.env,
		})
	}
	s := run("first")
	g.approve(g.opened(1)[0])
	g.end(s)
	if !g.ran("first") {
		t.Error("the host asked again about what sayso had allowed")
	}
	g.sayso("init", "claude-code", "--undo", "--yes")
	told(t, g.end(run("second")), true, "approv")
	if g.ran("second") {
		t.Error("without the hook the call ran")
	}
	g.sayso("init", "claude-code", "--undo", "--second-wall", "--yes")
	g.end(run("third"))
	if !g.ran("third") {
		t.Error("without hook and wall the call did not run: the test shows nothing")
	}
}

// So does Gemini CLI, for tools of MCP servers too.
func TestWall_gemini(t *testing.T) {
	t.Parallel()
	g := listed(t)
	if err := hosts.Gemini.Write(g.home, hosts.Setup{MCP: os.Args[0]}); err != nil {
		t.Fatal(err)
	}
	run := func(file string) string {
		res := hosts.Gemini.Run(t, hosts.Options{
			Stub: modelstub.New(modelstub.Use(hosts.Gemini.Call("toolu_1", "touch "+file)), modelstub.Use(hosts.Gemini.Deploy("toolu_2"))), Dir: g.dir, Home: g.home,
		})
		var words []string
		for _, r := range res.Results {
			words = append(words, r.Content)
		}
		return strings.Join(words, "\n")
	}
	if words := run("first"); !g.ran("first") || !strings.Contains(words, "deployed") {
		t.Errorf("without hook and wall: %s", words)
	}
	g.sayso("init", "gemini", "--second-wall", "--yes", "--gemini", hosts.Gemini.Program(t))
	g.sayso("init", "gemini", "--undo", "--yes")
	words := run("second")
	if asks := regexp.MustCompile(`requires user confirmation`).FindAllString(words, -1); g.ran("second") || len(asks) != 2 {
		t.Errorf("without the hook, behind the wall: %s", words)
	}
}
