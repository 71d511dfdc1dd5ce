package gateway

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// samplingDefinition stands for the definition of sampling, which is the
// protocol's and not the server's.
var samplingDefinition = sayso.Definition{Tool: samplingMethod, Text: sayso.Args(`{"protocol":"mcp"}`)}.Digest().String()

const samplingRefusedText = "Refused: the server wanted this client's model to write something for it, which was not allowed. The tool did not finish."

// handleSampling puts a request of the server to the gate, that has the client's model
// write something for it.
func (r *Relay) handleSampling(ctx context.Context, m message) {
	if r.allowsSampling(ctx, m.params) {
		_ = r.client.Send(m.line) // a client that is gone ends the relay
		return
	}
	_ = r.server.Send(errorResponse(m.id, codeRefused, "sampling was not allowed"))
}

// handleSamplingResult does so for a server that asks by way of its answer to a call.
func (r *Relay) handleSamplingResult(ctx context.Context, m message, h *heldCall, look result) {
	switch {
	case r.allowsSampling(ctx, m.result):
		if h != nil && look.isIncomplete() {
			r.addRound(ctx, h, look.state)
		}
		_ = r.client.Send(m.line)
	case h != nil:
		if look.isIncomplete() {
			r.unrun(ctx, h.request)
		}
		_ = r.sendClient(refusal(&h.toolCall, samplingRefusedText))
	default:
		_ = r.sendClient(errorResponse(m.id, codeRefused, samplingRefusedText))
	}
}

// allowsSampling asks whether the server may.
func (r *Relay) allowsSampling(ctx context.Context, args jsontext.Value) bool {
	if len(args) == 0 {
		args = jsontext.Value("{}")
	}
	if r.o.Off() {
		return true
	}
	h := &heldCall{call: sayso.Call{
		Tool: samplingMethod, Host: sayso.HostMCP, Server: r.o.Name, Kind: sayso.KindMCP, Args: sayso.Args(args), Cwd: r.o.Cwd,
		Session: r.o.Session, CallID: r.nextID(), Caller: r.o.Actor.Principal, DefinitionDigest: samplingDefinition,
		Description: "the server wants the client's model to write something for it",
	}}
	a, _ := r.admission(ctx, h)
	a.CanEdit, a.Patience = false, r.o.Patience
	d, err := r.ask(ctx, a)
	return err == nil && d.Allowed() && len(d.Args) == 0
}

// errSamplingPushed is a notification that has the client ask its model.
var errSamplingPushed = rpc.Invalid("a notification asks for sampling; who asks for the task is told of it, once that was judged")

// checkNotification reports a notification that may not pass: one that says what the server
// wants of the client, as that of a task does, and has it ask its model. Nothing is
// lost by it, since what a task says by itself is also there when it is asked for.
func (r *Relay) checkNotification(m *message) error {
	if m.params.Kind() != '{' || r.o.Off() {
		return nil
	}
	return rpc.Members(m.params, []string{"inputRequests"}, func(name string, value jsontext.Value, _ int) error {
		if name != "inputRequests" {
			return nil
		}
		found, err := hasSampling(value)
		if err == nil && found {
			err = errSamplingPushed
		}
		return err
	})
}

// hasSampling reports whether a result has the client ask its model.
func hasSampling(requests jsontext.Value) (found bool, err error) {
	if requests.Kind() != '{' {
		return false, nil
	}
	if err := jcs.Check(requests); err != nil {
		return false, rpc.Invalid("what it asks for")
	}
	err = rpc.Members(requests, nil, func(_ string, request jsontext.Value, _ int) error {
		if request.Kind() != '{' {
			return nil
		}
		return rpc.Members(request, messageMembers, func(name string, value jsontext.Value, _ int) error {
			var method string
			if name != "method" {
				return nil
			}
			if err := rpc.ReadText(value, &method); err != nil {
				return err
			}
			if rpc.PosesAs(method, []string{samplingMethod}) {
				return rpc.Invalid("a method is called nearly like " + samplingMethod)
			}
			found = found || method == samplingMethod
			return nil
		})
	})
	return found, err
}
