package agui_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/agui"
	"github.com/sayso-dev/sayso/internal/jcs"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// request is one that waits for people.
func request(id string, canEdit bool, left time.Duration) sayso.Request {
	at := now.Add(left)
	return sayso.Request{
		ID: sayso.ID(id), ShortID: id, CallID: "tc-" + id, Tool: "sendEmail", Description: "Send email to a@b.com", Preview: sayso.Args(`{"to":"a@b.com"}`),
		Digest: sayso.HashOf("d", []byte(id)), Content: sayso.HashOf("c", []byte(id)), CanEdit: canEdit, Deadline: &at,
	}
}

func entries(t *testing.T, resume string) []agui.Entry {
	t.Helper()
	in, err := agui.ReadInput([]byte(`{"threadId":"thread-1","runId":"run-2","messages":[],"resume":` + resume + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return in.Resume
}

// A request becomes an interrupt of the form that the protocol's documentation shows.
func TestOf(t *testing.T) {
	event, err := agui.Finished("thread-1", "run-1", []agui.Interrupt{agui.Of(request("i1", true, time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := jcs.Unmarshal(event, &got); err != nil {
		t.Fatal(err)
	}
	i := got["outcome"].(map[string]any)["interrupts"].([]any)[0].(map[string]any)
	ours := i["metadata"].(map[string]any)["sayso"].(map[string]any)
	delete(i, "metadata")
	want := map[string]any{
		"type": "RUN_FINISHED", "threadId": "thread-1", "runId": "run-1",
		"outcome": map[string]any{"type": "interrupt", "interrupts": []any{map[string]any{
			"id": "i1", "reason": "tool_call", "message": "Send email to a@b.com? (sendEmail, ticket i1)", "toolCallId": "tc-i1", "expiresAt": "2026-11-22T13:00:00Z",
			"responseSchema": map[string]any{"type": "object", "required": []any{"approved"}, "additionalProperties": false, "properties": map[string]any{
				"approved": map[string]any{"type": "boolean"}, "note": map[string]any{"type": "string"},
				"editedArgs": map[string]any{"type": "object", "description": "Full replacement of the arguments."},
			}},
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if ours["digest"] == "" || ours["content"] == "" || ours["preview"].(map[string]any)["to"] != "a@b.com" {
		t.Errorf("what an answer is about: %v", ours)
	}
	if plain := agui.Of(request("i1", false, time.Hour)); strings.Contains(string(plain.ResponseSchema), "editedArgs") {
		t.Error("edits are offered where they are not taken")
	}
	if _, err := agui.Finished("t", "r", nil); err == nil {
		t.Error("a run that waits for nothing was interrupted")
	}
}

// The examples of the documentation, and what stands beside them.
func TestAnswers(t *testing.T) {
	open := []sayso.Request{request("i1", true, time.Hour), request("i2", false, time.Hour)}
	const denied = `{"interruptId":"i2","status":"resolved","payload":{"approved":false,"note":"not today"}}`
	got, err := agui.Answers(open, entries(t, `[{"interruptId":"i1","status":"resolved","payload":{"approved":true,"editedArgs":{"to":"a@b.com","body":"Hi"}},"metadata":{"sig":null}},`+denied+`]`), now)
	want := []agui.Reply{
		{Request: "i1", Answer: sayso.Answer{Digest: open[0].Digest, Content: open[0].Content, Effect: sayso.Allow, Scope: sayso.ScopeOnce, Args: sayso.Args(`{"body":"Hi","to":"a@b.com"}`)}},
		{Request: "i2", Answer: sayso.Answer{Digest: open[1].Digest, Content: open[1].Content, Effect: sayso.Deny, Scope: sayso.ScopeOnce, Note: "not today"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = agui.Answers(open, entries(t, `[{"interruptId":"i1","status":"cancelled"},`+denied+`]`), now)
	if err != nil || !got[0].Cancelled || got[0].Answer.Effect == sayso.Allow {
		t.Errorf("cancelled: %+v, %v", got, err)
	}
	for name, c := range map[string]struct{ resume, code string }{
		"one of two":      {`[` + denied + `]`, "RESUME_INCOMPLETE"},
		"none":            {`[]`, "RESUME_INCOMPLETE"},
		"another's":       {`[{"interruptId":"i3","status":"resolved","payload":{"approved":true}},` + denied + `]`, "RESUME_UNKNOWN"},
		"twice":           {`[` + denied + `,` + denied + `]`, "RESUME_UNKNOWN"},
		"no word":         {`[{"interruptId":"i1","status":"resolved","payload":{}},` + denied + `]`, "RESUME_INVALID"},
		"no payload":      {`[{"interruptId":"i1","status":"resolved"},` + denied + `]`, "RESUME_INVALID"},
		"a text":          {`[{"interruptId":"i1","status":"resolved","payload":{"approved":"true"}},` + denied + `]`, "RESUME_INVALID"},
		"null":            {`[{"interruptId":"i1","status":"resolved","payload":{"approved":null}},` + denied + `]`, "RESUME_INVALID"},
		"another member":  {`[{"interruptId":"i1","status":"resolved","payload":{"approved":true,"Approved":false}},` + denied + `]`, "RESUME_INVALID"},
		"another status":  {`[{"interruptId":"i1","status":"approved","payload":{"approved":true}},` + denied + `]`, "RESUME_INVALID"},
		"edits of a list": {`[{"interruptId":"i1","status":"resolved","payload":{"approved":true,"editedArgs":[1]}},` + denied + `]`, "RESUME_INVALID"},
		"edits that cannot": {`[{"interruptId":"i1","status":"cancelled"},{"interruptId":"i2","status":"resolved","payload":{"approved":true,"editedArgs":{}}}]`,
			"RESUME_INVALID"},
	} {
		got, err := agui.Answers(open, entries(t, c.resume), now)
		if !errors.Is(err, sayso.ErrInvalid) || got != nil || !strings.Contains(string(agui.Failed(err)), `"type":"RUN_ERROR"`) || !strings.Contains(string(agui.Failed(err)), c.code) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := agui.Answers(open[:1], entries(t, `[{"interruptId":"i1","status":"resolved","payload":{"approved":true}}]`), now.Add(time.Hour)); !errors.Is(err, sayso.ErrExpired) || got != nil {
		t.Errorf("too late: %+v, %v", got, err)
	} else if !strings.Contains(string(agui.Failed(err)), "INTERRUPT_EXPIRED") {
		t.Errorf("%s", agui.Failed(err))
	}
	for _, text := range []string{`{"resume":[],"resume":[]}`, `{"resume":{}}`, `[]`} {
		if _, err := agui.ReadInput([]byte(text)); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// documented is the example of the documentation.
const documented = `{"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","outcome":{"type":"interrupt","interrupts":[{"id":"int-abc123","reason":"tool_call",` +
	`"message":"Send email to a@b.com with subject 'Hi'?","toolCallId":"tc-001","responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]}}]}}`

func TestReadFinished(t *testing.T) {
	got, err := agui.ReadFinished([]byte(documented))
	if err != nil || len(got) != 1 || got[0].ID != "int-abc123" || got[0].ToolCallID != "tc-001" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_FINISHED","outcome":{"type":"success"}}`, `{"type":"RUN_STARTED"}`} {
		if got, err := agui.ReadFinished([]byte(text)); err != nil || got != nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		`{"type":"RUN_FINISHED","outcome":{"type":"interrupt"}}`, `{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[{"reason":"x"}]}}`,
		strings.Replace(documented, `[{`, `[{"id":"int-abc123","reason":"x"},{`, 1), strings.Replace(documented, `"type"`, `"type":"x","type"`, 1), `x`,
	} {
		if got, err := agui.ReadFinished([]byte(text)); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// heard are the events of one call.
func heard(t *testing.T, events ...string) *agui.Heard {
	t.Helper()
	var h agui.Heard
	for _, e := range events {
		if err := h.Hear([]byte(e)); err != nil {
			t.Fatal(err)
		}
	}
	return &h
}

const (
	started = `{"type":"TOOL_CALL_START","toolCallId":"tc-001","toolCallName":"sendEmail"}`
	argued  = `{"type":"TOOL_CALL_ARGS","toolCallId":"tc-001","delta":"{\"to\":"}`
	more    = `{"type":"TOOL_CALL_ARGS","toolCallId":"tc-001","delta":"\"a@b.com\"}"}`
	over    = `{"type":"TOOL_CALL_END","toolCallId":"tc-001"}`
)

// What the gate is asked is the call as it was proposed, and never less than that.
func TestHeard_Admission(t *testing.T) {
	all, err := agui.ReadFinished([]byte(documented))
	if err != nil {
		t.Fatal(err)
	}
	i := all[0]
	at := agui.Place{Thread: "thread-1", Agent: "mailer"}
	a, err := heard(t, started, `{"type":"TEXT_MESSAGE_START"}`, argued, more, over).Admission(i, at, now)
	if err != nil || string(a.Call.Args) != `{"to":"a@b.com"}` || a.Call.Tool != "sendEmail" || a.Call.Session != "agui-thread-1" || a.Call.CallID != "tc-001" ||
		a.CanEdit || !a.Immediate || a.Patience != 0 || a.Call.Said["message"] == "" {
		t.Errorf("%+v, %v", a, err)
	}
	for name, events := range map[string][]string{
		"nothing": nil, "not to its end": {started, argued, more}, "half": {started, argued, over}, "twice": {started, argued, more, over, started, argued, more, over},
		"more at its end": {started, argued, more, over, more}, "another": {strings.ReplaceAll(started, "001", "002"), over},
		"one that ran": {started, argued, more, over, `{"type":"TOOL_CALL_RESULT","toolCallId":"tc-001"}`},
	} {
		if a, err := heard(t, events...).Admission(i, at, now); !errors.Is(err, sayso.ErrInvalid) || a.Call.Tool != "" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	until := now.Add(time.Minute)
	i.ExpiresAt = &until
	if a, err := heard(t, started, argued, more, over).Admission(i, at, now); err != nil || a.Patience != time.Minute {
		t.Errorf("%v, %v", a.Patience, err)
	}
	if _, err := heard(t, started, argued, more, over).Admission(i, at, until); !errors.Is(err, sayso.ErrExpired) {
		t.Errorf("too late: %v", err)
	}
	i.ExpiresAt, i.Reason, i.ResponseSchema = nil, "input_required", sayso.Args(`{"type":"object","properties":{"colour":{"type":"string"}}}`)
	if _, err := heard(t, started, argued, more, over).Admission(i, at, now); !errors.Is(err, sayso.ErrInvalid) {
		t.Errorf("a question was taken for one of yes or no: %v", err)
	}
}

// A decision becomes an entry, and everything but a yes a no.
func TestResume(t *testing.T) {
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}
	edited := yes
	edited.Args = sayso.Args(`{"to":"b@b.com"}`)
	plain := agui.Interrupt{ID: "i", Reason: "tool_call", ResponseSchema: sayso.Args(`{"type":"object","properties":{"approved":{"type":"boolean"}},"required":["approved"]}`)}
	edits := plain
	edits.ResponseSchema = sayso.Args(`{"type":"object","properties":{"approved":{"type":"boolean"},"editedArgs":{"type":"object"}},"required":["approved"]}`)
	more := plain
	more.ResponseSchema = sayso.Args(`{"type":"object","properties":{"approved":{"type":"boolean"},"pin":{"type":"string"}},"required":["approved","pin"]}`)
	for name, c := range map[string]struct {
		i    agui.Interrupt
		d    sayso.Decision
		err  error
		want string
	}{
		"allowed":                {plain, yes, nil, `resolved {"approved":true}`},
		"denied":                 {plain, sayso.Decision{Effect: sayso.Deny, State: sayso.StateDenied}, nil, `resolved {"approved":false}`},
		"nothing":                {plain, sayso.Decision{}, nil, `resolved {"approved":false}`},
		"an error":               {plain, yes, sayso.ErrUnavailable, `resolved {"approved":false}`},
		"expired":                {plain, sayso.Decision{}, sayso.ErrExpired, `resolved {"approved":false}`},
		"withdrawn":              {plain, sayso.Decision{}, sayso.ErrWithdrawn, `cancelled `},
		"edited":                 {edits, edited, nil, `resolved {"approved":true,"editedArgs":{"to":"b@b.com"}}`},
		"edited, and it cannot":  {plain, edited, nil, `resolved {"approved":false}`},
		"more is wanted":         {more, yes, nil, `cancelled `},
		"a question":             {agui.Interrupt{ID: "i", Reason: "input_required"}, yes, nil, `cancelled `},
		"a confirmation":         {agui.Interrupt{ID: "i", Reason: "confirmation"}, yes, nil, `resolved true`},
		"a confirmation, denied": {agui.Interrupt{ID: "i", Reason: "confirmation"}, sayso.Decision{}, nil, `resolved false`},
	} {
		e := agui.Resume(c.i, c.d, c.err)
		if got := e.Status + " " + string(e.Payload); got != c.want || e.InterruptID != "i" {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
