package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// followers measures how long an event takes to a thousand followers, at
// twenty events in a second.
func followers(ctx context.Context, w *world, dir string) (_ []figure, err error) {
	task := following{Followers: w.few(1000, 10), Events: w.few(200, 3)}
	s, err := w.start(roleServer, serving{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.read(&task.At); err != nil {
		return nil, err
	}
	crowd, err := w.start(roleFollowers, task)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, crowd.stop()) }()
	if err := crowd.read(&struct{}{}); err != nil {
		return nil, err
	}
	before, err := s.usage()
	if err != nil {
		return nil, err
	}
	if err := happen(ctx, task.At, task.Events); err != nil {
		return nil, err
	}
	var d delivered
	if err := crowd.read(&d); err != nil {
		return nil, err
	}
	after, err := s.usage()
	if err != nil {
		return nil, err
	}
	each := (after.CPU - before.CPU) / float64(task.Followers*task.Events)
	return []figure{{
		name: fmt.Sprintf("event to %d followers, p99", task.Followers), value: d.P99, unit: seconds, must: 0.02, aim: 0.005,
		beside: fmt.Sprintf("p50 %s, slowest %s; from asking for it, so the commit is in it; server %s CPU a stream, readers %s",
			seconds.text(d.P50), seconds.text(d.Slowest), seconds.text(each), seconds.text(d.CPU/float64(task.Followers*task.Events))),
	}}, nil
}

// happen makes events, twenty a second, that say when they were asked for.
func happen(ctx context.Context, at ready, n int) error {
	c, err := connect(ctx, at, at.Agent, false)
	if err != nil {
		return err
	}
	defer c.Close()
	tick := time.NewTicker(time.Second / 20)
	defer tick.Stop()
	for range n {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if err := c.Begin(ctx, stamp+strconv.FormatInt(time.Now().UnixNano(), 10), "bench"); err != nil {
			return err
		}
	}
	return nil
}

// stamp begins the name of a session that says when it was begun.
const stamp = "at-"

// following is the task of a process of followers.
type following struct {
	At        ready `json:"at"`
	Followers int   `json:"followers"`
	Events    int   `json:"events"` // that each gets
}

// delivered is what became of it, in seconds.
type delivered struct {
	P50     float64 `json:"p50"`
	P99     float64 `json:"p99"`
	Slowest float64 `json:"slowest"`
	CPU     float64 `json:"cpu"` // of the followers alone
}

// follow opens streams of events, each on a connection of its own.
func follow(c *child) error {
	var task following
	ctx, err := c.begin(&task, nil)
	if err != nil {
		return err
	}
	streams := make([]*bufio.Reader, task.Followers)
	for i := range streams {
		resp, err := openStream(ctx, task.At)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		streams[i] = bufio.NewReader(resp.Body)
	}
	if err := c.write(struct{}{}); err != nil {
		return err
	}
	before := used()
	took, errs := make([]durations, len(streams)), make([]error, len(streams))
	var all sync.WaitGroup
	for i, s := range streams {
		all.Go(func() { took[i], errs[i] = arrivals(s, task.Events) })
	}
	all.Wait()
	var every durations
	for _, t := range took {
		every = append(every, t...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return c.write(delivered{every.at(0.5), every.at(0.99), every.at(1), used().CPU - before.CPU})
}

func openStream(ctx context.Context, at ready) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.HTTP+"/v1/events?type=session.started", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+at.Person)
	resp, err := http.DefaultClient.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.Join(fmt.Errorf("a stream was answered with status %d", resp.StatusCode), resp.Body.Close())
	}
	return resp, err
}

// arrivals reads n events of a stream and tells how long each took.
func arrivals(s *bufio.Reader, n int) (durations, error) {
	took := durations{}
	for len(took) < n {
		line, err := s.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		_, after, ok := bytes.Cut(line, []byte(`"`+stamp))
		if !ok {
			continue
		}
		now := time.Now()
		digits, _, _ := strings.Cut(string(after), `"`)
		ns, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, err
		}
		took = append(took, now.Sub(time.Unix(0, ns)))
	}
	return took, nil
}
