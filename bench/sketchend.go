package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/sayso-dev/sayso"
)

// end is the end of agents and of the person of what is measured: a client of the
// server, or of the sketch.
type end interface {
	Admit(context.Context, sayso.Admission) (sayso.Decision, error)
	Head(context.Context) (sayso.Head, error)
	Follow(context.Context, sayso.Seq, sayso.EventQuery) iter.Seq2[sayso.Event, error]
	Answer(context.Context, sayso.ID, sayso.Answer) (sayso.Decision, error)
	Close() error
}

// sketchHTTP is the end of the sketch over HTTP.
type sketchHTTP struct {
	url string
	c   http.Client
}

func newSketchHTTP(url string) *sketchHTTP {
	return &sketchHTTP{url, http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}}
}

func (s *sketchHTTP) post(ctx context.Context, path, body string) (d sayso.Decision, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		return d, err
	}
	resp, err := s.c.Do(r)
	if err != nil {
		return d, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	d.State = sayso.StateAllowed
	return d, errors.Join(err, resp.Body.Close())
}

func (s *sketchHTTP) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	return s.post(ctx, "/ask", string(a.Call.Args))
}

func (s *sketchHTTP) Answer(ctx context.Context, id sayso.ID, _ sayso.Answer) (sayso.Decision, error) {
	return s.post(ctx, "/answer", string(id))
}

func (s *sketchHTTP) Head(context.Context) (h sayso.Head, err error) { return h, nil }
func (s *sketchHTTP) Close() error                                   { s.c.CloseIdleConnections(); return nil }

func (s *sketchHTTP) Follow(ctx context.Context, _ sayso.Seq, _ sayso.EventQuery) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/events", nil)
		if err != nil {
			yield(sayso.Event{}, err)
			return
		}
		resp, err := s.c.Do(r)
		if err != nil {
			yield(sayso.Event{}, err)
			return
		}
		defer resp.Body.Close()
		lines := scanner(resp.Body)
		for lines.Scan() && yield(sketchEvent(lines.Text()), nil) {
		}
	}
}

func sketchEvent(id string) sayso.Event {
	return sayso.Event{RequestID: sayso.ID(id), Payload: []byte(`{}`)}
}

// sketchSocket is the end of the sketch on one connection.
type sketchSocket struct {
	conn  net.Conn
	asked chan sayso.Event

	mu      sync.Mutex // guards what follows, and who writes
	next    int
	waiting map[string]chan struct{}
}

func dialSketch(ctx context.Context, path string) (*sketchSocket, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	s := &sketchSocket{conn: conn, asked: make(chan sayso.Event, 1<<16), waiting: map[string]chan struct{}{}}
	go s.read()
	return s, nil
}

// read ends with the connection.
func (s *sketchSocket) read() {
	for lines := scanner(s.conn); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "asked "); ok {
			s.asked <- sketchEvent(id)
			continue
		}
		s.mu.Lock()
		close(s.waiting[lines.Text()])
		delete(s.waiting, lines.Text())
		s.mu.Unlock()
	}
	close(s.asked)
}

// trip sends a line under a name and waits until the name comes back.
func (s *sketchSocket) trip(verb, body string) error {
	done := make(chan struct{})
	s.mu.Lock()
	s.next++
	name := strconv.Itoa(s.next)
	s.waiting[name] = done
	_, err := fmt.Fprintf(s.conn, "%s %s %s\n", verb, name, body)
	s.mu.Unlock()
	if err == nil {
		<-done
	}
	return err
}

func (s *sketchSocket) Admit(_ context.Context, a sayso.Admission) (d sayso.Decision, err error) {
	d.State = sayso.StateAllowed
	return d, s.trip("ask", string(a.Call.Args))
}

func (s *sketchSocket) Answer(_ context.Context, id sayso.ID, _ sayso.Answer) (d sayso.Decision, err error) {
	return d, s.trip("answer", string(id))
}

func (s *sketchSocket) Head(context.Context) (h sayso.Head, err error) { return h, nil }
func (s *sketchSocket) Close() error                                   { return s.conn.Close() }

func (s *sketchSocket) Follow(ctx context.Context, _ sayso.Seq, _ sayso.EventQuery) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		if _, err := io.WriteString(s.conn, "follow\n"); err != nil {
			yield(sayso.Event{}, err)
			return
		}
		for {
			select {
			case e, ok := <-s.asked:
				if !ok || !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
