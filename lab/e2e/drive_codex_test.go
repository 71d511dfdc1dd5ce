//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/codex"
)

// driveCodex has Codex driven, with more arguments for sayso.
func (g *gate) driveCodex(stub *modelstub.Stub, config string, more ...string) *driver {
	g.t.Helper()
	o := codex.Options{Stub: stub, Home: g.home, Dir: g.dir, Config: config, Env: g.env}
	env := func(url string) []string { o.Configure(g.t, url); return o.Environ() }
	return g.drive(stub, env, append([]string{"codex", "--program", codex.Binary(g.t), "--sandbox", "workspace-write", "go"}, more...)...)
}

// outside is one that asks to be run outside of Codex's sandbox.
func outside(command, why string) modelstub.Call {
	c := shell(command)
	c.Input = fmt.Sprintf(`{"cmd":%q,"sandbox_permissions":"require_escalated","justification":%q}`, command, why)
	return c
}

// patch is a call of apply_patch.
func patch(text string) modelstub.Call {
	return modelstub.Call{ID: fmt.Sprintf("call_%03d", ids.Add(1)), Name: "apply_patch", Input: "*** Begin Patch\n" + text + "*** End Patch\n"}
}

// Nothing is installed. What Codex asks about is judged here: a rule decides, people
// do, and what asks for more than its tool is covered by no rule for the tool.
func TestDriveCodex(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\nrules:\n  - allow: \"bash:touch *\"\n  - deny: \"bash:touch never\"\n  - allow: \"file-edit:*.md\"\n")
	g.write(filepath.Join(g.dir, "a.txt"), "one\n")
	ruled, never, asked, noted := shell("touch ruled"), shell("touch never"), shell("mkdir asked"), shell("mkdir noted")
	beyond := outside("touch beyond", "Let me out")
	added := patch("*** Add File: new.md\n+text\n")
	changed := patch("*** Update File: a.txt\n@@\n-one\n+two\n")
	d := g.driveCodex(modelstub.New(modelstub.Use(ruled), modelstub.Use(never), modelstub.Use(asked), modelstub.Use(noted),
		modelstub.Use(beyond), modelstub.Use(added), modelstub.Use(changed), modelstub.Say("all is done")), "")
	r := g.opened(1)[0]
	if r.Tool != "bash" || r.Host != "codex" || r.CanEdit || r.CallID != asked.ID || string(r.Preview) != `{"command":"mkdir asked"}` {
		t.Errorf("asked about %+v, %s", r, r.Preview)
	}
	g.approve(r)
	g.sayso("deny", g.opened(1)[0].ShortID, "--note", "use make noted")
	r = g.opened(1)[0]
	if !strings.Contains(string(r.Preview), "require_escalated") || !strings.Contains(string(r.Preview), "Let me out") {
		t.Errorf("what it asks for beyond its tool is not shown: %s", r.Preview)
	}
	g.sayso("deny", r.ShortID)
	r = g.opened(1)[0]
	if shown := g.sayso("show", r.ShortID); r.Tool != "file-edit" || !strings.Contains(shown, "-one") || !strings.Contains(shown, "+two") {
		t.Errorf("a patch is shown as %s", shown)
	}
	g.approve(r)
	got := d.end(0)
	for _, c := range []modelstub.Call{never, noted, beyond} {
		check(t, got[c.ID], false, "rejected by user") // which is all that Codex says of it
	}
	for name, want := range map[string]bool{"ruled": true, "never": false, "asked": true, "noted": false, "beyond": false, "new.md": true} {
		if g.ran(name) != want {
			t.Errorf("%s ran: %v", name, !want)
		}
	}
	why := 0
	for _, req := range d.stub.Requests() {
		if strings.Contains(string(req.Body), "use make noted") {
			why++
		}
	}
	if why == 0 {
		t.Error("the model was never told why")
	}
	g.want("requested resolved redeemed finished", "requested resolved", "requested answered resolved redeemed finished", "requested answered resolved",
		"requested answered resolved", "requested resolved redeemed finished", "requested answered resolved redeemed finished")
	if d.out.String() != "all is done\n" {
		t.Errorf("it printed %q", d.out.String())
	}
}

func TestDriveCodex_expires(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\ndeadline: {after: 1s, then: expire}\n")
	d := g.driveCodex(modelstub.New(modelstub.Use(shell("touch marker"))), "")
	d.end(0)
	if g.ran("marker") || !strings.Contains(d.errs.String(), "Expired") {
		t.Errorf("an expired call ran: %v; %s", g.ran("marker"), d.errs.String())
	}
	g.want("requested expired")
}

// Ten at once, each with its own answer.
func TestDriveCodex_tenAtOnce(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	var calls []modelstub.Call
	for i := range 10 {
		calls = append(calls, shell(fmt.Sprintf("mkdir many%d", i)))
	}
	d := g.driveCodex(modelstub.New(modelstub.Use(calls...)), "")
	for answered := 0; answered < 10; { // Codex asks as many at a time as it likes
		for _, r := range g.opened(1) {
			if strings.ContainsAny(string(r.Preview), "13579") {
				g.sayso("deny", r.ShortID)
			} else {
				g.approve(r)
			}
			answered++
		}
	}
	d.end(0)
	for i := range 10 {
		if name := fmt.Sprintf("many%d", i); g.ran(name) != (i%2 == 0) {
			t.Errorf("%s ran: %v", name, g.ran(name))
		}
	}
}

// The driver is killed while a call waits: Codex goes with it, and nothing runs.
func TestDriveCodex_killed(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	d := g.driveCodex(modelstub.New(modelstub.Use(shell("touch marker"))), "")
	d.killed()
	g.didNotRun("marker")
}

// The hook is installed and trusted: it asks before every tool, Codex asks about
// nothing that its sandbox lets run, and people are asked once.
func TestDriveCodex_andTheHook(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "")
	d := g.driveCodex(modelstub.New(modelstub.Use(shell("touch marker")), modelstub.Use(shell("touch denied"))), "", "--json")
	g.approve(g.opened(1)[0])
	g.sayso("deny", g.opened(1)[0].ShortID)
	d.end(0)
	g.didRun("marker")
	g.didNotRun("denied")
	if !strings.Contains(d.out.String(), `"approvalPolicy":"on-request"`) {
		t.Error("the hook that sayso init wrote is not taken for one")
	}
	asked := 0
	for _, life := range g.lives() {
		if strings.Contains(fmt.Sprint(life), string(sayso.EventAnswered)) {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("people were asked %d times about two calls: %v", asked, g.lives())
	}
}

// A tool of an MCP server is asked about as the call that it is.
func TestDriveCodex_mcp(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	deploy := modelstub.Call{ID: "call_mcp", Name: "mcp__lab/deploy", Input: `{"env":"prod"}`}
	scripted := script(`text(await tools.exec_command({cmd: "mkdir scripted"}));`)
	d := g.driveCodex(modelstub.New(modelstub.Use(deploy), modelstub.Use(scripted)), fmt.Sprintf("[mcp_servers.lab]\ncommand = %q\nenv = { LAB_MCP_SERVER = \"1\" }\n", self))
	r := g.opened(1)[0]
	if r.Server != "lab" || r.Tool != "deploy" || r.CallID != deploy.ID || string(r.Preview) != `{"env":"prod"}` {
		t.Errorf("asked about %+v, %s", r, r.Preview)
	}
	g.sayso("deny", r.ShortID)
	if r = g.opened(1)[0]; string(r.Preview) != `{"command":"mkdir scripted"}` {
		t.Errorf("a script of the model's asked about %s", r.Preview)
	}
	g.approve(r)
	check(t, d.end(0)[deploy.ID], false, "cancelled")
	g.didRun("scripted")
}

// Under a policy of Codex's own that asks about everything, its hook is asked twice.
// Of a patch, and of a tool of a server, people are asked once: the second question
// is about what they saw. Of a command they are asked again, as nothing tells whether
// it would leave the sandbox: the same words come of one that would.
func TestCodex_askedTwice(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	added, silent := patch("*** Add File: new.md\n+text\n"), shell("mkdir silent")
	silent.Input = `{"cmd":"mkdir silent","sandbox_permissions":"require_escalated"}`
	refused := patch("*** Add File: refused.md\n+text\n")
	deploy := modelstub.Call{ID: "call_mcp", Name: "mcp__lab/deploy", Input: `{"env":"prod"}`}
	d := g.driveCodex(modelstub.New(modelstub.Use(added), modelstub.Use(deploy), modelstub.Use(refused), modelstub.Use(shell("mkdir plain")), modelstub.Use(silent)),
		fmt.Sprintf("[mcp_servers.lab]\ncommand = %q\nenv = { LAB_MCP_SERVER = \"1\" }\n", self), "--ask", "untrusted")
	next := func(tool string, escalated, yes bool) string {
		t.Helper()
		r := g.opened(1)[0]
		if r.Tool != tool || strings.Contains(string(r.Preview), "require_escalated") != escalated {
			t.Fatalf("asked about %s, %s", r.Tool, r.Preview)
		}
		if yes {
			g.approve(r)
		} else {
			g.sayso("deny", r.ShortID)
		}
		return string(r.Preview)
	}
	next("file-edit", false, true)
	next("deploy", false, true)
	next("file-edit", false, false)
	next("bash", false, true)
	stays := next("bash", true, true)
	next("bash", false, true)
	if leaves := next("bash", true, false); leaves != strings.Replace(stays, "plain", "silent", 1) {
		t.Errorf("Codex tells the two apart now, and so could we: %s and %s", stays, leaves)
	}
	d.end(0)
	for name, want := range map[string]bool{"new.md": true, "refused.md": false, "plain": true, "silent": false} {
		if g.ran(name) != want {
			t.Errorf("%s ran: %v", name, !want)
		}
	}
	g.want("requested answered resolved redeemed finished", "requested resolved redeemed", "requested answered resolved redeemed finished", "requested resolved redeemed",
		"requested answered resolved", "requested answered resolved redeemed finished", "requested answered resolved redeemed",
		"requested answered resolved redeemed", "requested answered resolved")
}

// While sayso is off a driven Codex asks as before, also where its hook is installed:
// it has no other prompt.
func TestDriveCodex_off(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "")
	g.sayso("off", "--for", "1h")
	d := g.driveCodex(modelstub.New(modelstub.Use(shell("mkdir asked")), modelstub.Use(shell("mkdir denied"))), "")
	g.approve(g.opened(1)[0])
	g.sayso("deny", g.opened(1)[0].ShortID)
	d.end(0)
	g.didRun("asked")
	g.didNotRun("denied")
	if strings.Count(d.errs.String(), "sayso is off, and that does not reach") != 1 {
		t.Errorf("it said %s", d.errs.String())
	}
}

// Settings that take Codex out of its sandbox: it is not driven, and nothing is said
// to it. Behind the dashes they are not taken at all.
func TestDriveCodex_noSandbox(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\nrules:\n  - allow: \"bash:*\"\n")
	for name, args := range map[string][]string{
		"does not stay in its sandbox": {"--ask", "on-request", "go"}, "say --sandbox workspace-write": {"go"},
		"others belong into its config.toml": {"go", "--", "-c", `sandbox_mode="danger-full-access"`},
	} {
		stub := modelstub.New(modelstub.Use(shell("touch marker")))
		o := codex.Options{Stub: stub, Home: g.home, Dir: g.dir, Config: "sandbox_mode = \"danger-full-access\"\n", Env: g.env}
		env := func(url string) []string { o.Configure(t, url); return o.Environ() }
		d := g.drive(stub, env, append([]string{"codex", "--program", codex.Binary(t)}, args...)...)
		<-d.done
		if text := d.errs.String(); !strings.Contains(text, name) || d.cmd.ProcessState.ExitCode() <= 0 {
			t.Errorf("%v: it ended with %d: %s", args, d.cmd.ProcessState.ExitCode(), text)
		}
		if len(stub.Requests()) > 0 || g.ran("marker") {
			t.Errorf("%v: something was said to it", args)
		}
	}
}
