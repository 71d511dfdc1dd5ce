// Package modelstub is a model endpoint that plays a script.
//
// It speaks enough of the Anthropic Messages API, the Gemini API and OpenAI's
// Responses API for an agent's own binary to run against it without an account
// or a network: the agent asks for the next message, the stub hands out the next
// turn of the script (text, or calls of tools), and what the agent sends back is
// kept, so that a caller can read which tool results reached the model. Nothing
// here judges anything; it makes a real agent make real calls through whatever
// gate is installed in it.
package modelstub

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Call is one use of a tool, as a model would ask for it.
type Call struct {
	ID    string // the tool-use id, for example "toolu_01"; must be unique in a script
	Name  string // the tool's name as the host knows it, for example "Bash"
	Input string // the arguments, a JSON object
}

// A Turn is what the model says once. It is one of three things: text that
// ends the conversation (Say), calls of tools, all in one message (Use), or a
// function that decides when its time comes (Then).
type Turn struct {
	text  string
	calls []Call
	then  func(back []ToolResult) Turn
}

// Say is a turn of text. The agent takes it as the end of the conversation.
func Say(text string) Turn { return Turn{text: text} }

// Use is a turn that calls tools, all of them in one message.
func Use(calls ...Call) Turn { return Turn{calls: calls} }

// Then is a turn made when it is due, from the tool results that arrived with
// the request it answers. A function that returns another Then is asked again
// with the same results. It may call the stub's own methods.
func Then(next func(back []ToolResult) Turn) Turn { return Turn{then: next} }

// ToolResult is what the agent told the model of a call.
type ToolResult struct {
	ID      string // the tool-use id of the call
	Name    string // the tool of that call; empty if the script never made it
	Content string // the text blocks, joined by newlines; other blocks are left out
	IsError bool
}

// Request is one request for a message, as it arrived.
type Request struct {
	Body   []byte // the whole JSON body
	Model  string
	Script bool // whether it took a turn of the script; false for side requests
}

// Stub is an http.Handler that plays a script. Make one with New; it may be
// used by several connections at once.
type Stub struct {
	mu       sync.Mutex
	script   []Turn
	names    map[string]string // tool-use id to tool name, of calls handed out
	seen     map[string]bool   // tool-use ids whose result has arrived
	results  []ToolResult
	requests []Request
	messages int

	beside func(body []byte) bool // tells requests of an agent that runs beside
	agent  []Turn                 // its script
}

// New returns a stub that plays turns in order. When they are used up it says
// "done", as often as it is asked.
func New(turns ...Turn) *Stub {
	return &Stub{script: turns, names: map[string]string{}, seen: map[string]bool{}}
}

// Beside gives the requests that is tells apart a script of their own: those of
// an agent that the host runs beside the conversation, and that asks at the same
// time. It is called before the stub is asked anything.
func (s *Stub) Beside(is func(body []byte) bool, turns ...Turn) { s.beside, s.agent = is, turns }

// Results returns every tool result that reached the model, in the order of
// arrival, each once although an agent repeats them with every request.
func (s *Stub) Results() []ToolResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.results)
}

// Requests returns the requests for messages so far, side requests included.
func (s *Stub) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left returns how many turns of the script have not been asked for, those of an
// agent beside it included.
func (s *Stub) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.script) + len(s.agent)
}

// Listen serves the stub on a free loopback port until stop is called. The
// returned URL is the base URL to give to the agent.
func (s *Stub) Listen() (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("model stub: listen on loopback: %w", err)
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends with ErrServerClosed
	}()
	stop = sync.OnceFunc(func() {
		_ = srv.Close()
		<-done
	})
	return "http://" + l.Addr().String(), stop, nil
}

// asked is a request for a message, whatever API it came by.
type asked struct {
	model   string
	side    bool // made beside the conversation
	results []ToolResult
}

// next records the request and returns the turn that answers it, with the
// number of the message. A side request (a title, a summary, a search made for
// a tool) takes no turn.
func (s *Stub) next(r asked, body []byte) (Turn, int) {
	turn, back, n := s.take(r, body)
	for turn.then != nil { // without the lock, so that the function may use the stub
		turn = turn.then(back)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range turn.calls {
		s.names[c.ID] = c.Name
	}
	return turn, n
}

func (s *Stub) take(r asked, body []byte) (Turn, []ToolResult, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages++
	back := s.note(r.results)
	s.requests = append(s.requests, Request{Body: body, Model: r.model, Script: !r.side})
	script := &s.script
	if s.beside != nil && s.beside(body) {
		script = &s.agent
	}
	if r.side || len(*script) == 0 {
		return Say("done"), nil, s.messages
	}
	turn := (*script)[0]
	*script = (*script)[1:]
	return turn, back, s.messages
}

// note keeps the tool results that have not been seen, and returns them.
func (s *Stub) note(results []ToolResult) []ToolResult {
	var fresh []ToolResult
	for _, res := range results {
		if s.seen[res.ID] {
			continue
		}
		s.seen[res.ID] = true
		res.Name = s.names[res.ID]
		fresh = append(fresh, res)
	}
	s.results = append(s.results, fresh...)
	return fresh
}
