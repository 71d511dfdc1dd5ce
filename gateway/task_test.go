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

// takesTasks is what a client says with each request that takes tasks.
const takesTasks = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// tasked is a call of the tool echo by such a client.
func tasked(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + takesTasks + `,"name":"echo","arguments":{"text":"` + text + `"}}}`
}

// handed is an answer about a task.
type handed struct {
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

func (h *handed) text() string {
	if len(h.Result.Result.Content) != 1 {
		return ""
	}
	return h.Result.Result.Content[0].Text
}

func (w *world) handed() handed {
	w.t.Helper()
	line := w.client.gets()
	var h handed
	if err := jcs.UnmarshalLenient([]byte(line), &h); err != nil {
		w.t.Fatalf("%v: %s", err, line)
	}
	return h
}

// about asks about a task.
func (w *world) about(method, task, more string) handed {
	w.t.Helper()
	w.client.send(`{"jsonrpc":"2.0","id":"about","method":"` + method + `","params":{` + takesTasks + `,"taskId":"` + task + `"` + more + `}}`)
	return w.handed()
}

// stands asks for a task until it is no longer as it was.
func (w *world) stands(task, was string) handed {
	w.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if h := w.about("tasks/get", task, ""); h.Result.Status != was {
			return h
		}
	}
	w.t.Fatalf("the task is %s", was)
	return handed{}
}

// ours is the id under which the server got a line, which otherwise is this one.
func (w *world) ours(want, id string) string {
	w.t.Helper()
	line := w.server.gets()
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

// begun is a task that people are asked about.
func (w *world) begun(id, text string) (task string, r sayso.Request) {
	w.t.Helper()
	w.client.send(tasked(id, text))
	h := w.handed()
	if _, err := w.broker.Inbox(person).Request(w.t.Context(), h.Result.Task); err != nil {
		w.t.Fatalf("the client has a task that is not in the log: %v", err)
	}
	r = w.asked(1)[0]
	if string(h.ID) != id || h.Result.Type != "task" || h.Result.Task != string(r.ID) || h.Result.Status != "working" || h.Result.Poll != 5000 ||
		!strings.Contains(h.Result.Message, "`sayso approve "+r.ID.Short()+"`") || h.Result.Created == "" {
		w.t.Fatalf("handed %+v for %s", h, r.ID)
	}
	return h.Result.Task, r
}

// A client that takes tasks is given one for a call that people are asked about,
// and later what the server answered. One that does not is not.
func TestTask_allowed(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	task, r := w.begun("1", "a")
	if h := w.about("tasks/get", task, ""); h.Result.Type != "complete" || h.Result.Status != "working" || h.Result.TTL != nil {
		t.Errorf("while people are asked: %+v", h)
	}
	w.answer(r, sayso.Allow)
	id := w.ours(tasked("1", "a"), "1")
	if h := w.about("tasks/get", task, ""); h.Result.Status != "working" || h.Result.Message != "Allowed; the tool runs." {
		t.Errorf("while it runs: %+v", h)
	}
	w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}}`)
	if h := w.stands(task, "working"); h.Result.Status != "completed" || h.text() != "done" || h.Result.Result.IsError {
		t.Errorf("in the end: %+v", h)
	}
	if e := w.until(sayso.EventFinished); e.RequestID != r.ID || strings.Contains(string(e.Payload), `"failed":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.client.send(says(2, "a", ""))
	w.asked(1)
	w.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	w.until(sayso.EventWithdrawn)
}

// A call that nobody is asked about is answered as ever.
func TestTask_notAsked(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow, "rm": sayso.Deny})
	w.lists(echoTool + `,{"name":"rm","inputSchema":{}}`)
	w.client.send(tasked("1", "a"))
	w.server.got(tasked("1", "a"))
	const result = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}`
	w.server.send(result)
	w.client.got(result)
	w.client.send(strings.Replace(tasked("2", "a"), "echo", "rm", 1))
	if text := w.refused(w.client.gets(), "2"); !strings.HasPrefix(text, "Denied by policy") {
		t.Error(text)
	}
}

// Each way of not getting a yes ends a task in its own words.
func TestTask_ends(t *testing.T) {
	for name, tt := range map[string]struct {
		do           func(w *world, task string, r sayso.Request)
		status, text string
	}{
		"denied": {func(w *world, _ string, r sayso.Request) {
			w.answer(r, sayso.Deny, func(a *sayso.Answer) { a.Note = "not now" })
		}, "completed", "Denied by ada (ticket %s): not now"},
		"withdrawn": {func(w *world, _ string, r sayso.Request) {
			if err := w.broker.Gate(asker).Withdraw(w.t.Context(), r.ID, "elsewhere"); err != nil {
				w.t.Fatal(err)
			}
		}, "completed", "Withdrawn (ticket %s)"},
		"cancelled": {func(w *world, task string, _ sayso.Request) {
			if h := w.about("tasks/cancel", task, ""); h.Result.Type != "complete" || h.Error.Code != 0 {
				w.t.Errorf("cancelling: %+v", h)
			}
			w.until(sayso.EventWithdrawn)
		}, "cancelled", ""},
		"edited amiss": {func(w *world, _ string, r sayso.Request) {
			w.answer(r, sayso.Allow, func(a *sayso.Answer) { a.Args = sayso.Args(`{"text":7}`) })
		}, "completed", "Approved with other arguments (ticket %s)"},
		"another definition": {func(w *world, _ string, r sayso.Request) {
			w.lists(strings.Replace(echoTool, "says", "sings", 1))
			w.answer(r, sayso.Allow)
		}, "completed", "No longer valid (ticket %s)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, rules{})
			w.lists(echoTool)
			task, r := w.begun("1", "a")
			tt.do(w, task, r)
			want := tt.text
			if want != "" {
				want = fmt.Sprintf(want, r.ID.Short())
			}
			h := w.stands(task, "working")
			if h.Result.Status != tt.status || !strings.HasPrefix(h.text(), want) || h.Result.Result.IsError != (want != "") {
				t.Errorf("%+v", h)
			}
			const ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}`
			w.client.send(ping)
			w.server.got(ping) // and nothing of the task before
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
		w.lists(echoTool)
		task, r := w.begun("1", "a")
		w.answer(r, sayso.Allow)
		id := w.ours(tasked("1", "a"), "1")
		w.server.send(`{"jsonrpc":"2.0","id":` + id + `,` + tt.answer + `}`)
		if h := w.stands(task, "working"); h.Result.Status != "failed" || !strings.Contains(h.Result.Error.Message, tt.says) || h.Result.Error.Code == 0 {
			t.Errorf("%s: %+v", tt.answer, h)
		}
		if e := w.until(sayso.EventFinished); !strings.Contains(string(e.Payload), `"failed":true`) {
			t.Errorf("finished: %s", e.Payload)
		}
	}
}

// A task that is cancelled while it runs is cancelled at the server, and what it
// answers then is nobody's.
func TestTask_cancelledWhileItRuns(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	task, r := w.begun("1", "a")
	w.answer(r, sayso.Allow)
	id := w.ours(tasked("1", "a"), "1")
	w.about("tasks/get", task, "")
	w.client.send(`{"jsonrpc":"2.0","id":5,"method":"tasks/cancel","params":{` + takesTasks + `,"taskId":"` + task + `"}}`)
	w.server.got(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	w.client.got(`{"jsonrpc":"2.0","id":5,"result":{"resultType":"complete"}}`)
	if h := w.about("tasks/get", task, ""); h.Result.Status != "cancelled" {
		t.Errorf("%+v", h)
	}
	if e := w.until(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
}

// A server that wants something of the client before a task goes on gets it by way
// of the task, in several rounds of one run.
func TestTask_serverWants(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	task, r := w.begun("1", "a")
	w.answer(r, sayso.Allow)
	id := w.ours(tasked("1", "a"), "1")
	for i := range 2 {
		state := fmt.Sprint("s", i)
		w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required","inputRequests":{"` + state + `":{"method":"elicitation/create","params":{}}},"requestState":"` + state + `"}}`)
		if h := w.stands(task, "working"); h.Result.Status != "input_required" || !strings.Contains(string(h.Result.Requests), state) {
			t.Fatalf("%+v", h)
		}
		w.client.send(`{"jsonrpc":"2.0","id":"u","method":"tasks/update","params":{` + takesTasks + `,"taskId":"` + task + `","inputResponses":{"` + state + `":{"action":"accept"}}}}`)
		again := strings.Replace(tasked("1", "a"), `"params":{`, `"params":{"inputResponses":{"`+state+`":{"action":"accept"}},"requestState":"`+state+`",`, 1)
		id = w.ours(again, "1")
		w.client.got(`{"jsonrpc":"2.0","id":"u","result":{"resultType":"complete"}}`)
	}
	w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"done"}]}}`)
	if h := w.stands(task, "working"); h.text() != "done" {
		t.Errorf("%+v", h)
	}
	if e := w.until(sayso.EventFinished); e.RequestID != r.ID {
		t.Errorf("finished: %s", e.Payload)
	}
	w.asked(0)
}

// A server that answers with a task of its own is asked for that, under the id
// that the client has.
func TestTask_ofTheServer(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	task, r := w.begun("1", "a")
	w.answer(r, sayso.Allow)
	id := w.ours(tasked("1", "a"), "1")
	w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"task","taskId":"theirs","status":"working"}}`)
	w.until(sayso.EventFinished)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		ask := `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{"taskId":"%s",` + takesTasks + `}}`
		w.client.send(fmt.Sprintf(ask, task))
		w.server.got(fmt.Sprintf(ask, "theirs"))
		const answer = `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","taskId":"%s","status":"completed","result":{"content":[],"taskId":"x"}}}`
		w.server.send(fmt.Sprintf(answer, "theirs"))
		w.client.got(fmt.Sprintf(answer, task))
	}
	const other = `{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{"taskId":"theirs"}}`
	w.client.send(other)
	w.server.got(other)
}

// A task that nobody has is an error, and so is one for a client that does not
// take tasks. Those of the server are the server's.
func TestTask_notThere(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	task, _ := w.begun("1", "a")
	if h := w.about("tasks/get", string(sayso.NewID(time.Now(), [16]byte{1})), ""); h.Error.Code != -32602 {
		t.Errorf("%+v", h)
	}
	w.client.send(`{"jsonrpc":"2.0","id":"x","method":"tasks/get","params":{"taskId":"` + task + `"}}`)
	if h := w.handed(); h.Error.Code != -32021 || !strings.Contains(string(h.Error.Data), `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`) {
		t.Errorf("%+v", h)
	}
	if h := w.about("tasks/get", task, `,"taskid":"x"`); h.Error.Code != -32602 {
		t.Errorf("%+v", h)
	}
	const other = `{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{"taskId":"786512e2"}}`
	w.client.send(other)
	w.server.got(other)
}

// A task outlives the gateway: the next one takes it up, once it knows that the
// tool is the same.
func TestTask_restart(t *testing.T) {
	recalls := func(w *world) func(*gateway.Options) {
		return func(o *gateway.Options) { o.Calls = w.broker }
	}
	for name, effect := range map[string]sayso.Effect{"allowed": sayso.Allow, "denied": sayso.Deny} {
		t.Run(name, func(t *testing.T) {
			w := open(t, rules{})
			w.lists(echoTool)
			task, r := w.begun("1", "a")
			w.stop()
			w.start(recalls(w))
			if h := w.about("tasks/get", task, ""); h.Result.Status != "working" || !strings.Contains(h.Result.Message, "listed the tools") {
				t.Fatalf("%+v", h)
			}
			w.lists(echoTool)
			if h := w.about("tasks/get", task, ""); h.Result.Status != "working" || !strings.Contains(h.Result.Message, r.ID.Short()) {
				t.Fatalf("%+v", h)
			}
			w.answer(w.asked(1)[0], effect)
			if effect == sayso.Deny {
				if h := w.stands(task, "working"); !strings.HasPrefix(h.text(), "Denied by ada") {
					t.Errorf("%+v", h)
				}
				return
			}
			want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},` + takesTasks + `}}`
			id := w.ours(want, "1")
			w.server.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"done"}]}}`)
			if h := w.stands(task, "working"); h.text() != "done" {
				t.Errorf("%+v", h)
			}
			w.stop()
			w.start(recalls(w))
			w.lists(echoTool)
			w.about("tasks/get", task, "")
			if h := w.stands(task, "working"); !h.Result.Result.IsError || !strings.Contains(h.text(), "whether the tool finished is not known") {
				t.Errorf("after it ran: %+v", h)
			}
		})
	}
	w := open(t, rules{})
	w.lists(echoTool)
	task, r := w.begun("1", "a")
	w.stop()
	w.start(recalls(w), func(o *gateway.Options) { o.Session = "another" })
	w.lists(echoTool)
	if h := w.about("tasks/get", task, ""); h.Error.Code != -32602 {
		t.Errorf("in another session: %+v", h)
	}
	w.stop()
	w.start(recalls(w))
	w.lists(strings.Replace(echoTool, "says", "sings", 1))
	w.about("tasks/get", task, "")
	if h := w.stands(task, "working"); !h.Result.Result.IsError {
		t.Errorf("with another definition: %+v", h)
	}
	w.answer(r, sayso.Allow)
	w.client.send(tasked("2", "b"))
	w.client.gets() // and nothing at the server
}

// A definition that a person accepted meanwhile is not the one that people were
// asked about.
func TestTask_acceptedMeanwhile(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	task, r := w.begun("1", "a")
	w.stop()
	w.start(func(o *gateway.Options) { o.Calls = w.broker })
	w.lists(strings.Replace(echoTool, "says", "sings", 1))
	pins, err := w.broker.Pins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.broker.AcceptDefinition(t.Context(), person, "srv", "echo", pins.Of("srv")["echo"].Quarantined); err != nil {
		t.Fatal(err)
	}
	if h := w.about("tasks/get", task, ""); h.Result.Status != "completed" || !strings.HasPrefix(h.text(), "No longer valid (ticket "+r.ID.Short()) {
		t.Errorf("%+v", h)
	}
}

// What was decided while no gateway ran is found by the next.
func TestTask_decidedMeanwhile(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	task, r := w.begun("1", "a")
	w.stop()
	w.answer(r, sayso.Allow)
	w.start(func(o *gateway.Options) { o.Calls = w.broker })
	w.lists(echoTool)
	if h := w.about("tasks/get", task, ""); h.Result.Status != "working" {
		t.Errorf("%+v", h)
	}
	if line := w.server.gets(); !strings.Contains(line, `"arguments":{"text":"a"}`) {
		t.Error(line)
	}
}

// A task waits as long as its request may, whoever asks for it meanwhile.
func TestTask_waitsForDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.lists(echoTool)
		task, r := w.begun("1", "a")
		time.Sleep(100 * time.Hour) // of the bubble
		if h := w.about("tasks/get", task, ""); h.Result.Status != "working" {
			t.Errorf("%+v", h)
		}
		w.answer(r, sayso.Allow)
		w.ours(tasked("1", "a"), "1")
	})
}

// What a server says that it can do is said with tasks, to a client that takes
// them.
func TestTask_announced(t *testing.T) {
	w := open(t, rules{})
	for _, tt := range []struct{ params, can, want string }{
		{takesTasks, `{"tools":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}},"tools":{}}`},
		{takesTasks, `{ }`, `{"extensions":{"io.modelcontextprotocol/tasks":{}} }`},
		{takesTasks, `{"extensions":{"x":{}}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}}`},
		{takesTasks, `{"extensions":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{takesTasks, `{"extensions":{"io.modelcontextprotocol/tasks":{"a":1}}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{"a":1}}}`},
		{current, `{"tools":{}}`, `{"tools":{}}`},
	} {
		ask := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + tt.params + `}}`
		w.client.send(ask)
		w.server.got(ask)
		const answer = `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":%s,"x":1}}`
		w.server.send(fmt.Sprintf(answer, tt.can))
		w.client.got(fmt.Sprintf(answer, tt.want))
	}
}

// What a call brought with it for an earlier round gives way to what its next
// round brings, wherever its id stands.
func TestTask_nextRound(t *testing.T) {
	const earlier = `"inputResponses":{"mine":1},"requestState":"forged",`
	for _, call := range []string{
		strings.Replace(tasked("1", "a"), `"name":"echo"`, earlier+`"name":"echo"`, 1),
		`{"jsonrpc":"2.0","method":"tools/call","params":{` + takesTasks + `,` + earlier + `"name":"echo","arguments":{"text":"a"}},"id":1}`,
	} {
		w := open(t, rules{})
		w.lists(echoTool)
		w.client.send(call)
		task := w.handed().Result.Task
		w.answer(w.asked(1)[0], sayso.Allow)
		id := w.ours(call, "1")
		w.server.send(wantsOf(id, "real"))
		w.stands(task, "working")
		w.client.send(`{"jsonrpc":"2.0","id":"u","method":"tasks/update","params":{` + takesTasks + `,"taskId":"` + task + `","inputResponses":{"a":{"action":"accept"}}}}`)
		again := strings.Replace(strings.Replace(call, earlier, "", 1), `"params":{`, `"params":{"inputResponses":{"a":{"action":"accept"}},"requestState":"real",`, 1)
		w.ours(again, "1")
	}
}

// wantsOf is a result by which a server wants something of the client first.
func wantsOf(id, state string) string {
	return strings.Replace(wants(0, state), `"id":0`, `"id":`+id, 1)
}
