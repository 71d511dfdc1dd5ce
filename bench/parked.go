package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// parked measures what waiting costs: ten thousand askers, each on an HTTP
// connection of its own, and how long it takes to answer them all.
func parked(ctx context.Context, w *world, dir string) (_ []figure, err error) {
	n := w.few(10_000, 20)
	s, err := w.start(roleServer, serving{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	var at ready
	if err := s.read(&at); err != nil {
		return nil, err
	}
	idle, err := s.usage()
	if err != nil {
		return nil, err
	}
	person, err := w.person(answering{At: at, Socket: true, Hands: 256, Wait: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, person.stop()) }()
	agents, err := w.start(roleAgents, asking{At: at, Askers: n, Cycles: n})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, agents.stop()) }()
	if err := allOpen(ctx, at, n); err != nil {
		return nil, err
	}
	full, err := s.usage()
	if err != nil {
		return nil, err
	}
	from := time.Now()
	if err := person.write(struct{}{}); err != nil {
		return nil, err
	}
	var a asked
	if err := agents.read(&a); err != nil {
		return nil, err
	}
	return []figure{{
		name: fmt.Sprintf("%d askers parked, memory", n), value: float64(full.RSS), unit: bytesUsed, must: 400 << 20, aim: 150 << 20,
		beside: fmt.Sprintf("%s before; heap %s, stacks %s; one HTTP connection each", bytesUsed.text(float64(idle.RSS)),
			bytesUsed.text(float64(full.Heap)), bytesUsed.text(float64(full.Stacks))),
	}, {
		name: "  all of them released", value: time.Since(from).Seconds(), unit: seconds, must: 2, aim: 0.2,
		beside: "by one person's answers, one each",
	}}, nil
}

// allOpen waits until n requests were opened.
func allOpen(ctx context.Context, at ready, n int) error {
	c, err := connect(ctx, at, at.Person, true)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, err := range c.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			return err
		}
		if n--; n == 0 {
			return nil
		}
	}
	return ctx.Err()
}
