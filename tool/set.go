package tool

import (
	"context"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// Result is what a call came to.
type Result struct {
	// Text is what the agent is told.
	Text string
	// Exit is the exit status of a command that ended by itself, nil otherwise.
	Exit *int
}

// Set is a set of tools, as the loop of an agent holds it: whatever is called,
// is called here.
type Set interface {
	// Call runs the tool that c names on the arguments of c. An error is for the
	// agent too: its text says what went wrong.
	Call(ctx context.Context, c sayso.Call) (Result, error)
}

// Definition is what a model must know of a tool to call it.
type Definition struct {
	Name        string
	Description string
	Kind        sayso.Kind
	// Schema is the JSON Schema of the arguments; empty for one that is not known.
	Schema sayso.Args
}

// Describer is what a [Set] may be besides: one that describes its tools.
type Describer interface {
	Tools() []Definition
}

// Ask is what a tool says of a call, with what a person is shown of it.
type Ask struct {
	sayso.ToolAsk
	// Present makes what a person is shown beside the arguments. It runs only
	// if a person is asked; nil shows the arguments alone.
	Present func(context.Context) (*sayso.Presentation, error)
}

// Asker is what a [Set] may be besides: one that knows itself which of its
// calls need a person.
type Asker interface {
	// Ask returns nil if the tool sees no need to ask about the call. Policy may
	// see one nevertheless. After an error the call does not run.
	Ask(ctx context.Context, c sayso.Call) (*Ask, error)
}

// planner is a set that opens what a call is about before anybody is asked, and
// uses exactly that when the call runs.
type planner interface {
	plan(ctx context.Context, c sayso.Call) (*plan, error)
}

// plan is a call that was read and is ready to run.
type plan struct {
	// parts are put to the gate one after the other; all must be allowed.
	parts []part
	// still reports whether what was opened is still what it was; nil for yes.
	still func() error
	// run does it, on what was opened.
	run func(context.Context) (Result, error)
	// next is what must be put to the gate before there is a result, if run left
	// something to do; nil if nothing.
	next func(context.Context) (*plan, error)
	// close lets go of what was opened.
	close func()
}

// part is one call at the gate.
type part struct {
	call sayso.Call
	ask  *Ask // nil for no need to ask
	// cwd and operands replace what is found by name: they are of what was
	// opened. Nil operands replace nothing.
	cwd      string
	operands []sayso.PathFact
	// person says why only a person may let this call run, so that it does not
	// run without a gate; empty if it may.
	person string
	// joint says that the question about the part before is about this one too.
	joint bool
}

func (p *plan) end() {
	if p != nil && p.close != nil {
		p.close()
	}
}

// bare runs a call without a gate. What takes a person does not run.
func bare(ctx context.Context, s planner, c sayso.Call) (r Result, err error) {
	p, err := s.plan(ctx, c)
	for err == nil && p != nil {
		r, p, err = bareStep(ctx, p)
	}
	return r, err
}

func bareStep(ctx context.Context, p *plan) (Result, *plan, error) {
	defer p.end()
	for _, part := range p.parts {
		if part.person != "" {
			return Result{}, nil, fmt.Errorf("%s: %w: %s; put a gate before the tools", part.call.Tool, sayso.ErrNotAllowed, part.person)
		}
	}
	r, err := p.do(ctx)
	if err != nil {
		return r, nil, err
	}
	return p.after(ctx, r)
}

// do runs the plan, if anybody still waits for it.
func (p *plan) do(ctx context.Context) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return p.run(ctx)
}

// after returns what comes after a run: its result, or the next plan.
func (p *plan) after(ctx context.Context, r Result) (Result, *plan, error) {
	if p.next == nil {
		return r, nil, nil
	}
	next, err := p.next(ctx)
	if err != nil {
		return Result{}, nil, err
	}
	return r, next, nil
}
