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

// Front stands in front of servers for clients that come over HTTP, each server
// under a path of its own: /NAME/mcp.
type Front struct {
	o       FrontOptions
	servers map[string]*upstream

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup // sessions, with what is still told behind them

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
	most     limits
	all      share
	shares   map[string]share // by the owners
	running  map[*child.Process]bool
	closed   bool
}

// FrontOptions say what a front works with. Authenticate is required.
type FrontOptions struct {
	// Authenticate says who presents a token.
	Authenticate func(secret string) (owner string, err error)
	// Idle is how long a session lasts in which nothing happens; an hour by default.
	Idle time.Duration
	// Opening is how long an answer is waited for before its stream is opened; half
	// a second by default.
	Opening time.Duration
	// KeepAlive is how often a stream that is silent says that it is there; every 15
	// seconds by default.
	KeepAlive time.Duration
}

const (
	idle    = time.Hour
	opening = 500 * time.Millisecond
)

// slowest is how long a message may take to come, and a piece of one to go.
var slowest = 30 * time.Second // less in tests

// NewFront returns a front of servers.
func NewFront(o FrontOptions, servers ...Upstream) (*Front, error) {
	if o.Authenticate == nil {
		return nil, rpc.Invalid("a front needs to know whose a token is")
	}
	if o.Idle <= 0 {
		o.Idle = idle
	}
	if o.Opening <= 0 {
		o.Opening = opening
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = heartbeat
	}
	f := &Front{o: o, servers: map[string]*upstream{}, sessions: map[string]*session{}, most: most, shares: map[string]share{}, running: map[*child.Process]bool{}}
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
func (f *Front) Serve(ctx context.Context, l net.Listener) error {
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
func (f *Front) Close(ctx context.Context) error {
	for _, s := range f.every() {
		s.end("The gateway ends.")
	}
	f.cancel()
	ended := make(chan struct{})
	go func() { f.work.Wait(); close(ended) }()
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
			up.client.CloseIdleConnections()
		}
	}
	return nil
}

// ServeHTTP takes one request of a client.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Also what is refused is read to its end. Where there is no deadline, nobody is slow.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(slowest))
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if !ours(r) {
		refuse(w, nil, http.StatusForbidden, codeNoRequest, "Refused: the request names another host than this one, or comes from a page. Nothing ran.")
		return
	}
	name, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/mcp")
	up := f.servers[name]
	owner, err := f.owner(r, up)
	switch {
	case err != nil:
		h.Set("WWW-Authenticate", `Bearer realm="sayso"`)
		refuse(w, nil, http.StatusUnauthorized, codeNoRequest, "Refused: "+err.Error()+". Nothing ran.")
		return
	case !ok || up == nil || !up.serves(owner):
		refuse(w, nil, http.StatusNotFound, codeNoRequest, "There is no server under this path for the owner of this token. Nothing ran.")
		return
	}
	one := share{requests: 1}
	if !f.takes(owner, one) {
		h.Set("Retry-After", "5")
		refuse(w, nil, http.StatusServiceUnavailable, codeInternal, "Too many requests are open. Nothing ran.")
		return
	}
	defer f.gives(owner, one)
	v := &visit{f: f, w: w, r: r, up: up, owner: owner, version: r.Header.Get(versionHeader)}
	defer v.keeps(0)
	f.route(v)
}

func (f *Front) route(v *visit) {
	switch v.r.Method {
	case http.MethodPost:
		v.post()
	case http.MethodGet, http.MethodDelete:
		if v.version >= statelessSince || v.r.Header.Get(sessionHeader) == "" {
			v.w.Header().Set("Allow", http.MethodPost)
			v.refuse(nil, http.StatusMethodNotAllowed, codeNoRequest, "Without a session there is nothing to "+strings.ToLower(v.r.Method)+".")
			return
		}
		if v.r.ContentLength != 0 {
			v.refuse(nil, http.StatusBadRequest, codeNoRequest, "A message is sent with POST.")
			return
		}
		v.waits()
		s := v.session()
		if s == nil {
			return
		}
		if v.r.Method == http.MethodDelete {
			s.end("The client ended the session.")
			v.w.WriteHeader(http.StatusNoContent)
			return
		}
		v.listen(s)
	default:
		v.w.Header().Set("Allow", "POST, GET, DELETE")
		v.refuse(nil, http.StatusMethodNotAllowed, codeNoRequest, "The methods are POST, GET and DELETE.")
	}
}

// ours reports whether a request is for this machine, and was not made by a page of
// anybody else, who was talked into it. There is none of ours: what comes with
// our own origin is a client that is no browser.
func ours(r *http.Request) bool {
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

// owner is who presents the token of a request.
func (f *Front) owner(r *http.Request, up *upstream) (string, error) {
	secret, err := presented(r.Header, up != nil && up.PassAuthorization)
	if err != nil {
		return "", err
	}
	owner, err := f.o.Authenticate(secret)
	if err != nil {
		return "", errors.New("the token in this request is not one that counts here; make one: sayso token create --name NAME --kind agent")
	}
	return owner, nil
}

// presented is the token in a request. Where Authorization goes to the server, the
// token is in a header of its own, and none of ours goes there by mistake.
func presented(h http.Header, passes bool) (string, error) {
	own, ok := only(h, tokenHeader)
	auth, one := only(h, "Authorization")
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

// find is the session with an id, if it is one of this owner with this server.
func (f *Front) find(id string, up *upstream, owner string) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.sessions[id]; s != nil && s.id == id && s.up == up && s.owner == owner {
		return s
	}
	return nil
}

// runs notes that a program runs, or does not any more.
func (f *Front) runs(p *child.Process, does bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.running, p); does {
		f.running[p] = true
	}
}

// visit is one request of a client by HTTP.
type visit struct {
	f       *Front
	w       http.ResponseWriter
	r       *http.Request
	up      *upstream
	owner   string
	version string
	bytes   int // that were taken for the message
}

// still reports a token that does not count any more, or is another's now.
func (v *visit) still() error {
	if owner, err := v.f.owner(v.r, v.up); err != nil || owner != v.owner {
		return &enforce.RefusedError{Text: "Not run: the token that this was asked with does not count any more. Report this to the user: sayso token create --name NAME --kind agent makes another."}
	}
	return nil
}

func (v *visit) refuse(id []byte, status, code int, text string) { refuse(v.w, id, status, code, text) }

// refuse answers with an error of the protocol.
func refuse(w http.ResponseWriter, id []byte, status, code int, text string) {
	writeJSON(w, status, failure(id, code, text))
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone needs none
}

// accepts reports which kinds of answers a client takes.
func (v *visit) accepts() (json, events bool) {
	for _, line := range v.r.Header["Accept"] {
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

// session is the session that the request names.
func (v *visit) session() *session {
	id, ok := only(v.r.Header, sessionHeader)
	if !ok {
		v.refuse(nil, http.StatusBadRequest, codeNoRequest, "The header "+sessionHeader+" comes more than once, or says nothing.")
		return nil
	}
	s := v.f.find(id, v.up, v.owner)
	if s == nil {
		v.refuse(nil, http.StatusNotFound, codeNoRequest, "There is no such session (any more). Nothing ran. Begin a new one.")
	}
	return s
}

// waits says that all of the request is there, and that the client waits now.
func (v *visit) waits() { _ = http.NewResponseController(v.w).SetReadDeadline(time.Time{}) }

// room takes what the message may need, until the visit ends.
func (v *visit) room() bool {
	n := maxMessage
	if length := v.r.ContentLength; length >= 0 && length < int64(n) {
		n = int(length)
	}
	if !v.f.takes(v.owner, share{bytes: n}) {
		return false
	}
	v.bytes = n
	return true
}

// keeps gives back what the message does not need of that.
func (v *visit) keeps(n int) {
	v.f.gives(v.owner, share{bytes: v.bytes - n})
	v.bytes = n
}

// message reads the message in the body, as one line.
func (v *visit) message() ([]byte, bool) {
	kind, _, _ := strings.Cut(v.r.Header.Get("Content-Type"), ";")
	if len(v.r.Header["Content-Type"]) != 1 || !strings.EqualFold(strings.TrimSpace(kind), "application/json") || v.r.Header.Get("Content-Encoding") != "" {
		v.refuse(nil, http.StatusUnsupportedMediaType, codeNoRequest, "Refused: a message is sent as application/json. Nothing ran.")
		return nil, false
	}
	if !v.room() {
		v.w.Header().Set("Retry-After", "5")
		v.refuse(nil, http.StatusServiceUnavailable, codeInternal, "Too much of what was asked for is not answered yet. Nothing ran.")
		return nil, false
	}
	text, err := io.ReadAll(http.MaxBytesReader(v.w, v.r.Body, int64(maxMessage)))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		v.refuse(nil, http.StatusRequestEntityTooLarge, codeNoRequest, "Refused: a message may have "+strconv.Itoa(maxMessage)+" bytes. Nothing ran.")
		return nil, false
	case err != nil:
		v.refuse(nil, http.StatusBadRequest, codeNoRequest, "Refused: the message did not come whole. Nothing ran.")
		return nil, false
	}
	v.waits()
	v.keeps(len(text))
	return text, true
}
