package gateway_test

import (
	"strconv"
	"testing"

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
