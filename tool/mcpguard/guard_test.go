package mcpguard_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool/mcpguard"
)

// What people allow runs once and is on the record; what they deny does not run,
// and the model is told why.
func TestMiddleware(t *testing.T) {
	w := open(t, nil)
	cs := w.client(nil)
	w.gate.Approve("notes/echo")
	if said, failed := w.call(cs, "echo", text{"hello"}); said != "hello" || failed {
		t.Errorf("got %q, %v", said, failed)
	}
	w.expectRan("echo hello")
	want := []sayso.EventType{sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved, sayso.EventRedeemed, sayso.EventFinished}
	if got := w.types(); !slices.Equal(got, want) {
		t.Errorf("the record is %v", got)
	}
	r := w.gate.Asked()[0]
	if r.Tool != "echo" || r.Server != "notes" || r.Caller != "mcp/lab-client" || r.Kind != sayso.KindMCP {
		t.Errorf("asked was %s of %s by %s", r.Tool, r.Server, r.Caller)
	}
	w.gate.Deny("notes/echo", "not today")
	if said, failed := w.call(cs, "echo", text{"bye"}); !strings.HasPrefix(said, "Denied by person (ticket ") || !strings.HasSuffix(said, ": not today") || !failed {
		t.Errorf("got %q, %v", said, failed)
	}
	w.expectRan()
}

// A tool that says itself that it failed is answered as it answered, and failed on
// the record.
func TestMiddleware_failed(t *testing.T) {
	w := open(t, nil)
	w.gate.Approve("notes/*")
	if said, failed := w.call(w.client(nil), "broken", nil); said != "it broke" || !failed {
		t.Errorf("got %q, %v", said, failed)
	}
	w.expectRan("broken")
	if e := w.waitForEvent(sayso.EventFinished); !strings.Contains(string(e.Payload), `"failed":true`) {
		t.Errorf("the outcome is %s", e.Payload)
	}
}

// What is not the business of a gate passes, and a tool that is not listed is not
// there.
func TestMiddleware_rest(t *testing.T) {
	w := open(t, nil)
	cs := w.client(nil)
	if tools, err := cs.ListTools(t.Context(), nil); err != nil || len(tools.Tools) != 4 {
		t.Errorf("%d tools, %v", len(tools.Tools), err)
	}
	_, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "none"})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, `unknown tool "none"`) {
		t.Errorf("an unknown tool: %v", err)
	}
	if n := len(w.gate.Asked()); n != 0 {
		t.Errorf("people were asked %d times", n)
	}
}

// Without a gate, or a name for policies, no tool runs.
func TestMiddleware_without(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	for what, m := range map[string]mcp.Middleware{"gate": mcpguard.Middleware(nil, "notes", nil), "name": mcpguard.Middleware(b.Gate(), "", nil)} {
		w := &harness{t: t, gate: b, server: mcp.NewServer(&mcp.Implementation{Name: "n", Version: "1"}, nil), ran: make(chan string, 1)}
		w.server.AddReceivingMiddleware(m)
		w.server.AddTool(&mcp.Tool{Name: "raw", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			w.ran <- "raw"
			return &mcp.CallToolResult{}, nil
		})
		if said, failed := w.call(w.client(nil), "raw", nil); !failed || !strings.HasPrefix(said, "Could not find out") {
			t.Errorf("without a %s: %q", what, said)
		}
		w.expectRan()
	}
}

// Arguments that a person edited are those that run, if they fit the schema; if
// not, nothing runs and no receipt is spent.
func TestMiddleware_edited(t *testing.T) {
	w := open(t, nil)
	cs := w.client(nil)
	edit := func(args string) {
		w.gate.Answer(func(sayso.Request) sayso.Answer { return sayso.Answer{Effect: sayso.Allow, Args: sayso.Args(args)} })
	}
	edit(`{"n":7}`)
	if said, failed := w.call(cs, "raw", map[string]any{"n": 1}); failed {
		t.Errorf("got %q", said)
	}
	w.expectRan(`raw {"n":7}`)
	edit(`{"n":"seven"}`)
	said, failed := w.call(cs, "raw", map[string]any{"n": 2})
	if !failed || !strings.HasPrefix(said, "Approved with other arguments (ticket ") || !strings.Contains(said, "Nothing ran.") {
		t.Errorf("got %q", said)
	}
	w.expectRan()
	if n := len(w.gate.Events(sayso.EventRedeemed)); n != 1 {
		t.Errorf("%d receipts were redeemed", n)
	}
}

// A call that is waiting when the definition of its tool changes does not run.
func TestMiddleware_changed(t *testing.T) {
	w := open(t, nil)
	cs := w.client(nil)
	w.gate.Answer(func(sayso.Request) sayso.Answer {
		w.server.AddTool(&mcp.Tool{Name: "raw", Description: "another", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			w.ran <- "the other"
			return &mcp.CallToolResult{}, nil
		})
		return sayso.Answer{Effect: sayso.Allow}
	})
	if said, failed := w.call(cs, "raw", nil); !failed || !strings.HasPrefix(said, "No longer valid (ticket ") {
		t.Errorf("got %q", said)
	}
	w.expectRan()
	if n := len(w.gate.Events(sayso.EventRedeemed)); n != 0 {
		t.Error("the receipt was redeemed")
	}
}

// The digest of a definition is that of the list that clients get.
func TestMiddleware_definition(t *testing.T) {
	w := open(t, nil)
	w.gate.Approve("*")
	cs := w.client(nil)
	w.call(cs, "echo", text{"a"})
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name != "echo" {
			continue
		}
		listed, err := jcs.Marshal(tool)
		if err == nil {
			listed, err = jcs.Object(listed)
		}
		if err != nil {
			t.Fatal(err)
		}
		r := w.gate.Asked()[0]
		want, err := sayso.Call{
			Tool: "echo", Host: sayso.HostMCP, Server: "notes", Kind: sayso.KindMCP, Args: sayso.Args(`{"text":"a"}`), Session: r.SessionID,
			DefinitionDigest: sayso.Definition{Tool: "echo", Text: listed}.Digest().String(),
		}.Digest()
		if err != nil || r.Digest != want {
			t.Errorf("the call is not that of the definition as it is listed, %s: %v", listed, err)
		}
	}
}

// A call that the client cancels is withdrawn, and a later answer runs nothing.
func TestMiddleware_cancelled(t *testing.T) {
	w := open(t, nil)
	w.gate.Leave("*")
	w.cancels(w.client(nil))
}

// A client that is gone takes back what nobody can take up, and leaves the rest:
// it waits for the client that comes again.
func TestMiddleware_gone(t *testing.T) {
	for name, o := range map[string]*mcpguard.Options{"its own session": nil, "a session that stays": {Session: func(*mcp.CallToolRequest) string { return "stays" }}} {
		w := open(t, o)
		w.gate.Leave("*")
		ours, theirs := net.Pipe()
		ss, err := w.server.Connect(t.Context(), &mcp.IOTransport{Reader: ours, Writer: ours}, nil)
		if err != nil {
			t.Fatal(err)
		}
		cs := w.connect(&mcp.IOTransport{Reader: theirs, Writer: theirs}, nil, func() { _ = ss.Wait() })
		go func() { _, _ = cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: text{"a"}}) }()
		r := w.openRequest()
		_ = theirs.Close() // as when it is killed
		if o == nil {
			w.waitForEvent(sayso.EventWithdrawn)
			continue
		}
		w.waitForEvent(sayso.EventParked)
		if err := w.answer(r, sayso.Allow); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if said, failed := w.call(w.client(nil), "echo", text{"a"}); said != "a" || failed {
			t.Errorf("%s: %q", name, said)
		}
		w.expectRan("echo a")
	}
}

// A client that asked for it is told that its call waits; one that did not is
// answered before it loses patience, and its call goes on when it is made again.
func TestMiddleware_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, nil)
		w.gate.Leave("*")
		var notes []string
		cs := w.client(&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			notes = append(notes, fmt.Sprintf("%v %g %s", r.Params.ProgressToken, r.Params.Progress, r.Params.Message))
		}})
		from := time.Now()
		said, failed := w.call(cs, "echo", text{"a"})
		if !failed || !strings.HasPrefix(said, "Not decided yet, ticket ") || time.Since(from) != 50*time.Second {
			t.Errorf("after %v: %q", time.Since(from), said)
		}
		done := make(chan *mcp.CallToolResult)
		go func() {
			p := &mcp.CallToolParams{Name: "echo", Arguments: text{"a"}, Meta: mcp.Meta{}}
			p.SetProgressToken("t")
			r, _ := cs.CallTool(t.Context(), p)
			done <- r
		}()
		time.Sleep(31 * time.Second) // of the bubble
		if err := w.answer(w.openRequest(), sayso.Allow); err != nil {
			t.Fatal(err)
		}
		if r := <-done; r == nil || r.IsError {
			t.Errorf("got %+v", r)
		}
		w.expectRan("echo a")
		if n := len(w.gate.Events(sayso.EventRequested)); n != 1 {
			t.Errorf("people were asked %d times", n)
		}
		want := []string{"t 1e-06 waiting for a person to answer", "t 2e-06 waiting for a person to answer"}
		if !slices.Equal(notes, want) {
			t.Errorf("told was %q", notes)
		}
	})
}

// What the tool is called with is what was judged: arguments that two readers
// could read differently reach neither people nor the tool.
func TestMiddleware_strict(t *testing.T) {
	w := open(t, nil)
	w.gate.Approve("*")
	ours, theirs := mcp.NewInMemoryTransports()
	ss, err := w.server.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ss.Wait() }()
	conn, err := theirs.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exchange := func(line string) string {
		t.Helper()
		m, err := jsonrpc.DecodeMessage([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if m, err = conn.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		answer, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	exchange(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	for _, args := range []string{`{"n":1,"n":2}`, `{"n":{"a":1,"a":2}}`, `{"n":"\ud800"}`, `[1]`, `7`} {
		if got := exchange(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"raw","arguments":` + args + `}}`); !strings.Contains(got, `"isError":true`) && !strings.Contains(got, `"error":`) {
			t.Errorf("%s: %s", args, got)
		}
	}
	w.expectRan()
	if n := len(w.gate.Asked()); n != 0 {
		t.Errorf("people were asked %d times", n)
	}
}

// A handler that asks the client for input is called again without a question,
// once, and with the arguments that were admitted.
func TestMiddleware_rounds(t *testing.T) {
	w := open(t, nil)
	w.gate.Answer(func(sayso.Request) sayso.Answer {
		return sayso.Answer{Effect: sayso.Allow, Args: sayso.Args(`{"n":2}`)}
	})
	elicited := &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
	}}
	cs := w.client(elicited)
	if said, failed := w.call(cs, "form", map[string]any{"n": 1}); said != "thank you" || failed {
		t.Errorf("got %q", said)
	}
	w.expectRan(`form {"n":2} `, `form {"n":2} one`)
	if n := len(w.gate.Asked()); n != 1 {
		t.Errorf("people were asked %d times", n)
	}
	w.gate.Deny("*", "no")
	for _, p := range []*mcp.CallToolParams{
		{Name: "form", Arguments: map[string]any{"n": 1}, RequestState: "one"}, // spent
		{Name: "form", Arguments: map[string]any{"n": 1}, RequestState: "two"},
		{Name: "raw", Arguments: map[string]any{"n": 1}, RequestState: "one"},
	} {
		if r, err := cs.CallTool(t.Context(), p); err != nil || !r.IsError {
			t.Errorf("%+v: %+v, %v", p, r, err)
		}
	}
	w.expectRan()
	w.gate.Approve("*")
	failing := w.client(&mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return nil, errors.New("nobody is there")
	}})
	if _, err := failing.CallTool(t.Context(), &mcp.CallToolParams{Name: "form"}); err == nil {
		t.Error("a form that nobody filled in was taken")
	}
	w.expectRan("form {} ")
	w.gate.Deny("*", "no")
	for state, line := range map[string]string{"two": "", "one": "form {} one"} { // in any order
		r, err := failing.CallTool(t.Context(), &mcp.CallToolParams{Name: "form", RequestState: state})
		if err != nil || r.IsError != (line == "") {
			t.Errorf("state %s: %+v, %v", state, r, err)
		}
		if line != "" {
			w.expectRan(line)
		}
		w.expectRan()
	}
}
