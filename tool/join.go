package tool

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sayso-dev/sayso"
)

// Join makes one set of several, which must all describe their tools. A name
// that two of them have is an error. Closing the set closes them all.
func Join(sets ...Set) (Set, error) {
	j := &joined{by: map[string]Set{}}
	for _, s := range sets {
		d, ok := As[Describer](s)
		if !ok {
			return nil, fmt.Errorf("%w: joining tools: %T does not describe its tools", sayso.ErrInvalid, s)
		}
		for _, t := range d.Tools() {
			if j.by[t.Name] != nil {
				return nil, fmt.Errorf("%w: joining tools: two are called %s", sayso.ErrInvalid, t.Name)
			}
			j.by[t.Name] = s
			j.tools = append(j.tools, t)
		}
		j.sets = append(j.sets, s)
	}
	return j, nil
}

type joined struct {
	sets  []Set
	tools []Definition
	by    map[string]Set
}

// Tools implements [Describer].
func (j *joined) Tools() []Definition { return j.tools }

// Call implements [Set].
func (j *joined) Call(ctx context.Context, c sayso.Call) (Result, error) {
	s, err := j.of(c)
	if err != nil {
		return Result{}, err
	}
	return s.Call(ctx, c)
}

// Ask implements [Asker]. A set that does not ask for itself is asked about.
func (j *joined) Ask(ctx context.Context, c sayso.Call) (*Ask, error) {
	s, err := j.of(c)
	if err != nil {
		return nil, err
	}
	if a, ok := s.(Asker); ok {
		return a.Ask(ctx, c)
	}
	return &Ask{ToolAsk: sayso.ToolAsk{Required: true}}, nil
}

// Close implements [io.Closer].
func (j *joined) Close() error {
	var errs []error
	for _, s := range j.sets {
		if c, ok := s.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

func (j *joined) plan(ctx context.Context, c sayso.Call) (*plan, error) {
	s, err := j.of(c)
	if err != nil {
		return nil, err
	}
	return wrapped{set: s}.planned(ctx, c)
}

func (j *joined) of(c sayso.Call) (Set, error) {
	if s := j.by[c.Tool]; s != nil {
		return s, nil
	}
	return nil, unknown(c.Tool)
}

// unknown is the error of a call of a tool that a set does not have.
func unknown(tool string) error {
	return fmt.Errorf("%w: there is no tool %q here", sayso.ErrNotFound, tool)
}
