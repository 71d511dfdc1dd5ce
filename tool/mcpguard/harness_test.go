package mcpguard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool/mcpguard"
)

// text is what the tool echo takes.
type text struct {
	Text string `json:"text"`
}

// harness is a server behind a gate, and what its tools did.
type harness struct {
	t      *testing.T
	gate   *saysotest.Broker
	server *mcp.Server
	ran    chan string // a line a run
}

// open makes a server with the tools echo (of the SDK's typed kind), raw (which
// validates nothing itself), broken and form, which asks for input.
func open(t *testing.T, o *mcpguard.Options) *harness {
	t.Helper()
	w := &harness{t: t, gate: saysotest.New(t), ran: make(chan string, 64)}
	w.server = mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	w.server.AddReceivingMiddleware(mcpguard.Middleware(w.gate.Gate(), "notes", o))
	destructive := false
	mcp.AddTool(w.server, &mcp.Tool{Name: "echo", Description: "says it again", Annotations: &mcp.ToolAnnotations{DestructiveHint: &destructive}},
		func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
			w.ran <- "echo " + in.Text
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
		})
	schema := map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "additionalProperties": false}
	w.server.AddTool(&mcp.Tool{Name: "raw", InputSchema: schema}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.ran <- "raw " + string(r.Params.Arguments)
		return &mcp.CallToolResult{}, nil
	})
	w.server.AddTool(&mcp.Tool{Name: "broken", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.ran <- "broken"
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it broke"}}}, nil
	})
	w.server.AddTool(&mcp.Tool{Name: "form", InputSchema: schema}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		w.ran <- "form " + string(r.Params.Arguments) + " " + r.Params.RequestState
		if r.Params.RequestState == "" {
			return &mcp.CallToolResult{RequestState: "one", InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{
				Message: "your name", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
			}}}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "thank you"}}}, nil
	})
	return w
}

// client connects a client in memory.
func (w *harness) client(o *mcp.ClientOptions) *mcp.ClientSession {
	w.t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	ss, err := w.server.Connect(w.t.Context(), ours, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.connect(theirs, o, func() { _ = ss.Wait() })
}

func (w *harness) connect(to mcp.Transport, o *mcp.ClientOptions, ended func()) *mcp.ClientSession {
	w.t.Helper()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "lab client", Version: "1"}, o).Connect(w.t.Context(), to, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cs.Close(); ended() })
	return cs
}

// call calls a tool and returns the text of its result, and whether it is an
// error.
func (w *harness) call(cs *mcp.ClientSession, name string, args any) (said string, failed bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	r, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range r.Content {
		said += c.(*mcp.TextContent).Text
	}
	return said, r.IsError
}

// expectRan fails unless exactly these runs came since it was last looked.
func (w *harness) expectRan(want ...string) {
	w.t.Helper()
	for _, line := range want {
		select {
		case got := <-w.ran:
			if got != line {
				w.t.Fatalf("%q ran, and %q was to", got, line)
			}
		default:
			w.t.Fatalf("%q did not run", line)
		}
	}
	select {
	case got := <-w.ran:
		w.t.Fatalf("%q ran, and nothing was to", got)
	default:
	}
}

// types are the types of all events, without those of sessions.
func (w *harness) types() (all []sayso.EventType) {
	for _, e := range w.gate.Events() {
		if e.RequestID != "" {
			all = append(all, e.Type)
		}
	}
	return all
}

// openRequest waits until a request is open, and returns it.
func (w *harness) openRequest() sayso.Request {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, err := range w.gate.InboxOf(auditor).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			w.t.Fatal(err)
		}
		list, err := w.gate.Inbox().Requests(ctx, sayso.RowQuery{States: sayso.OpenStates()})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(list) > 0 {
			return list[len(list)-1]
		}
	}
	w.t.Fatal("nothing was asked")
	return sayso.Request{}
}

var auditor = sayso.Actor{Principal: "auditor", Kind: sayso.PrincipalAdmin, Channel: "embedded"}

// waitForEvent waits for an event of a type.
func (w *harness) waitForEvent(t sayso.EventType) sayso.Event {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for e, err := range w.gate.InboxOf(auditor).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{t}}) {
		if err != nil {
			w.t.Fatal(err)
		}
		return e
	}
	w.t.Fatalf("no %s", t)
	return sayso.Event{}
}

// answer answers a request as the person.
func (w *harness) answer(r sayso.Request, e sayso.Effect) error {
	_, err := w.gate.Inbox().Answer(context.Background(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: e})
	return err
}

// cancels has a client cancel a call that people are asked about, and checks that a
// later yes runs nothing.
func (w *harness) cancels(cs *mcp.ClientSession) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error)
	go func() {
		_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: text{"a"}})
		done <- err
	}()
	r := w.openRequest()
	cancel()
	<-done
	w.waitForEvent(sayso.EventWithdrawn)
	if err := w.answer(r, sayso.Allow); !errors.Is(err, sayso.ErrWithdrawn) {
		w.t.Errorf("answering: %v", err)
	}
	w.expectRan()
}
