package gateway_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// What is not judged passes both ways to the byte, in its order.
func TestRelay_passesTheRest(t *testing.T) {
	w := open(t, rules{})
	both := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
		`{ "jsonrpc" : "2.0" ,"method":"notifications/progress","params":{"progressToken":1,"progress":1e-7}}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3.5,"method":"resources/read","params":{"uri":"a:\u0041"},"extra":[]}`,
		`{"jsonrpc":"2.0","id":"x","result":{"roots":[{"uri":"file:///"}]}}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	}
	for _, line := range both {
		w.client.send(line)
		w.server.expect(line)
		w.server.send(line)
		w.client.expect(line)
	}
}

// A call that is allowed is forwarded as the very bytes that came, and so is its
// answer.
func TestGW3_forwardsTheBytesThatWereJudged(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow})
	if got := w.listTools(echoTool); !strings.Contains(got, echoTool) {
		t.Fatal(got)
	}
	for id, spelled := range map[string]string{
		`1`:                `{"text":"a"}`,
		`9007199254740993`: `{ "text" : "\u0062", "n":12345678901234567890 }`,
		`3.5`:              `{"text":"c","z":1,"a":2}`,
		`"one"`:            `{"text":"é"}`,
	} {
		call := `{"method":"tools/call",  "params":{"_meta":{"x":1},"name":"echo","arguments":` + spelled + `,"task":{"ttl":1}},"id":` + id + `,"jsonrpc":"2.0"}`
		w.client.send(call)
		w.server.expect(call)
		answer := `{"result":{"content":[{"type":"text","text":"a","a":1,"a":2}],"structuredContent":{"n":1e400}},"jsonrpc":"2.0","id":` + id + `}`
		w.server.send(answer)
		w.client.expect(answer)
	}
}

// What can be read in two ways is not forwarded.
func TestGW3_refusesWhatIsNotStrict(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow, "rm": sayso.Deny})
	w.listTools(echoTool)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"rm","arguments":{"text":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"echo","arguments":{"text":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"rm"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call","params":{"name":"rm"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"rm"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000","params":{"name":"rm"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tool\u017f/call","params":{"name":"rm"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"rm","arguments":{"text":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name\u0000":"rm","arguments":{"text":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","text":"b"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":{"text":"a","text":"b"}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["echo"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"result":{}}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"echo","arguments":{}}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"rm"}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}]`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + "\xff" + `"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud800"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":1e999}}}`,
		`{"jsonrpc":"2.0","id":1,"meth`, `tools/call`, `{"jsonrpc":"2.0","id":1}`,
	} {
		w.client.send(line)
		if got := w.client.receive(); !strings.Contains(got, `"error":{"code":-32`) {
			t.Errorf("%s: %s", line, got)
		}
	}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	w.client.send(ping)
	w.server.expect(ping) // and nothing of the above before
}

// No reader sees two messages where one was judged: of those that end lines with a
// carriage return as well, Python's, Java's and .NET's among them, each sees one.
func TestGW3_oneLineForEveryReader(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow, "rm": sayso.Deny})
	w.listTools(echoTool)
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	within := func(message string) string {
		return `{"jsonrpc":"2.0","method":"notifications/x","params":[` + "\r" + message + "\r" + `]}`
	}
	for _, line := range []string{
		within(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"rm"}}`), "\r" + ping, ping + "\r\r", `{"jsonrpc":"2.0",` + "\r" + `"id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{` + "\r" + `"text":"a"}}}`,
	} {
		w.client.send(line)
		if got := w.client.receive(); !strings.Contains(got, `"error":{"code":-32600`) {
			t.Errorf("%q: %s", line, got)
		}
	}
	w.client.send(ping + "\r") // the end of a line, as Windows has it
	w.server.expect(ping)      // and nothing of the above before
	for _, line := range []string{
		within(`{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{"messages":[]}}`),
		within(`{"jsonrpc":"2.0","id":"list","result":{"tools":[{"name":"new"}]}}`), "\r" + ping, ping + "\r\r",
	} {
		w.server.send(line)
	}
	w.server.send(ping + "\r")
	w.client.expect(ping)
}

// A call that people are asked about waits, and all else goes on.
func TestRelay_holds(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	r := w.requests(1)[0]
	if r.Server != "srv" || r.Tool != "echo" || r.Host != sayso.HostMCP || r.Rule != "a rule" {
		t.Errorf("asked: %+v", r)
	}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	w.client.send(ping)
	w.server.expect(ping)
	w.answer(r, sayso.Allow)
	w.server.expect(echo("1", "a"))
	w.server.send(`{"jsonrpc":"2.0","id":1.0,"result":{"isError":true,"content":[]}}`)
	w.client.receive()
	if e := w.waitForEvent(sayso.EventFinished); !strings.Contains(string(e.Payload), `"failed":true`) || e.RequestID != r.ID {
		t.Errorf("finished: %s", e.Payload)
	}
}

// Each way of not getting a yes has its own words for the model.
func TestRelay_refuses(t *testing.T) {
	w := open(t, rules{"rm": sayso.Deny}, func(o *gateway.Options) { o.Impatience = time.Millisecond })
	w.listTools(echoTool + `,{"name":"rm","inputSchema":{}}`)
	w.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}`)
	if text := w.refusalOf(w.client.receive(), "1"); !strings.HasPrefix(text, "Denied by policy") {
		t.Error(text)
	}
	w.client.send(echo("2", "a"))
	if text := w.refusalOf(w.client.receive(), "2"); !strings.HasPrefix(text, "Not decided yet, ticket ") {
		t.Error(text)
	}
	r := w.requests(1)[0]
	w.answer(r, sayso.Deny, func(a *sayso.Answer) { a.Note = "use the other one" })
	w.client.send(echo("3", "a"))
	if text := w.refusalOf(w.client.receive(), "3"); !strings.HasSuffix(text, ": use the other one") {
		t.Error(text)
	}
	w.client.send(echo("4", "a"))
	w.refusalOf(w.client.receive(), "4")
	w.answer(w.requests(1)[0], sayso.Allow)
	w.client.send(echo("5", "a"))
	w.server.expect(echo("5", "a")) // what was answered meanwhile is taken up by the same call
}

// A call that the client cancelled does not run, whatever is answered.
func TestRelay_cancelled(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	w.requests(1)
	w.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
	w.waitForEvent(sayso.EventWithdrawn)
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	w.client.send(ping)
	w.server.expect(ping) // and no cancellation of what the server never got
	w.client.send(echo("3", "a"))
	w.answer(w.requests(1)[0], sayso.Allow)
	w.server.expect(echo("3", "a"))
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`
	w.client.send(cancel)
	w.server.expect(cancel)
	if e := w.waitForEvent(sayso.EventFinished); !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.client.send(echo("3", "b")) // the server need not answer the other
	w.answer(w.requests(1)[0], sayso.Allow)
	w.server.expect(echo("3", "b"))
}

// Many calls that wait are all taken back by their client: nobody is asked any more, none
// reaches the server, and nothing of them is kept.
func TestRelay_cancelledMany(t *testing.T) {
	const n = 300
	w := open(t, rules{})
	w.listTools(echoTool)
	for i := range n {
		w.client.send(echo(strconv.Itoa(i), "a"+strconv.Itoa(i)))
	}
	open := w.requests(n)
	for i := range n {
		w.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + strconv.Itoa(i) + `}}`)
	}
	w.requests(0)
	for _, r := range open[:10] {
		if _, err := w.broker.Inbox(person).Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err == nil {
			t.Error("what was taken back could be allowed")
		}
	}
	const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	w.client.send(ping)
	w.server.expect(ping) // and nothing before
	for end := time.Now().Add(30 * time.Second); w.relay.Held() > 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d calls are still known", w.relay.Held())
		}
	}
}

// A call whose answer cannot be read has failed, if it is certain which it is.
func TestRelay_unreadableAnswer(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow})
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	w.server.expect(echo("1", "a"))
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"id":2,"result":{},"result":{}}`, `{"id":1,"Id":2,"result":{},"result":{}}`,
		`{"id":1,"method":"x","result":{}}`, `{"id":1,"result":{},"result":{}} {}`, `[{"id":1}]`, `{"id":2,"result":{},"result":{}}`, `{"id":1,`,
	} {
		w.server.send(line) // left out
	}
	w.server.send(`{"jsonrpc":"2.0","id":1,"result":{},"result":{"content":[]}}`)
	if got := w.client.receive(); !strings.Contains(got, `"id":1,"error":{"code":-32603`) {
		t.Error(got)
	}
	if e := w.waitForEvent(sayso.EventFinished); !strings.Contains(string(e.Payload), `"failed":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
}

// The cancellation of a call that is on its way reaches the server behind it.
func TestRelay_cancelledOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.listTools(echoTool)
		send := w.relay.Forwarding("1", echo("1", "a"))
		const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
		w.client.send(cancel)
		synctest.Wait() // whatever the relay does with it is done
		sent := make(chan error)
		go func() { sent <- send() }()
		w.server.expect(echo("1", "a"))
		w.server.expect(cancel)
		if err := <-sent; err != nil {
			t.Error(err)
		}
	})
}

// What a client calls itself stands behind what it is, and can be read as
// nothing else.
func TestRelay_caller(t *testing.T) {
	for _, tt := range []struct{ info, meta, want string }{
		{`{"name":"my-agent","version":"1"}`, "", "mcp/my-agent"},
		{`{"name":"claude-code/main"}`, "", "mcp/claude-code-main"},
		{`{"name":"../claude\u202e\u001b[2J code"}`, "", "mcp/..-claude---2J-code"},
		{`{"name":"` + strings.Repeat("x", 1000) + `"}`, "", "mcp/" + strings.Repeat("x", 40)},
		{`{"name":"\u00e4\u00f6"}`, "", "mcp"},
		{`{"name":7}`, "", "mcp"},
		{`"my-agent"`, "", "mcp"},
		{`{"name":"my-agent"}`, `{"name":"another"}`, "mcp/another"},
	} {
		w := open(t, rules{})
		begin := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":` + tt.info + `}}`
		w.client.send(begin)
		w.server.expect(begin)
		w.listTools(echoTool)
		call := echo("1", "a")
		if tt.meta != "" {
			call = strings.Replace(call, `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/clientInfo":`+tt.meta+`},`, 1)
		}
		w.client.send(call)
		if r := w.requests(1)[0]; r.Caller != tt.want || r.Host != "mcp" {
			t.Errorf("%s: %q in %q", tt.info, r.Caller, r.Host)
		}
	}
}

// The arguments that a person put in the place of the caller's are forwarded if
// the tool takes them, with everything else as it was.
func TestRelay_edited(t *testing.T) {
	for _, tt := range []struct{ sent, args, want string }{
		{`{"id":1,"method":"tools/call","params":{"task":{}, "arguments" : {"text":"a"} ,"name":"echo"},"jsonrpc":"2.0"}`, "{\n\"text\": \"b\"\n}",
			`{"id":1,"method":"tools/call","params":{"task":{}, "arguments" : {"text":"b"} ,"name":"echo"},"jsonrpc":"2.0"}`},
		{`{"id":1,"method":"tools/call","params":{ "name":"echo"},"jsonrpc":"2.0"}`, `{"text":"b"}`,
			`{"id":1,"method":"tools/call","params":{"arguments":{"text":"b"}, "name":"echo"},"jsonrpc":"2.0"}`},
		{echo("1", "a"), `{"text":7}`, ""},
	} {
		w := open(t, rules{})
		w.listTools(echoTool)
		w.client.send(tt.sent)
		w.answer(w.requests(1)[0], sayso.Allow, func(a *sayso.Answer) { a.Args = sayso.Args(tt.args) })
		if tt.want != "" {
			w.server.expect(tt.want)
			continue
		}
		if text := w.refusalOf(w.client.receive(), "1"); !strings.HasPrefix(text, "Approved with other arguments") {
			t.Error(text)
		}
	}
}

// A client that asks for progress is told every fifteen seconds that its call
// waits; one that does not is answered before it gives up.
func TestRelay_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.listTools(echoTool)
		w.client.wait = 2 * time.Hour
		w.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"_meta":{"progressToken":"p"}}}`)
		begun := time.Now()
		told, got := 0, w.client.receive()
		for ; strings.Contains(got, `"method":"notifications/progress","params":{"progressToken":"p"`); got = w.client.receive() {
			told++
		}
		if text := w.refusalOf(got, "1"); !strings.HasPrefix(text, "Not decided yet") || told < 199 || told > 200 || time.Since(begun) != 50*time.Minute {
			t.Errorf("after %v, told %d times: %s", time.Since(begun), told, text)
		}
		begun = time.Now()
		w.client.send(echo("2", "b"))
		if text := w.refusalOf(w.client.receive(), "2"); !strings.HasPrefix(text, "Not decided yet") || time.Since(begun) != 50*time.Second {
			t.Errorf("after %v: %s", time.Since(begun), text)
		}
	})
}
