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
	w.lists(echoTool)
	for i := range 4 {
		id := strconv.Itoa(i + 1)
		_, r := w.begun(id, "text "+id)
		w.answer(r, sayso.Allow)
		there := w.ours(tasked(id, "text "+id), id)
		w.server.send(`{"jsonrpc":"2.0","id":` + there + `,"result":{"resultType":"task","taskId":"theirs-` + id + `","status":"working"}}`)
		const ping = `{"jsonrpc":"2.0","id":"ping","result":{}}` // comes behind it
		w.server.send(ping)
		w.client.got(ping)
	}
	if n := w.relay.Tasks(); n > 2 {
		t.Errorf("%d tasks are kept", n)
	}
}

// Tasks that were found in the log are bounded, and each is found again.
func TestTasks_recalled(t *testing.T) {
	defer gateway.SetMaxTasks(2)()
	w := open(t, rules{})
	w.lists(echoTool)
	var tasks []string
	for i := range 4 {
		w.client.send(tasked(strconv.Itoa(i), "text "+strconv.Itoa(i)))
		tasks = append(tasks, w.handed().Result.Task)
	}
	w.stop()
	w.start(func(o *gateway.Options) { o.Calls = w.broker }) // which has not seen the tools, so that they wait
	for range 2 {
		for _, task := range tasks {
			if h := w.about("tasks/get", task, ""); h.Result.Status != "working" {
				t.Fatalf("%+v", h)
			}
			if n := w.relay.Tasks(); n > 2 {
				t.Fatalf("%d tasks are kept", n)
			}
		}
	}
}

// wanted has a task's call be answered by a server that wants something of the
// client first.
func (w *world) wanted(id string) (task string) {
	w.t.Helper()
	task, r := w.begun(id, "text "+id)
	w.answer(r, sayso.Allow)
	there := w.ours(tasked(id, "text "+id), id)
	w.server.send(`{"jsonrpc":"2.0","id":` + there + `,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{}}},"requestState":"s"}}`)
	return task
}

// Tasks that wait for something of the client are bounded: one more ends, says why,
// and is recorded as not finished. The others go on, and make room.
func TestTasks_wanting(t *testing.T) {
	defer gateway.SetMaxWanting(2)()
	w := open(t, rules{})
	w.lists(echoTool)
	var tasks []string
	for _, id := range []string{"1", "2"} {
		task := w.wanted(id)
		if h := w.stands(task, "working"); h.Result.Status != "input_required" {
			t.Fatalf("%+v", h)
		}
		tasks = append(tasks, task)
	}
	over := w.wanted("3")
	if h := w.stands(over, "working"); h.Result.Status != "completed" || !h.Result.Result.IsError || !strings.Contains(h.text(), "tasks/update") {
		t.Fatalf("%+v", h)
	}
	if e := w.until(sayso.EventFinished); string(e.RequestID) != over || !strings.Contains(string(e.Payload), `"failed":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.client.send(`{"jsonrpc":"2.0","id":"u","method":"tasks/update","params":{` + takesTasks + `,"taskId":"` + tasks[0] + `","inputResponses":{"a":{"action":"accept"}}}}`)
	again := strings.Replace(tasked("1", "text 1"), `"params":{`, `"params":{"inputResponses":{"a":{"action":"accept"}},"requestState":"s",`, 1)
	w.ours(again, "1")
	w.client.got(`{"jsonrpc":"2.0","id":"u","result":{"resultType":"complete"}}`)
	if h := w.stands(w.wanted("4"), "working"); h.Result.Status != "input_required" {
		t.Errorf("where one goes on there is room: %+v", h)
	}
}

// A task whose client had an hour to answer gives way to another.
func TestTasks_wantingForHours(t *testing.T) {
	defer gateway.SetMaxWanting(1)()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.lists(echoTool)
		first := w.wanted("1")
		if h := w.stands(first, "working"); h.Result.Status != "input_required" {
			t.Fatalf("%+v", h)
		}
		time.Sleep(time.Hour + time.Second) // in a bubble, where it takes no time
		if h := w.stands(w.wanted("2"), "working"); h.Result.Status != "input_required" {
			t.Errorf("the next one: %+v", h)
		}
		if h := w.about("tasks/get", first, ""); h.Result.Status != "completed" || !strings.Contains(h.text(), "within an hour") {
			t.Errorf("the first: %+v", h)
		}
	})
}

// What people are asked about a server that wants the client's model to write
// something is no call of a tool, and no task.
func TestTasks_notSampling(t *testing.T) {
	w := open(t, rules{}, func(o *gateway.Options) { o.Calls = o.Pins.(gateway.Calls) })
	w.server.send(`{"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{"messages":[]}}`)
	r := w.asked(1)[0]
	if h := w.about("tasks/get", string(r.ID), ""); h.Error.Code != -32602 {
		t.Errorf("%+v", h)
	}
}
