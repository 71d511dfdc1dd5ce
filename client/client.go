// Package client is a [sayso.Gate] and a [sayso.Inbox] over the API of a
// server.
//
// [New] speaks HTTP, [Dial] a WebSocket: one connection for thousands of
// admissions. Both work over TCP and over a Unix socket, and both behave as the
// broker behind them does: errors.Is and errors.As find the same errors, and a
// [Client] goes on where it was when a connection breaks. Whatever cannot be
// found out is [sayso.ErrUnavailable], and never a yes.
//
// A token is sent to the address that the client was made for and to no other:
// redirects are refused, proxies are not asked, plain HTTP is spoken on loopback
// alone, and a Unix socket is spoken to if it is ours or the administrator's who
// listens there.
package client

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sayso-dev/sayso"
	inspect "github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/wire"
)

// Options are what a client may be told. The zero Options are fine.
type Options struct {
	// Version is the release of this program; empty for one that is no release.
	Version string
	// Retry is how long a waiting call keeps trying when a server that answered
	// before is away; zero for 30 seconds.
	Retry time.Duration
	// Wait also tries that long when there was no server to begin with.
	Wait bool
	// UnderAgent says that this program was started by an agent: the server
	// refuses its answers, and records that it did.
	UnderAgent bool
	// Lost is told of each connection that broke, and with nil of each that was
	// made again. It may be nil, and must not block.
	Lost func(error)
	// Trace returns the traceparent of a context, to be sent along; it may be
	// nil.
	Trace func(context.Context) string
}

// Client is a Gate and an Inbox. It may be used from many goroutines.
type Client struct {
	t transport
	o Options

	wanted atomic.Pointer[sayso.FactsWanted] // by the server, when it last said so
}

var (
	_ sayso.Gate  = (*Client)(nil)
	_ sayso.Inbox = (*Client)(nil)
)

// transport is how operations reach the server.
type transport interface {
	// do carries out one operation and reads its answer into out, which is nil
	// where there is none. A connection that broke is a lostError.
	do(ctx context.Context, op operation, out any) error
	// follow yields a zero event when the stream is open, then events until the
	// connection breaks, and why it ended.
	follow(ctx context.Context, f wire.Follow) iter.Seq2[sayso.Event, error]
	close() error
}

// operation is one operation in both its forms.
type operation struct {
	name   string // on a WebSocket
	frame  any    // its body there
	method string // over HTTP
	path   string // with the query
	body   any    // nil for none
}

// New returns a client that speaks HTTP. base is http://127.0.0.1:PORT, an
// https address, or the path of a Unix socket with or without unix:// before
// it. No connection is made yet.
func New(base, token string, opts *Options) (*Client, error) {
	o := options(opts)
	a, err := parseBase(base)
	if err != nil {
		return nil, err
	}
	if err := checkToken(token); err != nil {
		return nil, err
	}
	return &Client{t: newHTTP(a, token, o), o: o}, nil
}

// Dial returns a client that speaks over one WebSocket, connected. It connects
// again when the connection breaks.
func Dial(ctx context.Context, base, token string, opts *Options) (*Client, error) {
	o := options(opts)
	a, err := parseBase(base)
	if err != nil {
		return nil, err
	}
	if err := checkToken(token); err != nil {
		return nil, err
	}
	s := newSocket(a, token, o)
	if _, err := s.current(ctx); err != nil {
		return nil, err
	}
	return &Client{t: s, o: o}, nil
}

// Gate is the client as a Gate.
func (c *Client) Gate() sayso.Gate { return c }

// Inbox is the client as an Inbox.
func (c *Client) Inbox() sayso.Inbox { return c }

// Close gives up the connections. Calls that wait return; their requests stay.
func (c *Client) Close() error { return c.t.close() }

func options(o *Options) Options {
	if o == nil {
		o = &Options{}
	}
	out := *o
	if out.Retry <= 0 {
		out.Retry = 30 * time.Second
	}
	if out.Lost == nil {
		out.Lost = func(error) {}
	}
	if out.Trace == nil {
		out.Trace = func(context.Context) string { return "" }
	}
	return out
}

// address is where a server is.
type address struct {
	url    url.URL // scheme and host alone
	socket string  // path of a Unix socket; empty for TCP
}

// name is the address as people write it.
func (a address) name() string {
	if a.socket != "" {
		return a.socket
	}
	return a.url.String()
}

// CheckAddress reports whether base is the address of a server that a client may
// speak to. It asks nobody.
func CheckAddress(base string) error {
	_, err := parseBase(base)
	return err
}

func parseBase(base string) (address, error) {
	if path, ok := strings.CutPrefix(base, "unix://"); ok || strings.HasPrefix(base, "/") {
		if !ok {
			path = base
		}
		if !strings.HasPrefix(path, "/") {
			return address{}, fmt.Errorf("%w: the path of a socket must be absolute", sayso.ErrInvalid)
		}
		return address{url.URL{Scheme: "http", Host: "sayso"}, path}, nil
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return address{}, fmt.Errorf("%w: the address of a server is http://127.0.0.1:PORT, https://HOST or the path of a socket", sayso.ErrInvalid)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return address{}, fmt.Errorf("%w: the address of a server has no user, path or query", sayso.ErrInvalid)
	case u.Scheme == "http" && !onThisMachine(u.Host):
		return address{}, fmt.Errorf("%w: plain HTTP is spoken on loopback alone; use https", sayso.ErrInvalid)
	}
	return address{url: url.URL{Scheme: u.Scheme, Host: u.Host}}, nil
}

// onThisMachine reports whether a host, with or without a port, is this machine
// to servers as well.
func onThisMachine(hostport string) bool {
	_, ok := inspect.Loopback(hostport)
	return ok
}

func checkToken(token string) error {
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("%w: the token is empty or has signs that no token has; `sayso token create` makes one", sayso.ErrInvalid)
	}
	return nil
}
