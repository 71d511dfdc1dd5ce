package gateway

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
)

// tasksExtension is what a client declares that takes a task for an answer: it is
// told at once that its call waits, and asks from time to time what became of it.
const tasksExtension = "io.modelcontextprotocol/tasks"

// Calls know the calls that requests are about. [broker.Broker] has the words.
type Calls interface {
	// Asked is the call that a request of this actor is about.
	Asked(ctx context.Context, by sayso.Actor, id sayso.ID) (sayso.Call, error)
}

// taskStatus is where a task stands, in the words of the protocol.
type taskStatus string

const (
	working       taskStatus = "working"
	inputRequired taskStatus = "input_required"
	completed     taskStatus = "completed"
	taskFailed    taskStatus = "failed" // by an error of the protocol
	cancelled     taskStatus = "cancelled"
)

// isFinal reports whether nothing more happens to a task.
func (s taskStatus) isFinal() bool { return s == completed || s == taskFailed || s == cancelled }

// task is a call that its client was given a task for. Its id is that of the
// request that people are asked with, so that it is in the log before the client
// hears of it.
type task struct {
	id    sayso.ID
	call  sayso.Call
	line  []byte // what is forwarded, under an id of ours
	until time.Time

	// The relay's mutex guards what follows.
	status     taskStatus
	message    string         // about it, for people and models
	outcome    jsontext.Value // its result, error, or what the server wants of the client
	changed    time.Time
	held       *heldCall // while it waits for the gate or for the server; nil else
	state      string    // of the server, for the next round
	serverTask string    // the task that the server made of it, which then is asked instead
}

const (
	// keepTasks is how long a task is kept after it ended, and maxOutcomes how much of
	// tasks is kept for one conversation that nobody here waits for.
	keepTasks   = time.Hour
	maxOutcomes = 64 << 20
	// minPoll and maxPoll are how often a client is to ask: often while an answer may
	// come soon, as of a person who is looking, and seldom after that.
	minPoll, maxPoll = time.Second, 5 * time.Second
)

// pollInterval is how long a client is to wait before it asks again for a task that has
// stood as it does for so long: a tenth of that, so that it learns of a change soon for the
// time that it waited.
func pollInterval(since time.Duration) time.Duration {
	return min(max(since/10, minPoll), maxPoll)
}

// maxTasks is how many tasks one conversation has, and maxInputRequired how many of them
// wait for something of the client.
var maxTasks, maxInputRequired = 1024, 64 // less in tests

// taskPatience is how long a call waits whose client takes a task for an answer: one
// that a program approves is decided by then, and answered like any other.
var taskPatience = time.Second // less in tests

// newRequestID is an id of ours for a request to the server, that nobody guesses.
func newRequestID() jsontext.Value { return jsontext.Value(`"sayso-` + rand.Text() + `"`) }

// answerWithTask answers a call that people are asked about with a task, and goes on waiting
// for it.
func (r *Relay) answerWithTask(ctx context.Context, h *heldCall, pending *sayso.PendingError) {
	t := &task{
		id: pending.Ticket, call: h.call, line: h.line, until: pending.Deadline,
		status: working, message: sayso.Told(sayso.Decision{}, &sayso.PendingError{Ticket: pending.Ticket}), changed: time.Now(),
	}
	own, client := newRequestID(), h.id
	if !r.convertToTask(h, t, own) {
		r.withdraw(ctx, h, sayso.Decision{Request: t.id}, nil)
		return
	}
	r.mu.Lock()
	text := t.result(client, taskKind)
	r.mu.Unlock()
	_ = r.sendClient(text)
	r.waitForTask(h)
}

// convertToTask has a call run under an id of ours from now on, unless it was cancelled.
func (r *Relay) convertToTask(h *heldCall, t *task, own jsontext.Value) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, h.key())
	if h.cancelled {
		return false
	}
	t.line = splice(h.line, h.idAt, h.idAt+len(h.id), own)
	m, err := readMessage(t.line)
	if err != nil {
		return false // which was read before
	}
	if h.toolCall, err = readCall(m); err != nil {
		return false
	}
	h.task, t.held = t, h
	r.calls[h.key()] = h
	r.forgetTasks()
	r.tasks[t.id] = t
	return true
}

// forgetTasks forgets those that ended long ago, and makes room for another one: of
// too many or too long ones the oldest that ended goes, or else the oldest that
// nobody here waits for. Of that one the log tells still, if anything does. The
// relay's mutex is held.
func (r *Relay) forgetTasks() {
	for {
		var ended, rests *task
		bytes := 0
		for _, t := range r.tasks {
			bytes += len(t.outcome)
			switch {
			case t.status.isFinal():
				ended = older(ended, t)
			case t.held == nil:
				rests = older(rests, t)
				bytes += len(t.line)
			}
		}
		room := len(r.tasks) < maxTasks && bytes <= maxOutcomes
		switch {
		case ended != nil && (!room || time.Since(ended.changed) > keepTasks):
			delete(r.tasks, ended.id)
		case rests != nil && !room:
			delete(r.tasks, rests.id)
		default:
			return
		}
	}
}

// older is the one of two tasks that changed first; the first may be nil.
func older(a, b *task) *task {
	if a == nil || b.changed.Before(a.changed) {
		return b
	}
	return a
}

// taskLostText is what the model is told of a task that an earlier process ran.
const taskLostText = "Allowed, and begun by an earlier run of this gateway, which ended since: whether the tool finished is not known, and what it " +
	"answered is lost. Look whether it did what it should, and report this to the user. Do not simply make the call again."

// waitForTask waits for people in the place of a client that asks from time to time,
// and forwards the call that they allow. It ends with the conversation, and then
// the request is parked.
func (r *Relay) waitForTask(h *heldCall) {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	r.mu.Lock()
	h.cancel = cancel
	gone := h.cancelled
	r.mu.Unlock()
	if gone {
		cancel()
	}
	d, err := r.admit(ctx, h, 0)
	t := h.task
	if err == nil && d.Allowed() {
		var line []byte
		if line, err = r.prepare(ctx, h, &d); err == nil {
			r.markRunning(t, line)
			if !r.forward(h, d.Request, line) {
				r.unrun(ctx, d.Request)
				r.endTask(t, cancelled, "The client cancelled it.", nil)
			}
			return
		}
	}
	switch gone := r.drop(h); {
	case gone:
		r.withdraw(ctx, h, sayso.Decision{Request: t.id}, nil)
		r.endTask(t, cancelled, "The client cancelled it.", nil)
	case ctx.Err() != nil, isPending(err):
		r.parkTask(t)
	case errors.Is(err, sayso.ErrSpent):
		r.endTask(t, completed, taskLostText, refusalResult(taskLostText))
	default:
		text := refusalText(d, r.o.Plain(err))
		r.endTask(t, completed, text, refusalResult(text))
	}
}

func isPending(err error) bool {
	var pending *sayso.PendingError
	return errors.As(err, &pending)
}

// markRunning notes what is forwarded of a task.
func (r *Relay) markRunning(t *task, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.line, t.message, t.changed = line, "Allowed; the tool runs.", time.Now()
}

// parkTask has a task wait for nobody: its request is parked, and is taken up when
// the client asks for it.
func (r *Relay) parkTask(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.held = nil
}

// endTask gives a task its end.
func (r *Relay) endTask(t *task, s taskStatus, message string, outcome jsontext.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endTaskLocked(t, s, message, outcome)
}

// endTaskLocked is endTask, with the relay's mutex held.
func (r *Relay) endTaskLocked(t *task, s taskStatus, message string, outcome jsontext.Value) {
	if t.status.isFinal() {
		return
	}
	t.status, t.message, t.outcome, t.changed = s, message, outcome, time.Now()
	t.held, t.line, t.call, t.state = nil, nil, sayso.Call{}, ""
}

// taskKind is the sort of result that is a task.
const taskKind = "task"

// handleTaskResult takes an answer of the server to a task's call. A server that wants
// the client's model to write something is asked about first.
func (r *Relay) handleTaskResult(ctx context.Context, m message, h *heldCall, look result, err error) {
	switch {
	case err != nil:
		r.endTask(h.task, taskFailed, "", errorObject(codeInternal, "The answer of the server could not be read strictly ("+err.Error()+")."))
	case look.wantsSampling:
		r.background(&r.reporting, func() { r.handleTaskSampling(ctx, m, h, look) })
		return
	case look.kind == string(inputRequired):
		r.requireInput(ctx, h, &look)
		return
	case m.failed:
		r.endTask(h.task, taskFailed, "The server answered with an error.", cloned(m.fault))
	case look.kind == taskKind && look.taskID != "":
		r.mu.Lock()
		h.task.serverTask, h.task.held, h.task.line, h.task.changed = look.taskID, nil, nil, time.Now()
		r.mu.Unlock()
	default:
		r.endTask(h.task, completed, "", cloned(m.result))
	}
	r.report(ctx, h, m.failed || err != nil || look.isError, sha256.Sum256(m.line))
}

// handleTaskSampling asks about a server that wants the client's model to write
// something before a task goes on.
func (r *Relay) handleTaskSampling(ctx context.Context, m message, h *heldCall, look result) {
	if r.allowsSampling(r.ctx, m.result) {
		r.requireInput(ctx, h, &look)
		return
	}
	r.endTask(h.task, completed, samplingRefusedText, refusalResult(samplingRefusedText))
	r.unrun(ctx, h.request)
}

// The two ends of a task that waits for its client, and is not waited for.
const (
	inputExpiredText = "Allowed, and begun; then the server wanted something of this client, which did not answer within an hour while others waited. " +
		"The tool did not finish. Make the call again if it is still wanted."
	inputRefusedText = "Allowed, and begun; then the server wanted something of this client, of which as much waits already as is kept. The tool did not " +
		"finish. Answer what waits (tasks/update) or cancel it (tasks/cancel), and make the call again."
)

// requireInput has the client told what the server wants before a task goes on. What waits
// so is bounded: where there is no room, the task ends and says so.
func (r *Relay) requireInput(ctx context.Context, h *heldCall, look *result) {
	var over []*heldCall
	r.mu.Lock()
	old, room := r.roomForInput(len(look.requests))
	if old != nil {
		over = append(over, old.held)
		delete(r.calls, old.held.key())
		r.endTaskLocked(old, completed, inputExpiredText, refusalResult(inputExpiredText))
	}
	switch t := h.task; {
	case t.status.isFinal():
	case !room:
		over = append(over, h)
		r.endTaskLocked(t, completed, inputRefusedText, refusalResult(inputRefusedText))
	default:
		t.status, t.message, t.outcome, t.state, t.changed = inputRequired, "The server wants something of the client.", cloned(look.requests), look.state, time.Now()
	}
	r.mu.Unlock()
	for _, h := range over {
		r.background(&r.reporting, func() { r.unrun(ctx, h.request) })
	}
}

// roomForInput reports whether so many bytes more may wait for the client, and which
// task is to end for it: the oldest that had an hour. The relay's mutex is held.
func (r *Relay) roomForInput(more int) (old *task, room bool) {
	n, bytes := 0, more
	for _, t := range r.tasks {
		if t.status == inputRequired {
			n, bytes = n+1, bytes+len(t.outcome)
			if time.Since(t.changed) > keepTasks {
				old = older(old, t)
			}
		}
	}
	if n < maxInputRequired && bytes <= maxOutcomes {
		return nil, true
	}
	return old, old != nil && n <= maxInputRequired && bytes-len(old.outcome) <= maxOutcomes
}

func cloned(v jsontext.Value) jsontext.Value { return append(jsontext.Value(nil), v...) }
