package drive_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/codexapp"
	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/saysotest"
)

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
