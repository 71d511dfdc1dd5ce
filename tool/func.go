package tool

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Options say more of a function behind a gate. Every member may be left out.
type Options[In any] struct {
	Terms

	// Ask says what there is to ask about a call; nil for nothing. Members of it
	// that are empty are filled from what follows. Without an Ask function every
	// call is asked about, and must be. See [When].
	Ask func(ctx context.Context, in In) (*Ask, error)

	// About tells a model what the function does.
	About string
	// Schema is the JSON Schema of In, for a model.
	Schema sayso.Args
	// Kind is what sort of tool this is; other if it is left out.
	Kind sayso.Kind
	// Risk raises how bad a mistake is said to be.
	Risk sayso.Risk
	// Description is the title of a request; name(k=v, …) if it is left out, of
	// what may be shown of the arguments.
	Description func(in In) string
	// Payload is what a wider remembered yes matches on, instead of the call as a
	// whole: a value that becomes a JSON object. The approver is told which
	// arguments it leaves out.
	Payload func(in In) any
	// Display is shown instead of the arguments; secrets in it are hidden all the
	// same.
	Display func(in In) any
	// Present makes what a person is shown besides. It runs only if one is asked.
	Present func(ctx context.Context, in In) (*sayso.Presentation, error)
	// Group joins requests that may be answered together.
	Group func(in In) string
}

// Guard makes a guarded tool of a plain function. In is what the function is
// called with: a struct or a map that JSON can write and read. Out is what it
// returns; an agent is told it as it is if it is a string or a [Result], and as
// JSON otherwise. Nil options are the zero Options.
//
// The function runs on what the admitted arguments read back as, never on a
// value that did not go through the gate. Calls without a gate are stopped.
func Guard[In, Out any](gate sayso.Gate, name string, f func(context.Context, In) (Out, error), o *Options[In]) *Func[In, Out] {
	g := &Func[In, Out]{name: name, f: f, g: guard{gate: gate}}
	if o != nil {
		g.o, g.g.terms = *o, o.Terms
	}
	return g
}

// When makes a boolean check what [Options] ask with: only calls for which it is
// true are asked about.
func When[In any](check func(In) bool) func(context.Context, In) (*Ask, error) {
	return func(_ context.Context, in In) (*Ask, error) {
		if !check(in) {
			return nil, nil
		}
		return &Ask{ToolAsk: sayso.ToolAsk{Required: true}}, nil
	}
}

// Func is a function behind a gate, see [Guard]. It is a [Set] of one tool, and
// may be called from many goroutines.
type Func[In, Out any] struct {
	name string
	f    func(context.Context, In) (Out, error)
	o    Options[In]
	g    guard
}

// With returns the same tool for calls that have what c has: the session, the
// call id and the like that a framework knows of one call. What c leaves empty
// is that of the options; its tool and arguments are not looked at.
func (f *Func[In, Out]) With(c sayso.Call) *Func[In, Out] {
	w := *f
	c.Args = nil
	w.g.terms.Call = f.g.terms.complete(c)
	return &w
}

// Do calls the function from Go, through the gate.
func (f *Func[In, Out]) Do(ctx context.Context, in In) (Out, error) {
	var out Out
	args, err := jcs.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("%w: %s: writing the arguments: %w", sayso.ErrInvalid, f.name, err)
	}
	err = f.through(ctx, f.g.terms.complete(sayso.Call{Tool: f.name, Args: args}), &out)
	return out, err
}

// Call implements [Set]: it calls the function on arguments as a model wrote
// them, through the gate.
func (f *Func[In, Out]) Call(ctx context.Context, c sayso.Call) (Result, error) {
	if c.Tool != f.name {
		return Result{}, unknown(c.Tool)
	}
	var out Out
	if err := f.through(ctx, f.g.terms.complete(c), &out); err != nil {
		return Result{}, err
	}
	return told(out)
}

// Tools implements [Describer].
func (f *Func[In, Out]) Tools() []Definition {
	return []Definition{{Name: f.name, Description: f.o.About, Kind: f.o.Kind, Schema: f.o.Schema}}
}

// Ask implements [Asker].
func (f *Func[In, Out]) Ask(ctx context.Context, c sayso.Call) (*Ask, error) {
	in, err := f.read(c)
	if err != nil {
		return nil, err
	}
	return f.ask(ctx, f.g.terms.complete(c), in)
}

func (f *Func[In, Out]) through(ctx context.Context, c sayso.Call, out *Out) error {
	plan := func(ctx context.Context, c sayso.Call) (*plan, error) { return f.plan(ctx, c, out) }
	p, err := plan(ctx, c)
	if err == nil {
		_, _, err = f.g.pass(ctx, p, plan)
	}
	return err
}

// plan reads a call. The function will run on what was read here.
func (f *Func[In, Out]) plan(ctx context.Context, c sayso.Call, out *Out) (*plan, error) {
	if c.Kind == "" {
		c.Kind = f.o.Kind
	}
	in, err := f.read(c)
	if err != nil {
		return nil, err
	}
	ask, err := f.ask(ctx, c, in)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context) (Result, error) {
		in, err := f.read(c) // anew: what asked may have kept and changed the other one
		if err != nil {
			return Result{}, err
		}
		if *out, err = f.f(ctx, in); err != nil {
			return Result{}, err
		}
		return resultOf(*out), nil
	}
	return &plan{parts: []part{{call: c, ask: ask}}, run: run}, nil
}

func (f *Func[In, Out]) read(c sayso.Call) (in In, err error) {
	if _, err := jcs.Object(c.Args); err != nil {
		return in, fmt.Errorf("%w: %s: %w", sayso.ErrInvalid, f.name, err)
	}
	if err := jcs.Unmarshal(c.Args, &in); err != nil {
		return in, fmt.Errorf("%w: %s: %w", sayso.ErrInvalid, f.name, err)
	}
	return in, nil
}

// ask is what there is to ask about a call.
func (f *Func[In, Out]) ask(ctx context.Context, c sayso.Call, in In) (*Ask, error) {
	a := &Ask{ToolAsk: sayso.ToolAsk{Required: true}}
	if f.o.Ask != nil {
		given, err := f.o.Ask(ctx, in)
		if err != nil || given == nil {
			return nil, err
		}
		filled := *given
		a = &filled
	}
	if a.Risk == "" {
		a.Risk = f.o.Risk
	} else {
		a.Risk = a.Risk.Raise(f.o.Risk)
	}
	if a.Description == "" && f.o.Description != nil {
		a.Description = f.o.Description(in)
	}
	if a.GroupID == "" && f.o.Group != nil {
		a.GroupID = f.o.Group(in)
	}
	if a.Present == nil && a.Presentation == nil && f.o.Present != nil {
		a.Present = func(ctx context.Context) (*sayso.Presentation, error) { return f.o.Present(ctx, in) }
	}
	if err := object(&a.Display, f.o.Display, in); err != nil {
		return nil, fmt.Errorf("%s: what is displayed: %w", f.name, err)
	}
	if err := object(&a.Payload, f.o.Payload, in); err != nil {
		return nil, fmt.Errorf("%s: payload: %w", f.name, err)
	}
	if len(a.Payload) > 0 && a.Ignores == nil {
		a.Ignores = ignored(c.Args, a.Payload)
	}
	return a, nil
}

// object fills to with the JSON object that a function makes of in.
func object[In any](to *sayso.Args, of func(In) any, in In) error {
	if len(*to) > 0 || of == nil {
		return nil
	}
	text, err := jcs.Marshal(of(in))
	if err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	if *to, err = jcs.Object(text); err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	return nil
}

// ignored are the arguments that a payload does not have as they are.
func ignored(args, payload sayso.Args) []string {
	var has, keeps map[string]sayso.Args
	if jcs.Unmarshal(args, &has) != nil || jcs.Unmarshal(payload, &keeps) != nil {
		return nil // arguments that cannot be read have no digest, and are not admitted
	}
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if kept, ok := keeps[name]; !ok || !same(has[name], kept) {
			names = append(names, name)
		}
	}
	return names
}

// same reports whether two JSON values are one.
func same(a, b sayso.Args) bool {
	x, errX := jcs.Canonicalize(a)
	y, errY := jcs.Canonicalize(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// told is what an agent is told of what a function returned.
func told(out any) (Result, error) {
	switch out := out.(type) {
	case Result:
		return out, nil
	case string:
		return Result{Text: out}, nil
	}
	text, err := jcs.Marshal(out)
	if err != nil {
		return Result{}, fmt.Errorf("the tool ran; writing what it returned: %w", err)
	}
	return Result{Text: string(text)}, nil
}

// resultOf is what is recorded of what a function returned. What cannot be
// written is recorded as empty: the function ran nevertheless.
func resultOf(out any) Result {
	r, err := told(out)
	if err != nil {
		return Result{}
	}
	return r
}
