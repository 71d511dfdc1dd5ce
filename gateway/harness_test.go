package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/store/memory"
)

var (
	asker  = sayso.Actor{Principal: "mcp", Kind: sayso.PrincipalAgent, Channel: "mcp", Owner: "ada"}
	person = sayso.Actor{Principal: "ada", Kind: sayso.PrincipalPerson, Channel: "terminal"}
)

// rules say by its name what may be done with a tool; of others people are asked.
type rules map[string]sayso.Effect

// mute reports whether no answer may come by way of a client.
func (p rules) mute() bool { _, ok := p["mute"]; return ok }

// elicitable lets people answer by way of the client, where rules let them.
func elicitable(o *gateway.Options) { o.Elicits = o.Pins.(sayso.Elicits) }

func (p rules) Version() string { return "rules" }

func (p rules) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	e, ok := p[c.Tool]
	if !ok {
		e = sayso.Ask
	}
	return sayso.Verdict{Match: sayso.Match{Effect: e, Cause: sayso.CauseRule, Rule: "a rule", Elicit: !p.mute()}}
}

// harness is a relay between a client and a server that the test plays, before a
// real broker.
type harness struct {
	t      *testing.T
	log    *memory.Log
	broker *broker.Broker
	relay  *gateway.Relay

	client, server *peer
	done           sync.WaitGroup
	cancel         context.CancelFunc

	mu    sync.Mutex // guards notes
	notes []string
}

// peer is one end of the relay.
type peer struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	from *io.PipeReader // what out reads
	wait time.Duration  // for the next line
	// strict has every line be one that is read in one way: what is forwarded has no
	// member twice, however it was made.
	strict bool
}

func newPeer(t *testing.T, in *io.PipeWriter, from *io.PipeReader) *peer {
	return &peer{t: t, in: in, out: bufio.NewReaderSize(from, 1<<20), from: from, wait: 30 * time.Second}
}

func (s *peer) send(line string) {
	s.t.Helper()
	end := time.AfterFunc(s.wait, func() { _ = s.in.CloseWithError(errors.New("nobody reads")) })
	defer end.Stop()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// next reads the next line, and does not wait for ever.
func (s *peer) next() (string, error) {
	end := time.AfterFunc(s.wait, func() { _ = s.from.Close() })
	defer end.Stop()
	return s.out.ReadString('\n')
}

// receive returns the next line that came.
func (s *peer) receive() string {
	s.t.Helper()
	line, err := s.next()
	if err != nil {
		s.t.Fatalf("no line within %v: %v", s.wait, err)
	}
	if s.strict {
		if err := jcs.Check([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
			s.t.Fatalf("%v: %.300q", err, line)
		}
	}
	return strings.TrimSuffix(line, "\n")
}

// expect fails unless the next line is this one, to the byte.
func (s *peer) expect(want string) {
	s.t.Helper()
	if line := s.receive(); line != want {
		s.t.Fatalf("got  %.300q\nwant %.300q", line, want)
	}
}

// momentsFrom is the clock of a broker that began at start.
func momentsFrom(start time.Time) func() sayso.Moment {
	return func() sayso.Moment {
		return sayso.Moment{Wall: time.Now().UTC(), Boot: "test", Since: time.Since(start)}
	}
}

func open(t *testing.T, p rules, change ...func(*gateway.Options)) *harness {
	t.Helper()
	w := &harness{t: t, log: memory.New(nil)}
	var err error
	w.broker, err = broker.New(w.log, p, &broker.Options{
		MaxOpen: 1 << 20, MaxAsks: 1 << 20,
		Now: momentsFrom(time.Now()),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.start(change...)
	t.Cleanup(w.end)
	return w
}

// start begins a relay with both its ends.
func (w *harness) start(change ...func(*gateway.Options)) {
	w.t.Helper()
	fromClient, client := io.Pipe()
	toClient, clientOut := io.Pipe()
	fromServer, server := io.Pipe()
	toServer, serverOut := io.Pipe()
	w.client, w.server = newPeer(w.t, client, toClient), newPeer(w.t, server, toServer)
	w.server.strict = true
	o := gateway.Options{
		Gate: w.broker.Gate(asker), Pins: w.broker, Actor: asker, Name: "srv", Session: "s", Cwd: "/",
		Facts: facts.Options{Workspace: "/"},
		Note:  func(text string) { w.mu.Lock(); defer w.mu.Unlock(); w.notes = append(w.notes, text) },
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	if w.relay, err = gateway.New(o, clientOut, serverOut); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	if err := w.relay.Begin(ctx); err != nil {
		w.t.Fatal(err)
	}
	w.done.Go(func() {
		_ = w.relay.FromClient(ctx, fromClient)
		_ = serverOut.Close()
	})
	w.done.Go(func() {
		_ = w.relay.FromServer(ctx, fromServer)
		_ = clientOut.Close()
	})
}

// end ends the relay and its broker.
func (w *harness) end() {
	w.stop()
	if err := w.broker.Close(); err != nil {
		w.t.Error(err)
	}
}

// stop closes both ends and waits.
func (w *harness) stop() {
	w.cancel()
	_, _ = w.client.in.Close(), w.server.in.Close()
	w.done.Go(func() { _, _ = io.Copy(io.Discard, w.client.out) })
	w.done.Go(func() { _, _ = io.Copy(io.Discard, w.server.out) })
	w.done.Wait()
	if err := w.relay.Close(context.Background()); err != nil {
		w.t.Error(err)
	}
}

// listTools has the client list the tools of the server, and returns what it got.
func (w *harness) listTools(tools string) string {
	w.t.Helper()
	const ask = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`
	w.client.send(ask)
	w.server.expect(ask)
	w.server.send(`{"jsonrpc":"2.0","id":"list","result":{"tools":[` + tools + `]}}`)
	return w.client.receive()
}

const echoTool = `{"name":"echo","description":"says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},"annotations":{"readOnlyHint":true}}`

// echo is a call of that tool.
func echo(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + text + `"}}}`
}

// requests waits until so many requests are open, and returns them.
func (w *harness) requests(n int) []sayso.Request {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	in := w.broker.Inbox(person)
	for {
		head, err := in.Head(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		list, err := in.Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true, Limit: n + 1})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(list) == n {
			return list
		}
		if _, err := w.log.WaitSince(ctx, head.Seq); err != nil {
			w.t.Fatalf("%d requests are open, not %d: %v", len(list), n, err)
		}
	}
}

// answer answers a request as the person.
func (w *harness) answer(r sayso.Request, e sayso.Effect, change ...func(*sayso.Answer)) {
	w.t.Helper()
	a := sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: e}
	for _, c := range change {
		c(&a)
	}
	if _, err := w.broker.Inbox(person).Answer(context.Background(), r.ID, a); err != nil {
		w.t.Fatal(err)
	}
}

// waitForEvent waits for an event of a type, and returns it.
func (w *harness) waitForEvent(t sayso.EventType) sayso.Event {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for e, err := range w.broker.Inbox(sayso.Actor{Principal: "admin", Kind: sayso.PrincipalAdmin}).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{t}}) {
		if err != nil {
			w.t.Fatalf("waiting for %s: %v", t, err)
		}
		return e
	}
	w.t.Fatalf("no %s", t)
	return sayso.Event{}
}

// refusalOf is the text of a result that says why a tool did not run.
func (w *harness) refusalOf(line, id string) string {
	w.t.Helper()
	var m struct {
		ID     sayso.Args `json:"id"`
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			IsError bool `json:"isError"`
		} `json:"result"`
	}
	if err := jcs.UnmarshalLenient([]byte(line), &m); err != nil {
		w.t.Fatal(err)
	}
	if string(m.ID) != id || !m.Result.IsError || len(m.Result.Content) != 1 {
		w.t.Fatalf("no refusal of %s: %s", id, line)
	}
	return m.Result.Content[0].Text
}
