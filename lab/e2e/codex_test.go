//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/codex"
)

// codexGate is a machine with sayso wired to Codex, and a person who told Codex
// that they trust it.
type codexGate struct{ *gate }

func wiredCodex(t *testing.T, rules string) codexGate {
	t.Helper()
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	g := codexGate{&gate{t: t, home: t.TempDir(), dir: t.TempDir(), bin: dir}}
	g.env = []string{"SAYSO_HOME=" + filepath.Join(g.home, "sayso"), "SAYSO_NOTICE=off"}
	g.sayso("init", "codex", "--yes", "--codex", codex.Binary(t))
	if err := codex.Trust(codex.Binary(t), g.options(nil)); err != nil {
		t.Fatal(err)
	}
	if out := g.sayso("status"); !strings.HasPrefix(out, "protected: the hook is in ") {
		t.Errorf("status of hooks that codex trusts: %s", out)
	}
	if rules != "" {
		g.write(g.paths().Policy(), rules)
	}
	return g
}

func (g codexGate) options(stub *modelstub.Stub) codex.Options {
	return codex.Options{Stub: stub, Dir: g.dir, Home: g.home, Env: g.env}
}

func (g codexGate) start(stub *modelstub.Stub, env ...string) (wait func() codex.Result) {
	g.t.Helper()
	o := g.options(stub)
	o.Env = append(slices.Clone(g.env), env...)
	return codex.Start(g.t, o)
}

// shell is a call that runs a command.
func shell(command string) modelstub.Call {
	text, err := jcs.Marshal(map[string]string{"cmd": command})
	if err != nil {
		panic(err) // a string
	}
	return modelstub.Call{ID: fmt.Sprintf("call_%03d", ids.Add(1)), Name: "exec_command", Input: string(text)}
}

// script is a call that runs a script of calls, as the models of this host make
// most of theirs.
func script(text string) modelstub.Call {
	return modelstub.Call{ID: fmt.Sprintf("call_%03d", ids.Add(1)), Name: "functions/exec", Input: text}
}

func (g codexGate) told(r codex.Result, call modelstub.Call, words ...string) {
	g.t.Helper()
	for _, w := range words {
		if told := r.Told(call.ID); !strings.Contains(told, w) {
			g.t.Errorf("the model was told %q, want %q in it", told, w)
		}
	}
}

// ranOnly checks which files calls left.
func (g codexGate) ranOnly(want ...string) {
	g.t.Helper()
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		g.t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		g.t.Errorf("ran %q, want %q", got, want)
	}
}

func TestCodex_policy(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, `version: 1
rules:
  - allow: "bash:touch marker"
  - allow: "file-edit:in/**"
  - deny: ["bash:touch other", "file-edit:secret"]
    name: no others
`)
	patch := func(files ...string) modelstub.Call {
		text := "*** Begin Patch\n"
		for _, f := range files {
			text += "*** Add File: " + f + "\n+x\n"
		}
		return modelstub.Call{ID: fmt.Sprintf("call_%03d", ids.Add(1)), Name: "apply_patch", Input: text + "*** End Patch\n"}
	}
	yes, no, in, out := shell("touch marker"), shell("touch other"), patch("in/a", "in/b"), patch("in/c", "secret")
	res := g.start(modelstub.New(modelstub.Use(yes), modelstub.Use(no), modelstub.Use(in), modelstub.Use(out)))()
	g.told(res, no, "PreToolUse hook", "Denied by policy", "no others", "policy.yaml:5")
	g.told(res, in, "Success")
	g.told(res, out, "PreToolUse hook", "Denied by policy", "no others")
	g.ranOnly("in", "marker")
	if !g.ran("in/b") || g.ran("in/c") {
		t.Error("of the patches ran another than the one that is allowed")
	}
	g.want("requested resolved redeemed finished", "requested resolved", "requested resolved redeemed finished", "requested resolved")
	g.event("session.ended")
}

func TestCodex_person(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "")
	no, edited, yes := shell("touch denied"), shell("touch marker"), shell("touch third")
	stub := modelstub.New(modelstub.Use(no), modelstub.Use(edited), modelstub.Use(yes))
	wait := g.start(stub)
	g.sayso("deny", g.opened(1)[0].ShortID, "--note", "use make marker")
	edit := filepath.Join(g.home, "edit.json")
	g.write(edit, `{"command":"touch edited"}`)
	g.approve(g.opened(1)[0], "--edit="+edit)
	g.approve(g.opened(1)[0])
	res := wait()
	g.told(res, no, "Denied by", "use make marker")
	g.ranOnly("edited", "third")
	g.want("requested answered resolved", "requested answered resolved redeemed finished", "requested answered resolved redeemed finished")
	requests := stub.Requests()
	if last := string(requests[len(requests)-1].Body); !strings.Contains(last, "with edited arguments (ticket ") {
		t.Error("the model was not told that its call was edited")
	}
}

func TestCodex_expires(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "version: 1\ndeadline: {after: 1s, then: expire}\n")
	late := shell("touch marker")
	g.told(g.start(modelstub.New(modelstub.Use(late)))(), late, "Expired", "not a refusal")
	g.ranOnly()
	g.want("requested expired")
}

func TestCodex_patienceEndsAndTheCallIsTakenUp(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "")
	first, second := shell("touch marker"), shell("touch marker")
	again := modelstub.Then(func([]modelstub.ToolResult) modelstub.Turn {
		g.ranOnly()
		g.approve(g.opened(1)[0])
		return modelstub.Use(second)
	})
	res := g.start(modelstub.New(modelstub.Use(first), again), "SAYSO_PATIENCE=1s")()
	g.told(res, first, "Not decided yet, ticket", "exactly the same call again")
	g.ranOnly("marker")
	g.want("requested parked answered resolved taken redeemed finished")
}

// A hook that is killed has not answered, and then Codex would run the call. The
// shell that watches it denies in its place, and the request waits on.
func TestCodex_hookKilled(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "")
	call := shell("touch marker")
	wait := g.start(modelstub.New(modelstub.Use(call)))
	g.opened(1)
	out, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for line := range strings.Lines(string(out)) {
		var pid int
		var program string
		if _, err := fmt.Sscan(line, &pid, &program); err == nil && filepath.Base(program) == "sayso-hook" && strings.Contains(line, g.home) {
			kill(t, pid)
			killed++
		}
	}
	if killed != 1 {
		t.Errorf("%d hooks were killed", killed)
	}
	g.told(wait(), call, "PreToolUse hook", "the hook failed, so this call does not run")
	g.ranOnly()
	g.sayso("inbox")
	g.want("requested parked")
}

// So it does for a hook that is gone from its place.
func TestCodex_hookMissing(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "version: 1\ndefault: allow\n")
	program := filepath.Join(g.home, "sayso-hook")
	g.write(program, "#!/bin/sh\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	g.sayso("init", "codex", "--yes", "--codex", codex.Binary(t), "--hook", program)
	if err := codex.Trust(codex.Binary(t), g.options(nil)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	call := shell("touch marker")
	g.told(g.start(modelstub.New(modelstub.Use(call)))(), call, "PreToolUse hook", "the hook failed, so this call does not run")
	g.ranOnly()
}

// What cannot be opened denies.
func TestCodex_brokerDown(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "version: 1\ndefault: allow\n")
	if err := os.RemoveAll(g.paths().Database()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(g.paths().Database(), 0o700); err != nil {
		t.Fatal(err)
	}
	call := shell("touch marker")
	g.told(g.start(modelstub.New(modelstub.Use(call)))(), call, "PreToolUse hook", "Could not find out")
	g.ranOnly()
}

// Twenty calls of one script ask at once, and each is judged by itself.
func TestCodex_twentyAtOnce(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "version: 1\nrules:\n  - allow: \"bash:touch yes*\"\n  - deny: \"bash:touch no*\"\n")
	res := g.start(modelstub.New(modelstub.Use(script(`const all = [];
for (let i = 0; i < 10; i++) { all.push(tools.exec_command({cmd: "touch yes y" + i})); all.push(tools.exec_command({cmd: "touch no n" + i})); }
text(JSON.stringify(await Promise.allSettled(all)));`))))()
	want := []string{"yes"}
	for i := range 10 {
		want = append(want, fmt.Sprintf("y%d", i))
	}
	g.ranOnly(want...)
	if told := res.Results[0].Content; strings.Count(told, "Denied by policy") != 10 {
		t.Errorf("the model was told %s", told)
	}
}

// A tool of an MCP server is asked about like any other, and a second time where
// Codex wants a permission for it, which nobody else could give here.
func TestCodex_mcp(t *testing.T) {
	t.Parallel()
	g := wiredCodex(t, "version: 1\nrules:\n  - allow: \"mcp__lab__deploy\"\n    name: may deploy\n  - deny: \"mcp__lab__look\"\n    name: must not look\n")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := g.options(modelstub.New(modelstub.Use(
		script(`text(await tools.mcp__lab__deploy({env: "prod"}));`)), modelstub.Use(script(`text(await tools.mcp__lab__look({env: "prod"}));`))))
	o.Asks = true
	o.Config = fmt.Sprintf("[mcp_servers.lab]\ncommand = %q\nenv = { LAB_MCP_SERVER = \"1\" }\n", self)
	res := codex.Run(t, o)
	if len(res.Results) != 2 || !strings.Contains(res.Results[0].Content, "deployed") || !strings.Contains(res.Results[1].Content, "must not look") {
		t.Errorf("the model was told %+v\n%s", res.Results, res.Stderr)
	}
	g.want("requested resolved redeemed finished", "requested resolved redeemed", "requested resolved")
}
