package gateway

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// The requests about tasks.
const (
	taskGetMethod    = "tasks/get"
	taskUpdateMethod = "tasks/update"
	taskCancelMethod = "tasks/cancel"
)

var taskMethods = []string{taskGetMethod, taskUpdateMethod, taskCancelMethod}

// taskRequest is a request about a task as it was read.
type taskRequest struct {
	message
	task      string
	taskAt    int // where its id begins in the line
	taskLen   int
	responses jsontext.Value
	meta      meta
	metaText  jsontext.Value
}

func readTaskRequest(m message) (a taskRequest, err error) {
	a.message = m
	err = rpc.Members(m.params, []string{"taskId", "inputResponses", "_meta"}, func(name string, value jsontext.Value, at int) error {
		switch name {
		case "taskId":
			a.taskAt, a.taskLen = m.paramsAt+at, len(value)
			return rpc.ReadText(value, &a.task)
		case "inputResponses":
			a.responses = value
		case "_meta":
			a.metaText = value
			return a.meta.read(value)
		}
		return nil
	})
	return a, err
}

// handleTask answers a request about a task of ours. It reports false for one of
// the server's, which is the server's to answer.
func (r *Relay) handleTask(ctx context.Context, m message) (ours bool, err error) {
	if !m.isRequest() {
		return false, nil
	}
	a, err := readTaskRequest(m)
	if err != nil {
		return true, r.sendClient(errorResponse(m.id, codeInvalidParams, "Refused: the request could not be read strictly ("+err.Error()+")."))
	}
	t, ours := r.findTask(ctx, &a)
	switch {
	case !ours:
		return false, nil
	case !a.meta.tasks:
		return true, r.sendClient(missingExtension(m.id, tasksExtension))
	case t == nil:
		return true, r.sendClient(errorResponse(m.id, codeInvalidParams, "There is no task "+firstRunes(a.task, 64)+", or it ended too long ago."))
	}
	r.mu.Lock()
	there := t.serverTask
	r.mu.Unlock()
	if there != "" {
		return true, r.forwardTaskRequest(&a, t, there)
	}
	switch m.method {
	case taskUpdateMethod:
		r.updateTask(ctx, &a, t)
	case taskCancelMethod:
		r.cancelTask(ctx, t)
	default:
		return true, r.sendClient(r.currentTask(ctx, &a, t))
	}
	return true, r.sendClient(emptyResponse(m.id))
}

// firstRunes is the beginning of a text.
func firstRunes(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n])
	}
	return text
}

// findTask is the task of ours that a request is about. What looks like the id of one
// of ours is ours, known or not, unless the server makes tasks too.
func (r *Relay) findTask(ctx context.Context, a *taskRequest) (t *task, ours bool) {
	id, err := sayso.ParseID(a.task)
	if err != nil {
		return nil, false
	}
	r.mu.Lock()
	r.forgetTasks()
	t, theirs := r.tasks[id], r.serverTasks
	r.mu.Unlock()
	if t == nil && a.meta.tasks {
		t = r.recoverTask(ctx, a, id)
	}
	return t, t != nil || !theirs
}

// recoverTask is a task that another process before this one made, in the same
// session, as the log has it. Nil if it has none.
func (r *Relay) recoverTask(ctx context.Context, a *taskRequest, id sayso.ID) *task {
	if r.o.Calls == nil {
		return nil
	}
	c, err := r.o.Calls.Asked(ctx, r.o.Actor, id)
	if err != nil || c.Session != r.o.Session || c.Server != r.o.Name || c.Host != sayso.HostMCP || c.Tool == samplingMethod {
		return nil
	}
	line := encode(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Method  string         `json:"method"`
		Params  struct {
			Name      string         `json:"name"`
			Arguments sayso.Args     `json:"arguments"`
			Meta      jsontext.Value `json:"_meta,omitempty"`
		} `json:"params"`
	}{"2.0", newRequestID(), callMethod, struct {
		Name      string         `json:"name"`
		Arguments sayso.Args     `json:"arguments"`
		Meta      jsontext.Value `json:"_meta,omitempty"`
	}{c.Tool, c.Args, protocolMeta(a.metaText)}})
	t := &task{id: id, call: c, line: line, status: working, changed: time.Now(), message: "Taken up again."}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.tasks[id]; known != nil {
		return known
	}
	r.forgetTasks()
	r.tasks[id] = t
	return t
}

// protocolMeta are the members of a _meta that the protocol itself has there for
// every request.
func protocolMeta(text jsontext.Value) jsontext.Value {
	out := []byte{'{'}
	err := rpc.Members(text, nil, func(name string, value jsontext.Value, _ int) error {
		if strings.HasPrefix(name, "io.modelcontextprotocol/") {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = fmt.Appendf(out, "%s:%s", encode(name), value)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return append(out, '}')
}

// currentTask says how a task stands. One that nobody waits for is taken up.
func (r *Relay) currentTask(ctx context.Context, a *taskRequest, t *task) []byte {
	r.mu.Lock()
	rests := t.held == nil && t.status == working && t.serverTask == ""
	r.mu.Unlock()
	if rests {
		r.resumeTask(ctx, t)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return t.result(a.id, "complete")
}

// resumeTask waits again for a task whose request is parked. The tool must be the one
// that people were asked about: what is not known of it yet, since the server has
// not listed it, is not guessed.
func (r *Relay) resumeTask(ctx context.Context, t *task) {
	tool, known, why := r.checkTool(ctx, t.call.Tool)
	switch {
	case why != "":
		r.endTask(t, completed, why, refusalResult(why))
		return
	case t.call.DefinitionDigest != "" && !known:
		r.mu.Lock()
		defer r.mu.Unlock()
		t.message = "This gateway was started again: the task goes on once the client has listed the tools of the server."
		return
	case tool.digest != t.call.DefinitionDigest:
		text := sayso.Told(sayso.Decision{Request: t.id}, sayso.ErrVoided)
		r.endTask(t, completed, text, refusalResult(text))
		return
	}
	m, err := readMessage(t.line)
	if err != nil {
		return
	}
	c, err := readCall(m)
	if err != nil {
		return
	}
	h := &heldCall{toolCall: c, call: t.call, task: t}
	h.meta.current = true
	r.mu.Lock()
	if t.held != nil || t.status != working {
		r.mu.Unlock()
		return
	}
	t.held, t.message = h, sayso.Told(sayso.Decision{}, &sayso.PendingError{Ticket: t.id})
	r.calls[h.key()] = h
	r.mu.Unlock()
	r.background(&r.holding, func() { r.waitForTask(h) })
}

// updateTask hands on what the server wanted of the client.
func (r *Relay) updateTask(ctx context.Context, a *taskRequest, t *task) {
	r.mu.Lock()
	if t.status != inputRequired || t.held == nil || len(a.responses) == 0 || a.responses.Kind() != '{' {
		r.mu.Unlock()
		return // what nobody wanted is ignored, as the protocol has it
	}
	h, current := t.held, t.held.request
	id := newRequestID()
	line, err := nextRound(t.line, id, a.responses, t.state)
	if err != nil {
		r.mu.Unlock()
		return // which was read before
	}
	next := &heldCall{toolCall: toolCall{message: message{id: id}, meta: meta{current: true}}, task: t, request: current, sent: h.sent, forwarded: closedChan(), cancel: func() {}}
	t.held, t.status, t.message, t.outcome, t.changed = next, working, "The tool goes on.", nil, time.Now()
	r.calls[next.key()] = next
	r.mu.Unlock()
	_ = r.server.Send(line)
}

// nextRound is a call that is made again, under another id: what it brought with it
// for an earlier round gives way to these responses and this state.
func nextRound(line []byte, id, responses jsontext.Value, state string) ([]byte, error) {
	m, err := readMessage(line)
	if err == nil {
		line, err = withoutInput(&m)
	}
	if err == nil {
		m, err = readMessage(line)
	}
	if err != nil {
		return nil, err
	}
	more := `"inputResponses":` + string(responses) + `,` // the name of the tool stands behind it
	if state != "" {
		more += `"requestState":` + string(encode(state)) + `,`
	}
	line = splice(line, m.paramsAt+1, m.paramsAt+1, []byte(more))
	at := m.idAt
	if at > m.paramsAt {
		at += len(more)
	}
	return splice(line, at, at+len(m.id), id), nil
}

func closedChan() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// cancelTask takes a task back: its question, or what the server does for it.
func (r *Relay) cancelTask(ctx context.Context, t *task) {
	r.mu.Lock()
	h, rests := t.held, t.status == working
	if h == nil || t.status.isFinal() {
		r.mu.Unlock()
		if rests {
			r.background(&r.reporting, func() { r.withdrawTask(ctx, t) })
		}
		return
	}
	if h.forwarded == nil {
		h.cancelled = true
		if h.cancel != nil {
			h.cancel()
		}
		r.mu.Unlock()
		return
	}
	gone, wants := h.forwarded, t.status == inputRequired
	delete(r.calls, h.key())
	r.mu.Unlock()
	<-gone
	if !wants {
		_ = r.server.Send(cancellation(h.id))
	}
	r.endTask(t, cancelled, "The client cancelled it.", nil)
	r.background(&r.reporting, func() { r.unrun(ctx, h.request) })
}

// withdrawTask withdraws the request of a task that nobody waits for.
func (r *Relay) withdrawTask(ctx context.Context, t *task) {
	ctx, cancel := enforce.Late(ctx)
	defer cancel()
	if err := r.o.Gate.Withdraw(ctx, t.id, "the client cancelled the call"); err == nil {
		r.endTask(t, cancelled, "The client cancelled it.", nil)
	}
}

// forwardTaskRequest asks the server for a task that it made of one of ours, and has the
// answer tell of ours.
func (r *Relay) forwardTaskRequest(a *taskRequest, t *task, there string) error {
	ours := encode(string(t.id))
	r.rewriteAnswer(a.message, func(m *message) ([]byte, error) { return withMember(m, "taskId", ours) })
	return r.server.Send(splice(a.line, a.taskAt, a.taskAt+a.taskLen, encode(there)))
}

// handleDiscover has the server's answer about what it can do say that there are tasks,
// since this gateway makes them, where the client takes them.
func (r *Relay) handleDiscover(m message) {
	a, err := readTaskRequest(m)
	if err == nil && a.meta.tasks && m.isRequest() {
		r.rewriteAnswer(m, withTasksCapability)
	}
}

// withTasksCapability is what a server can do, and tasks.
func withTasksCapability(m *message) ([]byte, error) {
	can, at, err := memberOf(m.result, m.resultAt, "capabilities")
	if err != nil || can.Kind() != '{' {
		return m.line, err
	}
	more, moreAt, err := memberOf(can, at, "extensions")
	switch {
	case err != nil:
		return nil, err
	case more == nil:
		return splice(m.line, at+1, at+1, firstMember(can, `"extensions":{"`+tasksExtension+`":{}}`)), nil
	case more.Kind() != '{':
		return m.line, nil
	}
	if has, _, err := memberOf(more, moreAt, tasksExtension); has != nil || err != nil {
		return m.line, err
	}
	return splice(m.line, moreAt+1, moreAt+1, firstMember(more, `"`+tasksExtension+`":{}`)), nil
}

// firstMember is a member that is put before the others of an object.
func firstMember(object jsontext.Value, member string) []byte {
	if strings.TrimSpace(string(object[1:len(object)-1])) == "" {
		return []byte(member)
	}
	return []byte(member + ",")
}

// memberOf is the member of an object, and where it begins in the line; nil if it
// has none.
func memberOf(object jsontext.Value, objectAt int, want string) (found jsontext.Value, at int, err error) {
	err = rpc.Members(object, nil, func(name string, value jsontext.Value, offset int) error {
		if name == want {
			found, at = value, objectAt+offset
		}
		return nil
	})
	return found, at, err
}

// withMember is an answer with another value of a member of its result, if it has
// that.
func withMember(m *message, name string, value []byte) ([]byte, error) {
	was, at, err := memberOf(m.result, m.resultAt, name)
	if err != nil || was == nil {
		return m.line, err
	}
	return splice(m.line, at, at+len(was), value), nil
}

// maxRewrites is how many answers may be outstanding that something is done to.
const maxRewrites = 1024

// rewriteAnswer has something done to the answer to a request of the client.
func (r *Relay) rewriteAnswer(m message, do func(*message) ([]byte, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rewrites) < maxRewrites {
		r.rewrites[m.key()] = do
	}
}

// rewritten is an answer of the server as the client gets it.
func (r *Relay) rewritten(m message) (message, error) {
	r.mu.Lock()
	key := m.key()
	do := r.rewrites[key]
	delete(r.rewrites, key)
	r.mu.Unlock()
	if do == nil || m.result.Kind() != '{' {
		return m, nil
	}
	line, err := do(&m)
	if err != nil {
		return m, err
	}
	return readMessage(line)
}
