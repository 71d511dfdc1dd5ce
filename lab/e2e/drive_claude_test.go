//go:build unix

package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// Nothing is installed. Each call is judged here, also those that Claude Code would
// let run by itself: its settings allow them and switch hooks off, and its mode asks
// nobody about edits.
func TestDriveClaude(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\nrules:\n  - allow: \"bash:touch ruled\"\n  - deny: \"bash:touch never\"\n  - ask: \"file-read\"\n")
	g.write(filepath.Join(g.dir, "notes.txt"), "private\n")
	ruled, never, asked, noted, edited := touch("ruled"), touch("never"), touch("asked"), touch("noted"), touch("plain")
	read := modelstub.Call{ID: "toolu_read", Name: "Read", Input: `{"file_path":"` + filepath.Join(g.dir, "notes.txt") + `"}`}
	question := modelstub.Call{ID: "toolu_question", Name: "AskUserQuestion", Input: `{"questions":[{"question":"A or B?","header":"Pick","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}],"multiSelect":false}]}`}
	d := g.driveClaude(modelstub.New(modelstub.Use(ruled), modelstub.Use(never), modelstub.Use(asked), modelstub.Use(noted),
		modelstub.Use(edited), modelstub.Use(read), modelstub.Use(question), modelstub.Say("all is done")), "--permission-mode", "acceptEdits",
		"--settings", `{"disableAllHooks":true,"permissions":{"allow":["Bash","Read"]}}`)
	r := g.opened(1)[0]
	if r.Said["description"] != "make a marker" || r.Host != "claude-code" || !r.CanEdit || r.Cwd == "" {
		t.Errorf("asked about %+v", r)
	}
	g.approve(r)
	g.sayso("deny", g.opened(1)[0].ShortID, "--note", "use make marker")
	edit := filepath.Join(g.home, "edit.json")
	g.write(edit, `{"command":"touch edited"}`)
	g.approve(g.opened(1)[0], "--edit="+edit)
	g.sayso("deny", g.opened(1)[0].ShortID)
	got := d.end(0)
	check(t, got[ruled.ID], false)
	check(t, got[never.ID], true, "Denied by policy")
	check(t, got[asked.ID], false)
	check(t, got[noted.ID], true, "Denied by", "use make marker")
	check(t, got[edited.ID], false)
	check(t, got[read.ID], true, "Denied by")
	check(t, got[question.ID], true, "ask the user in your answer")
	for name, want := range map[string]bool{"ruled": true, "never": false, "asked": true, "noted": false, "plain": false, "edited": true} {
		if g.ran(name) != want {
			t.Errorf("%s ran: %v", name, !want)
		}
	}
	g.want("requested resolved redeemed finished", "requested resolved", "requested answered resolved redeemed finished", "requested answered resolved",
		"requested answered resolved redeemed finished", "requested answered resolved")
	if d.out.String() != "all is done\n" {
		t.Errorf("it printed %q", d.out.String())
	}
	for _, want := range []string{"✓ bash touch ruled", "✗ bash touch never", "✓ bash touch edited (with changes)"} {
		if !strings.Contains(d.errs.String(), want) {
			t.Errorf("it noted %q, want %q in it", d.errs.String(), want)
		}
	}
}

// A question that nobody answers in time is told apart from a refusal, and the
// lines of the host can be had as they are.
func TestDriveClaude_expires(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\ndeadline: {after: 1s, then: expire}\n")
	marker := touch("marker")
	d := g.driveClaude(modelstub.New(modelstub.Use(marker)), "--permission-mode", "default")
	check(t, d.end(0)[marker.ID], true, "Expired", "not a refusal")
	g.didNotRun("marker")
	g.want("requested expired")
}

// The hook is installed too, and asks first. Its answer is the driver's.
func TestDriveClaude_andTheHook(t *testing.T) {
	t.Parallel()
	g := wired(t, "")
	marker, denied := touch("marker"), touch("denied")
	d := g.driveClaude(modelstub.New(modelstub.Use(marker), modelstub.Use(denied)))
	g.approve(g.opened(1)[0])
	g.sayso("deny", g.opened(1)[0].ShortID)
	got := d.end(0)
	check(t, got[marker.ID], false)
	check(t, got[denied.ID], true, "Denied by")
	g.didRun("marker")
	g.didNotRun("denied")
	asked := 0
	for _, life := range g.lives() {
		if strings.Contains(fmt.Sprint(life), string(sayso.EventAnswered)) {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("people were asked %d times about two calls: %v", asked, g.lives())
	}
	for want, n := range map[string]int{"waits for a person: bash touch marker": 1, "waits for a person: bash touch denied": 1, "✓ bash touch marker": 1, "✗ bash touch denied: Denied by": 1} {
		if strings.Count(d.errs.String(), want) != n {
			t.Errorf("it noted %q, want %q in it, %d times", d.errs.String(), want, n)
		}
	}
	g.sayso("log", "verify")
}

// Where two hooks answer and one has it ask, Claude Code forgets what the other gave
// back. What a person made of a call at our hook runs all the same, in any mode, and
// is not asked about again.
func TestDriveClaude_andTheHookEdited(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"interactive", "approve_all", "strict"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			g := wired(t, "")
			call := touch("plain")
			d := g.driveClaude(modelstub.New(modelstub.Use(call)))
			r := g.opened(1)[0]
			switch mode {
			case "approve_all":
				g.sayso("mode", mode, "--for", "5m")
			case "strict":
				g.sayso("mode", mode)
			}
			edit := filepath.Join(g.home, "edit.json")
			g.write(edit, `{"command":"touch edited"}`)
			g.approve(r, "--edit="+edit)
			check(t, d.end(0)[call.ID], false)
			g.didNotRun("plain")
			g.didRun("edited")
			g.want("requested answered resolved redeemed finished", "requested resolved redeemed finished")
			if events := g.sayso("log", "--json"); strings.Contains(events, `"changed":true`) {
				t.Errorf("it ran with other arguments: %s", events)
			}
			g.sayso("log", "verify")
		})
	}
}

// Ten calls, and each has its own answer.
func TestDriveClaude_tenAtOnce(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\nrules:\n  - ask: \"file-read\"\n")
	var calls []modelstub.Call
	for i := range 10 {
		name := filepath.Join(g.dir, fmt.Sprintf("%d.txt", i))
		g.write(name, fmt.Sprintf("content %d\n", i))
		input, err := jcs.Marshal(map[string]string{"file_path": name})
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, modelstub.Call{ID: fmt.Sprintf("toolu_many_%d", i), Name: "Read", Input: string(input)})
	}
	d := g.driveClaude(modelstub.New(modelstub.Use(calls...)))
	odd := func(r sayso.Request) bool { return strings.ContainsAny(r.CallID[len(r.CallID)-1:], "13579") }
	for _, r := range g.opened(10) {
		if odd(r) {
			g.sayso("deny", r.ShortID)
		} else {
			g.approve(r)
		}
	}
	got := d.end(0)
	for i, c := range calls {
		if denied := strings.Contains(got[c.ID].Content, "Denied by"); denied != (i%2 == 1) {
			t.Errorf("%s: the model was told %q", c.ID, got[c.ID].Content)
		}
	}
}

// The driver is killed while a call waits: the host goes with it, and nothing runs.
func TestDriveClaude_killed(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	d := g.driveClaude(modelstub.New(modelstub.Use(touch("marker"))))
	d.killed()
	g.didNotRun("marker")
}

// What skips hooks does not reach the host as a variable either, and what leaves those of
// the person's settings out leaves the driver's.
func TestDriveClaude_withoutHooks(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	g.env = append(g.env, "CLAUDE_CODE_SIMPLE=1")
	marker := touch("marker")
	d := g.driveClaude(modelstub.New(modelstub.Use(marker)), "--allowedTools", "Bash", "--permission-mode", "acceptEdits", "--safe-mode")
	g.sayso("deny", g.opened(1)[0].ShortID)
	check(t, d.end(0)[marker.ID], true, "Denied by")
	g.didNotRun("marker")
}

// What would take the gate away is refused before anything is started.
func TestDriveClaude_refusesWhatBreaksIt(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	for _, args := range [][]string{
		{"--dangerously-skip-permissions"}, {"--permission-prompt-tool", "mcp__x__y"}, {"--permission-prompt-tool=stdio"}, {"--bare"},
		{"--permission-mode", "bypassPermissions"}, {"--permission-mode=bypassPermissions"}, {"--input-format", "text"}, {"-p", "x"},
		{"--project-config-root", "/x"}, {"--of-the-next-release"}, {"mcp"},
	} {
		cmd := g.command(append([]string{"claude", "--program", "/nonexistent", "go", "--"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), strings.Split(args[0], "=")[0]) || !strings.Contains(string(out), "cannot be driven") {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
}

// Claude Code itself is started, and asks the tool of ours in the place of its
// prompt.
func TestPromptTool(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\nrules:\n  - allow: \"bash:touch ruled\"\n  - deny: \"bash:touch never\"\n")
	config := filepath.Join(g.home, "mcp.json")
	g.write(config, fmt.Sprintf(`{"mcpServers":{"sayso":{"command":%q,"args":["mcp","approve"],"env":{"SAYSO_HOME":%q,"SAYSO_NOTICE":"off"}}}}`,
		filepath.Join(g.bin, "sayso"), filepath.Join(g.home, "sayso")))
	ruled, never, asked, noted, edited := touch("ruled"), touch("never"), touch("asked"), touch("noted"), touch("plain")
	stub := modelstub.New(modelstub.Use(ruled), modelstub.Use(never), modelstub.Use(asked), modelstub.Use(noted), modelstub.Use(edited))
	s := claude.Start(t, claude.Options{
		Stub: stub, Dir: g.dir, Home: g.home, Mode: "default", Env: append(slices.Clone(g.env), "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR=1"),
		Args: []string{"--mcp-config", config, "--permission-prompt-tool", "mcp__sayso__approve"},
	})
	r := g.opened(1)[0]
	if r.Host != "claude-code" || r.Cwd != g.dir || r.CallID != asked.ID || !r.CanEdit || r.Said["description"] != "make a marker" {
		t.Errorf("asked about %+v", r)
	}
	g.approve(r)
	g.sayso("deny", g.opened(1)[0].ShortID, "--note", "use make marker")
	edit := filepath.Join(g.home, "edit.json")
	g.write(edit, `{"command":"touch edited"}`)
	g.approve(g.opened(1)[0], "--edit="+edit)
	got := map[string]modelstub.ToolResult{}
	for _, res := range g.end(s) {
		got[res.ID] = res
	}
	check(t, got[ruled.ID], false)
	check(t, got[never.ID], true, "Denied by policy")
	check(t, got[asked.ID], false)
	check(t, got[noted.ID], true, "Denied by", "use make marker")
	check(t, got[edited.ID], false)
	for name, want := range map[string]bool{"ruled": true, "never": false, "asked": true, "noted": false, "plain": false, "edited": true} {
		if g.ran(name) != want {
			t.Errorf("%s ran: %v", name, !want)
		}
	}
}

// The hook is installed in the place of the prompt: it is asked while Claude Code
// asks whoever drives it, who here does not answer, and what it says counts.
func TestClaude_permissionRequest(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	g.sayso("init", "claude-code", "--yes", "--permission-request", "--claude", claude.Binary(t))
	marker, denied := touch("marker"), touch("denied")
	in, person := io.Pipe()
	heard := make(chan struct{})
	done := func([]modelstub.ToolResult) modelstub.Turn { close(heard); return modelstub.Say("done") }
	s := claude.Start(t, claude.Options{
		Stub: modelstub.New(modelstub.Use(marker), modelstub.Use(denied), modelstub.Then(done)), Dir: g.dir, Home: g.home, Mode: "default", Env: g.env, Stdin: in,
		Args: []string{"--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"},
	})
	for _, line := range []string{
		`{"type":"control_request","request_id":"i1","request":{"subtype":"initialize","hooks":null}}`,
		`{"type":"user","message":{"role":"user","content":"go"},"parent_tool_use_id":null,"session_id":""}`,
	} {
		if _, err := io.WriteString(person, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	g.approve(g.opened(1)[0])
	g.sayso("deny", g.opened(1)[0].ShortID, "--note", "not now")
	select {
	case <-heard:
	case <-time.After(time.Minute):
		t.Error("the model never heard of both")
	}
	if err := person.Close(); err != nil {
		t.Fatal(err)
	}
	results := g.end(s)
	if len(results) != 2 {
		t.Fatalf("%d results reached the model", len(results))
	}
	check(t, results[0], false)
	check(t, results[1], true, "not now")
	g.didRun("marker")
	g.didNotRun("denied")
}

// The tool is killed while a call waits: Claude Code denies.
func TestPromptTool_killed(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	config := filepath.Join(g.home, "mcp.json")
	g.write(config, fmt.Sprintf(`{"mcpServers":{"sayso":{"command":%q,"args":["mcp","approve"],"env":{"SAYSO_HOME":%q,"SAYSO_NOTICE":"off"}}}}`,
		filepath.Join(g.bin, "sayso"), filepath.Join(g.home, "sayso")))
	marker := touch("marker")
	s := claude.Start(t, claude.Options{
		Stub: modelstub.New(modelstub.Use(marker)), Dir: g.dir, Home: g.home, Mode: "default", Env: g.env,
		Args: []string{"--mcp-config", config, "--permission-prompt-tool", "mcp__sayso__approve"},
	})
	g.opened(1)
	for _, pid := range below(t, s.Pid()) {
		kill(t, pid)
	}
	g.end(s)
	g.didNotRun("marker")
}

// Calls of an agent below the first one are judged too, and say whose they are.
func TestDriveClaude_subagent(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\nrules:\n  - allow: \"delegate\"\n")
	agent := modelstub.Call{ID: "toolu_agent", Name: "Agent", Input: `{"description":"d","prompt":"touch it","subagent_type":"general-purpose","run_in_background":false}`}
	marker := touch("marker")
	stub := modelstub.New(modelstub.Use(agent), modelstub.Say("above"))
	stub.Beside(func(request []byte) bool {
		return bytes.Contains(request, []byte("touch it")) && !bytes.Contains(request, []byte(agent.ID))
	}, modelstub.Use(marker), modelstub.Say("below"))
	d := g.driveClaude(stub)
	r := g.opened(1)[0]
	if r.Caller != "claude-code/general-purpose" || r.CallID != marker.ID {
		t.Errorf("asked about %s of %s", r.CallID, r.Caller)
	}
	g.sayso("deny", r.ShortID)
	d.end(0)
	g.didNotRun("marker")
}

// So it is with Claude Code, in a mode in which its own prompt would ask about nothing.
func TestDriveClaude_off(t *testing.T) {
	t.Parallel()
	g := machine(t, "version: 1\nrules:\n  - allow: \"bash:touch asked\"\n")
	g.sayso("off", "--for", "1h")
	d := g.driveClaude(modelstub.New(modelstub.Use(touch("asked")), modelstub.Use(touch("denied"))), "--permission-mode", "acceptEdits")
	g.sayso("deny", g.opened(1)[0].ShortID)
	d.end(0)
	if !g.ran("asked") || g.ran("denied") || !strings.Contains(d.errs.String(), "sayso is off, and that does not reach") {
		t.Errorf("asked ran: %v; denied ran: %v; %s", g.ran("asked"), g.ran("denied"), d.errs.String())
	}
}

// And with the tool that Claude Code asks in the place of its prompt.
func TestPromptTool_off(t *testing.T) {
	t.Parallel()
	g := machine(t, "")
	g.sayso("off", "--for", "1h")
	config := filepath.Join(g.home, "mcp.json")
	g.write(config, fmt.Sprintf(`{"mcpServers":{"sayso":{"command":%q,"args":["mcp","approve"],"env":{"SAYSO_HOME":%q,"SAYSO_NOTICE":"off"}}}}`,
		filepath.Join(g.bin, "sayso"), filepath.Join(g.home, "sayso")))
	s := claude.Start(t, claude.Options{
		Stub: modelstub.New(modelstub.Use(touch("asked")), modelstub.Use(touch("denied"))), Dir: g.dir, Home: g.home, Mode: "default", Env: g.env,
		Args: []string{"--mcp-config", config, "--permission-prompt-tool", "mcp__sayso__approve"},
	})
	g.approve(g.opened(1)[0])
	g.sayso("deny", g.opened(1)[0].ShortID)
	g.end(s)
	g.didRun("asked")
	g.didNotRun("denied")
}
