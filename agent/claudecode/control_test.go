package claudecode_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/agenttest"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// recorded are the sessions that the real binary wrote.
const recorded = "testdata/control/*/*.jsonl"

// What every line of a recorded session was read as.
func TestParseLine_recorded(t *testing.T) {
	var read []claudecode.Line
	for _, text := range agenttest.Lines(t, recorded) {
		l, err := claudecode.ParseLine(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if l.Kind != claudecode.Other {
			read = append(read, l)
		}
	}
	agenttest.Golden(t, "testdata/control/session.golden.json", read, *update)
}

const (
	canUse = `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"git push","description":"Push"},` +
		`"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"tool_use_id":"toolu_1"}}`
	preHook = `{"session_id":"s1","cwd":"/home/dev/app","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"Bash",` +
		`"tool_input":{"command":"git push","description":"Push"},"tool_use_id":"toolu_1"}`
)

// A question that two readers could read differently is an error, and still has
// the id by which it is refused.
func TestParseLine_refuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, id string }{
		"no JSON":                    {"Error: something", ""},
		"half":                       {canUse[:len(canUse)/2], ""},
		"no message":                 {`{"a":1}`, ""},
		"a list":                     {`[]`, ""},
		"a member twice":             {strings.Replace(canUse, `"tool_name":"Bash"`, `"tool_name":"Read","tool_name":"Bash"`, 1), "r1"},
		"an argument twice":          {strings.Replace(canUse, `"command":"git push"`, `"command":"ls","command":"git push"`, 1), "r1"},
		"a member in another case":   {strings.Replace(canUse, `"request":{`, `"Request":{"subtype":"elicitation"},"request":{`, 1), "r1"},
		"no tool":                    {strings.Replace(canUse, `"tool_name":"Bash",`, ``, 1), "r1"},
		"no id of the call":          {strings.Replace(canUse, `,"tool_use_id":"toolu_1"`, ``, 1), "r1"},
		"arguments that are a text":  {strings.Replace(canUse, `{"command":"git push","description":"Push"}`, `"git push"`, 1), "r1"},
		"a hook that cannot be read": {`{"type":"control_request","request_id":"r2","request":{"subtype":"hook_callback","input":{"session_id":"s"}}}`, "r2"},
	} {
		l, err := claudecode.ParseLine([]byte(tt.text))
		if !errors.Is(err, sayso.ErrInvalid) || l.ID != tt.id {
			t.Errorf("%s: id %q, %v", name, l.ID, err)
		}
	}
}

func TestPermission(t *testing.T) {
	l, err := claudecode.ParseLine([]byte(canUse))
	if err != nil || l.Kind != claudecode.Asks {
		t.Fatalf("%+v, %v", l, err)
	}
	before, err := claudecode.Parse([]byte(preHook))
	if err != nil {
		t.Fatal(err)
	}
	h, err := l.Permission.Hook(before)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before.Call, h.Call); d != "" {
		t.Errorf("the hook and the question tell of another call: %s", d)
	}
	id := sayso.NewID(sayso.Moment{}.Wall, [16]byte{1})
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Request: id}
	edited := yes
	edited.Args, edited.By = sayso.Args(`{"command":"git push --dry-run"}`), []sayso.Actor{{Principal: "ana"}}
	no := sayso.Decision{State: sayso.StateDenied, Request: id, Source: sayso.SourcePerson, By: []sayso.Actor{{Principal: "ana"}}, Note: "use make"}
	for name, tt := range map[string]struct {
		d    sayso.Decision
		err  error
		want string
	}{
		"allow":               {yes, nil, `{"behavior":"allow","updatedInput":{"command":"git push","description":"Push"}}`},
		"edit":                {edited, nil, `{"behavior":"allow","updatedInput":{"command":"git push --dry-run","description":"Push"}}`},
		"deny":                {no, nil, `{"behavior":"deny","message":"Denied by ana (ticket ` + id.Short() + `): use make"}`},
		"nothing":             {sayso.Decision{}, nil, `{"behavior":"deny"`},
		"an allow that fails": {yes, sayso.ErrUnavailable, `{"behavior":"deny"`},
		"another state":       {sayso.Decision{Effect: sayso.Allow}, nil, `{"behavior":"deny"`},
	} {
		got := string(l.Permission.Rule(h, tt.d, tt.err))
		if got != tt.want && !(strings.HasSuffix(tt.want, `"deny"`) && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if strings.Contains(got, "setMode") || strings.Contains(got, "updatedPermissions") || strings.Contains(got, "interrupt") {
			t.Errorf("%s: it gives back what the host suggests: %s", name, got)
		}
	}
	if got := string(l.Permission.Refuse("")); !strings.Contains(got, `"message":"`) {
		t.Errorf("a denial without words: %s", got)
	}
}

// The hook of the control protocol says what the gate said: a no that stands, and a
// yes that is looked at again. It waits as long as the host's timers go.
func TestBefore(t *testing.T) {
	h, err := claudecode.Parse([]byte(preHook))
	if err != nil {
		t.Fatal(err)
	}
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}
	edited := yes
	edited.Args = sayso.Args(`{"command":"ls"}`)
	const says = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":`
	for name, tt := range map[string]struct {
		d    sayso.Decision
		err  error
		want string
	}{
		"allow":               {yes, nil, says + `"ask","permissionDecisionReason":"sayso"}}`},
		"edit":                {edited, nil, says + `"ask","permissionDecisionReason":"sayso","updatedInput":{"command":"ls","description":"Push"}}}`},
		"deny":                {sayso.Decision{State: sayso.StateDenied}, nil, says + `"deny","permissionDecisionReason":"`},
		"nothing":             {sayso.Decision{}, nil, says + `"deny","permissionDecisionReason":"`},
		"an allow that fails": {yes, sayso.ErrUnavailable, says + `"deny","permissionDecisionReason":"`},
	} {
		if got := string(h.Before(tt.d, tt.err)); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if got := string(h.RefuseBefore("no")); got != says+`"deny","permissionDecisionReason":"no"}}` {
		t.Error(got)
	}
	if claudecode.DrivenTimeout.Milliseconds() >= 1<<31 || claudecode.DrivenTimeout < 7*24*time.Hour {
		t.Errorf("the host's timers do not go to %v, or a person has no time", claudecode.DrivenTimeout)
	}
	if got := string(claudecode.Hooks("i")); !strings.Contains(got, `"onFailure":"block","timeout":2073600`) || !strings.Contains(got, `"subtype":"initialize"`) {
		t.Error(got)
	}
}

// What the host says of its settings: what takes the hooks away, wherever it stands.
func TestParseSettings(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		off  string
		fits bool
	}{
		"none":           {`{"effective":{},"sources":[]}`, "", true},
		"others":         {`{"effective":{"env":{"A":"1"}},"sources":[]}`, "", true},
		"in a place":     {`{"effective":{},"sources":[{"source":"flagSettings","settings":{"env":{"CLAUDE_CODE_SIMPLE":"1"}}}]}`, "CLAUDE_CODE_SIMPLE (env in flagSettings)", true},
		"in none":        {`{"effective":{"env":{"CLAUDE_CODE_SIMPLE":"0"}}}`, "CLAUDE_CODE_SIMPLE (env in its settings)", true},
		"no settings":    {`{"sources":[]}`, "", false},
		"another answer": {`[]`, "", false},
		"no answer":      {``, "", false},
		"another env":    {`{"effective":{"env":[]}}`, "", false},
	} {
		s, err := claudecode.ParseSettings([]byte(tt.text))
		if (err == nil) != tt.fits || strings.Join(s.Off, ", ") != tt.off {
			t.Errorf("%s: %v, %v", name, s.Off, err)
		}
	}
	s, err := claudecode.ParseSettings([]byte(`{"effective":{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/x/sayso-hook"}]}]}}}`))
	if err != nil || len(s.Before) != 1 || s.Before[0] != "/x/sayso-hook" {
		t.Errorf("%+v, %v", s, err)
	}
}

// The answer where the host would prompt: nothing but the JSON counts there, so
// that a denial ends with status 0.
func TestReply_permissionRequest(t *testing.T) {
	h, err := claudecode.Parse([]byte(strings.NewReplacer("PreToolUse", "PermissionRequest", `,"tool_use_id":"toolu_1"`, "").Replace(preHook)))
	if err != nil {
		t.Fatal(err)
	}
	if h.Call.CallID != "" || h.Told().Moment != 0 {
		t.Errorf("%+v", h.Call)
	}
	id := sayso.NewID(sayso.Moment{}.Wall, [16]byte{1})
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Request: id}
	edited := yes
	edited.Args = sayso.Args(`{"command":"ls"}`)
	for name, tt := range map[string]struct {
		d    sayso.Decision
		err  error
		want string
	}{
		"allow":   {yes, nil, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`},
		"edit":    {edited, nil, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"ls","description":"Push"}}}}`},
		"deny":    {sayso.Decision{State: sayso.StateDenied, Request: id}, nil, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"`},
		"nothing": {sayso.Decision{}, nil, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"`},
		"fails":   {yes, sayso.ErrUnavailable, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"`},
	} {
		a := h.Reply(tt.d, tt.err)
		if !strings.HasPrefix(string(a.Stdout), tt.want) || a.Exit != 0 {
			t.Errorf("%s: exit %d, %s", name, a.Exit, a.Stdout)
		}
	}
}

// FuzzParseLine: never a panic; a question that is read has a call with a digest, and
// is answered with what is one JSON object.
func FuzzParseLine(f *testing.F) {
	f.Add([]byte(canUse))
	for _, text := range agenttest.Lines(f, recorded) {
		f.Add(text)
	}
	before, err := claudecode.Parse([]byte(preHook))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := claudecode.ParseLine(text)
		if err != nil || l.Kind != claudecode.Asks {
			return
		}
		h, err := l.Permission.Hook(before)
		if err != nil {
			return
		}
		if d, err := h.Call.Digest(); err != nil || d.IsZero() {
			t.Fatalf("read, and has no digest: %v", err)
		}
		for _, d := range []sayso.Decision{{}, {Effect: sayso.Allow, State: sayso.StateAllowed}} {
			if _, err := jcs.Object(l.Permission.Rule(h, d, nil)); err != nil {
				t.Fatalf("answered with what is no object: %v", err)
			}
		}
	})
}
