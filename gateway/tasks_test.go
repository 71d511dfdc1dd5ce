package gateway_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// Tasks that the server goes on with as its own never end here, and are bounded.
func TestTasks_ofTheServer(t *testing.T) {
	defer gateway.SetMaxTasks(2)()
	w := open(t, rules{})
	w.listTools(echoTool)
	for i := range 4 {
		id := strconv.Itoa(i + 1)
		_, r := w.startTask(id, "text "+id)
		w.answer(r, sayso.Allow)
		there := w.forwardedID(taskCall(id, "text "+id), id)
		w.server.send(`{"jsonrpc":"2.0","id":` + there + `,"result":{"resultType":"task","taskId":"theirs-` + id + `","status":"working"}}`)
		const ping = `{"jsonrpc":"2.0","id":"ping","result":{}}` // comes behind it
		w.server.send(ping)
		w.client.expect(ping)
	}
	if n := w.relay.Tasks(); n > 2 {
		t.Errorf("%d tasks are kept", n)
	}
}

// Tasks that were found in the log are bounded, and each is found again.
func TestTasks_recalled(t *testing.T) {
	defer gateway.SetMaxTasks(2)()
	w := open(t, rules{})
	w.listTools(echoTool)
	var tasks []string
	for i := range 4 {
		w.client.send(taskCall(strconv.Itoa(i), "text "+strconv.Itoa(i)))
		tasks = append(tasks, w.taskResult().Result.Task)
	}
	w.stop()
	w.start(func(o *gateway.Options) { o.Calls = w.broker }) // which has not seen the tools, so that they wait
	for range 2 {
		for _, task := range tasks {
			if h := w.askTask("tasks/get", task, ""); h.Result.Status != "working" {
				t.Fatalf("%+v", h)
			}
			if n := w.relay.Tasks(); n > 2 {
				t.Fatalf("%d tasks are kept", n)
			}
		}
	}
}

// inputTask has a task's call be answered by a server that wants something of the
// client first.
func (w *harness) inputTask(id string) (task string) {
	w.t.Helper()
	task, r := w.startTask(id, "text "+id)
	w.answer(r, sayso.Allow)
	there := w.forwardedID(taskCall(id, "text "+id), id)
	w.server.send(`{"jsonrpc":"2.0","id":` + there + `,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{}}},"requestState":"s"}}`)
	return task
}

// Tasks that wait for something of the client are bounded: one more ends, says why,
// and is recorded as not finished. The others go on, and make room.
func TestTasks_wanting(t *testing.T) {
	defer gateway.SetMaxInputRequired(2)()
	w := open(t, rules{})
	w.listTools(echoTool)
	var tasks []string
	for _, id := range []string{"1", "2"} {
		task := w.inputTask(id)
		if h := w.pollTask(task, "working"); h.Result.Status != "input_required" {
			t.Fatalf("%+v", h)
		}
		tasks = append(tasks, task)
	}
	over := w.inputTask("3")
	if h := w.pollTask(over, "working"); h.Result.Status != "completed" || !h.Result.Result.IsError || !strings.Contains(h.text(), "tasks/update") {
		t.Fatalf("%+v", h)
	}
	if e := w.waitForEvent(sayso.EventFinished); string(e.RequestID) != over || !strings.Contains(string(e.Payload), `"failed":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.client.send(`{"jsonrpc":"2.0","id":"u","method":"tasks/update","params":{` + tasksMeta + `,"taskId":"` + tasks[0] + `","inputResponses":{"a":{"action":"accept"}}}}`)
	again := strings.Replace(taskCall("1", "text 1"), `"params":{`, `"params":{"inputResponses":{"a":{"action":"accept"}},"requestState":"s",`, 1)
	w.forwardedID(again, "1")
	w.client.expect(`{"jsonrpc":"2.0","id":"u","result":{"resultType":"complete"}}`)
	if h := w.pollTask(w.inputTask("4"), "working"); h.Result.Status != "input_required" {
		t.Errorf("where one goes on there is room: %+v", h)
	}
}

// A task whose client had an hour to answer gives way to another.
func TestTasks_wantingForHours(t *testing.T) {
	defer gateway.SetMaxInputRequired(1)()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.listTools(echoTool)
		first := w.inputTask("1")
		if h := w.pollTask(first, "working"); h.Result.Status != "input_required" {
			t.Fatalf("%+v", h)
		}
		time.Sleep(time.Hour + time.Second) // in a bubble, where it takes no time
		if h := w.pollTask(w.inputTask("2"), "working"); h.Result.Status != "input_required" {
			t.Errorf("the next one: %+v", h)
		}
		if h := w.askTask("tasks/get", first, ""); h.Result.Status != "completed" || !strings.Contains(h.text(), "within an hour") {
			t.Errorf("the first: %+v", h)
		}
	})
}

// A call that is decided soon is answered like any other, whatever its client takes.
func TestTasks_decidedSoon(t *testing.T) {
	gateway.SetTaskPatience(t, time.Minute)
	w := open(t, rules{})
	w.listTools(echoTool)
	call := taskCall("1", "hi")
	w.client.send(call)
	w.answer(w.requests(1)[0], sayso.Allow)
	w.server.expect(call)
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}`
	w.server.send(answer)
	w.client.expect(answer)
	w.client.send(taskCall("2", "no"))
	w.answer(w.requests(1)[0], sayso.Deny)
	if got := w.client.receive(); strings.Contains(got, "taskId") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("a call that was denied: %s", got)
	}
	if n := w.relay.Tasks(); n != 0 {
		t.Errorf("%d tasks are kept", n)
	}
}

// What people are asked about a server that wants the client's model to write
// something is no call of a tool, and no task.
func TestTasks_notSampling(t *testing.T) {
	w := open(t, rules{}, func(o *gateway.Options) { o.Calls = o.Pins.(gateway.Calls) })
	w.server.send(`{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{"messages":[]}}`)
	r := w.requests(1)[0]
	if h := w.askTask("tasks/get", string(r.ID), ""); h.Error.Code != -32602 {
		t.Errorf("%+v", h)
	}
}

// Its client is to ask often for a task that has just changed, and seldom for one that
// waits for long.
func TestTask_pollInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.listTools(echoTool)
		task, r := w.startTask("1", "a")
		expect := func(want int64) {
			t.Helper()
			if h := w.askTask("tasks/get", task, ""); h.Result.Poll != want {
				t.Errorf("after %v: every %d ms, want %d", time.Since(r.ID.Time()), h.Result.Poll, want)
			}
		}
		expect(1000)
		time.Sleep(30 * time.Second) // of the bubble
		expect(3000)
		time.Sleep(time.Hour)
		expect(5000)
		w.answer(r, sayso.Allow)
		w.forwardedID(taskCall("1", "a"), "1")
		expect(1000)
	})
}
