package modelstub_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/modelstub"
)

func TestResponses(t *testing.T) {
	s := modelstub.New(modelstub.Use(
		modelstub.Call{ID: "c1", Name: "exec_command", Input: `{"cmd":"true"}`},
		modelstub.Call{ID: "c2", Name: "apply_patch", Input: "*** Begin Patch"},
		modelstub.Call{ID: "c3", Name: "mcp__lab/deploy", Input: `{}`},
	))
	url := listen(t, s) + "/responses"
	first := post(t, url, `{"model":"m","input":[{"type":"message","role":"user"}]}`)
	for _, want := range []string{
		`"type":"function_call"`, `"arguments":"{\"cmd\":\"true\"}"`, `"input":"*** Begin Patch"`, `"type":"custom_tool_call"`,
		`"namespace":"mcp__lab"`, `"name":"deploy"`, "event: response.completed",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the first turn has no %s:\n%s", want, first)
		}
	}
	second := post(t, url, `{"model":"m","input":[{"type":"function_call_output","call_id":"c1","output":"hi"},`+
		`{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"one"},{"type":"input_image"},{"type":"input_text","text":"two"}]}]}`)
	if !strings.Contains(second, `"text":"done"`) {
		t.Errorf("the second turn is %s", second)
	}
	want := []modelstub.ToolResult{{ID: "c1", Name: "exec_command", Content: "hi"}, {ID: "c2", Name: "apply_patch", Content: "one\ntwo"}}
	if diff := cmp.Diff(want, s.Results()); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if got := post(t, url, `{"input":`); !strings.Contains(got, "cannot read the request") {
		t.Errorf("half a request got %s", got)
	}
}

// An agent that runs beside the conversation has a script of its own, and takes
// no turn of the other.
func TestBeside(t *testing.T) {
	s := modelstub.New(modelstub.Use(modelstub.Call{ID: "c1", Name: "spawn", Input: `{}`}), modelstub.Say("main"))
	s.Beside(func(body []byte) bool { return strings.Contains(string(body), "beside") }, modelstub.Say("agent"))
	url := listen(t, s) + "/responses"
	for _, step := range []struct{ body, want string }{
		{`{"input":[]}`, "spawn"}, {`{"instructions":"beside","input":[]}`, "agent"}, {`{"instructions":"beside","input":[]}`, "done"}, {`{"input":[]}`, "main"},
	} {
		if got := post(t, url, step.body); !strings.Contains(got, step.want) {
			t.Errorf("%s got %s, want %s", step.body, got, step.want)
		}
	}
	if s.Left() != 0 {
		t.Errorf("%d turns are left", s.Left())
	}
}
