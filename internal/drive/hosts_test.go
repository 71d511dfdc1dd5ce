package drive_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/saysotest"
)

// host is the other end of a driver, as a test plays it.
type host struct {
	t     *testing.T
	says  io.WriteCloser // to the driver
	hears *bufio.Scanner // from the driver
	ended chan error
}

// driven starts a driver before a host that a test plays.
func driven(t *testing.T, run func(ctx context.Context, to io.Writer, end func(), from io.Reader) error) *host {
	t.Helper()
	from, says := io.Pipe()
	hears, to := io.Pipe()
	h := &host{t: t, says: says, hears: bufio.NewScanner(hears), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		err := run(ctx, to, func() { _ = to.Close() }, from)
		_ = to.Close()
		_ = from.CloseWithError(io.ErrClosedPipe)
		h.ended <- err
	}()
	t.Cleanup(func() { cancel(); _ = says.Close(); _ = hears.Close() })
	return h
}

func (h *host) say(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.says, line+"\n"); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		h.t.Fatal(err)
	}
}

// hear returns the next line that has all the words.
func (h *host) hear(words ...string) string {
	h.t.Helper()
	if !h.hears.Scan() {
		h.t.Fatalf("the driver says no more; wanted %q", words)
	}
	line := h.hears.Text()
	for _, w := range words {
		if !strings.Contains(line, w) {
			h.t.Errorf("the driver said %s, want %q in it", line, w)
		}
	}
	return line
}

// end ends the host and returns how the driver took it.
func (h *host) end() error {
	_ = h.says.Close()
	for h.hears.Scan() {
	}
	return <-h.ended
}

// A conversation: the person says the next thing when a turn is over, and the host
// is told when nothing more comes.
func TestConversation(t *testing.T) {
	prompts := func() chan string {
		c := make(chan string, 2)
		c <- "one"
		c <- "two"
		close(c)
		return c
	}
	claude := &drive.Claude{Desk: drive.NewDesk(drive.Options{Gate: saysotest.New(t).Gate()}), Prompts: prompts()}
	h := driven(t, claude.Run)
	h.hear(`"subtype":"initialize"`)
	h.say(`{"type":"control_response","response":{"subtype":"success","request_id":"sayso","response":{}}}`)
	h.hear(`"subtype":"get_settings"`)
	h.say(`{"type":"control_response","response":{"subtype":"success","request_id":"sayso-settings","response":{"effective":{},"sources":[]}}}`)
	h.hear(`"content":"one"`)
	h.say(`{"type":"result","subtype":"error_max_turns","is_error":true}`)
	h.hear(`"content":"two"`)
	if !claude.Failed() {
		t.Error("a turn that failed is not known to have")
	}
	h.say(`{"type":"result","subtype":"success","is_error":false}`)
	if h.hears.Scan() {
		t.Errorf("it said %s after all was said", h.hears.Text())
	}
	if err := h.end(); err != nil || claude.Failed() {
		t.Errorf("ended with %v, failed %v", err, claude.Failed())
	}
	codex := &drive.Codex{Desk: drive.NewDesk(drive.Options{Gate: saysotest.New(t).Gate()}), Prompts: prompts(), Dir: "/w", Asks: drive.AskUntrusted}
	h = driven(t, codex.Run)
	h.hear(`"method":"initialize"`)
	h.say(`{"id":1,"result":{}}`)
	h.hear(`"method":"initialized"`)
	h.hear(`"method":"thread/start"`)
	h.say(`{"id":2,"result":{"thread":{"id":"t1"},"approvalPolicy":"untrusted","approvalsReviewer":"user","sandbox":{"type":"workspaceWrite"}}}`)
	h.hear(`"text":"one"`)
	h.say(`{"method":"turn/completed","params":{"threadId":"t9","turn":{"id":"u0","status":"failed"}}}`) // of another agent
	h.say(`{"method":"turn/completed","params":{"threadId":"t1","turn":{"id":"u1","status":"failed","error":{"message":"no quota"}}}}`)
	h.hear(`"text":"two"`)
	if !codex.Failed() {
		t.Error("a turn that failed is not known to have")
	}
	h.say(`{"method":"turn/completed","params":{"threadId":"t1","turn":{"id":"u2","status":"completed"}}}`)
	if h.hears.Scan() {
		t.Errorf("it said %s after all was said", h.hears.Text())
	}
	if err := h.end(); err != nil || codex.Failed() {
		t.Errorf("ended with %v, failed %v", err, codex.Failed())
	}
}

func TestCheck(t *testing.T) {
	for _, args := range [][]string{
		nil, {"--model", "opus", "--add-dir", "/x"}, {"--permission-mode", "plan"}, {"--model=opus", "--verbose"}, {"--add-dir", "/x", "/y", "-c"}, {"-r", "x", "--fork-session"},
		{"--continue", "--debug"}, {"--debug", "hooks", "--debug=mcp"}, {"--append-system-prompt=--bare"}, {"--settings", `{"x":"--"}`}, {"--allowedTools", "Bash(git *)", "Read", "--name", "n"},
	} {
		if err := drive.CheckClaude(args); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	for _, args := range [][]string{
		{"--"}, {"--settings", "{}", "--"}, {"--", "--model", "opus"}, {"--bare"}, {"--bare=true"}, {"--dangerously-skip-permissions"}, {"--model", "opus", "-p"},
		{"--permission-mode", "bypassPermissions"}, {"--permission-mode=bypassPermissions"}, {"--permission-prompt-tool=x"}, {"--permission-prompt-tool", "x"},
		{"--rc"}, {"--remote=x"}, {"--web"}, {"--sdk-url=ws://x"}, {"--managed-settings={}"}, {"--inherit-permission-mode", "auto"},
		// What no help tells of, or what the next release brings.
		{"--project-config-root", "/x"}, {"--initialize-fields", "settings"}, {"--await-claim"}, {"--init"}, {"--of-tomorrow"}, {"-x"}, {"-pc"}, {"-np"}, {"--permission-mode", "yolo"},
		// What would be another argument's value, the prompt, or a command of its own.
		{"mcp"}, {"--verbose", "update"}, {"--model", "opus", "gateway"}, {"--resume", "x", "rm"}, {"--model"}, {"--model", "--bare"}, {"--add-dir", "--bare"}, {"--name", "-p"},
		{"--verbose=true"}, {"-n=x"}, {"--permission-mode"}, {"--add-dir", "/x", "--", "/y"}, {""}, {"-"}, {"=x"}, {"--debug", "x", "y"},
	} {
		if err := drive.CheckClaude(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	if args := drive.ClaudeArgs([]string{"--model"}); args[len(args)-1] != "--model" || slices.Index(args, "-p") != 0 {
		t.Errorf("an argument of the person's can take one of ours for its value: %v", args)
	}
	for _, args := range [][]string{{"-c", "model=x"}, {"--config=model_reasoning_effort=high", "--strict-config"}, {"-c=model_providers.x.base_url=y", "-c", "service_tier=z"}} {
		if err := drive.CheckCodex(args); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	for _, args := range [][]string{
		{"--listen", "ws://0.0.0.0:1"}, {"daemon"}, {"-c", "model=b", "proxy"}, {"--dangerously-bypass-approvals-and-sandbox"},
		{"-c", `sandbox_mode="danger-full-access"`}, {`--config=sandbox_mode="danger-full-access"`}, {`-c=sandbox_mode="danger-full-access"`},
		{`-csandbox_mode="danger-full-access"`}, {"-c", ` sandbox_mode=x`}, {"-c", `"sandbox_mode"=x`}, {"-c", "approval_policy=never"},
		{"-c", "approvals_reviewer=auto_review"}, {"-c", "features.hooks=false"}, {"-c", "features={hooks=false}"}, {"-c", "profile=x"},
		{"-c", "permissions.x.network=true"}, {"-c", "default_permissions=x"}, {"-c", "sandbox_workspace_write.writable_roots=['/']"},
		{"-c", "mcp_servers.x.default_tools_approval_mode=approve"}, {"-c", "projects={}"}, {"-c", "hooks={}"}, {"--disable", "hooks"}, {"--enable", "x"},
		{"-c"}, {"-c", "model"}, {"-c", "--config", "model=x"}, {"--", "-c", "model=x"}, {"--conf", "model=x"}, {"--strict-config=false"},
		{"-c=model=x", "sandbox_mode=x"}, {"-c", "models=x"}, {"-c", "="}, {""},
	} {
		if err := drive.CheckCodex(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
