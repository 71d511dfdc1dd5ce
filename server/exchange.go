package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/redact"
)

// errServed says that a route has written its answer itself.
var errServed = errors.New("served")

// errStopping says that the server stops and the caller should come back.
var errStopping = errors.New("the server is stopping")

// caller is who is served.
type caller struct {
	actor sayso.Actor
	gate  sayso.Gate
	inbox sayso.Inbox
	token string
}

// exchange is one request and its answer.
type exchange struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	route   *route
	values  []string // in the path
	caller  *caller  // nil where no token is needed
	status  int
	start   time.Time
	endSpan func(Span) // nil for no trace
}

// ServeHTTP implements [http.Handler]. Thousands of requests wait in it, so what
// comes before and after the wait has functions of its own, whose stack is free
// meanwhile.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{s: s, w: w, r: r, start: time.Now()}
	x.begin()
	out, err := x.serve()
	x.finish(out, err)
}

// begin is what every request gets, whoever it is from.
func (x *exchange) begin() {
	h := x.w.Header()
	setSecurityHeaders(h)
	x.s.guard.setHSTS(h, x.r)
	if x.s.o.Version != "" {
		h[wire.VersionHeader] = []string{x.s.o.Version}
	}
	x.setBodyDeadline()
	x.startSpan()
}

// finish answers, unless the route has, and takes note.
func (x *exchange) finish(out any, err error) {
	if err == errServed {
		x.status = max(x.status, http.StatusOK)
	} else {
		x.reply(out, err)
	}
	if x.endSpan != nil {
		x.endSpan(Span{Route: x.name(), Status: x.status})
	}
	x.s.metrics.requestServed(x.route, x.status, time.Since(x.start))
}

// serve refuses who may not use the route, and runs it.
func (x *exchange) serve() (any, error) {
	if err := x.dispatch(); err != nil {
		return nil, err
	}
	return x.route.serve(x.s, x)
}

// dispatch finds the route and lets in who may use it.
func (x *exchange) dispatch() error {
	n, values := x.s.routes.find(x.r.URL.EscapedPath(), make([]string, 0, 2))
	page := n == nil && x.s.o.Page != nil && !isAPIPath(x.r.URL.Path)
	if err := x.s.guard.check(x.r, page); err != nil {
		return err
	}
	if page {
		return x.servePage()
	}
	if x.r.Method == http.MethodOptions {
		return wire.ErrMethod
	}
	if n != nil {
		x.route, x.values = n.method(x.r.Method), values
	}
	if err := x.authorize(n); err != nil {
		return err
	}
	return x.checkBody()
}

// isAPIPath reports whether a path is one that a page never has.
func isAPIPath(path string) bool { return path == "/v1" || strings.HasPrefix(path, "/v1/") }

// servePage hands the request to the page.
func (x *exchange) servePage() error {
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		return wire.ErrMethod
	}
	h := x.w.Header()
	h["Content-Security-Policy"] = pagePolicy
	x.s.o.Page.ServeHTTP(x.w, x.r)
	return errServed
}

// authorize lets in who may use the route. Who shows no token learns nothing, not
// even whether there is such a route.
func (x *exchange) authorize(n *routeNode) error {
	open := x.route != nil && (x.route.audience&anyone != 0 || (x.route.audience&local != 0 && x.s.guard.isLocalProgram(x.r)))
	if !open || x.r.Header["Authorization"] != nil {
		if err := x.authenticate(); err != nil {
			return err
		}
	}
	if err := wire.CheckVersions(x.s.o.Version, x.r.Header.Get(wire.VersionHeader)); err != nil {
		return err
	}
	switch {
	case n == nil:
		return sayso.ErrNotFound
	case x.route == nil:
		x.w.Header().Set("Allow", n.allow())
		return wire.ErrMethod
	case open || x.route.audience&local != 0:
		return nil
	case !x.route.audience.includes(x.caller.actor.Kind):
		return sayso.ErrNotAllowed
	}
	return nil
}

func (x *exchange) authenticate() error {
	secret, err := bearerToken(x.r)
	if err != nil {
		return err
	}
	actor, err := x.s.o.Authenticate(secret)
	if err != nil || kinds[actor.Kind] == 0 || actor.Principal == "" {
		return wire.ErrUnauthenticated
	}
	if actor.Origin != "" && actor.Origin != x.s.guard.originOf(x.r) {
		return wire.ErrUnauthenticated
	}
	if actor.Channel == "" {
		actor.Channel = "http"
		if isUnixSocket(x.r) {
			actor.Channel = "socket"
		}
	}
	if x.r.Header[wire.ChannelHeader] != nil {
		actor.Channel = wire.ChannelAgent
	}
	gate, inbox := x.s.door(actor)
	x.caller = &caller{actor, gate, inbox, secret}
	return nil
}

// checkBody refuses bodies that are no JSON, too long, or where none belongs.
func (x *exchange) checkBody() error {
	if x.route.in == nil {
		if x.r.ContentLength != 0 {
			return wire.ErrNotJSON
		}
		return nil
	}
	if !isJSON(x.r) || x.r.Header["Content-Encoding"] != nil {
		return wire.ErrNotJSON
	}
	if x.r.ContentLength > x.limit() {
		return wire.ErrTooLarge
	}
	return nil
}

func (x *exchange) limit() int64 {
	if x.route.limit == 0 {
		return smallBody
	}
	return x.route.limit
}

// buffers are reused for bodies: what is decoded shares no memory with them.
var buffers = sync.Pool{New: func() any { return new(wire.Message) }}

// setBodyDeadline sets until when the body must have arrived, read or not: what is left
// of one is waited for after the answer too. Connections that know no
// deadlines, in tests, have none.
func (x *exchange) setBodyDeadline() {
	if x.r.ContentLength != 0 {
		_ = http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(x.s.o.limits.body))
	}
}

// read decodes the body, strictly. Its connection is lost if it does not arrive.
func (x *exchange) read(into any) error {
	m := buffers.Get().(*wire.Message)
	defer buffers.Put(m)
	if err := m.Read(io.LimitReader(x.r.Body, x.limit()+1)); err != nil {
		x.w.Header().Set("Connection", "close")
		return fmt.Errorf("%w: the body ended early", sayso.ErrInvalid)
	}
	if int64(len(m.Bytes())) > x.limit() {
		return wire.ErrTooLarge
	}
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Time{}) // what follows may take long
	return decode(m.Bytes(), into)
}

// decode reads a body of ours, strictly.
func decode(text []byte, into any) error {
	if err := jcs.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: body: %w", sayso.ErrInvalid, err)
	}
	return nil
}

// ctx is the context of the request, which ends when the client goes away.
func (x *exchange) ctx() context.Context { return x.r.Context() }

// longContext is the context of a request that may take long: it ends when the
// server stops, too, and at the latest with end.
func (x *exchange) longContext() (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(x.ctx())
	stop := context.AfterFunc(x.s.stopping, cancel)
	return ctx, func() { stop(); cancel() }
}

// releaseRequest lets go of what the request said of itself, and of what whoever made it
// could look at: who waits has been let in, and asks for nothing else.
func (x *exchange) releaseRequest() { x.r.Header, x.caller.inbox = nil, nil }

// parseFullID is an id from outside, which must not be a short one.
func parseFullID(s string) (sayso.ID, error) {
	id, err := sayso.ParseID(s)
	if err != nil {
		return "", sayso.ErrNotFound // nothing has such an id
	}
	return id, nil
}

// reply writes the answer.
func (x *exchange) reply(out any, err error) {
	status, text := x.s.render(x.ctx(), x.name(), out, err)
	h := x.w.Header()
	switch {
	case status == http.StatusNoContent:
		x.status = status
		x.w.WriteHeader(status)
		return
	case status >= 400:
		h["Content-Type"] = problemType
	default:
		h["Content-Type"] = jsonType
	}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="sayso"`)
	}
	if errors.Is(err, errStopping) {
		h.Set("Retry-After", "1")
	}
	if status == http.StatusRequestEntityTooLarge {
		h.Set("Connection", "close")
	}
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	x.status = status
	x.w.WriteHeader(status)
	_, _ = x.w.Write(text) // whoever does not read it any more does not miss it
}

var (
	problemType = []string{wire.ProblemJSON}
	jsonType    = []string{wire.JSON}
)

// name is the route for logs and metrics.
func (x *exchange) name() string {
	if x.route == nil {
		return "none"
	}
	return x.route.pattern
}

// render turns the result of an operation into a status and a body.
func (s *Server) render(ctx context.Context, name string, out any, err error) (int, []byte) {
	if err == nil && out == nil {
		return http.StatusNoContent, nil
	}
	status := http.StatusOK
	if err != nil {
		p := s.problem(ctx, name, err)
		status, out = p.Status, p
		if p.Code == wire.CodePending {
			out = wire.PendingOf(p)
		}
	}
	text, err := jcs.Marshal(out)
	if err != nil {
		p := s.problem(ctx, name, err)
		status = p.Status
		text, _ = jcs.Marshal(p) // constants alone
	}
	return status, text
}

// problem is the error as the table has it. What the table does not know is
// written to the log, and not to the caller.
func (s *Server) problem(ctx context.Context, name string, err error) wire.Problem {
	if errors.Is(err, errStopping) || (ctx.Err() != nil && errors.Is(err, ctx.Err())) {
		err = errors.Join(sayso.ErrUnavailable, err)
	}
	p, known := wire.ProblemOf(err)
	p.Detail = redact.Scrub(p.Detail) // the name of a member may itself be a secret
	var told *decisionError
	if errors.As(err, &told) {
		p.Decision = told.decision.Public()
	}
	if !known {
		s.log.ErrorContext(ctx, "internal error", "route", name, "error", err)
	} else if p.Code == wire.CodeUnavailable && ctx.Err() == nil && !errors.Is(err, errStopping) {
		s.log.WarnContext(ctx, "unavailable", "route", name, "error", err)
	}
	return p
}

// decisionError is an error of the gate with the decision that came with it,
// which names the ticket.
type decisionError struct {
	error
	decision sayso.Decision
}

func (e *decisionError) Unwrap() error { return e.error }
