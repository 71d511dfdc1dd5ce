package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/internal/sse"
	"github.com/sayso-dev/sayso/redact"
)

// sseTransport has a server that speaks the transport of 2024-11-05 (HTTP with SSE) be
// spoken with as one that speaks streamable HTTP. A server that does not take what begins a
// session where newer ones do is asked for its stream, which names the address for
// messages, as the specification of 2025-11-25 has it for clients (Transports, Backwards
// Compatibility). What comes on that one stream is told apart here: answers are the
// streams of their requests, the rest is the stream that is listened to. To a server that
// speaks streamable HTTP all goes as it is.
//
// A session of it ends with its stream. It is then one that the server has forgotten: what
// is under way is not answered, and no call is made twice.
type sseTransport struct {
	next   http.RoundTripper
	prefix string // of the ids that sessions have here, which no server can guess

	mu    sync.Mutex          // guards conns
	conns map[string]*sseConn // by their ids, until they end
}

func newSSETransport(next http.RoundTripper) *sseTransport {
	return &sseTransport{next: next, prefix: rand.Text(), conns: map[string]*sseConn{}}
}

// RoundTrip makes a request in the way that the server speaks.
func (t *sseTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	id := req.Header.Get(sessionHeader)
	t.mu.Lock()
	conn := t.conns[id]
	t.mu.Unlock()
	switch {
	case conn != nil:
		return conn.roundTrip(req)
	case strings.HasPrefix(id, t.prefix): // it has ended
		closeBody(req)
		return answered(req, http.StatusNotFound, nil), nil
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil || id != "" || req.Method != http.MethodPost {
		return resp, err
	}
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return t.begin(req, resp)
	}
	return resp, nil
}

// CloseIdleConnections does so below.
func (t *sseTransport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// begin begins a session with a server that refused a message, if it is one of the older
// transport and the message begins one. Else the refusal stands.
func (t *sseTransport) begin(req *http.Request, refused *http.Response) (*http.Response, error) {
	text, err := sentText(req)
	if err != nil {
		return refused, nil
	}
	if m, err := readMessage(text); err != nil || m.method != initializeMethod {
		return refused, nil
	}
	conn, demand, err := t.connect(req)
	switch {
	case err != nil:
		_ = refused.Body.Close() // only read
		return nil, err
	case demand != nil:
		_ = refused.Body.Close()
		return demand, nil
	case conn == nil:
		return refused, nil
	}
	_ = refused.Body.Close()
	again := req.Clone(req.Context())
	again.Body = io.NopCloser(bytes.NewReader(text))
	resp, err := conn.roundTrip(again)
	if err != nil || resp.StatusCode != http.StatusOK {
		conn.end()
		return resp, err
	}
	resp.Header.Set(sessionHeader, conn.id)
	return resp, nil
}

// connect opens the stream of a server; nil if it has none. demand is its answer if it
// wants to know who asks.
func (t *sseTransport) connect(like *http.Request) (conn *sseConn, demand *http.Response, err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(like.Context()))
	defer func() {
		if conn == nil && demand == nil {
			cancel()
		}
	}()
	late := time.AfterFunc(ioTimeout, cancel)
	defer late.Stop()
	defer context.AfterFunc(like.Context(), cancel)()
	req := likewise(like, http.MethodGet, like.URL).WithContext(ctx)
	req.Header.Set("Accept", sse.ContentType)
	resp, err := t.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, nil, nil
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		resp.Body = cancelling{resp.Body, cancel}
		return nil, resp, nil
	case resp.StatusCode != http.StatusOK || contentType(resp) != sse.ContentType:
		_ = resp.Body.Close() // only read
		return nil, nil, nil
	}
	events := sse.NewReader(resp.Body, maxSSEMessage)
	first, err := events.Next()
	if err != nil || first.Name != "endpoint" {
		_ = resp.Body.Close()
		return nil, nil, nil
	}
	to, err := endpointOf(like.URL, string(first.Data))
	if err != nil {
		_ = resp.Body.Close()
		return nil, nil, err
	}
	conn = &sseConn{transport: t, id: t.prefix + rand.Text(), endpoint: to, stop: cancel, pending: map[string]*sseAnswer{}, more: make(chan struct{}, 1)}
	t.mu.Lock()
	t.conns[conn.id] = conn
	t.mu.Unlock()
	go func() { // ends with the stream
		conn.read(events)
		_ = resp.Body.Close()
		conn.end()
	}()
	return conn, nil, nil
}

// forget forgets a session that has ended.
func (t *sseTransport) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, id)
}

// endpointOf is the address that a server names for messages. It is one of its own: what a
// request is authorised by goes nowhere else.
func endpointOf(server *url.URL, named string) (*url.URL, error) {
	to, err := server.Parse(named)
	if err != nil || to.User != nil {
		return nil, rpc.Invalid("the address that the server names for messages is none")
	}
	if originOf(to) != originOf(server) {
		return nil, fmt.Errorf("%w: the server names an address for messages that is not its own (of %s), to which nothing is sent", sayso.ErrNotAllowed, redact.Scrub(to.Host))
	}
	to.Fragment = ""
	return to, nil
}

// originOf is the scheme, the host and the port of an address, in one spelling.
func originOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + lowerASCII(u.Hostname()) + " " + port
}

// lowerASCII is a host in lower case, as far as its letters are those of ASCII: others become
// letters of ASCII in some readers' lower case, and not in the names that are looked up.
func lowerASCII(host string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}, host)
}

// likewise is another request with what goes with one.
func likewise(req *http.Request, method string, to *url.URL) *http.Request {
	out := req.Clone(req.Context())
	out.Method, out.URL, out.Host, out.Body, out.GetBody, out.ContentLength = method, to, "", nil, nil, 0
	for _, name := range []string{sessionHeader, "Content-Type", "Content-Length", resumeHeader} {
		out.Header.Del(name)
	}
	return out
}

// sentText is what a request says.
func sentText(req *http.Request) ([]byte, error) {
	body := req.Body
	if req.GetBody != nil {
		var err error
		if body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	if body == nil {
		return nil, nil
	}
	defer func() { _ = body.Close() }() // only read
	return io.ReadAll(body)
}

// closeBody does as transports must with what they do not send.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// answered is an answer of ours: a stream if there is a body.
func answered(req *http.Request, status int, body io.ReadCloser) *http.Response {
	resp := &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
	if body != nil {
		resp.Body, resp.ContentLength = body, -1
		resp.Header.Set("Content-Type", sse.ContentType)
	}
	return resp
}

// cancelling ends a request when what answers it is not read any more.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c cancelling) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}
