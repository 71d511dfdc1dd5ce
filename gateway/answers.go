package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// FromServer relays what the server sends, until it sends no more.
func (r *Relay) FromServer(ctx context.Context, from io.Reader) error {
	in := lines.NewReader(from, maxMessage)
	for {
		line, whole, err := in.Next()
		if err != nil {
			return ignoreClosed(err)
		}
		if whole {
			err = r.fromServer(ctx, line)
		} else {
			err = r.relayLongAnswer(ctx, in, line)
		}
		if err != nil {
			return err
		}
	}
}

// fromServer relays one message of the server. An error ends the relay.
func (r *Relay) fromServer(ctx context.Context, line []byte) error {
	m, err := readMessage(line)
	if err != nil {
		return r.skipUnreadable(ctx, line, err)
	}
	if m.failed && r.redactError != nil {
		m = r.redactError(m)
		line = m.line
	}
	switch {
	case m.isRequest() && (r.sessionless || r.stateless):
		r.rejectRequest(&m)
		return nil
	case m.method == samplingMethod && m.isRequest():
		r.background(&r.reporting, func() { r.handleSampling(ctx, m) })
		return nil
	case rpc.PosesAs(m.method, []string{samplingMethod}):
		r.noteSkipped(rpc.Invalid("a method is called nearly like " + samplingMethod))
		return nil
	case m.isResponse():
		return r.handleResponse(ctx, m)
	case !m.isRequest():
		if err := r.checkNotification(&m); err != nil {
			r.noteSkipped(err)
			return nil
		}
	}
	return r.client.Send(line)
}

// maxRejecting is how many answers of ours a server may leave unread.
const maxRejecting = 64

// rejectRequest answers a request of a server whose client can be asked nothing, so that
// the server does not wait for it. One over HTTP cannot be answered there.
func (r *Relay) rejectRequest(m *message) {
	r.noteSkipped(rpc.Invalid("it asks a client that has no session to answer in"))
	if _, ok := r.server.(lineSender); !ok {
		return
	}
	text := errorResponse(m.id, codeMethodNotFound, "The requests of this client stand alone: nothing can be asked of it but within a result (input_required).")
	if m.method == "ping" {
		text = resultResponse(m.id, jsontext.Value("{}"))
	}
	if r.rejecting.Add(1) > maxRejecting {
		r.rejecting.Add(-1)
		return
	}
	r.background(&r.reporting, func() { // a server that does not read holds up nobody
		defer r.rejecting.Add(-1)
		_ = r.server.Send(text) // one that is gone needs none
	})
}

// skipUnreadable leaves out a line of the server that is no message. The call that it
// answers for certain has failed: nothing else will answer it.
func (r *Relay) skipUnreadable(ctx context.Context, line []byte, why error) error {
	r.noteSkipped(why)
	id := rpc.SoleID(line)
	if id == nil {
		return nil
	}
	h, _ := r.takeForwarded(&message{id: id})
	if h == nil {
		return nil
	}
	r.report(ctx, h, true, sha256.Sum256(line))
	if h.task != nil {
		r.endTask(h.task, taskFailed, "", errorObject(codeInternal, "The answer of the server could not be read strictly ("+why.Error()+")."))
		return nil
	}
	return r.client.Send(errorResponse(h.id, codeInternal, "The answer of the server could not be read strictly ("+why.Error()+")."))
}

// maxNotedSkips is how many lines of a server that are no messages are told of.
const maxNotedSkips = 8

// noteSkipped leaves out a line of the server that is no message of the protocol, as
// one that was printed by mistake.
func (r *Relay) noteSkipped(why error) {
	if r.skipped.Add(1) <= maxNotedSkips {
		r.o.Note("a line of " + r.o.Name + " is left out: " + why.Error())
	}
}

// handleResponse relays an answer of the server.
func (r *Relay) handleResponse(ctx context.Context, m message) error {
	h, waits := r.takeForwarded(&m)
	if waits {
		r.noteSkipped(errNotForwarded)
		return nil
	}
	m, err := r.rewritten(m)
	if err != nil {
		return r.client.Send(errorResponse(m.id, codeInternal, "The answer of the server could not be read strictly ("+err.Error()+")."))
	}
	look, err := readResult(&m)
	if err == nil && look.kind == taskKind {
		r.mu.Lock()
		r.serverTasks = true
		r.mu.Unlock()
	}
	if h != nil && h.task != nil {
		r.handleTaskResult(ctx, m, h, look, err)
		return nil
	}
	if err == nil && h == nil && look.listing != nil {
		return r.handleToolList(ctx, &m, look.listing)
	}
	switch {
	case h == nil:
	case err == nil && look.isIncomplete() && look.wantsSampling: // whether it does is asked
	case err == nil && look.isIncomplete():
		r.addRound(ctx, h, look.state)
	default:
		r.report(ctx, h, m.failed || err != nil || look.isError, sha256.Sum256(m.line))
	}
	switch {
	case err != nil:
		return r.client.Send(errorResponse(m.id, codeInternal, "The answer of the server could not be read strictly ("+err.Error()+")."))
	case look.wantsSampling:
		judged := r.judging(m.key())
		r.background(&r.reporting, func() { defer judged(); r.handleSamplingResult(ctx, m, h, look) })
		return nil
	}
	return r.client.Send(m.line)
}

// judging notes that the server's answer to a request is here and may not go on
// yet, until the returned function is called.
func (c *conversation) judging(key string) (judged func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.judged[key]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.judged[key]--; c.judged[key] == 0 {
			delete(c.judged, key)
		}
	}
}

// result is what is looked at of a result.
type result struct {
	isError       bool
	wantsSampling bool // it has the client ask its model for something
	listing       *toolList
	kind          string         // what sort of result it is, where it says so
	state         string         // with which the client is to make the call again
	requests      jsontext.Value // what is wanted of the client
	taskID        string         // of the server
}

// isIncomplete reports whether a call has not ended with this result: the server wants
// something of the client, and the client makes the call again with that.
func (res *result) isIncomplete() bool { return res.kind == "input_required" && res.state != "" }

// readResult looks into a result: a list of tools is judged, and so is one that
// has the client ask its model.
func readResult(m *message) (res result, err error) {
	if m.result.Kind() != '{' {
		return res, nil
	}
	err = rpc.Members(m.result, resultMembers, func(name string, value jsontext.Value, at int) error {
		switch {
		case name == "isError":
			res.isError = value.Kind() == 't'
		case name == "tools" && value.Kind() == '[':
			if err := jcs.Check(m.line); err != nil {
				return fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
			}
			res.listing = &toolList{}
			return res.listing.read(value, m.resultAt+at)
		case name == "inputRequests":
			var err error
			res.wantsSampling, err = hasSampling(value)
			res.requests = value
			return err
		case name == "taskId" && value.Kind() == '"':
			_ = rpc.ReadText(value, &res.taskID)
		case name == "resultType" && value.Kind() == '"':
			_ = rpc.ReadText(value, &res.kind) // what cannot be read is no word of ours
		case name == "requestState" && value.Kind() == '"':
			_ = rpc.ReadText(value, &res.state) // a call that comes back with it is asked about
		}
		return nil
	})
	return res, err
}

// errNotForwarded is an answer to a call that still waits for the gate.
var errNotForwarded = rpc.Invalid("it answers a call that was not forwarded")

// takeForwarded is the call that a message answers, nil if it answers something else.
// One that waits cannot be answered: the server never got it, and guessed its id.
func (r *Relay) takeForwarded(m *message) (h *heldCall, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := m.key()
	switch h = r.calls[key]; {
	case h == nil:
		return nil, false
	case h.request == "":
		return nil, true
	}
	delete(r.calls, key)
	return h, false
}

// report tells the gate what became of a call, while its answer is on its way.
func (r *Relay) report(ctx context.Context, h *heldCall, failed bool, output sayso.Digest) {
	o := sayso.Outcome{Request: h.request, Failed: failed, Output: output, Took: time.Since(h.sent)}
	r.mu.Lock()
	r.outcomes = append(r.outcomes, o)
	first := len(r.outcomes) == 1
	r.mu.Unlock()
	if first {
		r.background(&r.reporting, func() { r.flushOutcomes(ctx) })
	}
}

// reportDelay is how long an outcome waits for others. Recorded at once, each would be
// on its way to the disk when the next call wants to be.
const reportDelay = 20 * time.Millisecond

// flushOutcomes reports what became of calls, those of a moment together.
func (r *Relay) flushOutcomes(ctx context.Context) {
	select {
	case <-time.After(reportDelay):
	case <-r.flush:
	}
	r.mu.Lock()
	outcomes := r.outcomes
	r.outcomes = nil
	r.mu.Unlock()
	ctx, cancel := enforce.Late(ctx)
	defer cancel()
	var all sync.WaitGroup
	for _, o := range outcomes {
		all.Go(func() { _ = r.o.Gate.Report(ctx, o) }) // the log then says that it is not known
	}
	all.Wait()
}

// relayLongAnswer relays a message that is too long to be looked at whole, as it
// comes. One that is not only an answer to a request ends the relay in the middle of
// it, so that no client takes it for a message.
func (r *Relay) relayLongAnswer(ctx context.Context, in *lines.Reader, begin []byte) error {
	var o outline
	var h *heldCall
	sum := sha256.New()
	err := r.client.Pieces(&o, func(w io.Writer) error {
		for piece, last := begin, false; ; {
			if err := o.scan(piece, last); err != nil {
				return fmt.Errorf("%s: %w", r.o.Name, err)
			}
			sum.Write(piece)
			if o.complete && h == nil {
				var waits bool
				if h, waits = r.takeForwarded(&message{id: o.id}); waits {
					return fmt.Errorf("%s: %w", r.o.Name, errNotForwarded)
				}
			}
			if last {
				piece = append(slices.Clip(piece), '\n')
			}
			if _, err := w.Write(piece); err != nil || last {
				return err
			}
			var err error
			if piece, last, err = in.Rest(); err != nil {
				return err
			}
		}
	})
	if err == nil && h != nil {
		if h.task != nil {
			const text = "The tool ran. Its result is too long to be kept for a task, and is lost. Report this to the user."
			r.endTask(h.task, completed, text, refusalResult(text))
		}
		r.report(ctx, h, o.failed, sayso.Digest(sum.Sum(nil)))
	}
	return err
}

// handleToolList relays a list of tools, without those that may not be shown.
func (r *Relay) handleToolList(ctx context.Context, m *message, l *toolList) error {
	if err := r.judgeTools(ctx, l); err != nil {
		return r.client.Send(errorResponse(m.id, codeInternal, "It could not be found out which tools of "+r.o.Name+" are trusted ("+
			r.o.Plain(err).Error()+"). Report this to the user: `sayso status` says what is wrong."))
	}
	hidden := 0
	for _, t := range l.tools {
		if t.standing != trusted {
			hidden++
		}
	}
	if hidden == 0 {
		return r.client.Send(m.line)
	}
	r.o.Note(strconv.Itoa(hidden) + " of the tools of " + r.o.Name + " are left out: their definitions changed, or their names deceive; type: sayso tools")
	return r.client.Send(l.onlyTrusted(m.line))
}
