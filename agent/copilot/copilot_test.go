package copilot_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/agenttest"
	"github.com/sayso-dev/sayso/agent/copilot"
	"github.com/sayso-dev/sayso/present"
)

var update = flag.Bool("update", false, "write the golden files anew")

var adapter = agenttest.Adapter{
	Parse:    func(text []byte) (agent.Hook, error) { return copilot.Parse(text) },
	Deny:     copilot.Deny,
	Sample:   `{"sessionId":"s1","timestamp":1795341600000,"cwd":"/home/dev/app","toolName":"bash","toolArgs":{"command":"git push","description":"Push","mode":"sync"}}`,
	Required: []string{"sessionId", "toolName", "toolArgs"},
	Allowed:  `{"permissionDecision":"allow"}`,
	Edited:   `"modifiedArgs":{"command":"git status","mode":"sync","description":"Push"}}`,
	Denied:   `{"permissionDecision":"deny","permissionDecisionReason":"`,
	Exit:     2,
}

func TestAdapter(t *testing.T) { agenttest.Run(t, adapter) }

func TestPayloads(t *testing.T) {
	adapter.Payloads(t, "testdata/payloads/1.0.102", func(name string) bool { return !strings.HasPrefix(name, "postToolUse") }, *update)
}

func TestTools(t *testing.T) {
	adapter.Tools(t, copilot.Host, "testdata/tools-1.0.102.json", copilot.Said, map[string][]string{"bash": {"shellId"}})
}

// What is not certainly the start or the end of a session is a call, so that an
// event that changes its look is refused and not passed over.
func TestParse_events(t *testing.T) {
	const session = `{"sessionId":"s1","cwd":"/w"`
	for text, want := range map[string]agent.Moment{
		session + `,"source":"new"}`:      agent.Begin,
		session + `,"reason":"complete"}`: agent.End,
	} {
		h, err := copilot.Parse([]byte(text))
		if err != nil || h.Told().Moment != want {
			t.Errorf("%s: %+v, %v", text, h, err)
		}
	}
	for _, text := range []string{
		session + `}`,
		session + `,"source":"new","reason":"complete"}`,
		session + `,"source":"new","toolArgs":{}}`,
		session + `,"reason":"complete","toolName":"bash"}`,
	} {
		if h, err := copilot.Parse([]byte(text)); err == nil {
			t.Errorf("%s: read %+v", text, h)
		}
	}
	h, err := copilot.Parse([]byte(session + `,"source":"new","reason":"x","toolName":"bash","toolArgs":{}}`))
	if err != nil || h.Told().Moment != agent.Before {
		t.Errorf("a call with members of other events: %+v, %v", h, err)
	}
}

// The patch of apply_patch comes as a text of its own. It is read like one that
// comes as an argument, and what cannot be handed back is not edited.
func TestParse_patch(t *testing.T) {
	const payload = `{"sessionId":"s1","cwd":"/w","toolName":"apply_patch","toolArgs":`
	for input, text := range map[string]bool{`"*** Begin Patch\n"`: true, `{"input":"*** Begin Patch\n"}`: false} {
		h, err := copilot.Parse([]byte(payload + input + "}"))
		if err != nil || string(h.Call.Args) != `{"input":"*** Begin Patch\n"}` || h.Told().CanEdit == text || !h.Call.Known().Patch {
			t.Errorf("%s: %+v, %v", input, h, err)
		}
		edited := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Args: sayso.Args(`{"input":"x"}`)}
		if a := h.Reply(edited, nil); (a.Exit == 0) == text {
			t.Errorf("%s, edited: %s", input, a.Stdout)
		}
	}
	for _, text := range []string{payload + "null}", payload + "[]}", strings.Replace(payload, "apply_patch", "bash", 1) + `"ls"}`} {
		if h, err := copilot.Parse([]byte(text)); err == nil {
			t.Errorf("%s: read %+v", text, h)
		}
	}
}

func TestPresent(t *testing.T) {
	facts := sayso.Facts{Operands: []sayso.PathFact{{Arg: "path", Path: "/w/a", Resolved: "/w/a", State: sayso.PathFile}, {Arg: "input", Path: "/w/a", Resolved: "/w/a", State: sayso.PathFile}}}
	holds := func(sayso.PathFact) (string, error) { return "a\nb\n", nil }
	for _, tt := range []struct {
		tool, args string
		want       sayso.Presentation
	}{
		{"bash", `{"command":"echo hi"}`, present.Command("echo hi", "/w", present.Understood("echo hi")...)},
		{"powershell", `{"command":"dir"}`, sayso.Presentation{Type: "command", Content: "dir", Language: "powershell", Metadata: map[string]string{"cwd": "/w"}}},
		{"create", `{"path":"/w/a","file_text":"c\n"}`, present.Diff("/w/a", "a\nb\n", "c\n")},
		{"edit", `{"path":"/w/a","old_str":"b","new_str":"B"}`, present.Diff("/w/a", "a\nb\n", "a\nB\n")},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: /w/a\n@@\n-b\n+B\n*** End Patch\n"}`, present.Diff("/w/a", "a\nb\n", "a\nB\n")},
		{"web_fetch", `{"url":"https://example.org/"}`, present.Address("https://example.org/")},
		{"lab-deploy", `{"env":"prod"}`, present.Structured([]byte(`{"env":"prod"}`))},
	} {
		call := sayso.Call{Host: copilot.Host, Tool: tt.tool, Cwd: "/w", Args: sayso.Args(tt.args)}
		if diff := cmp.Diff(tt.want, copilot.Present(call, facts, holds)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.tool, tt.args, diff)
		}
	}
}
