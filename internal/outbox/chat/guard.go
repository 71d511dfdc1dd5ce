package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/sayso-dev/sayso/internal/outbox"
)

// limit is how much of an answer is read.
const limit = 1 << 20

// guard is how this process speaks HTTP: encrypted or with this machine, to
// whom it was told to and nobody that they name, for a while and not for ever.
type guard struct {
	ctx  context.Context
	next *http.Transport

	mu      sync.Mutex // guards what follows
	stopped error
}

// everywhere has all clients that have no transport of their own use the guard.
func (g *guard) everywhere() {
	g.next = &http.Transport{
		Proxy: outbox.Proxy, DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
	}
	http.DefaultTransport = g
}

var (
	errPlain = errors.New("the address leads elsewhere without encryption")
	errAway  = errors.New("the chat answered that it is elsewhere; notices go to the address that was configured alone")
)

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !mayGo(req.URL) {
		return nil, g.stop(errPlain)
	}
	resp, err := g.next.RoundTrip(req.WithContext(g.ctx))
	if err != nil {
		return nil, g.stop(because(err))
	}
	if resp.StatusCode >= 300 {
		_ = resp.Body.Close() // what it says is not read
		if resp.StatusCode < 400 {
			return nil, g.stop(errAway)
		}
		return nil, g.stop(fmt.Errorf("the chat answered with status %d", resp.StatusCode))
	}
	_ = g.stop(nil)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, limit), resp.Body}
	return resp, nil
}

// because says what went wrong without saying where.
func because(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the chat did not answer in time")
	}
	return errors.New("the chat could not be reached")
}

// stop remembers why nothing was sent, or that something was. Senders say it
// otherwise, with the address.
func (g *guard) stop(why error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = why
	return why
}

func (g *guard) why() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stopped
}
