package drive_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/codexapp"
	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/install"
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

func claude(t *testing.T, b *saysotest.Broker) *host {
	t.Helper()
	return claudeOn(t, b, drive.Screen{})
}

// claudeOn is the same with somebody who looks at it.
func claudeOn(t *testing.T, b *saysotest.Broker, s drive.Screen) *host {
	t.Helper()
	prompts := make(chan string, 1)
	prompts <- "go"
	close(prompts)
	c := &drive.Claude{Desk: drive.NewDesk(drive.Options{Gate: b.Gate()}), Prompts: prompts, Screen: s}
	h := driven(t, c.Run)
	h.hear(`"subtype":"initialize"`)
	h.say(`{"type":"control_response","response":{"subtype":"success","request_id":"sayso","response":{}}}`)
	h.hear(`"subtype":"get_settings"`)
	h.say(`{"type":"control_response","response":{"subtype":"success","request_id":"sayso-settings","response":{"effective":{},"sources":[]}}}`)
	h.hear(`"content":"go"`)
	return h
}

const (
	pre = `{"type":"control_request","request_id":"h%[1]s","request":{"subtype":"hook_callback","callback_id":"PreToolUse","tool_use_id":"%[1]s","input":` +
		`{"session_id":"s1","cwd":"/w","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true %[1]s"},"tool_use_id":"%[1]s"}}}`
	use    = `{"type":"control_request","request_id":"r%[1]s","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"true %[1]s"},"tool_use_id":"%[1]s"}}`
	result = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%[1]s","content":"","is_error":false}]},"session_id":"s1"}`
)

// Every question is answered, and what cannot be read is answered with no.
func TestClaude_garbage(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	h := claude(t, b)
	h.say("Debugger attached.")
	h.say(`{"type":"control_request","request_id":"u1","request":{"subtype":"mcp_message"}}`)
	h.hear(`"subtype":"error"`, `"request_id":"u1"`)
	h.say(`{"type":"control_request","request_id":"u2","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls","command":"rm"},"tool_use_id":"1"}}`)
	h.hear(`"subtype":"error"`, `"request_id":"u2"`)
	h.say(`{"type":"control_request","request_id":"u3","request":{"subtype":"can_use_tool","tool_name":"Bash","input":"ls","tool_use_id":"1"}}`)
	h.hear(`"subtype":"error"`, `"request_id":"u3"`)
	h.say(`{"type":"control_request","request_id":"u4","request":{"subtype":"elicitation","mcp_server_name":"x","message":"?"}}`)
	h.hear(`"action":"cancel"`, `"request_id":"u4"`)
	h.say(fmt.Sprintf(pre, "toolu_1"))
	h.hear(`"permissionDecision":"ask"`, `"request_id":"htoolu_1"`)
	h.say(fmt.Sprintf(use, "toolu_1"))
	h.hear(`"behavior":"allow"`, `"updatedInput":{"command":"true toolu_1"}`, `"request_id":"rtoolu_1"`)
	h.say(fmt.Sprintf(result, "toolu_1"))
	if err := h.end(); err != nil {
		t.Error(err)
	}
	if n := len(b.Asked()); n != 1 {
		t.Errorf("people were asked %d times", n)
	}
}

// A person who changed a call is shown what runs, and not what was asked.
func TestClaude_edited(t *testing.T) {
	b := saysotest.New(t)
	b.Answer(func(sayso.Request) sayso.Answer {
		return sayso.Answer{Effect: sayso.Allow, Args: sayso.Args(`{"command":"true changed"}`)}
	})
	told := make(chan string, 8)
	h := claudeOn(t, b, drive.Screen{
		Note: func(text string) { told <- text },
		Line: func(c sayso.Call) string { return string(c.Args) },
	})
	h.say(fmt.Sprintf(pre, "toolu_1"))
	h.hear(`"permissionDecision":"ask"`)
	h.say(fmt.Sprintf(use, "toolu_1"))
	h.hear(`"updatedInput":{"command":"true changed"}`)
	if got, want := <-told, `✓ {"command":"true changed"} (with changes)`; got != want {
		t.Errorf("the person was told %q, want %q", got, want)
	}
	if err := h.end(); err != nil {
		t.Error(err)
	}
}

// A question without an id cannot be answered: the host is not driven on.
func TestClaude_questionOfNobody(t *testing.T) {
	h := claude(t, saysotest.New(t, saysotest.ApproveAll()))
	h.say(`{"type":"control_request","request_id":"a","request_id":"b","request":{}}`)
	if err := h.end(); !errors.Is(err, sayso.ErrInvalid) {
		t.Errorf("ended with %v", err)
	}
}

// A call that ran and was not asked about ends the driving.
func TestClaude_ranUnasked(t *testing.T) {
	h := claude(t, saysotest.New(t, saysotest.ApproveAll()))
	h.say(fmt.Sprintf(strings.Replace(result, `"is_error":false`, `"is_error":true`, 1), "toolu_0")) // it did not run
	h.say(fmt.Sprintf(result, "toolu_9"))
	if err := h.end(); err == nil || !strings.Contains(err.Error(), "did not ask about") {
		t.Errorf("ended with %v", err)
	}
}

// It is in the log, and so is one that the host says it made against a denial.
func TestClaude_ranUnaskedIsRecorded(t *testing.T) {
	for name, lines := range map[string][]string{
		"told of its result": {`{"type":"assistant","session_id":"s1","message":{"content":[{"type":"tool_use","id":"toolu_9","name":"Bash","input":{"command":"true"}}]}}`, fmt.Sprintf(result, "toolu_9")},
		"its hook":           {strings.NewReplacer("PreToolUse", "PostToolUse", "%[1]s", "toolu_9").Replace(pre)},
		"of no known call":   {fmt.Sprintf(result, "toolu_9")},
	} {
		b := saysotest.New(t)
		b.Leave("*")
		h := claude(t, b)
		h.say(`{"type":"system","subtype":"init","session_id":"s1"}`)
		for _, line := range lines {
			h.say(line)
		}
		if err := h.end(); err == nil || !strings.Contains(err.Error(), "did not ask about") {
			t.Errorf("%s: ended with %v", name, err)
		}
		found, err := b.Inbox().Requests(t.Context(), sayso.RowQuery{Session: "s1"})
		if err != nil || len(found) != 1 || found[0].CallID != "toolu_9#ran-unasked" || found[0].State != sayso.StateWithdrawn {
			t.Errorf("%s: the log has %+v, %v", name, found, err)
		}
	}
}

// Nothing is said to a host whose settings switch the hooks off, or that does not tell.
func TestClaude_settings(t *testing.T) {
	for answer, want := range map[string]string{
		`"subtype":"success","response":{"effective":{"env":{"CLAUDE_CODE_SIMPLE":"1"}}}`: "CLAUDE_CODE_SIMPLE",
		`"subtype":"success","response":{}`:                                               "cannot be read",
		`"subtype":"error","error":"no such question"`:                                    "no such question",
	} {
		c := &drive.Claude{Desk: drive.NewDesk(drive.Options{Gate: saysotest.New(t).Gate()}), Prompts: make(chan string)}
		h := driven(t, c.Run)
		h.hear(`"subtype":"initialize"`)
		h.say(`{"type":"control_response","response":{"subtype":"success","request_id":"sayso","response":{}}}`)
		h.hear(`"subtype":"get_settings"`)
		h.say(`{"type":"control_response","response":{"request_id":"sayso-settings",` + answer + `}}`)
		if err := h.end(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: ended with %v", answer, err)
		}
	}
}

// The host takes its question back, as when its person interrupts: what was asked here
// is withdrawn, and not answered.
func TestClaude_takenBack(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	h := claude(t, b)
	h.say(fmt.Sprintf(pre, "toolu_1"))
	for e, err := range b.Inbox().Follow(t.Context(), 0, sayso.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == sayso.EventRequested {
			h.say(`{"type":"control_cancel_request","request_id":"htoolu_1"}`)
		}
		if e.Type == sayso.EventWithdrawn {
			break
		}
	}
	if err := h.end(); err != nil {
		t.Error(err)
	}
}

// What was allowed is what the host may run: another call under its id is judged anew.
func TestClaude_changedOnTheWay(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	h := claude(t, b)
	h.say(fmt.Sprintf(pre, "toolu_1"))
	h.hear(`"permissionDecision":"ask"`)
	h.say(fmt.Sprintf(strings.Replace(use, "true %[1]s", "false", 1), "toolu_1"))
	h.hear(`"behavior":"allow"`, `"updatedInput":{"command":"false"}`)
	if err := h.end(); err != nil {
		t.Error(err)
	}
	if n := len(b.Asked()); n != 2 {
		t.Errorf("people were asked %d times about two calls", n)
	}
}

// A host that does not take our hooks is told nothing to do.
func TestClaude_refusesTheHooks(t *testing.T) {
	c := &drive.Claude{Desk: drive.NewDesk(drive.Options{Gate: saysotest.New(t).Gate()}), Prompts: make(chan string)}
	h := driven(t, c.Run)
	h.hear(`"subtype":"initialize"`)
	h.say(`{"type":"control_response","response":{"subtype":"error","request_id":"sayso","error":"no hooks here"}}`)
	if err := h.end(); err == nil || !strings.Contains(err.Error(), "no hooks here") {
		t.Errorf("ended with %v", err)
	}
}

func codex(t *testing.T, b *saysotest.Broker) *host {
	t.Helper()
	prompts := make(chan string, 1)
	prompts <- "go"
	close(prompts)
	c := &drive.Codex{Desk: drive.NewDesk(drive.Options{Gate: b.Gate()}), Prompts: prompts, Dir: "/w"}
	h := driven(t, c.Run)
	h.hear(`"method":"initialize"`)
	h.say(`{"id":1,"result":{}}`)
	h.hear(`"method":"initialized"`)
	h.hear(`"method":"hooks/list"`)
	h.say(`{"id":2,"result":{"data":[{"cwd":"/w","hooks":[{"key":"k","eventName":"preToolUse","command":"/x/sayso-hook codex","enabled":true,"trustStatus":"untrusted"}]}]}}`)
	h.hear(`"method":"thread/start"`, `"approvalPolicy":"untrusted"`, `"approvalsReviewer":"user"`, `"features.tool_call_mcp_elicitation":false`)
	h.say(`{"id":3,"result":{"thread":{"id":"t1"},"approvalPolicy":"untrusted","approvalsReviewer":"user","sandbox":{"type":"workspaceWrite"}}}`)
	h.hear(`"method":"turn/start"`, `"text":"go"`)
	h.say(`{"id":4,"result":{}}`)
	return h
}

const approval = `{"method":"item/commandExecution/requestApproval","id":%d,"params":{"threadId":"t1","turnId":"u1","itemId":"%[2]s","command":"true","cwd":"/w"}}`

func TestCodex_garbage(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	h := codex(t, b)
	h.say("thread 'main' panicked")
	h.say(`{"method":"account/chatgptAuthTokens/refresh","id":1,"params":{}}`)
	h.hear(`"id":1`, `"error"`)
	h.say(`{"method":"item/commandExecution/requestApproval","id":2,"params":{"threadId":"t1","turnId":"u1","itemId":"c","command":"ls","command":"rm","cwd":"/w"}}`)
	h.hear(`"id":2`, `"error"`)
	h.say(`{"method":"item/fileChange/requestApproval","id":3,"params":{"threadId":"t1","turnId":"u1","itemId":"never started"}}`)
	h.hear(`"id":3`, `"decline"`)
	h.say(`{"method":"mcpServer/elicitation/request","id":4,"params":{"threadId":"t1","serverName":"x","mode":"form","message":"?"}}`)
	h.hear(`"id":4`, `"action":"cancel"`)
	h.say(`{"method":"item/started","params":{"threadId":"t1","turnId":"u1","item":{"type":"mcpToolCall","id":"m","server":"x","tool":"y","status":"inProgress","arguments":{}}}}`)
	h.say(`{"method":"mcpServer/elicitation/request","id":6,"params":{"threadId":"t1","turnId":"u1","serverName":"x","mode":"form","message":"Allow the x MCP server to run tool \"y\"?",` +
		`"requestedSchema":{"type":"object","properties":{}},"_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"y","tool_params":{}}}}`)
	h.hear(`"id":6`, `"action":"cancel"`)
	h.say(`{"method":"item/tool/requestUserInput","id":7,"params":{"threadId":"t2","turnId":"u1","itemId":"m","isBlocking":true,"questions":[{"id":"mcp_tool_call_approval_m"}]}}`)
	h.hear(`"id":7`, `"Cancel"`) // in another thread
	h.say(fmt.Sprintf(approval, 5, "call_1"))
	h.hear(`"id":5`, `"accept"`)
	if err := h.end(); err != nil {
		t.Error(err)
	}
	if n := len(b.Asked()); n != 1 {
		t.Errorf("people were asked %d times", n)
	}
}

// The server says that another client, or it itself, answered: what was asked is
// withdrawn and not answered.
func TestCodex_takenBack(t *testing.T) {
	b := saysotest.New(t)
	opened := make(chan struct{}, 1)
	b.Answer(func(sayso.Request) sayso.Answer {
		opened <- struct{}{}
		<-t.Context().Done() // nobody answers
		return sayso.Answer{}
	})
	h := codex(t, b)
	h.say(fmt.Sprintf(approval, 5, "call_1"))
	<-opened
	h.say(`{"method":"serverRequest/resolved","params":{"threadId":"t1","requestId":5}}`)
	until(t, b, sayso.EventWithdrawn)
	if err := h.end(); err != nil {
		t.Error(err)
	}
}

// hooked takes a hook for the gate's.
func hooked(h codexapp.Hook) bool {
	return install.CodexAsks(h, install.Hook{Program: "/x/sayso-hook", Place: []string{"--state", "/s", "--config", "/c", "--runtime", "/r"}})
}

// ours is that hook as Codex lists it, as it lists what sayso init wrote.
const ours = `{"key":"k","eventName":"preToolUse","handlerType":"command","async":false,"matcher":null,"timeoutSec":3600,"environmentId":null,` +
	`"command":"/bin/sh -c '\"$@\" || { [ $? -eq 2 ] || echo \"sayso: the hook failed, so this call does not run; type: sayso doctor\" >&2; exit 2; }' ` +
	`sayso /x/sayso-hook codex --state /s --config /c --runtime /r","enabled":true,"trustStatus":"trusted"}`

// Codex is told to ask about less only where the gate's own hook asks about every
// tool: one that has its name in it, or is for some tools, is none.
func TestCodex_hooks(t *testing.T) {
	for name, tt := range map[string]struct{ hook, asks string }{
		"ours":              {ours, "on-request"},
		"named in words":    {strings.Replace(ours, "/bin/sh", "true # /bin/sh", 1), "untrusted"},
		"with words behind": {strings.Replace(ours, "--runtime /r", "--runtime /r || true", 1), "untrusted"},
		"another program":   {strings.Replace(ours, "/x/sayso-hook", "/y/sayso-hook", 1), "untrusted"},
		"another gate":      {strings.Replace(ours, "--state /s", "--state /t", 1), "untrusted"},
		"without the shell": {strings.Replace(ours, ours[strings.Index(ours, "/bin/sh"):strings.Index(ours, "/x/sayso-hook")], "", 1), "untrusted"},
		"for some tools":    {strings.Replace(ours, `"matcher":null`, `"matcher":"^nothing$"`, 1), "untrusted"},
		"not waited for":    {strings.Replace(ours, `"async":false`, `"async":true`, 1), "untrusted"},
		"cut short":         {strings.Replace(ours, `"timeoutSec":3600`, `"timeoutSec":1`, 1), "untrusted"},
		"a prompt":          {strings.Replace(ours, `"handlerType":"command"`, `"handlerType":"prompt"`, 1), "untrusted"},
		"elsewhere":         {strings.Replace(ours, `"environmentId":null`, `"environmentId":"cloud"`, 1), "untrusted"},
		"after the tool":    {strings.Replace(ours, "preToolUse", "postToolUse", 1), "untrusted"},
		"not trusted":       {strings.Replace(ours, `"trusted"`, `"modified"`, 1), "untrusted"},
		"switched off":      {strings.Replace(ours, `"enabled":true`, `"enabled":false`, 1), "untrusted"},
	} {
		c := &drive.Codex{Desk: drive.NewDesk(drive.Options{Gate: saysotest.New(t).Gate()}), Prompts: make(chan string), Dir: "/w", Hooked: hooked}
		h := driven(t, c.Run)
		h.hear(`"method":"initialize"`)
		h.say(`{"id":1,"result":{}}`)
		h.hear(`"method":"initialized"`)
		h.hear(`"method":"hooks/list"`)
		h.say(`{"id":2,"result":{"data":[{"cwd":"/w","hooks":[` + tt.hook + `]}]}}`)
		if said := h.hear(`"method":"thread/start"`); !strings.Contains(said, `"approvalPolicy":"`+tt.asks+`"`) {
			t.Errorf("%s: %s", name, said)
		}
		_ = h.end()
	}
}

// A turn that the server does not begin has failed, and the person says the next thing.
func TestCodex_turnRefused(t *testing.T) {
	prompts := make(chan string, 2)
	prompts <- "one"
	prompts <- "two"
	close(prompts)
	c := &drive.Codex{Desk: drive.NewDesk(drive.Options{Gate: saysotest.New(t).Gate()}), Prompts: prompts, Dir: "/w", Asks: drive.AskUntrusted}
	h := driven(t, c.Run)
	h.hear(`"method":"initialize"`)
	h.say(`{"id":1,"result":{}}`)
	h.hear(`"method":"initialized"`)
	h.hear(`"method":"thread/start"`)
	h.say(`{"id":2,"result":{"thread":{"id":"t1"},"approvalPolicy":"untrusted","approvalsReviewer":"user","sandbox":{"type":"workspaceWrite"}}}`)
	for i, text := range []string{"one", "two"} {
		h.hear(`"method":"turn/start"`, strconv.Quote(text))
		h.say(fmt.Sprintf(`{"id":%d,"error":{"code":-32600,"message":"no such model"}}`, i+3))
	}
	if h.hears.Scan() {
		t.Errorf("it said %s after all was said", h.hears.Text())
	}
	if err := h.end(); err != nil || !c.Failed() {
		t.Errorf("ended with %v, failed %v", err, c.Failed())
	}
}

// A server that does not ask as it was told to is not driven.
func TestCodex_asksSomebodyElse(t *testing.T) {
	for name, started := range map[string]string{
		"another policy":   `{"thread":{"id":"t1"},"approvalPolicy":"never","approvalsReviewer":"user"}`,
		"another reviewer": `{"thread":{"id":"t1"},"approvalPolicy":"on-request","approvalsReviewer":"auto_review"}`,
		"no thread":        `{"approvalPolicy":"on-request","approvalsReviewer":"user"}`,
		"no sandbox":       `{"thread":{"id":"t1"},"approvalPolicy":"on-request","approvalsReviewer":"user","sandbox":{"type":"dangerFullAccess"}}`,
		"one elsewhere":    `{"thread":{"id":"t1"},"approvalPolicy":"on-request","approvalsReviewer":"user","sandbox":{"type":"externalSandbox"}}`,
		"a wider sandbox":  `{"thread":{"id":"t1"},"approvalPolicy":"on-request","approvalsReviewer":"user","sandbox":{"type":"workspaceWrite"}}`,
		"an unsaid one":    `{"thread":{"id":"t1"},"approvalPolicy":"on-request","approvalsReviewer":"user"}`,
	} {
		c := &drive.Codex{Desk: drive.NewDesk(drive.Options{Gate: saysotest.New(t).Gate()}), Prompts: make(chan string), Dir: "/w", Sandbox: "read-only", Hooked: hooked}
		h := driven(t, c.Run)
		h.hear(`"method":"initialize"`)
		h.say(`{"id":1,"result":{}}`)
		h.hear(`"method":"initialized"`)
		h.hear(`"method":"hooks/list"`)
		h.say(`{"id":2,"result":{"data":[{"cwd":"/w","hooks":[` + ours + `]}]}}`)
		h.hear(`"method":"thread/start"`, `"approvalPolicy":"on-request"`)
		h.say(`{"id":3,"result":` + started + `}`)
		if err := h.end(); err == nil || !strings.Contains(err.Error(), "codex does not") {
			t.Errorf("%s: ended with %v", name, err)
		}
	}
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
