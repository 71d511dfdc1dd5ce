package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// tasksMeta is what a client says with each request that takes tasks.
const tasksMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// taskCall is a call of the tool echo by such a client.
func taskCall(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + tasksMeta + `,"name":"echo","arguments":{"text":"` + text + `"}}}`
}

// taskResult is an answer about a task.
type taskResult struct {
	ID     sayso.Args `json:"id"`
	Result struct {
		Type    string `json:"resultType"`
		Task    string `json:"taskId"`
		Status  string `json:"status"`
		Message string `json:"statusMessage"`
		Created string `json:"createdAt"`
		TTL     *int64 `json:"ttlMs"`
		Poll    int64  `json:"pollIntervalMs"`
		Result  struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			IsError bool `json:"isError"`
		} `json:"result"`
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
		Requests sayso.Args `json:"inputRequests"`
	} `json:"result"`
	Error struct {
		Code int        `json:"code"`
		Data sayso.Args `json:"data"`
	} `json:"error"`
}

func (h *taskResult) text() string {
	if len(h.Result.Result.Content) != 1 {
		return ""
	}
	return h.Result.Result.Content[0].Text
}

func (w *harness) taskResult() taskResult {
	w.t.Helper()
	line := w.client.receive()
	var h taskResult
	if err := jcs.UnmarshalLenient([]byte(line), &h); err != nil {
		w.t.Fatalf("%v: %s", err, line)
	}
	return h
}

// askTask asks about a task.
func (w *harness) askTask(method, task, more string) taskResult {
	w.t.Helper()
	w.client.send(`{"jsonrpc":"2.0","id":"about","method":"` + method + `","params":{` + tasksMeta + `,"taskId":"` + task + `"` + more + `}}`)
	return w.taskResult()
}

// pollTask asks for a task until it is no longer as it was.
func (w *harness) pollTask(task, was string) taskResult {
	w.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if h := w.askTask("tasks/get", task, ""); h.Result.Status != was {
			return h
		}
	}
	w.t.Fatalf("the task is %s", was)
	return taskResult{}
}

// forwardedID is the id under which the server got a line, which otherwise is this one.
func (w *harness) forwardedID(want, id string) string {
	w.t.Helper()
	line := w.server.receive()
	var m struct {
		ID sayso.Args `json:"id"`
	}
	if err := jcs.UnmarshalLenient([]byte(line), &m); err != nil {
		w.t.Fatal(err)
	}
	if got := strings.Replace(line, `"id":`+string(m.ID), `"id":`+id, 1); got != want || !strings.HasPrefix(string(m.ID), `"sayso-`) {
		w.t.Fatalf("got  %s\nwant %s", line, want)
	}
	return string(m.ID)
}

// startTask is a task that people are asked about.
func (w *harness) startTask(id, text string) (task string, r sayso.Request) {
	w.t.Helper()
	w.client.send(taskCall(id, text))
	h := w.taskResult()
	if _, err := w.broker.Inbox(person).Request(w.t.Context(), h.Result.Task); err != nil {
		w.t.Fatalf("the client has a task that is not in the log: %v", err)
	}
	r = w.requests(1)[0]
	if string(h.ID) != id || h.Result.Type != "task" || h.Result.Task != string(r.ID) || h.Result.Status != "working" || h.Result.Poll != 1000 ||
		!strings.Contains(h.Result.Message, "`sayso approve "+r.ID.Short()+"`") || h.Result.Created == "" {
		w.t.Fatalf("handed %+v for %s", h, r.ID)
	}
	return h.Result.Task, r
}

// A client that takes tasks is given one for a call that people are asked about,
// and later what the server answered. One that does not is not.
func TestTask_allowed(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	task, r := w.startTask("1", "a")
	if h := w.askTask("tasks/get", task, ""); h.Result.Type != "complete" || h.Result.Status != "working" || h.Result.TTL != nil {
		t.Errorf("while people are asked: %+v", h)
	}
	w.answer(r, sayso.Allow)
	id := w.forwardedID(taskCall("1", "a"), "1")
	if h := w.askTask("tasks/get", task, ""); h.Result.Status != "working" || h.Result.Message != "Allowed; the tool runs." {
		t.Errorf("while it runs: %+v", h)
	}
	w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}}`)
	if h := w.pollTask(task, "working"); h.Result.Status != "completed" || h.text() != "done" || h.Result.Result.IsError {
		t.Errorf("in the end: %+v", h)
	}
	if e := w.waitForEvent(sayso.EventFinished); e.RequestID != r.ID || strings.Contains(string(e.Payload), `"failed":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.client.send(resultWith(2, "a", ""))
	w.requests(1)
	w.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	w.waitForEvent(sayso.EventWithdrawn)
}

// A call that nobody is asked about is answered as ever.
func TestTask_notAsked(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow, "rm": sayso.Deny})
	w.listTools(echoTool + `,{"name":"rm","inputSchema":{}}`)
	w.client.send(taskCall("1", "a"))
	w.server.expect(taskCall("1", "a"))
	const result = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}`
	w.server.send(result)
	w.client.expect(result)
	w.client.send(strings.Replace(taskCall("2", "a"), "echo", "rm", 1))
	if text := w.refusalOf(w.client.receive(), "2"); !strings.HasPrefix(text, "Denied by policy") {
		t.Error(text)
	}
}

// Each way of not getting a yes ends a task in its own words.
func TestTask_ends(t *testing.T) {
	for name, tt := range map[string]struct {
		do           func(w *harness, task string, r sayso.Request)
		status, text string
	}{
		"denied": {func(w *harness, _ string, r sayso.Request) {
			w.answer(r, sayso.Deny, func(a *sayso.Answer) { a.Note = "not now" })
		}, "completed", "Denied by ada (ticket %s): not now"},
		"withdrawn": {func(w *harness, _ string, r sayso.Request) {
			if err := w.broker.Gate(asker).Withdraw(w.t.Context(), r.ID, "elsewhere"); err != nil {
				w.t.Fatal(err)
			}
		}, "completed", "Withdrawn (ticket %s)"},
		"cancelled": {func(w *harness, task string, _ sayso.Request) {
			if h := w.askTask("tasks/cancel", task, ""); h.Result.Type != "complete" || h.Error.Code != 0 {
				w.t.Errorf("cancelling: %+v", h)
			}
			w.waitForEvent(sayso.EventWithdrawn)
		}, "cancelled", ""},
		"edited amiss": {func(w *harness, _ string, r sayso.Request) {
			w.answer(r, sayso.Allow, func(a *sayso.Answer) { a.Args = sayso.Args(`{"text":7}`) })
		}, "completed", "Approved with other arguments (ticket %s)"},
		"another definition": {func(w *harness, _ string, r sayso.Request) {
			w.listTools(strings.Replace(echoTool, "says", "sings", 1))
			w.answer(r, sayso.Allow)
		}, "completed", "No longer valid (ticket %s)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, rules{})
			w.listTools(echoTool)
			task, r := w.startTask("1", "a")
			tt.do(w, task, r)
			want := tt.text
			if want != "" {
				want = fmt.Sprintf(want, r.ID.Short())
			}
			h := w.pollTask(task, "working")
			if h.Result.Status != tt.status || !strings.HasPrefix(h.text(), want) || h.Result.Result.IsError != (want != "") {
				t.Errorf("%+v", h)
			}
			const ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}`
			w.client.send(ping)
			w.server.expect(ping) // and nothing of the task before
		})
	}
}

// The server's error fails a task, and what cannot be read of it too.
func TestTask_serverFails(t *testing.T) {
	for _, tt := range []struct{ answer, says string }{
		{`"error":{"code":-32000,"message":"no luck"}`, "no luck"},
		{`"result":{"isError":true,"isError":false}`, "could not be read strictly"},
		{`"result":{},"result":{}`, "could not be read strictly"},
	} {
		w := open(t, rules{})
		w.listTools(echoTool)
		task, r := w.startTask("1", "a")
		w.answer(r, sayso.Allow)
		id := w.forwardedID(taskCall("1", "a"), "1")
		w.server.send(`{"jsonrpc":"2.0","id":` + id + `,` + tt.answer + `}`)
		if h := w.pollTask(task, "working"); h.Result.Status != "failed" || !strings.Contains(h.Result.Error.Message, tt.says) || h.Result.Error.Code == 0 {
			t.Errorf("%s: %+v", tt.answer, h)
		}
		if e := w.waitForEvent(sayso.EventFinished); !strings.Contains(string(e.Payload), `"failed":true`) {
			t.Errorf("finished: %s", e.Payload)
		}
	}
}

// A task that is cancelled while it runs is cancelled at the server, and what it
// answers then is nobody's.
func TestTask_cancelledWhileItRuns(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	task, r := w.startTask("1", "a")
	w.answer(r, sayso.Allow)
	id := w.forwardedID(taskCall("1", "a"), "1")
	w.askTask("tasks/get", task, "")
	w.client.send(`{"jsonrpc":"2.0","id":5,"method":"tasks/cancel","params":{` + tasksMeta + `,"taskId":"` + task + `"}}`)
	w.server.expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	w.client.expect(`{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete"}}`)
	if h := w.askTask("tasks/get", task, ""); h.Result.Status != "cancelled" {
		t.Errorf("%+v", h)
	}
	if e := w.waitForEvent(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
}

// A server that wants something of the client before a task goes on gets it by way
// of the task, in several rounds of one run.
func TestTask_serverWants(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	task, r := w.startTask("1", "a")
	w.answer(r, sayso.Allow)
	id := w.forwardedID(taskCall("1", "a"), "1")
	for i := range 2 {
		state := fmt.Sprint("s", i)
		w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required","inputRequests":{"` + state + `":{"method":"elicitation/create","params":{}}},"requestState":"` + state + `"}}`)
		if h := w.pollTask(task, "working"); h.Result.Status != "input_required" || !strings.Contains(string(h.Result.Requests), state) {
			t.Fatalf("%+v", h)
		}
		w.client.send(`{"jsonrpc":"2.0","id":"u","method":"tasks/update","params":{` + tasksMeta + `,"taskId":"` + task + `","inputResponses":{"` + state + `":{"action":"accept"}}}}`)
		again := strings.Replace(taskCall("1", "a"), `"params":{`, `"params":{"inputResponses":{"`+state+`":{"action":"accept"}},"requestState":"`+state+`",`, 1)
		id = w.forwardedID(again, "1")
		w.client.expect(`{"jsonrpc":"2.0","id":"u","result":{"resultType":"complete"}}`)
	}
	w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"done"}]}}`)
	if h := w.pollTask(task, "working"); h.text() != "done" {
		t.Errorf("%+v", h)
	}
	if e := w.waitForEvent(sayso.EventFinished); e.RequestID != r.ID {
		t.Errorf("finished: %s", e.Payload)
	}
	w.requests(0)
}

// A server that answers with a task of its own is asked for that, under the id
// that the client has.
func TestTask_ofTheServer(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	task, r := w.startTask("1", "a")
	w.answer(r, sayso.Allow)
	id := w.forwardedID(taskCall("1", "a"), "1")
	w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"task","taskId":"theirs","status":"working"}}`)
	w.waitForEvent(sayso.EventFinished)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		ask := `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{"taskId":"%s",` + tasksMeta + `}}`
		w.client.send(fmt.Sprintf(ask, task))
		w.server.expect(fmt.Sprintf(ask, "theirs"))
		const answer = `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","taskId":"%s","status":"completed","result":{"content":[],"taskId":"x"}}}`
		w.server.send(fmt.Sprintf(answer, "theirs"))
		w.client.expect(fmt.Sprintf(answer, task))
	}
	const other = `{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{"taskId":"theirs"}}`
	w.client.send(other)
	w.server.expect(other)
}

// A task that nobody has is an error, and so is one for a client that does not
// take tasks. Those of the server are the server's.
func TestTask_notThere(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	task, _ := w.startTask("1", "a")
	if h := w.askTask("tasks/get", string(sayso.NewID(time.Now(), [16]byte{1})), ""); h.Error.Code != -32602 {
		t.Errorf("%+v", h)
	}
	w.client.send(`{"jsonrpc":"2.0","id":"x","method":"tasks/get","params":{"taskId":"` + task + `"}}`)
	if h := w.taskResult(); h.Error.Code != -32021 || !strings.Contains(string(h.Error.Data), `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`) {
		t.Errorf("%+v", h)
	}
	if h := w.askTask("tasks/get", task, `,"taskid":"x"`); h.Error.Code != -32602 {
		t.Errorf("%+v", h)
	}
	const other = `{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{"taskId":"786512e2"}}`
	w.client.send(other)
	w.server.expect(other)
}

// A task outlives the gateway: the next one takes it up, once it knows that the
// tool is the same.
func TestTask_restart(t *testing.T) {
	recalls := func(w *harness) func(*gateway.Options) {
		return func(o *gateway.Options) { o.Calls = w.broker }
	}
	for name, effect := range map[string]sayso.Effect{"allowed": sayso.Allow, "denied": sayso.Deny} {
		t.Run(name, func(t *testing.T) {
			w := open(t, rules{})
			w.listTools(echoTool)
			task, r := w.startTask("1", "a")
			w.stop()
			w.start(recalls(w))
			if h := w.askTask("tasks/get", task, ""); h.Result.Status != "working" || !strings.Contains(h.Result.Message, "listed the tools") {
				t.Fatalf("%+v", h)
			}
			w.listTools(echoTool)
			if h := w.askTask("tasks/get", task, ""); h.Result.Status != "working" || !strings.Contains(h.Result.Message, r.ID.Short()) {
				t.Fatalf("%+v", h)
			}
			w.answer(w.requests(1)[0], effect)
			if effect == sayso.Deny {
				if h := w.pollTask(task, "working"); !strings.HasPrefix(h.text(), "Denied by ada") {
					t.Errorf("%+v", h)
				}
				return
			}
			want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},` + tasksMeta + `}}`
			id := w.forwardedID(want, "1")
			w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"done"}]}}`)
			if h := w.pollTask(task, "working"); h.text() != "done" {
				t.Errorf("%+v", h)
			}
			w.stop()
			w.start(recalls(w))
			w.listTools(echoTool)
			w.askTask("tasks/get", task, "")
			if h := w.pollTask(task, "working"); !h.Result.Result.IsError || !strings.Contains(h.text(), "whether the tool finished is not known") {
				t.Errorf("after it ran: %+v", h)
			}
		})
	}
	w := open(t, rules{})
	w.listTools(echoTool)
	task, r := w.startTask("1", "a")
	w.stop()
	w.start(recalls(w), func(o *gateway.Options) { o.Session = "another" })
	w.listTools(echoTool)
	if h := w.askTask("tasks/get", task, ""); h.Error.Code != -32602 {
		t.Errorf("in another session: %+v", h)
	}
	w.stop()
	w.start(recalls(w))
	w.listTools(strings.Replace(echoTool, "says", "sings", 1))
	w.askTask("tasks/get", task, "")
	if h := w.pollTask(task, "working"); !h.Result.Result.IsError {
		t.Errorf("with another definition: %+v", h)
	}
	w.answer(r, sayso.Allow)
	w.client.send(taskCall("2", "b"))
	w.client.receive() // and nothing at the server
}

// A definition that a person accepted meanwhile is not the one that people were
// asked about.
func TestTask_acceptedMeanwhile(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	task, r := w.startTask("1", "a")
	w.stop()
	w.start(func(o *gateway.Options) { o.Calls = w.broker })
	w.listTools(strings.Replace(echoTool, "says", "sings", 1))
	pins, err := w.broker.Pins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.broker.AcceptDefinition(t.Context(), person, "srv", "echo", pins.Of("srv")["echo"].Quarantined); err != nil {
		t.Fatal(err)
	}
	if h := w.askTask("tasks/get", task, ""); h.Result.Status != "completed" || !strings.HasPrefix(h.text(), "No longer valid (ticket "+r.ID.Short()) {
		t.Errorf("%+v", h)
	}
}

// What was decided while no gateway ran is found by the next.
func TestTask_decidedMeanwhile(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	task, r := w.startTask("1", "a")
	w.stop()
	w.answer(r, sayso.Allow)
	w.start(func(o *gateway.Options) { o.Calls = w.broker })
	w.listTools(echoTool)
	if h := w.askTask("tasks/get", task, ""); h.Result.Status != "working" {
		t.Errorf("%+v", h)
	}
	if line := w.server.receive(); !strings.Contains(line, `"arguments":{"text":"a"}`) {
		t.Error(line)
	}
}

// A task waits as long as its request may, whoever asks for it meanwhile.
func TestTask_waitsForDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.listTools(echoTool)
		task, r := w.startTask("1", "a")
		time.Sleep(100 * time.Hour) // of the bubble
		if h := w.askTask("tasks/get", task, ""); h.Result.Status != "working" {
			t.Errorf("%+v", h)
		}
		w.answer(r, sayso.Allow)
		w.forwardedID(taskCall("1", "a"), "1")
	})
}

// What a server says that it can do is said with tasks, to a client that takes
// them.
func TestTask_announced(t *testing.T) {
	w := open(t, rules{})
	for _, tt := range []struct{ params, can, want string }{
		{tasksMeta, `{"tools":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}},"tools":{}}`},
		{tasksMeta, `{ }`, `{"extensions":{"io.modelcontextprotocol/tasks":{}} }`},
		{tasksMeta, `{"extensions":{"x":{}}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}}`},
		{tasksMeta, `{"extensions":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{tasksMeta, `{"extensions":{"io.modelcontextprotocol/tasks":{"a":1}}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{"a":1}}}`},
		{current, `{"tools":{}}`, `{"tools":{}}`},
	} {
		ask := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + tt.params + `}}`
		w.client.send(ask)
		w.server.expect(ask)
		const answer = `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":%s,"x":1}}`
		w.server.send(fmt.Sprintf(answer, tt.can))
		w.client.expect(fmt.Sprintf(answer, tt.want))
	}
}

// What a call brought with it for an earlier round gives way to what its next
// round brings, wherever its id stands.
func TestTask_nextRound(t *testing.T) {
	const earlier = `"inputResponses":{"mine":1},"requestState":"forged",`
	for _, call := range []string{
		strings.Replace(taskCall("1", "a"), `"name":"echo"`, earlier+`"name":"echo"`, 1),
		`{"jsonrpc":"2.0","method":"tools/call","params":{` + tasksMeta + `,` + earlier + `"name":"echo","arguments":{"text":"a"}},"id":1}`,
	} {
		w := open(t, rules{})
		w.listTools(echoTool)
		w.client.send(call)
		task := w.taskResult().Result.Task
		w.answer(w.requests(1)[0], sayso.Allow)
		id := w.forwardedID(call, "1")
		w.server.send(inputRequiredWith(id, "real"))
		w.pollTask(task, "working")
		w.client.send(`{"jsonrpc":"2.0","id":"u","method":"tasks/update","params":{` + tasksMeta + `,"taskId":"` + task + `","inputResponses":{"a":{"action":"accept"}}}}`)
		again := strings.Replace(strings.Replace(call, earlier, "", 1), `"params":{`, `"params":{"inputResponses":{"a":{"action":"accept"}},"requestState":"real",`, 1)
		w.forwardedID(again, "1")
	}
}

// inputRequiredWith is a result by which a server wants something of the client first.
func inputRequiredWith(id, state string) string {
	return strings.Replace(inputRequiredResult(0, state), `"id":0`, `"id":`+id, 1)
}
