package drive_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/saysotest"
)

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
