package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/child"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/internal/sse"
)

// Handler stands before servers for clients that come over HTTP, each server
// under a path of its own: /NAME/mcp.
type Handler struct {
	o       HandlerOptions
	servers map[string]*upstream

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // sessions, with what is still told behind them

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
	limits   limits
	total    usage
	usage    map[string]usage // by the owners
	running  map[*child.Process]bool
	closed   bool
}

// HandlerOptions say what a handler works with. Authenticate is required.
type HandlerOptions struct {
	// Authenticate says who presents a token.
	Authenticate func(secret string) (owner string, err error)
	// Idle is how long a session lasts in which nothing happens; an hour by default.
	Idle time.Duration
	// StreamDelay is how long an answer is waited for before its stream is opened; half
	// a second by default.
	StreamDelay time.Duration
	// KeepAlive is how often a stream that is silent says that it is there; every 15
	// seconds by default.
	KeepAlive time.Duration
}

const (
	idleTimeout = time.Hour
	streamDelay = 500 * time.Millisecond
)

// ioTimeout is how long a message may take to come, and a piece of one to go.
var ioTimeout = 30 * time.Second // less in tests

// NewHandler returns a handler before servers.
func NewHandler(o HandlerOptions, servers ...Upstream) (*Handler, error) {
	if o.Authenticate == nil {
		return nil, rpc.Invalid("a handler needs to know whose a token is")
	}
	if o.Idle <= 0 {
		o.Idle = idleTimeout
	}
	if o.StreamDelay <= 0 {
		o.StreamDelay = streamDelay
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = heartbeat
	}
	f := &Handler{o: o, servers: map[string]*upstream{}, sessions: map[string]*session{}, limits: defaultLimits, usage: map[string]usage{}, running: map[*child.Process]bool{}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	for _, u := range servers {
		up, err := u.open(f)
		if err != nil {
			return nil, err
		}
		if f.servers[up.Name] != nil {
			return nil, rpc.Invalid("two servers are called " + up.Name)
		}
		f.servers[up.Name] = up
	}
	return f, nil
}

// Serve serves clients that connect to l, until ctx ends.
func (f *Handler) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler: f, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return f.ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	err := s.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends all sessions, with the programs that were started for them, and
// waits for them until ctx ends. A program that has not ended then is killed.
func (f *Handler) Close(ctx context.Context) error {
	for _, s := range f.closeToNew() {
		s.end("The gateway ends.")
	}
	f.cancel()
	ended := make(chan struct{})
	go func() { f.wg.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		f.mu.Lock()
		running := slices.Collect(maps.Keys(f.running))
		f.mu.Unlock()
		for _, p := range running {
			p.Signal(syscall.SIGKILL)
		}
		return fmt.Errorf("ending the sessions: %w", context.Cause(ctx))
	}
	for _, up := range f.servers {
		if up.client != nil {
			up.closeClient(ctx)
		}
	}
	return nil
}

// ServeHTTP takes one request of a client.
func (f *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Also what is refused is read to its end. Where there is no deadline, nobody is slow.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(ioTimeout))
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if !isLocal(r) {
		refuse(w, nil, http.StatusForbidden, codeInvalidRequest, "Refused: the request names another host than this one, or comes from a page. Nothing ran.")
		return
	}
	name, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/mcp")
	up := f.servers[name]
	owner, err := f.authenticate(r, up)
	switch {
	case err != nil:
		h.Set("WWW-Authenticate", `Bearer realm="sayso"`)
		refuse(w, nil, http.StatusUnauthorized, codeInvalidRequest, "Refused: "+err.Error()+". Nothing ran.")
		return
	case !ok || up == nil || !up.serves(owner):
		refuse(w, nil, http.StatusNotFound, codeInvalidRequest, "There is no server under this path for the owner of this token. Nothing ran.")
		return
	}
	one := usage{requests: 1}
	if !f.reserve(owner, one) {
		h.Set("Retry-After", "5")
		refuse(w, nil, http.StatusServiceUnavailable, codeInternal, "Too many requests are open. Nothing ran.")
		return
	}
	defer f.release(owner, one)
	x := &exchange{handler: f, w: w, r: r, up: up, owner: owner, version: r.Header.Get(versionHeader)}
	defer x.shrinkReserved(0)
	f.dispatch(x)
}

func (f *Handler) dispatch(x *exchange) {
	switch x.r.Method {
	case http.MethodPost:
		x.handlePost()
	case http.MethodGet, http.MethodDelete:
		if x.version >= statelessSince || x.r.Header.Get(sessionHeader) == "" {
			x.w.Header().Set("Allow", http.MethodPost)
			x.refuse(nil, http.StatusMethodNotAllowed, codeInvalidRequest, "Without a session there is nothing to "+strings.ToLower(x.r.Method)+".")
			return
		}
		if x.r.ContentLength != 0 {
			x.refuse(nil, http.StatusBadRequest, codeInvalidRequest, "A message is sent with POST.")
			return
		}
		x.clearReadDeadline()
		s := x.findSession()
		if s == nil {
			return
		}
		if x.r.Method == http.MethodDelete {
			s.end("The client ended the session.")
			x.w.WriteHeader(http.StatusNoContent)
			return
		}
		x.handleGet(s)
	default:
		x.w.Header().Set("Allow", "POST, GET, DELETE")
		x.refuse(nil, http.StatusMethodNotAllowed, codeInvalidRequest, "The methods are POST, GET and DELETE.")
	}
}

// isLocal reports whether a request is for this machine, and was not made by a page of
// anybody else, who was talked into it. There is none of ours: what comes with
// our own origin is a client that is no browser.
func isLocal(r *http.Request) bool {
	port, ok := address.Loopback(strings.ToLower(r.Host))
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || local == nil {
		return false
	}
	_, at, err := net.SplitHostPort(local.String())
	if port == "" {
		port = "80"
	}
	if err != nil || port != at {
		return false
	}
	site := r.Header["Sec-Fetch-Site"] // none is a person's own doing, which no page can have a browser say
	from := r.Header["Origin"]
	return (len(from) == 0 || len(from) == 1 && from[0] == "http://"+r.Host) && (len(site) == 0 || len(site) == 1 && site[0] == "none")
}

// tokenHeader holds a token of ours, where Authorization is the server's.
const tokenHeader = "Sayso-Token"

// authenticate is who presents the token of a request.
func (f *Handler) authenticate(r *http.Request, up *upstream) (string, error) {
	secret, err := tokenOf(r.Header, up != nil && up.PassAuthorization)
	if err != nil {
		return "", err
	}
	owner, err := f.o.Authenticate(secret)
	if err != nil {
		return "", errors.New("the token in this request is not one that counts here; make one: sayso token create --name NAME --kind agent")
	}
	return owner, nil
}

// tokenOf is the token in a request. Where Authorization goes to the server, the
// token is in a header of its own, and none of ours goes there by mistake.
func tokenOf(h http.Header, passes bool) (string, error) {
	own, ok := singleValue(h, tokenHeader)
	auth, one := singleValue(h, "Authorization")
	if !ok || !one {
		return "", errors.New("a header with a token comes more than once, or says nothing")
	}
	scheme, secret, _ := strings.Cut(auth, " ")
	switch {
	case passes && strings.HasPrefix(secret, "sayso_"):
		return "", errors.New("the header Authorization goes to the server behind this path, and held a token of sayso; send that as " + tokenHeader + ": TOKEN")
	case own != "":
		return own, nil
	case !passes && strings.EqualFold(scheme, "Bearer") && secret != "":
		return secret, nil
	case passes:
		return "", errors.New("there is no token of sayso; send one as " + tokenHeader + ": TOKEN, as Authorization goes to the server")
	}
	return "", errors.New("there is no token; send one as Authorization: Bearer TOKEN, or as " + tokenHeader + ": TOKEN")
}

// findSession is the session with an id, if it is one of this owner with this server.
func (f *Handler) findSession(id string, up *upstream, owner string) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[id]; s != nil && s.id == id && s.up == up && s.owner == owner {
		return s
	}
	return nil
}

// setRunning notes that a program runs, or does not any more.
func (f *Handler) setRunning(p *child.Process, does bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.running, p); does {
		f.running[p] = true
	}
}

// exchange is one request of a client by HTTP.
type exchange struct {
	handler  *Handler
	w        http.ResponseWriter
	r        *http.Request
	up       *upstream
	owner    string
	version  string
	reserved int // that were taken for the message
}

// checkToken reports a token that does not count any more, or is another's now.
func (x *exchange) checkToken() error {
	if owner, err := x.handler.authenticate(x.r, x.up); err != nil || owner != x.owner {
		return &enforce.RefusedError{Text: "Not run: the token that this was asked with does not count any more. Report this to the user: sayso token create --name NAME --kind agent makes another."}
	}
	return nil
}

func (x *exchange) refuse(id []byte, status, code int, text string) {
	refuse(x.w, id, status, code, text)
}

// refuse answers with an error of the protocol.
func refuse(w http.ResponseWriter, id []byte, status, code int, text string) {
	writeJSON(w, status, errorResponse(id, code, text))
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone needs none
}

// accepts reports which kinds of answers a client takes.
func (x *exchange) accepts() (json, events bool) {
	for _, line := range x.r.Header["Accept"] {
		for kind := range strings.SplitSeq(line, ",") {
			kind, _, _ = strings.Cut(kind, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				json = true
			case sse.ContentType, "text/*":
				events = true
			case "*/*":
				json, events = true, true
			}
		}
	}
	return json, events
}

// findSession is the session that the request names.
func (x *exchange) findSession() *session {
	id, ok := singleValue(x.r.Header, sessionHeader)
	if !ok {
		x.refuse(nil, http.StatusBadRequest, codeInvalidRequest, "The header "+sessionHeader+" comes more than once, or says nothing.")
		return nil
	}
	s := x.handler.findSession(id, x.up, x.owner)
	if s == nil {
		x.refuse(nil, http.StatusNotFound, codeInvalidRequest, "There is no such session (any more). Nothing ran. Begin a new one.")
	}
	return s
}

// clearReadDeadline says that all of the request is there, and that the client waits now.
func (x *exchange) clearReadDeadline() {
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Time{})
}

// reserveBody takes what the message may need, until the exchange ends.
func (x *exchange) reserveBody() bool {
	n := maxMessage
	if length := x.r.ContentLength; length >= 0 && length < int64(n) {
		n = int(length)
	}
	if !x.handler.reserve(x.owner, usage{bytes: n}) {
		return false
	}
	x.reserved = n
	return true
}

// shrinkReserved gives back what the message does not need of that.
func (x *exchange) shrinkReserved(n int) {
	x.handler.release(x.owner, usage{bytes: x.reserved - n})
	x.reserved = n
}

// readBody reads the message in the body, as one line.
func (x *exchange) readBody() ([]byte, bool) {
	kind, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";")
	if len(x.r.Header["Content-Type"]) != 1 || !strings.EqualFold(strings.TrimSpace(kind), "application/json") || x.r.Header.Get("Content-Encoding") != "" {
		x.refuse(nil, http.StatusUnsupportedMediaType, codeInvalidRequest, "Refused: a message is sent as application/json. Nothing ran.")
		return nil, false
	}
	if !x.reserveBody() {
		x.w.Header().Set("Retry-After", "5")
		x.refuse(nil, http.StatusServiceUnavailable, codeInternal, "Too much of what was asked for is not answered yet. Nothing ran.")
		return nil, false
	}
	text, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, int64(maxMessage)))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		x.refuse(nil, http.StatusRequestEntityTooLarge, codeInvalidRequest, "Refused: a message may have "+strconv.Itoa(maxMessage)+" bytes. Nothing ran.")
		return nil, false
	case err != nil:
		x.refuse(nil, http.StatusBadRequest, codeInvalidRequest, "Refused: the message did not come whole. Nothing ran.")
		return nil, false
	}
	x.clearReadDeadline()
	x.shrinkReserved(len(text))
	return text, true
}
