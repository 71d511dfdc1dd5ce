package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// heldCall is a call between the client and the server: first it waits for the gate,
// then for the server's answer.
type heldCall struct {
	toolCall
	call   sayso.Call
	cancel context.CancelFunc

	// The relay's mutex guards what follows.
	cancelled bool
	request   sayso.ID      // once it was forwarded
	sent      time.Time     // when, the first time
	forwarded chan struct{} // closed once the server has it; nil before it is forwarded
	digest    sayso.Digest  // of the call, where it may have further rounds
	edit      sayso.Args    // what a person put in the place of its arguments
	task      *task         // that the client was given for it; nil for none
	elicited  bool          // its client's person was asked already
}

// handleCall takes a call of a tool. It is answered here, or held and then forwarded.
func (r *Relay) handleCall(ctx context.Context, m message) error {
	c, err := readCall(m)
	if err != nil {
		return r.sendClient(errorResponse(m.id, codeInvalidParams, "Refused: the call could not be read strictly ("+err.Error()+"). Nothing was asked and nothing ran."))
	}
	if r.o.Off() {
		return r.server.Send(m.line)
	}
	h := &heldCall{toolCall: c}
	ctx, h.cancel = context.WithCancel(ctx)
	why, err := r.register(ctx, h)
	switch {
	case err != nil:
		h.cancel()
		return r.sendClient(errorResponse(m.id, codeInvalidRequest, err.Error()))
	case why != "":
		h.cancel()
		return r.sendClient(refusal(&c, why))
	}
	if c, ok := r.takeRound(ctx, h); ok {
		defer h.cancel()
		r.resumeCall(ctx, h, c)
		return nil
	}
	answer := answerIn(c.responses)
	q, err := r.takeQuestion(h)
	if err != nil {
		r.drop(h)
		h.cancel()
		return r.sendClient(errorResponse(m.id, codeInvalidParams, "Refused: the call could not be read strictly ("+err.Error()+"). Nothing was asked and nothing ran."))
	}
	r.startHold(func() {
		if q != nil {
			h.elicited = true
			r.recordElicited(ctx, q, answer)
		}
		r.hold(ctx, h)
	})
	return nil
}

// startHold runs do for a call that waits, unless the relay is at its end. A goroutine that
// has nothing to do takes it, if there is one: to ask the gate takes a large stack, which a
// new one would grow step by step, a copy for each.
func (c *conversation) startHold(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.holding.Add(1)
	select {
	case c.holds <- do:
	default:
		go c.runHolds(do)
	}
}

// holdIdle is how long a goroutine that held a call waits for the next one.
const holdIdle = 10 * time.Second

// runHolds runs do, and then what comes soon. Of all that have nothing more to do,
// one waits for that.
func (c *conversation) runHolds(do func()) {
	for {
		do()
		c.holding.Done()
		if !c.idle.CompareAndSwap(false, true) {
			return
		}
		late := time.NewTimer(holdIdle)
		select {
		case do = <-c.holds:
		case <-late.C:
			do = nil
		case <-c.ctx.Done():
			do = nil
		}
		late.Stop()
		c.idle.Store(false)
		if do == nil {
			return
		}
	}
}

// nextID is an id for a call whose host gave it none.
func (r *Relay) nextID() string {
	return r.callIDPrefix + "-" + strconv.FormatUint(r.callCount.Add(1), 10)
}

// register remembers a call, unless its tool may not run whatever people say.
func (r *Relay) register(ctx context.Context, h *heldCall) (why string, err error) {
	t, known, why := r.checkTool(ctx, h.name)
	if why != "" {
		return why, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := h.key()
	if r.calls[key] != nil {
		return "", rpc.Invalid("the id of this call is that of one that is not answered yet")
	}
	h.call = sayso.Call{
		Tool: h.name, Host: sayso.HostMCP, Server: r.o.Name, Kind: sayso.KindMCP, Args: h.args(), Cwd: r.o.Cwd, Session: r.o.Session,
		CallID: h.meta.callID, Caller: r.caller(h), Annotations: t.annotations,
	}
	if known {
		h.call.DefinitionDigest = t.digest
	}
	if h.call.CallID == "" {
		h.call.CallID = r.nextID()
	}
	r.calls[key] = h
	return "", nil
}

// hold puts a call to the gate and forwards or refuses it.
func (r *Relay) hold(ctx context.Context, h *heldCall) {
	defer h.cancel()
	if h.meta.tasks {
		r.holdTask(ctx, h)
		return
	}
	b := r.startProgress(h)
	waiting, aside := context.WithCancel(ctx)
	defer aside()
	p := r.startElicit(ctx, h, aside)
	d, err := r.admit(waiting, h, r.patience(h))
	q := p.stop()
	b.stop()
	if q != nil && err != nil && waiting.Err() != nil && ctx.Err() == nil {
		r.elicitInResult(ctx, h, q)
		return
	}
	r.finish(ctx, h, d, err)
}

// elicitInResult answers a call with the question about it, and waits for nothing. A
// call that was cancelled meanwhile is withdrawn.
func (r *Relay) elicitInResult(ctx context.Context, h *heldCall, q *question) {
	if r.drop(h) {
		r.withdraw(ctx, h, sayso.Decision{Request: q.request.ID}, nil)
		return
	}
	if !r.answerInputRequired(h, q) {
		_ = r.sendClient(refusal(&h.toolCall, refusalText(sayso.Decision{}, &sayso.PendingError{Ticket: q.request.ID})))
	}
}

// holdTask puts a call to the gate whose client takes a task for an answer. It gets
// one if people are asked, and nobody has answered soon.
func (r *Relay) holdTask(ctx context.Context, h *heldCall) {
	d, err := r.admit(ctx, h, taskPatience)
	var pending *sayso.PendingError
	if errors.As(err, &pending) && !pending.Stop {
		r.answerWithTask(ctx, h, pending)
		return
	}
	r.finish(ctx, h, d, err)
}

// finish forwards a call or refuses it.
func (r *Relay) finish(ctx context.Context, h *heldCall, d sayso.Decision, err error) {
	line := h.line
	if err == nil && d.Allowed() {
		line, err = r.prepare(ctx, h, &d)
	}
	if err == nil && d.Allowed() {
		if r.forward(h, d.Request, line) {
			return
		}
		r.unrun(ctx, d.Request)
		return
	}
	if r.drop(h) {
		r.withdraw(ctx, h, d, err)
		return
	}
	if ctx.Err() != nil {
		return // the client has gone: what was asked is parked
	}
	_ = r.sendClient(refusal(&h.toolCall, refusalText(d, r.o.Plain(err)))) // a client that is gone needs none
}

// refusalText is what the model is told of a call that did not run.
func refusalText(d sayso.Decision, err error) string {
	var own *enforce.RefusedError
	if errors.As(err, &own) {
		return own.Text
	}
	if err == nil && d.Allowed() {
		err = sayso.ErrUnavailable
	}
	return sayso.Told(d, err)
}

// givenAdmitter is a gate that takes what it is given, so that a call that waits needs
// little of the stack.
type givenAdmitter interface {
	AdmitGiven(context.Context, *sayso.Admission) (*sayso.Decision, error)
}

// admit asks the gate. A call whose paths came to mean something else while
// people were asked is refused: its approval is spent.
func (r *Relay) admit(ctx context.Context, h *heldCall, patience time.Duration) (sayso.Decision, error) {
	a, asked := r.admission(ctx, h)
	a.Patience = patience
	d, err := r.ask(ctx, a)
	if err == nil && d.Allowed() && d.Source == sayso.SourcePerson && asked.Changed(ctx) {
		r.unrun(ctx, d.Request)
		return sayso.Decision{Request: d.Request}, fmt.Errorf("%w: what the call names changed while people were asked", sayso.ErrVoided)
	}
	return d, err
}

func (r *Relay) ask(ctx context.Context, a *sayso.Admission) (sayso.Decision, error) {
	if g, ok := r.o.Gate.(givenAdmitter); ok {
		d, err := g.AdmitGiven(ctx, a)
		return *d, err
	}
	return r.o.Gate.Admit(ctx, *a)
}

func (r *Relay) admission(ctx context.Context, h *heldCall) (*sayso.Admission, *facts.Asked) {
	asked := facts.Ask(ctx, &h.call, r.o.Facts, r.o.Wanted())
	return &sayso.Admission{
		Call: h.call, Facts: asked.Facts, Immediate: true, CanEdit: r.takesEdits(h.name), Gather: asked.Gather,
	}, asked
}

// prepare is what is forwarded of a call that was allowed: its own bytes, or those
// with the arguments that a person put in their place. What may not run any more is
// recorded as not run.
func (r *Relay) prepare(ctx context.Context, h *heldCall, d *sayso.Decision) ([]byte, error) {
	line, err := r.editedLine(h, d)
	if err == nil {
		err = r.checkDefinition(ctx, h)
	}
	if err == nil && r.recheck != nil {
		err = r.recheck() // people may have taken long
	}
	if err != nil {
		r.unrun(ctx, d.Request)
		*d = sayso.Decision{Request: d.Request}
	} else {
		h.edit = d.Args
	}
	return line, err
}

// checkDefinition reports a tool whose definition is not the one any more that the
// call was judged with.
func (r *Relay) checkDefinition(ctx context.Context, h *heldCall) error {
	t, known, why := r.checkTool(ctx, h.name)
	if why != "" || known && t.digest != h.call.DefinitionDigest {
		return fmt.Errorf("%w: the definition of the tool changed", sayso.ErrVoided)
	}
	return nil
}

// forward sends an allowed call to the server, unless the client cancelled it.
func (r *Relay) forward(h *heldCall, id sayso.ID, line []byte) bool {
	if !r.markForwarded(h, id) {
		return false
	}
	defer close(h.forwarded)
	_ = r.server.Send(line) // a server that is gone ends the relay
	return true
}

// markForwarded reports whether a call goes to the server now: the client did not cancel
// it. From here on its cancellation goes there too, behind it.
func (r *Relay) markForwarded(h *heldCall, id sayso.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.cancelled {
		delete(r.calls, h.key())
		return false
	}
	h.request, h.forwarded = id, make(chan struct{})
	if h.sent.IsZero() {
		h.sent = time.Now()
	}
	if h.meta.current && h.digest.IsZero() {
		h.digest, _ = h.call.Digest() // it had one when it was judged
	}
	// of the call only the id is still needed
	h.toolCall = toolCall{message: message{id: slices.Clone(h.id)}, meta: meta{current: h.meta.current}}
	h.call = sayso.Call{}
	return true
}

// drop forgets a call that is not forwarded, and reports whether the client
// cancelled it.
func (r *Relay) drop(h *heldCall) (cancelled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, h.key())
	return h.cancelled
}

// unrun records that an approval was used for a call that did not run.
func (r *Relay) unrun(ctx context.Context, id sayso.ID) { enforce.Unrun(ctx, r.o.Gate, id) }
