package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// connections is how many agents hold the ten thousand askers of the first row.
const connections = 100

// parked measures what waiting costs: ten thousand askers on a hundred
// connections, and how long it takes to answer them all.
func parked(ctx context.Context, w *world, dir string) ([]figure, error) {
	n := w.few(10_000, 200)
	return w.park(ctx, dir, fmt.Sprintf("%d askers, %d WebSockets", n, connections), asking{
		Socket: true, Connections: connections, Askers: n, Cycles: n,
	})
}

// parkedApart measures the same with an HTTP connection for each asker.
func parkedApart(ctx context.Context, w *world, dir string) ([]figure, error) {
	n := w.few(10_000, 20)
	return w.park(ctx, dir, fmt.Sprintf("%d askers, a connection each", n), asking{Askers: n, Cycles: n})
}

func (w *world) park(ctx context.Context, dir, name string, task asking) (_ []figure, err error) {
	s, err := w.start(roleServer, serving{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.read(&task.At); err != nil {
		return nil, err
	}
	idle, err := s.usage()
	if err != nil {
		return nil, err
	}
	person, err := w.person(answering{At: task.At, Socket: true, Hands: 256, Wait: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, person.stop()) }()
	agents, err := w.start(roleAgents, task)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, agents.stop()) }()
	if err := allOpen(ctx, task.At, task.Askers); err != nil {
		return nil, err
	}
	w.settle()
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
	took := time.Since(from)
	after, err := s.usage()
	if err != nil {
		return nil, err
	}
	return []figure{{
		name: name + ", memory", value: float64(full.RSS), unit: bytesUsed, must: 400 << 20, aim: 150 << 20,
		beside: fmt.Sprintf("%s before; heap %s, stacks %s", bytesUsed.text(float64(idle.RSS)),
			bytesUsed.text(float64(full.Heap)), bytesUsed.text(float64(full.Stacks))),
	}, {
		name: "  all of them released", value: took.Seconds(), unit: seconds, must: 2, aim: 0.2,
		beside: fmt.Sprintf("by one person's answers, one each; server %s CPU, %s to open them",
			seconds.text(after.CPU-full.CPU), seconds.text(full.CPU-idle.CPU)),
	}}, nil
}

// settle lets a server come to rest: who is parked stays so for minutes.
func (w *world) settle() {
	if !w.quick {
		time.Sleep(5 * time.Second)
	}
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
