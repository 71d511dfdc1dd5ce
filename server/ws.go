package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
)

// operation is what a frame may ask for.
type operation struct {
	who audience
	run func(*Server, context.Context, *caller, []byte) (any, error)
	// waits says that it waits for people, and can be cancelled.
	waits bool
}

// operationOf makes an operation of a method that a route shares.
func operationOf[In any](w audience, f func(*Server, context.Context, *caller, *In) (any, error)) operation {
	return operation{who: w, run: func(s *Server, ctx context.Context, c *caller, body []byte) (any, error) {
		var in In
		if len(body) > 0 {
			if err := decode(body, &in); err != nil {
				return nil, err
			}
		}
		return f(s, ctx, c, &in)
	}}
}

func (o operation) waiting() operation {
	o.waits = true
	return o
}

// operations are the frames that are answered once. They mirror the routes.
var operations = map[string]operation{
	wire.OpAdmit:        operationOf(requesters, (*Server).admit).waiting(),
	wire.OpPresentation: operationOf(requesters, (*Server).present).waiting(),
	wire.OpRedeem:       operationOf(requesters, (*Server).redeem),
	wire.OpOutcome:      operationOf(requesters, (*Server).outcome),
	wire.OpWithdraw:     operationOf(requesters, (*Server).withdraw),
	wire.OpBegin:        operationOf(requesters, (*Server).begin),
	wire.OpEnd:          operationOf(requesters, (*Server).end),
	wire.OpRequests:     operationOf(everyone, (*Server).requests),
	wire.OpRequest:      operationOf(everyone, (*Server).request),
	wire.OpCall:         operationOf(everyone, (*Server).call),
	wire.OpContent:      operationOf(deciders, (*Server).content),
	wire.OpLife:         operationOf(readers, (*Server).life),
	wire.OpAnswer:       operationOf(deciders, (*Server).answer),
	wire.OpGroup:        operationOf(deciders, (*Server).group),
	wire.OpHead:         operationOf(everyone, (*Server).head),
	wire.OpGrants:       operationOf(deciders, (*Server).grants),
	wire.OpRevoke:       operationOf(deciders, (*Server).revoke),
	wire.OpSessions:     operationOf(readers, (*Server).sessions),
	wire.OpPolicies:     operationOf(deciders, (*Server).policies),
	wire.OpSetPolicies:  operationOf(deciders, (*Server).setPolicies),
	wire.OpMode:         operationOf(readers, (*Server).mode),
	wire.OpSetMode:      operationOf(deciders, (*Server).setMode),
	wire.OpCheck:        operationOf(deciders, (*Server).check),
	wire.OpExplain:      operationOf(deciders, (*Server).explain),
	wire.OpReplay:       operationOf(deciders, (*Server).replay),
	wire.OpPolicyFiles:  operationOf(deciders, (*Server).policyFiles),
	wire.OpStatus:       operationOf(readers, (*Server).status),
	wire.OpDefinitions:  operationOf(deciders, (*Server).definitions),
	wire.OpAccept:       operationOf(deciders, (*Server).accept),
	wire.OpKeep:         operationOf(deciders, (*Server).keep),
	wire.OpNotices:      operationOf(deciders, (*Server).notices),
	wire.OpRetry:        operationOf(deciders, (*Server).retry),
}

// socket upgrades to a WebSocket and serves it to its end.
func (s *Server) socket(x *exchange) (any, error) {
	h := x.r.Header
	if !strings.EqualFold(h.Get("Upgrade"), "websocket") || h.Get("Sec-WebSocket-Version") != "13" || len(h["Sec-Websocket-Key"]) != 1 {
		return nil, fmt.Errorf("%w: this route is for a WebSocket, version 13", sayso.ErrInvalid)
	}
	ws, err := websocket.Accept(x.w, x.r, &websocket.AcceptOptions{
		Subprotocols: []string{wire.ProtocolBatch, wire.Protocol}, OriginPatterns: s.guard.origins(x.r),
	})
	if err != nil {
		x.status = http.StatusBadRequest
		return nil, errServed
	}
	x.status = http.StatusSwitchingProtocols
	ws.SetReadLimit(wire.MaxMessage)
	batch := ws.Subprotocol() == wire.ProtocolBatch
	c := connection{s: s, caller: x.caller, ws: ws, batch: batch, out: wire.NewOutbox(batch), inFlight: map[uint64]context.CancelFunc{}, jobs: make(chan *job)}
	c.serve()
	return nil, errServed
}

// origins are the pages that may upgrade, after the guard has looked at them.
func (g *requestGuard) origins(r *http.Request) []string { return []string{strings.ToLower(r.Host)} }

// connection is one WebSocket.
type connection struct {
	s      *Server
	caller *caller
	ws     *websocket.Conn
	batch  bool
	out    *wire.Outbox

	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	jobs   chan *job    // for goroutines that are idle
	idle   atomic.Int32 // how many are

	mu       sync.Mutex
	inFlight map[uint64]context.CancelFunc // what is under way; nil for what cannot be cancelled
}

func (c *connection) serve() {
	c.ctx, c.cancel = context.WithCancelCause(c.s.stopping)
	closed := make(chan struct{})
	context.AfterFunc(c.ctx, func() { defer close(closed); c.close() })
	c.wg.Go(c.write)
	c.wg.Go(c.heartbeat)
	c.cancel(c.read())
	c.wg.Wait()
	<-closed
}

// close says goodbye, and why.
func (c *connection) close() {
	code, why := websocket.StatusNormalClosure, ""
	switch cause := context.Cause(c.ctx); {
	case errors.Is(cause, errStopping):
		code, why = websocket.StatusGoingAway, "the server is stopping"
	case errors.Is(cause, errSlow):
		code, why = wire.CloseSlow, "too slow: resume from the last event"
	case errors.Is(cause, wire.ErrUnauthenticated):
		code, why = wire.CloseRefused, "the token has ended"
	case errors.Is(cause, errFrame):
		code, why = websocket.StatusPolicyViolation, "a frame that cannot be read"
	}
	_ = c.ws.Close(code, why) // the other end may be gone
}

var (
	errSlow  = errors.New("the reader is too slow")
	errFrame = errors.New("a frame that cannot be read")
)

// read takes frames until the connection ends.
func (c *connection) read() error {
	var m wire.Message
	for {
		_, r, err := c.ws.Reader(context.Background())
		if err == nil {
			err = m.Read(r)
		}
		if err != nil {
			return err
		}
		for part := range wire.Frames(m.Bytes(), c.batch) {
			if err := c.handleFrame(part); err != nil {
				return err
			}
		}
	}
}

// handleFrame begins what one frame asks for.
func (c *connection) handleFrame(text []byte) error {
	f, err := wire.ParseFrame(text)
	if err != nil || f.Status != 0 {
		return errFrame
	}
	switch f.Op {
	case wire.OpCancel, wire.OpUnfollow:
		return c.cancelOperation(f)
	case wire.OpFollow:
		return c.start(f, true, func(ctx context.Context) { c.follow(ctx, f) })
	}
	op, ok := operations[f.Op]
	switch {
	case !ok:
		c.reply(c.ctx, f.ID, nil, fmt.Errorf("%w: an operation that nobody knows", sayso.ErrInvalid))
		return nil
	case !op.who.includes(c.caller.actor.Kind):
		c.reply(c.ctx, f.ID, nil, sayso.ErrNotAllowed)
		return nil
	}
	id, body := f.ID, f.Body
	return c.start(f, op.waits, func(ctx context.Context) {
		mine := body
		body = nil // who waits keeps what was decoded, and not the text
		out, err := op.run(c.s, ctx, c.caller, mine)
		c.removeInFlight(id)
		c.reply(ctx, id, out, err)
	})
}

// start runs an operation beside the others. An id that is in use is an error
// of the connection, for nobody could tell the answers apart.
func (c *connection) start(f wire.Frame, cancels bool, run func(context.Context)) error {
	ctx, cancel := c.ctx, context.CancelFunc(nil)
	if cancels {
		ctx, cancel = context.WithCancel(c.ctx)
	}
	if err := c.addInFlight(f.ID, cancel); err != nil {
		if cancels {
			cancel()
		}
		if err == errFrame {
			return err
		}
		c.reply(c.ctx, f.ID, nil, err)
		return nil
	}
	j := &job{ctx, cancel, run}
	select {
	case c.jobs <- j:
	default:
		c.wg.Go(func() { c.runJobs(j) })
	}
	return nil
}

// job is one operation under way.
type job struct {
	ctx    context.Context
	cancel context.CancelFunc // nil for one that cannot be cancelled
	run    func(context.Context)
}

// maxIdleWorkers is how many goroutines of a connection wait for the next operation.
// They are kept since their stacks have grown already.
const maxIdleWorkers = 512

// runJobs runs operations until there is none to be had at once and enough
// others wait for the next.
func (c *connection) runJobs(j *job) {
	for {
		j.run(j.ctx)
		if j.cancel != nil {
			j.cancel()
		}
		if c.idle.Add(1) > maxIdleWorkers {
			c.idle.Add(-1)
			return
		}
		select {
		case j = <-c.jobs:
			c.idle.Add(-1)
		case <-c.ctx.Done():
			return
		}
	}
}

// addInFlight takes an id for an operation.
func (c *connection) addInFlight(id uint64, cancel context.CancelFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.inFlight[id]; used {
		return errFrame
	}
	if len(c.inFlight) >= c.s.o.limits.operations {
		return sayso.ErrTooMany
	}
	c.inFlight[id] = cancel
	return nil
}

// removeInFlight frees the id of an operation, before its answer is on its way.
func (c *connection) removeInFlight(id uint64) {
	c.mu.Lock()
	delete(c.inFlight, id)
	c.mu.Unlock()
}

// cancelOperation ends an operation or a follow. One that has ended already is fine.
func (c *connection) cancelOperation(f wire.Frame) error {
	var t wire.Target
	if err := jcs.Unmarshal(f.Body, &t); err != nil {
		return errFrame
	}
	c.mu.Lock()
	cancel := c.inFlight[t.ID]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	return nil
}

func (c *connection) reply(ctx context.Context, id uint64, out any, err error) {
	status, text := c.s.render(ctx, "/v1/ws", out, err)
	c.out.Add(id, "", status, text)
}

// maxQueuedFrames is how many frames may wait to be written before events have to.
const maxQueuedFrames = 4096

// follow sends the events of a follow as frames. Answers never wait; events
// do, until the reader has taken what there is.
func (c *connection) follow(ctx context.Context, f wire.Frame) {
	err := c.stream(ctx, f)
	c.removeInFlight(f.ID)
	if c.ctx.Err() == nil {
		if ctx.Err() != nil {
			err = nil // it was told to stop
		}
		c.reply(c.ctx, f.ID, nil, err)
	}
}

func (c *connection) stream(ctx context.Context, f wire.Frame) error {
	var in wire.Follow
	if len(f.Body) > 0 {
		if err := decode(f.Body, &in); err != nil {
			return err
		}
	}
	end, err := c.s.streams.open(c.caller.actor)
	if err != nil {
		return err
	}
	defer end()
	since, head, err := c.caller.startOfFollow(ctx, &in)
	if err != nil {
		return err
	}
	c.out.Add(f.ID, wire.OpEvent, 0, nil) // the stream is open
	for e, err := range c.caller.inbox.Follow(ctx, since, in.Query()) {
		if err != nil {
			return err
		}
		text, err := c.s.eventCache.encode(&e)
		if err != nil {
			return err
		}
		if err := c.waitForRoom(ctx); err != nil {
			return err
		}
		c.out.Add(f.ID, wire.OpEvent, 0, text.json)
		if e.Seq > head {
			c.s.metrics.delivered(e.At.Wall)
		}
	}
	return errLogEnded
}

// waitForRoom waits until there is room for an event. A reader that takes nothing for
// too long loses the connection.
func (c *connection) waitForRoom(ctx context.Context) error {
	var stall *time.Timer
	for {
		free := c.out.Room(maxQueuedFrames)
		if free == nil {
			return nil
		}
		if stall == nil {
			stall = time.NewTimer(c.s.o.limits.stall)
			defer stall.Stop()
		}
		select {
		case <-free:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-stall.C:
			c.cancel(errSlow)
			return errSlow
		}
	}
}

// write sends what was put into the outbox, many frames at a time.
func (c *connection) write() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.out.Ready():
		}
		chunks := c.out.Take()
		for _, b := range chunks {
			ctx, cancel := context.WithTimeoutCause(context.Background(), c.s.o.limits.stall, errSlow)
			err := c.ws.Write(ctx, websocket.MessageText, b)
			cancel()
			if err != nil {
				c.cancel(errors.Join(context.Cause(ctx), err))
				return
			}
		}
		c.out.Done(chunks)
	}
}

// heartbeat sees to it that a dead connection and a token that ended are noticed.
func (c *connection) heartbeat() {
	t := time.NewTicker(c.s.o.limits.heartbeat)
	defer t.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-t.C:
		}
		if err := c.s.recheckToken(c.caller); err != nil {
			c.cancel(err)
			return
		}
		ctx, cancel := context.WithTimeout(c.ctx, c.s.o.limits.heartbeat)
		err := c.ws.Ping(ctx)
		cancel()
		if err != nil {
			c.cancel(err)
			return
		}
	}
}
