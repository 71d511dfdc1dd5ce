package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// start measures from the start of a server's process to its first list of a
// thousand open requests.
func start(ctx context.Context, w *world, dir string) ([]figure, error) {
	n, open := w.few(100_000, 3000), w.few(1000, 10)
	if err := history(ctx, dir, n, open); err != nil {
		return nil, err
	}
	took := durations{}
	for range w.few(15, 2) {
		t, err := w.startOnce(ctx, dir, open)
		if err != nil {
			return nil, err
		}
		took = append(took, t)
	}
	return []figure{{
		name: fmt.Sprintf("start, %d events, %d open, p50", n, open), value: took.at(0.5), unit: seconds, must: 0.2, aim: 0.05,
		beside: "from the start of the process to the first open list over HTTP; slowest " + seconds.text(took.at(1)),
	}}, nil
}

func (w *world) startOnce(ctx context.Context, dir string, open int) (_ time.Duration, err error) {
	from := time.Now()
	s, err := w.start(roleServer, serving{Dir: dir})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	var at ready
	if err := s.read(&at); err != nil {
		return 0, err
	}
	c, err := connect(ctx, at, at.Person, false)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	list, err := c.Requests(ctx, openRequests)
	if err == nil && len(list) != open {
		err = fmt.Errorf("%d requests are listed, not %d", len(list), open)
	}
	return time.Since(from), err
}
