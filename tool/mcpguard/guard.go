package mcpguard

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/tool"
)

// Options say how calls are put to a gate. The zero Options are usable.
type Options struct {
	// Call is what the program knows of every call: run, directory, caller, tags.
	Call sayso.Call
	// Session names the session of a call: what is remembered for a session counts
	// within it, and a call that was not decided is taken up in it. Nil, or an empty
	// name, is the session of the client's connection or, over stateless HTTP, that of
	// its user; clients there whom nobody authenticated are one session. Give one
	// where calls are to be taken up by a client that connects anew.
	Session func(*mcp.CallToolRequest) string
	// Patience is how long a call with a progress token waits for people, and
	// Impatience how long one without: then it is answered that nothing is decided
	// yet, and may be made again. 50 minutes and 50 seconds by default.
	Patience, Impatience time.Duration
	// Strict denies what would be asked about, whatever the mode.
	Strict bool
}

const (
	patience   = 50 * time.Minute
	impatience = 50 * time.Second // clients that know no progress wait a minute
)

const (
	callMethod = "tools/call"
	listMethod = "tools/list"
)

// Middleware puts a gate before the tools of a server. Policies know the server
// under the name that is given here, as mcp__NAME__TOOL. Nil options are the zero
// Options. Without a gate, or a name, no tool runs.
func Middleware(gate sayso.Gate, name string, o *Options) mcp.Middleware {
	g := &guard{gate: gate, name: name, run: strings.ToLower(rand.Text()[:10])}
	if o != nil {
		g.o = *o
	}
	if g.o.Patience <= 0 {
		g.o.Patience = patience
	}
	if g.o.Impatience <= 0 {
		g.o.Impatience = impatience
	}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != callMethod {
				return next(ctx, method, req)
			}
			r, ok := req.(*mcp.CallToolRequest)
			if !ok || r.Params == nil || r.Session == nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "a call of a tool names a tool"}
			}
			return g.handleCall(ctx, r, next)
		}
	}
}

// guard is the gate before one server.
type guard struct {
	gate sayso.Gate
	name string
	o    Options

	run   string // of this process; begins the ids of calls that have none
	count atomic.Uint64

	met    sessions
	rounds rounds
}

// guardedCall is one call, from when it came until it is answered.
type guardedCall struct {
	*guard
	request    *mcp.CallToolRequest
	next       mcp.MethodHandler
	definition definition
	call       sayso.Call
	ran        bool // its handler was called
}

var errNoGate = fmt.Errorf("%w: the tools of this server have no gate, or no name", sayso.ErrUnavailable)

// handleCall answers a call of a tool.
func (g *guard) handleCall(ctx context.Context, r *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	if g.gate == nil || g.name == "" {
		return refusal(r, sayso.Told(sayso.Decision{}, errNoGate))
	}
	d, err := definitionOf(ctx, r, next)
	if err != nil {
		return nil, err
	}
	a := &guardedCall{guard: g, request: r, next: next, definition: d}
	a.call = g.describe(r, d)
	if args, ok := g.rounds.take(a); ok {
		return a.run(ctx, args)
	}
	return a.admit(ctx)
}

// describe is a call as the gate takes it. It keeps nothing of the request that
// somebody could change while people are asked.
func (g *guard) describe(r *mcp.CallToolRequest, d definition) sayso.Call {
	c := g.o.Call
	c.Tool, c.Host, c.Server, c.Kind = r.Params.Name, sayso.HostMCP, g.name, sayso.KindMCP
	c.Args, c.DefinitionDigest, c.Annotations = bytes.Clone(r.Params.Arguments), d.digest, d.annotations
	if len(c.Args) == 0 || string(c.Args) == "null" {
		c.Args = sayso.Args("{}")
	}
	c.Session, c.Caller, c.CallID = g.session(r), caller(c.Caller, r), callID(r)
	if c.CallID == "" {
		c.CallID = "mcp-" + g.run + "-" + strconv.FormatUint(g.count.Add(1), 10)
	}
	return c
}

// admit puts a call to the gate, and runs it or says why it does not run.
func (a *guardedCall) admit(ctx context.Context) (mcp.Result, error) {
	still := a.startProgress(ctx)
	defer still()
	gate := &recheckGate{Gate: a.gate, recheck: a.recheck}
	var out mcp.Result
	_, err := tool.Run(ctx, gate, a.admission(a.patience()), func(ctx context.Context, c sayso.Call) (mcp.Result, error) {
		still()
		var err error
		out, err = a.run(ctx, c.Args)
		if r, ok := out.(*mcp.CallToolResult); ok && err == nil && r.IsError {
			err = errFailed
		}
		return out, err
	})
	if a.ran {
		if errors.Is(err, errFailed) {
			err = nil
		}
		return out, err
	}
	if a.isAbandoned(ctx) {
		a.withdraw(ctx, gate.decision, err)
	}
	return refusal(a.request, refusalText(err))
}

// errFailed reports a tool that ran and says itself that it failed.
var errFailed = errors.New("the tool failed")

// admission puts the call to the gate: the tool itself asks for nothing, and
// policy decides.
func (a *guardedCall) admission(patience time.Duration) sayso.Admission {
	return sayso.Admission{Call: a.call, Asking: true, Patience: patience, Strict: a.o.Strict}
}

func (a *guardedCall) patience() time.Duration {
	if a.request.Params.GetProgressToken() == nil {
		return a.o.Impatience
	}
	return a.o.Patience
}

// run calls the handler with the arguments that were admitted.
func (a *guardedCall) run(ctx context.Context, args sayso.Args) (mcp.Result, error) {
	a.ran = true
	params := *a.request.Params
	params.Name = a.call.Tool
	if len(params.Arguments) > 0 || string(args) != "{}" {
		params.Arguments = bytes.Clone(args)
	}
	r := *a.request
	r.Params = &params
	out, err := a.next(ctx, callMethod, &r)
	if result, ok := out.(*mcp.CallToolResult); ok && err == nil && result != nil && result.InputRequests != nil {
		a.rounds.begin(a, args, result.RequestState)
	}
	return out, err
}

// refusalText is what the model is told of a call that did not run.
func refusalText(err error) string {
	var own *enforce.RefusedError
	if errors.As(err, &own) {
		return own.Text
	}
	if err == nil {
		err = sayso.ErrUnavailable // it did not run, and nothing says why
	}
	var stopped *tool.StoppedError
	if !errors.As(err, &stopped) {
		return sayso.Told(sayso.Decision{}, err)
	}
	return stopped.Error()
}

// completeSince is the revision from which on results say whether they are complete.
const completeSince = "2026-07-28"

// refusal is the result of a call that does not run.
func refusal(r *mcp.CallToolRequest, text string) (mcp.Result, error) {
	result := &mcp.CallToolResult{}
	if r.ProtocolVersion() >= completeSince { // which has no other way to be said
		if err := result.UnmarshalJSON([]byte(`{"content":[],"resultType":"complete"}`)); err != nil {
			return nil, err
		}
	}
	result.Content, result.IsError = []mcp.Content{&mcp.TextContent{Text: text}}, true
	return result, nil
}
