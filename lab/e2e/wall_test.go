//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
	"github.com/sayso-dev/sayso/lab/codex"
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

// Codex asks by its own settings, where the hook is gone.
func TestWall_codex(t *testing.T) {
	t.Parallel()
	g := codexGate{listed(t)}
	run := func(file string, wall bool) (asked bool) {
		stub := modelstub.New(modelstub.Use(shell("dd if=/dev/null of=" + file)))
		url, stop, err := stub.Listen()
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		g.options(stub).Configure(t, url)
		if wall {
			g.sayso("init", "codex", "--second-wall", "--yes", "--codex", codex.Binary(t))
			g.sayso("init", "codex", "--undo", "--yes")
		}
		return g.asksItself()
	}
	if asked := run("first", false); asked || !g.ran("first") {
		t.Errorf("without hook and wall: asked %v, ran %v", asked, g.ran("first"))
	}
	if asked := run("second", true); !asked || g.ran("second") {
		t.Errorf("without the hook, behind the wall: asked %v, ran %v", asked, g.ran("second"))
	}
	c, o := shell("dd if=/dev/null of=third"), g.options(nil)
	o.Stub, o.Asks = modelstub.New(modelstub.Use(c)), true
	if told := codex.Run(t, o).Told(c.ID); g.ran("third") || !strings.Contains(told, "approval") {
		t.Errorf("where nobody can be asked: ran %v, and the model was told %q", g.ran("third"), told)
	}
}

// asksItself has Codex do what the model says, as its app does, and reports whether it asked
// for permission, which is refused.
func (g codexGate) asksItself() (asked bool) {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), codex.Binary(g.t), "app-server")
	cmd.Dir, cmd.Env = g.dir, g.options(nil).Environ()
	in, err := cmd.StdinPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	say := func(format string, values ...any) {
		if _, err := fmt.Fprintf(in, format+"\n", values...); err != nil {
			g.t.Fatal(err)
		}
	}
	say(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"lab","version":"1"}}}`)
	say(`{"method":"initialized"}`)
	say(`{"id":2,"method":"thread/start","params":{"cwd":%q,"sandbox":"workspace-write"}}`, g.dir)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result struct {
				Thread struct {
					ID string `json:"id"`
				} `json:"thread"`
			} `json:"result"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			g.t.Fatalf("%v: %s", err, lines.Bytes())
		}
		switch {
		case m.Result.Thread.ID != "":
			say(`{"id":3,"method":"turn/start","params":{"threadId":%q,"input":[{"type":"text","text":"go"}]}}`, m.Result.Thread.ID)
		case strings.HasSuffix(m.Method, "/requestApproval"):
			asked = true
			say(`{"id":%s,"result":{"decision":"decline"}}`, m.ID)
		case m.Method == "turn/completed":
			return asked
		}
	}
	g.t.Fatalf("codex ended: %v", lines.Err())
	return asked
}
