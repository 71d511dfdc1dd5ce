package acprelay_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/acprelay"
	"github.com/sayso-dev/sayso/saysotest"
)

// harness is a relay between an editor and an agent that the test plays, before a real
// broker.
type harness struct {
	t             *testing.T
	broker        *saysotest.Broker
	editor, agent *peer
	relay         *acprelay.Relay
	ended         chan error // of both ways

	mu    sync.Mutex // guards notes
	notes []string
}

// peer is one end of the relay.
type peer struct {
	t    *testing.T
	in   *io.PipeWriter
	from *io.PipeReader
	out  *bufio.Reader
}

// patience is how long a test waits for a line that must come.
const patience = 30 * time.Second

func newHarness(t *testing.T, b *saysotest.Broker, change func(*acprelay.Options)) *harness {
	t.Helper()
	w := &harness{t: t, broker: b, ended: make(chan error, 2)}
	editorIn, editorTo := io.Pipe()
	agentIn, agentTo := io.Pipe()
	fromEditor, toEditor := io.Pipe()
	fromAgent, toAgent := io.Pipe()
	w.editor = &peer{t, editorTo, fromEditor, bufio.NewReader(fromEditor)}
	w.agent = &peer{t, agentTo, fromAgent, bufio.NewReader(fromAgent)}
	o := acprelay.Options{Note: func(text string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notes = append(w.notes, text)
	}}
	if b != nil {
		o.Gate = b.Gate()
	}
	if change != nil {
		change(&o)
	}
	var err error
	if w.relay, err = acprelay.New(o, toEditor, toAgent); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var both sync.WaitGroup
	both.Go(func() { w.ended <- w.relay.FromEditor(ctx, editorIn) })
	both.Go(func() { w.ended <- w.relay.FromAgent(ctx, agentIn) })
	t.Cleanup(func() {
		for _, p := range []*io.PipeReader{fromEditor, fromAgent} {
			_ = p.Close() // nobody reads any more
		}
		_, _ = editorTo.Close(), agentTo.Close()
		cancel()
		both.Wait()
		w.relay.Close(context.Background())
	})
	return w
}

// newSession has the editor begin the session s1 in a folder.
func (w *harness) newSession(cwd string) *harness {
	w.t.Helper()
	w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"Pilot","version":"1.2"}}}`)
	w.expectForwarded(w.editor, w.agent, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, cwd))
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`)
	return w
}

// expectForwarded has one side send a line, which the other must get as it is.
func (w *harness) expectForwarded(from, to *peer, line string) {
	w.t.Helper()
	sent := make(chan struct{})
	go func() { defer close(sent); from.send(line) }()
	if got := to.next(); got != line {
		w.t.Fatalf("%.300q was sent, and %.300q came", line, got)
	}
	<-sent
}

func (s *peer) send(line string) {
	s.t.Helper()
	stop := time.AfterFunc(patience, func() { _ = s.in.CloseWithError(errors.New("nobody reads")) })
	defer stop.Stop()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Error(err)
	}
}

// next is the next line, for which it does not wait for ever.
func (s *peer) next() string {
	s.t.Helper()
	stop := time.AfterFunc(patience, func() { _ = s.from.Close() })
	defer stop.Stop()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("no line came: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// notesText are the notes so far.
func (w *harness) notesText() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.notes, "\n")
}

// waitForOpen waits until so many requests were recorded.
func (w *harness) waitForOpen(n int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for _, err := range w.broker.Inbox().Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			w.t.Fatal(err)
		}
		if n--; n == 0 {
			return
		}
	}
	w.t.Fatal("the log ended")
}

// ask is a request for permission to run a command.
func ask(id, call, command string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":%q,"title":"harmless",`+
		`"kind":"execute","status":"pending","rawInput":{"command":%q}},"options":[{"optionId":"a1","kind":"allow_once","name":"Yes"},`+
		`{"optionId":"a2","kind":"allow_always","name":"Always"},{"optionId":"r1","kind":"reject_once","name":"No"}]}}`, id, call, command)
}

// said is the answer to a request for permission: an option, or none for cancelled.
func said(id, option string) string {
	if option == "" {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"cancelled"}}}`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"selected","optionId":"` + option + `"}}}`
}
