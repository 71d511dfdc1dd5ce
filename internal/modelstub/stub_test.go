package modelstub_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/modelstub"
)

const tools = `"tools":[{"name":"Bash","input_schema":{"type":"object"}}]`

func post(t *testing.T, url, body string) string {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func listen(t *testing.T, s *modelstub.Stub) string {
	t.Helper()
	url, stop, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return url
}

func TestAScriptIsPlayedAndItsResultsAreKept(t *testing.T) {
	var s *modelstub.Stub
	s = modelstub.New(
		modelstub.Use(
			modelstub.Call{ID: "toolu_01", Name: "Bash", Input: `{"command":"true"}`},
			modelstub.Call{ID: "toolu_02", Name: "Read", Input: `{"file_path":"/a"}`}),
		modelstub.Then(func(back []modelstub.ToolResult) modelstub.Turn {
			if got := len(s.Results()); got != 2 {
				t.Errorf("a function of the script sees %d results, want 2", got)
			}
			return modelstub.Say("got " + back[0].Content + " and " + back[1].Content)
		}),
	)
	url := listen(t, s) + "/v1/messages?beta=true"

	first := post(t, url, `{"model":"m",`+tools+`,"messages":[{"role":"user","content":"go"}]}`)
	for _, want := range []string{`"stop_reason":"tool_use"`, `"id":"toolu_02"`, `"input":{"command":"true"}`} {
		if !strings.Contains(first, want) {
			t.Errorf("first reply has no %s:\n%s", want, first)
		}
	}
	history := `{"role":"user","content":[
		{"type":"tool_result","tool_use_id":"toolu_01","content":"one"},
		{"type":"tool_result","tool_use_id":"toolu_02","is_error":true,"content":[{"type":"text","text":"two"},{"type":"image"},{"type":"text","text":"three"}]}]}`
	second := post(t, url, `{"model":"m",`+tools+`,"messages":[`+history+`]}`)
	if !strings.Contains(second, `got one and two\nthree`) || !strings.Contains(second, `"end_turn"`) {
		t.Errorf("second reply: %s", second)
	}
	third := post(t, url, `{"model":"m",`+tools+`,"messages":[`+history+`]}`)
	if !strings.Contains(third, `"text":"done"`) {
		t.Errorf("reply after the script: %s", third)
	}
	want := []modelstub.ToolResult{
		{ID: "toolu_01", Name: "Bash", Content: "one"},
		{ID: "toolu_02", Name: "Read", Content: "two\nthree", IsError: true},
	}
	if diff := cmp.Diff(want, s.Results()); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestSideRequestsTakeNoTurn(t *testing.T) {
	s := modelstub.New(modelstub.Say("first"))
	url := listen(t, s) + "/v1/messages"
	for _, side := range []string{
		`{"model":"small","messages":[]}`,
		`{"model":"m","tools":[],"messages":[]}`,
		`{"model":"m","tools":[{"type":"web_search_20250305","name":"web_search"}],"messages":[]}`,
	} {
		if got := post(t, url, side); !strings.Contains(got, `"text":"done"`) {
			t.Errorf("%s: answered %s", side, got)
		}
	}
	if s.Left() != 1 {
		t.Fatalf("%d turns left, want 1", s.Left())
	}
	if got := post(t, url, `{"model":"m",`+tools+`,"messages":[]}`); !strings.Contains(got, `"text":"first"`) {
		t.Errorf("conversation answered %s", got)
	}
	var script []bool
	for _, r := range s.Requests() {
		script = append(script, r.Script)
	}
	if diff := cmp.Diff([]bool{false, false, false, true}, script); diff != "" {
		t.Errorf("which requests took a turn (-want +got):\n%s", diff)
	}
}

func TestStreamedEvents(t *testing.T) {
	s := modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_01", Name: "Bash", Input: `{"command":"a\nb"}`}))
	got := post(t, listen(t, s)+"/v1/messages", `{"model":"m","stream":true,`+tools+`,"messages":[]}`)
	want := `event: message_start
data: {"message":{"id":"msg_0001","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"type":"message_start"}

event: content_block_start
data: {"content_block":{"type":"tool_use","id":"toolu_01","name":"Bash","input":{}},"index":0,"type":"content_block_start"}

event: content_block_delta
data: {"delta":{"partial_json":"{\"command\":\"a\\nb\"}","type":"input_json_delta"},"index":0,"type":"content_block_delta"}

event: content_block_stop
data: {"index":0,"type":"content_block_stop"}

event: message_delta
data: {"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
}

func TestOtherQuestions(t *testing.T) {
	url := listen(t, modelstub.New())
	if got := post(t, url+"/v1/messages/count_tokens", `{}`); got != `{"input_tokens":1}` {
		t.Errorf("count_tokens: %s", got)
	}
	if got := post(t, url+"/api/event_logging/batch", `{}`); got != `{}` {
		t.Errorf("telemetry: %s", got)
	}
	if got := post(t, url+"/v1/messages", `{"model":`); !strings.Contains(got, `"invalid_request_error"`) {
		t.Errorf("broken request: %s", got)
	}
}

func TestStopFreesThePort(t *testing.T) {
	url, stop, err := modelstub.New().Listen()
	if err != nil {
		t.Fatal(err)
	}
	stop()
	stop()
	if _, err := http.Post(url, "application/json", bytes.NewReader(nil)); err == nil {
		t.Error("the stub still answers after stop")
	}
}
