package tool

import (
	"context"
	"io"

	"github.com/sayso-dev/sayso"
)

// Wrap puts a gate before every tool of a set. Calls of the set it returns are
// admitted, redeemed, run and reported as [Run] says; the set asks for itself
// if it is an [Asker], and about everything if it is not. Nil terms are the zero
// Terms.
//
// What else the set is passes through: the result is a [Describer], an [Asker]
// and an [io.Closer] exactly if s is. Ways to run a tool that this package does
// not know do not pass; [As] finds the rest.
//
// A set that was wrapped before is not wrapped again in secret: its calls would
// be asked about twice under one call id, and the gate refuses that.
func Wrap(gate sayso.Gate, s Set, t *Terms) Set {
	w := wrapped{set: s, g: guard{gate: gate}}
	if t != nil {
		w.g.terms = *t
	}
	d, describes := s.(Describer)
	a, asks := s.(Asker)
	c, closes := s.(io.Closer)
	switch {
	case describes && asks && closes:
		return struct {
			wrapped
			Describer
			Asker
			io.Closer
		}{w, d, a, c}
	case describes && asks:
		return struct {
			wrapped
			Describer
			Asker
		}{w, d, a}
	case describes && closes:
		return struct {
			wrapped
			Describer
			io.Closer
		}{w, d, c}
	case asks && closes:
		return struct {
			wrapped
			Asker
			io.Closer
		}{w, a, c}
	case describes:
		return struct {
			wrapped
			Describer
		}{w, d}
	case asks:
		return struct {
			wrapped
			Asker
		}{w, a}
	case closes:
		return struct {
			wrapped
			io.Closer
		}{w, c}
	}
	return w
}

// As finds what a wrapped set, or the set inside of it, is besides a [Set], as
// errors.As does. What it finds of the inside is behind no gate: it is for all
// but calling tools.
func As[T any](s Set) (found T, ok bool) {
	for s != nil {
		if found, ok = s.(T); ok {
			return found, true
		}
		w, inside := s.(interface{ inside() Set })
		if !inside {
			break
		}
		s = w.inside()
	}
	return found, false
}

// wrapped is a set behind a gate.
type wrapped struct {
	set Set
	g   guard
}

func (w wrapped) inside() Set { return w.set }

// Call implements [Set].
func (w wrapped) Call(ctx context.Context, c sayso.Call) (Result, error) {
	p, err := w.planned(ctx, w.g.terms.complete(c))
	var r Result
	for err == nil && p != nil {
		r, p, err = w.g.pass(ctx, p, w.planned)
	}
	return r, err
}

// planned reads a call and asks the tool about it.
func (w wrapped) planned(ctx context.Context, c sayso.Call) (*plan, error) {
	if p, ok := w.set.(planner); ok {
		return p.plan(ctx, c)
	}
	ask := &Ask{ToolAsk: sayso.ToolAsk{Required: true}}
	if a, ok := w.set.(Asker); ok {
		var err error
		if ask, err = a.Ask(ctx, c); err != nil {
			return nil, err
		}
	}
	return &plan{
		parts: []part{{call: c, ask: ask}},
		run:   func(ctx context.Context) (Result, error) { return w.set.Call(ctx, c) },
	}, nil
}
