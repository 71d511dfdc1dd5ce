package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// openRequests selects what waits for people.
var openRequests = sayso.RowQuery{
	States: []sayso.State{sayso.StateOpen, sayso.StateParked}, Oldest: true, Limit: 1000,
}

// openList measures how long it takes to list a hundred open requests of a log
// of a million events.
func openList(ctx context.Context, w *world, dir string) (_ []figure, err error) {
	n, open := w.few(1_000_000, 3000), 100
	if err := history(ctx, dir, n, open); err != nil {
		return nil, err
	}
	paths, err := homeIn(dir)
	if err != nil {
		return nil, err
	}
	b, closing, err := engine(ctx, paths)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	inbox, took := b.Inbox(personActor), durations{}
	for range w.few(500, 5) {
		from := time.Now()
		list, err := inbox.Requests(ctx, openRequests)
		if err != nil {
			return nil, err
		}
		if len(list) != open {
			return nil, fmt.Errorf("%d requests are listed, not %d", len(list), open)
		}
		took = append(took, time.Since(from))
	}
	return []figure{{
		name: fmt.Sprintf("open list, %d events, %d open, p50", n, open), value: took.at(0.5), unit: seconds, must: 0.001, aim: 0.0002,
		beside: fmt.Sprintf("the first %s, p99 %s", seconds.text(took[0].Seconds()), seconds.text(took.at(0.99))),
	}}, nil
}
