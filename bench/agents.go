package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
)

// asking is the task of a process of agents.
type asking struct {
	At     ready `json:"at"`
	Socket bool  `json:"socket"` // one WebSocket over the Unix socket, else HTTP
	// Connections is over how many WebSockets the askers are spread; zero for
	// one.
	Connections int `json:"connections"`

	Askers  int     `json:"askers"`
	Cycles  int     `json:"cycles"`  // all together; zero for as long as For says
	For     float64 `json:"for"`     // seconds
	Warming int     `json:"warming"` // cycles that are not counted
}

// asked is what became of it.
type asked struct {
	Cycles  int     `json:"cycles"`
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"p50"` // seconds
	P99     float64 `json:"p99"`
	CPU     float64 `json:"cpu"` // seconds of the agents alone
}

// connect opens the connection of a task.
func connect(ctx context.Context, at ready, token string, socket bool) (*client.Client, error) {
	if socket {
		return client.Dial(ctx, at.Socket, token, nil)
	}
	return client.New(at.HTTP, token, nil)
}

// reach opens the connection of a task to the server or the sketch.
func reach(ctx context.Context, at ready, token string, socket bool) (end, error) {
	switch {
	case at.Sketch && socket:
		return dialSketch(ctx, at.Socket)
	case at.Sketch:
		return newSketchHTTP(at.HTTP), nil
	}
	return connect(ctx, at, token, socket)
}

// ask makes calls, each asker one after the other, and waits for the decisions.
func ask(c *child) error {
	var task asking
	ctx, err := c.begin(&task, nil)
	if err != nil {
		return err
	}
	load := load{run: time.Now().UnixNano()}
	for range max(task.Connections, 1) {
		gate, err := reach(ctx, task.At, task.At.Agent, task.Socket)
		if err != nil {
			return err
		}
		defer gate.Close()
		load.gates = append(load.gates, gate)
	}
	if _, err := load.cycles(ctx, task.Askers, task.Warming, 0); err != nil {
		return err
	}
	before, from := used(), time.Now()
	took, err := load.cycles(ctx, task.Askers, task.Cycles, time.Duration(task.For*float64(time.Second)))
	if err != nil {
		return err
	}
	return c.write(asked{
		Cycles: len(took), Seconds: time.Since(from).Seconds(), P50: took.at(0.5), P99: took.at(0.99),
		CPU: used().CPU - before.CPU,
	})
}

// sessions is over how many sessions askers are spread.
const sessions = 128

// load makes calls that are unlike all others.
type load struct {
	gates []end
	run   int64

	mu   sync.Mutex // guards what follows
	next int
	left int
	took durations
	err  error
}

// cycles has askers make calls until there were enough or the time is up.
func (l *load) cycles(ctx context.Context, askers, enough int, within time.Duration) (durations, error) {
	if within > 0 {
		enough = unlimited
	}
	end := time.Now().Add(within)
	l.left, l.took, l.err = enough, nil, nil
	var all sync.WaitGroup
	for i := range askers {
		all.Go(func() {
			session := fmt.Sprintf("s-%d-%d", l.run, i%sessions)
			for within == 0 || time.Now().Before(end) {
				n, ok := l.begin()
				if !ok {
					return
				}
				l.end(l.one(ctx, l.gates[i%len(l.gates)], session, n))
			}
		})
	}
	all.Wait()
	return l.took, l.err
}

func (l *load) begin() (n int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left <= 0 || l.err != nil {
		return 0, false
	}
	l.left--
	l.next++
	return l.next, true
}

func (l *load) end(took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took, l.err = append(l.took, took), errors.Join(l.err, err)
}

// one is a whole cycle: a call is asked about, a person allows it, and the
// asker learns it.
func (l *load) one(ctx context.Context, gate end, session string, n int) (time.Duration, error) {
	from := time.Now()
	d, err := gate.Admit(ctx, sayso.Admission{Call: call(session, fmt.Sprintf("c-%d-%d", l.run, n), n)})
	took := time.Since(from)
	if err == nil && d.State != sayso.StateAllowed {
		err = fmt.Errorf("a call was not allowed: %s", d.State)
	}
	return took, err
}
