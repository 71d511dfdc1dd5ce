package main

import (
	"context"
	"errors"
	"fmt"
)

// lone measures one asker over HTTP: what a person waits for besides
// themselves.
func lone(_ context.Context, w *world, dir string) ([]figure, error) {
	a, bare, err := w.both(dir, asking{Askers: 1, Cycles: w.few(2000, 20), Warming: w.few(200, 2)}, 4)
	if err != nil {
		return nil, err
	}
	limit := 2*w.limits.sync + 2*w.limits.trip
	return []figure{{
		name: "lone cycle over HTTP, p50", value: a.P50, unit: seconds, must: 2 * limit, aim: 1.5 * limit,
		beside: fmt.Sprintf("2F + 2H = %s; p99 %s%s", seconds.text(limit), seconds.text(a.P99), a.cost()),
	}, {
		name: sketched, value: bare.P50, unit: seconds, beside: fmt.Sprintf("p99 %s%s", seconds.text(bare.P99), bare.cost()),
	}}, nil
}

// overHTTP measures 64 askers over HTTP.
func overHTTP(_ context.Context, w *world, dir string) ([]figure, error) {
	a, bare, err := w.both(dir, w.load(64), 32)
	if err != nil {
		return nil, err
	}
	return []figure{{
		name: "cycles, 64 askers, HTTP", value: a.rate(), unit: perSecond, must: 5000, aim: 10_000, atLeast: true,
		beside: a.times(),
	}, {
		name: sketched, value: bare.rate(), unit: perSecond, atLeast: true, beside: bare.times(),
	}}, nil
}

// overSocket measures 512 askers on one WebSocket, and a person on another.
func overSocket(_ context.Context, w *world, dir string) ([]figure, error) {
	task := w.load(512)
	task.Socket = true
	a, bare, err := w.both(dir, task, 512)
	if err != nil {
		return nil, err
	}
	return []figure{{
		name: "cycles, 512 askers, one WebSocket", value: a.rate(), unit: perSecond, must: 10_000, aim: 50_000, atLeast: true,
		beside: a.times(),
	}, {
		name: sketched, value: bare.rate(), unit: perSecond, atLeast: true, beside: bare.times(),
	}}, nil
}

// sketched names what the sketch takes for the same.
const sketched = "  a sketch that does nothing but record"

// load is a task that fills the machine for some seconds.
func (w *world) load(askers int) asking {
	if w.quick {
		return asking{Askers: askers, Cycles: 2 * askers}
	}
	return asking{Askers: askers, For: 8, Warming: 20 * askers}
}

// measured is what agents report, with the time that the server needed.
type measured struct {
	asked
	server float64 // seconds of processor time, warming included
	warmed int
}

func (m measured) rate() float64 { return float64(m.Cycles) / m.Seconds }

// times tells how long cycles took.
func (m measured) times() string {
	return fmt.Sprintf("p50 %s, p99 %s%s", seconds.text(m.P50), seconds.text(m.P99), m.cost())
}

// cost tells the processor time of one cycle.
func (m measured) cost() string {
	server, agents := m.server/float64(m.Cycles+m.warmed), m.CPU/float64(m.Cycles)
	return fmt.Sprintf("; server %s CPU a cycle, agents %s", seconds.text(server), seconds.text(agents))
}

// both measures the server, and the sketch right after it.
func (w *world) both(dir string, task asking, hands int) (whole, bare measured, err error) {
	if whole, err = w.cycles(roleServer, dir, task, hands); err != nil {
		return whole, bare, err
	}
	bare, err = w.cycles(roleSketch, dir, task, hands)
	return whole, bare, err
}

// cycles has agents ask a server, and a person answer them.
func (w *world) cycles(role, dir string, task asking, hands int) (m measured, err error) {
	s, err := w.start(role, serving{Dir: dir})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.read(&task.At); err != nil {
		return m, err
	}
	person, err := w.person(answering{At: task.At, Socket: task.Socket, Hands: hands})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, person.stop()) }()
	before, err := s.usage()
	if err != nil {
		return m, err
	}
	agents, err := w.start(roleAgents, task)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, agents.stop()) }()
	if err := agents.read(&m.asked); err != nil {
		return m, err
	}
	after, err := s.usage()
	m.server, m.warmed = after.CPU-before.CPU, task.Warming
	return m, err
}

// person starts somebody who answers.
func (w *world) person(task answering) (*process, error) {
	p, err := w.start(rolePerson, task)
	if err != nil {
		return nil, err
	}
	if err := p.read(&struct{}{}); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// usage asks a server what it has used.
func (p *process) usage() (u usage, err error) {
	if err := p.write(struct{}{}); err != nil {
		return u, err
	}
	return u, p.read(&u)
}
