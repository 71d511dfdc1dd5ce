//go:build unix

package mcp

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tasked is a server with the tasks of 2026-07-28 that the conformance suite asks for,
// since no official library has them yet.
type tasked struct {
	mu    sync.Mutex // guards what follows
	tasks map[string]*task
}

func newTasked() *tasked { return &tasked{tasks: map[string]*task{}} }

// task is one of them. What the client gets of it is what it says.
type task struct {
	says  map[string]any
	stop  *time.Timer
	wants map[string]any
}

// asks is a message of the client.
type asks struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Params struct {
		Name, TaskID string
		Arguments    struct {
			Name    string
			Seconds float64
		}
		InputResponses map[string]any `json:"inputResponses"`
		Meta           struct {
			Capabilities *struct {
				Extensions map[string]any `json:"extensions"`
			} `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	} `json:"params"`
}

const tasksName = "io.modelcontextprotocol/tasks"

// tools of the server, and whether they take a client that takes tasks.
var taskTools = map[string]bool{"greet": false, "slow_compute": false, "failing_job": true, "protocol_error_job": true, "confirm_delete": true, "multi_input": true, "test_tool_with_task": true}

// fails is an error of the protocol, with its status of HTTP.
type fails struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fails) status() int {
	switch {
	case f == nil:
		return http.StatusOK
	case f.Code == -32601:
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// does does what it is asked.
func (s *tasked) does(a *asks) (map[string]any, *fails) {
	can := a.Params.Meta.Capabilities
	if can == nil {
		return nil, &fails{Code: -32602, Message: "_meta does not say what the client can do"}
	}
	takes := can.Extensions[tasksName] != nil
	lacks := &fails{-32021, "this takes tasks", map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksName: map[string]any{}}}}}
	switch a.Method {
	case "server/discover":
		return map[string]any{"supportedVersions": []string{"2026-07-28"}, "capabilities": map[string]any{"tools": map[string]any{}, "extensions": map[string]any{tasksName: map[string]any{}}},
			"serverInfo": map[string]any{"name": "tasked", "version": "1"}, "ttlMs": 0, "cacheScope": "private"}, nil
	case "tools/list":
		var tools []any
		for _, name := range slices.Sorted(maps.Keys(taskTools)) {
			tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
		}
		return map[string]any{"tools": tools, "ttlMs": 0, "cacheScope": "private"}, nil
	case "tools/call":
		if need, ok := taskTools[a.Params.Name]; !ok {
			return nil, &fails{Code: -32602, Message: "there is no such tool"}
		} else if need && !takes {
			return nil, lacks
		}
		return s.calls(a, takes), nil
	case "tasks/get", "tasks/update", "tasks/cancel":
		if !takes {
			return nil, lacks
		}
		return s.about(a)
	}
	return nil, &fails{Code: -32601, Message: "there is no such method"}
}

func says(text string, failed bool) map[string]any {
	return map[string]any{"resultType": "complete", "content": []any{map[string]any{"type": "text", "text": text}}, "isError": failed}
}

func wanted(message string) map[string]any {
	return map[string]any{"method": "elicitation/create", "params": map[string]any{"mode": "form", "message": message,
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}, "confirm": map[string]any{"type": "boolean"}}}}}
}

// calls calls a tool.
func (s *tasked) calls(a *asks, takes bool) map[string]any {
	p := &a.Params
	switch {
	case p.Name == "greet":
		return says("Hello, "+p.Arguments.Name+"!", false)
	case !takes:
		return says("computed", false)
	case p.Name == "test_tool_with_task" && p.InputResponses == nil:
		return map[string]any{"resultType": "input_required", "inputRequests": map[string]any{"name": wanted("As whom?")}, "requestState": "one"}
	}
	t := &task{}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	t.says = map[string]any{"taskId": rand.Text(), "status": "working", "createdAt": now, "lastUpdatedAt": now, "ttlMs": 60000, "pollIntervalMs": 100}
	made := maps.Clone(t.says)
	made["resultType"] = "task"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks[t.says["taskId"].(string)] = t
	ends := func(status, name string, what any) func() {
		return func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if t.says["status"] == "working" {
				t.says["status"], t.says[name] = status, what
			}
		}
	}
	switch p.Name {
	case "confirm_delete":
		t.waits(map[string]any{"a": wanted("Delete it?")})
	case "multi_input":
		t.waits(map[string]any{"a": wanted("Who?"), "b": wanted("And who else?")})
	case "failing_job":
		t.stop = time.AfterFunc(0, ends("completed", "result", says("it failed", true)))
	case "protocol_error_job":
		t.stop = time.AfterFunc(0, ends("failed", "error", fails{Code: -32603, Message: "it broke"}))
	case "test_tool_with_task":
		t.stop = time.AfterFunc(0, ends("completed", "result", says(fmt.Sprint("done with ", p.InputResponses), false)))
	default:
		t.stop = time.AfterFunc(time.Duration(p.Arguments.Seconds*float64(time.Second)), ends("completed", "result", says("computed", false)))
	}
	return made
}

func (t *task) waits(wants map[string]any) {
	t.wants = wants
	t.says["status"], t.says["inputRequests"] = "input_required", wants
}

// about is what is asked about a task.
func (s *tasked) about(a *asks) (map[string]any, *fails) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[a.Params.TaskID]
	if t == nil {
		return nil, &fails{Code: -32602, Message: "there is no such task"}
	}
	over := slices.Contains([]string{"completed", "failed", "cancelled"}, t.says["status"].(string))
	switch {
	case a.Method == "tasks/get":
		return maps.Clone(t.says), nil
	case a.Method == "tasks/cancel" && !over:
		t.says["status"] = "cancelled"
		delete(t.says, "inputRequests")
	case a.Method == "tasks/update" && t.wants != nil:
		for key := range a.Params.InputResponses {
			delete(t.wants, key)
		}
		if len(t.wants) == 0 && !over {
			delete(t.says, "inputRequests")
			t.says["status"], t.says["result"] = "completed", says("done", false)
		}
	}
	return map[string]any{}, nil
}

// answers answers a message, nil if there is nothing to answer.
func (s *tasked) answers(text []byte) (answer []byte, status int) {
	var a asks
	if err := json.Unmarshal(text, &a); err != nil || a.ID == nil {
		return nil, http.StatusAccepted
	}
	result, wrong := s.does(&a)
	out := map[string]any{"jsonrpc": "2.0", "id": a.ID}
	if wrong != nil {
		out["error"] = wrong
	} else {
		if result["resultType"] == nil {
			result["resultType"] = "complete"
		}
		out["result"] = result
	}
	answer, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return answer, wrong.status()
}

// ServeHTTP is the server over HTTP.
func (s *tasked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	var a asks
	_ = json.Unmarshal(text, &a) // what is none has no method, either
	name := a.Params.Name
	if slices.Contains([]string{"tasks/get", "tasks/update", "tasks/cancel"}, a.Method) {
		name = a.Params.TaskID
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case a.ID != nil && (r.Header.Get("Mcp-Method") != a.Method || r.Header.Get("Mcp-Name") != name):
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"a header is not what the message says"}}`, a.ID)
	default:
		answer, status := s.answers(text)
		w.WriteHeader(status)
		_, _ = w.Write(answer)
	}
}

// serve is the server as a program.
func (s *tasked) serve(in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if answer, _ := s.answers(lines.Bytes()); answer != nil {
			_, _ = out.Write(append(answer, '\n'))
		}
	}
}

// lists asks a server for its tools.
func lists(t *testing.T, at string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"} {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "slow_compute") {
		t.Fatalf("%s: %v: %s", res.Status, err, text)
	}
}
