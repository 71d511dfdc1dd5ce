//go:build unix

package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// request makes one request that stands alone, as a client of 2026-07-28 does that
// takes tasks, and returns the result.
func (f *front) request(id int, method, name, params string) map[string]any {
	f.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"lab","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},`+
		`"extensions":{"io.modelcontextprotocol/tasks":{}}}}%s}}`, id, method, params)
	r, err := http.NewRequest(http.MethodPost, f.at["asks"], strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+f.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	if name != "" {
		r.Header.Set("Mcp-Name", name)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, data, streamed := bytes.Cut(text, []byte("data: ")); streamed {
		text, _, _ = bytes.Cut(data, []byte("\n"))
	}
	var m struct {
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Result == nil {
		f.t.Fatalf("%s: %v: %s", method, err, text)
	}
	return m.Result
}

// until asks for a task until it is no longer working.
func (f *front) until(task string) map[string]any {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if result := f.request(9, "tasks/get", task, fmt.Sprintf(`,"taskId":%q`, task)); result["status"] != "working" {
			return result
		}
	}
	f.t.Fatal("the task is working")
	return nil
}

// Over HTTP, in front of a server of the official library: a call that people are
// asked about is a task, what the server wants stands in it, and so does the end.
func TestTasksOverHTTP(t *testing.T) {
	t.Setenv("LAB_SERVER", "1")
	f := listening(t, "version: 1\nrules:\n  - ask: mcp__asks__deploy\n", fmt.Sprintf("version: 1\nservers:\n  asks: {command: %q}\n", os.Args[0]), 1)
	can, _ := json.Marshal(f.request(1, "server/discover", "", ""))
	if !strings.Contains(string(can), `"io.modelcontextprotocol/tasks":{}`) {
		t.Errorf("what the server can do: %s", can)
	}
	f.request(2, "tools/list", "", "")
	handed := f.request(3, "tools/call", "deploy", `,"name":"deploy","arguments":{}`)
	task, _ := handed["taskId"].(string)
	if handed["resultType"] != "task" || task == "" {
		t.Fatalf("handed %v", handed)
	}
	var open []struct{ ID, Digest string }
	if err := json.Unmarshal([]byte(f.run("inbox", "--json")), &open); err != nil || len(open) != 1 || open[0].ID != task {
		t.Fatalf("%v: %+v", err, open)
	}
	f.run("approve", task, "--yes", "--digest", open[0].Digest)
	if wants := f.until(task); wants["status"] != "input_required" {
		t.Fatalf("the server wants: %v", wants)
	}
	f.request(4, "tasks/update", task, fmt.Sprintf(`,"taskId":%q,"inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}}`, task))
	if end, _ := json.Marshal(f.until(task)); !strings.Contains(string(end), "deployed as Ada") {
		t.Errorf("in the end: %s", end)
	}
}
