package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/sse"
	"github.com/sayso-dev/sayso/internal/wire"
)

// maxAnswer is the longest answer that is read, and maxEvent the longest event.
const (
	maxAnswer = 256 << 20
	maxEvent  = 16 << 20
)

// silence is how long a stream may say nothing, heartbeats included, before it
// counts as broken.
const silence = 45 * time.Second

// overHTTP is the transport that makes one HTTP request for each operation.
type overHTTP struct {
	at    address
	token string
	o     Options
	hc    *http.Client
	rt    *http.Transport
}

func newHTTP(at address, token string, o Options) *overHTTP {
	rt := roundTripper(at)
	return &overHTTP{at, "Bearer " + token, o, &http.Client{Transport: rt, CheckRedirect: refuseRedirect}, rt}
}

func roundTripper(at address) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if at.socket == "" {
				return d.DialContext(ctx, network, addr)
			}
			c, err := d.DialContext(ctx, "unix", at.socket)
			if err != nil {
				return nil, err
			}
			if err := checkPeer(c, at.socket); err != nil {
				_ = c.Close() // nothing was said
				return nil, err
			}
			return c, nil
		},
		MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, DisableCompression: true,
	}
}

// refuseRedirect keeps the token where it belongs.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (t *overHTTP) close() error {
	t.rt.CloseIdleConnections()
	return nil
}

// problemError carries the decision of a problem beside its error.
type problemError struct {
	err      error
	decision *sayso.Decision
}

func (e *problemError) Error() string { return e.err.Error() }
func (e *problemError) Unwrap() error { return e.err }

func (t *overHTTP) do(ctx context.Context, op operation, out any) error {
	resp, err := t.send(ctx, op.method, op.path, op.body, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return t.broken(ctx, err)
	}
	if err := t.checkAnswer(resp); err != nil {
		return err
	}
	return answer(t.at, resp.StatusCode, resp.Header.Get("Retry-After") != "", text, out)
}

// answer reads the answer to an operation, of either transport.
func answer(at address, status int, leaving bool, text []byte, out any) error {
	switch {
	case status == http.StatusNoContent && out == nil:
		return nil
	case status == http.StatusOK && out != nil:
		if err := jcs.UnmarshalLenient(text, out); err != nil {
			return fmt.Errorf("%w: the answer of %s cannot be read: %w", sayso.ErrUnavailable, at.name(), err)
		}
		return nil
	case status == http.StatusAccepted:
		var p wire.Pending
		if err := jcs.UnmarshalLenient(text, &p); err != nil || p.Code != wire.CodePending {
			return fmt.Errorf("%w: the answer of %s cannot be read", sayso.ErrUnavailable, at.name())
		}
		w := wire.Problem{Code: wire.CodePending, Ticket: p.Ticket, Deadline: p.Deadline, Stop: p.Stop}
		return w.Err()
	case status >= 400:
		return problem(at, leaving, text)
	}
	return fmt.Errorf("%w: %s answered with status %d, which means nothing here", sayso.ErrUnavailable, at.name(), status)
}

func problem(at address, leaving bool, text []byte) error {
	var p wire.Problem
	if err := jcs.UnmarshalLenient(text, &p); err != nil {
		return fmt.Errorf("%w: the answer of %s cannot be read: %w", sayso.ErrUnavailable, at.name(), err)
	}
	if p.Code == wire.CodeUnavailable && leaving {
		return &lostError{where: at.name(), err: errors.New("the server is stopping")}
	}
	return &problemError{p.Err(), p.Decision}
}

// send makes a request and returns the response, whatever its status.
func (t *overHTTP) send(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	req, err := t.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := t.hc.Do(req)
	if err != nil {
		return nil, t.broken(ctx, err)
	}
	return resp, nil
}

func (t *overHTTP) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var r io.Reader
	if body != nil {
		text, err := jcs.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
		}
		r = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, t.at.url.String()+path, r)
	if err != nil {
		return nil, fmt.Errorf("%w: the address of the request", sayso.ErrInvalid)
	}
	if body != nil {
		req.Header["Content-Type"] = []string{wire.JSON}
	}
	t.identify(ctx, req.Header)
	return req, nil
}

// identify adds who asks.
func (t *overHTTP) identify(ctx context.Context, h http.Header) {
	h["Authorization"] = []string{t.token}
	h["User-Agent"] = []string{"sayso"}
	if t.o.Version != "" {
		h[wire.VersionHeader] = []string{t.o.Version}
	}
	if t.o.UnderAgent {
		h[wire.ChannelHeader] = []string{wire.ChannelAgent}
	}
	if parent := t.o.Trace(ctx); parent != "" {
		h["Traceparent"] = []string{parent}
	}
}

// broken is the error for a connection that broke, or for a context that ended.
func (t *overHTTP) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var stranger *strangerError
	if errors.As(err, &stranger) {
		return stranger
	}
	var dial *net.OpError
	refused := errors.As(err, &dial) && dial.Op == "dial"
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the address, which may hold ids
	}
	return &lostError{t.at.name(), err, refused}
}

// checkAnswer refuses an answer that is not one of ours.
func (t *overHTTP) checkAnswer(resp *http.Response) error {
	if err := wire.CheckVersions(resp.Header.Get(wire.VersionHeader), t.o.Version); err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrUnavailable, err)
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode/100 == 3 || (kind != wire.JSON && kind != wire.ProblemJSON && kind != sse.ContentType) {
		return fmt.Errorf("%w: what answers at %s is no sayso server (status %d)", sayso.ErrUnavailable, t.at.name(), resp.StatusCode)
	}
	return nil
}

// follow reads one event stream to its end.
func (t *overHTTP) follow(ctx context.Context, f wire.Follow) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		err := t.stream(ctx, cancel, f, func(e sayso.Event) bool { return yield(e, nil) })
		if err != nil {
			yield(sayso.Event{}, err)
		}
	}
}

// stream hands the events of one response to got, and returns nil if got had
// enough.
func (t *overHTTP) stream(ctx context.Context, cancel context.CancelCauseFunc, f wire.Follow, got func(sayso.Event) bool) error {
	resp, err := t.send(ctx, http.MethodGet, "/v1/events?"+f.Values().Encode(), nil, http.Header{"Accept": {sse.ContentType}})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := t.checkAnswer(resp); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), sse.ContentType) {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return answer(t.at, resp.StatusCode, resp.Header.Get("Retry-After") != "", text, nil)
	}
	quiet := &lostError{where: t.at.name(), err: errors.New("the stream fell silent")}
	watch := time.AfterFunc(silence, func() { cancel(quiet) })
	defer watch.Stop()
	r := sse.NewReader(&watched{resp.Body, watch}, maxEvent)
	if !got(sayso.Event{}) {
		return nil
	}
	for {
		e, err := nextEvent(r)
		if err != nil {
			if errors.Is(context.Cause(ctx), quiet) {
				return quiet
			}
			if _, bad := err.(*eventError); bad {
				return err
			}
			return t.broken(ctx, err)
		}
		if !got(e) {
			return nil
		}
	}
}

// watched puts the watch back each time that something arrives.
type watched struct {
	io.Reader
	watch *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.watch.Reset(silence)
	return n, err
}

// eventError is an event that cannot be read: asking again would not help.
type eventError struct{ err error }

func (e *eventError) Error() string {
	return fmt.Sprintf("%v: an event cannot be read: %v", sayso.ErrUnavailable, e.err)
}
func (e *eventError) Unwrap() []error { return []error{sayso.ErrUnavailable, e.err} }

func nextEvent(r *sse.Reader) (e sayso.Event, err error) {
	frame, err := r.Next()
	if err != nil {
		return e, err
	}
	if err := jcs.UnmarshalLenient(frame.Data, &e); err != nil {
		return e, &eventError{err}
	}
	return e, nil
}
