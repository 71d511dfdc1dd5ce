package modelstub_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/modelstub"
)

func TestGemini(t *testing.T) {
	s := modelstub.New(modelstub.Use(
		modelstub.Call{ID: "c1", Name: "run_shell_command", Input: `{"command":"true"}`},
		modelstub.Call{ID: "c2", Name: "read_file", Input: `{"file_path":"a"}`},
	))
	url := listen(t, s) + "/v1beta/models/gemini-2.5-flash:"
	const tools = `"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]`

	if got := post(t, url+"countTokens", `{}`); !strings.Contains(got, `"totalTokens":1`) {
		t.Errorf("counted %s", got)
	}
	if got := post(t, url+"generateContent", `{"contents":[]}`); !strings.Contains(got, `"text":"done"`) || s.Left() != 1 {
		t.Errorf("a request beside the conversation got %s, and %d turns are left", got, s.Left())
	}
	first := post(t, url+"streamGenerateContent?alt=sse", `{"contents":[],`+tools+`}`)
	for _, want := range []string{"data: {", `"name":"run_shell_command"`, `"id":"c2"`, `"args":{"command":"true"}`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first turn has no %s:\n%s", want, first)
		}
	}
	post(t, url+"streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"go"}]},{"parts":[`+
		`{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"hi"}}},`+
		`{"functionResponse":{"id":"c2","name":"read_file","response":{"error":"no such file"}}}]}],`+tools+`}`)
	want := []modelstub.ToolResult{
		{ID: "c1", Name: "run_shell_command", Content: "hi"},
		{ID: "c2", Name: "read_file", Content: "no such file", IsError: true},
	}
	if diff := cmp.Diff(want, s.Results()); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}
