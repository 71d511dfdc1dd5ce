package oauth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/redact"
)

const (
	maxDocument = 1 << 20          // bytes of what a server says of itself
	slowest     = 30 * time.Second // for one exchange
)

// client talks to the servers of logins. It follows no redirect: who answers is who was
// asked, and what a token is exchanged for goes nowhere else.
func client(roots *x509.CertPool) *http.Client {
	return &http.Client{
		Timeout:       slowest,
		Transport:     &ways{direct: way(roots, nil, dialPublic), proxied: way(roots, http.ProxyFromEnvironment, (&net.Dialer{Timeout: slowest}).DialContext)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ways are how a server is reached: by ourselves, who see where its name leads, or by
// a proxy, which is on this network more often than not, and looks names up itself.
type ways struct{ direct, proxied http.RoundTripper }

func (w *ways) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, here := address.Loopback(req.URL.Host); !here {
		if by, err := http.ProxyFromEnvironment(req); err != nil || by != nil {
			return w.proxied.RoundTrip(req)
		}
	}
	return w.direct.RoundTrip(req)
}

// way keeps no connection: one that was made for a server that may lead here is not for
// another.
func way(roots *x509.CertPool, proxy func(*http.Request) (*url.URL, error), dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		Proxy: proxy, DialContext: dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: slowest, DisableKeepAlives: true,
		MaxResponseHeaderBytes: 64 << 10, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}
}

// whereabouts say whether a login may lead to addresses of this machine and of this
// network: only if the server that is logged in to is at such a one itself, by the
// connection that was made to it and not by its name. The documents of one out on the
// Internet are its own words, and what answers nearby trusts its neighbours.
type whereabouts struct{ looking, near atomic.Bool }

type whereaboutsKey struct{}

func (w *whereabouts) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, whereaboutsKey{}, w)
}

// dialPublic connects to where a name leads, if it may lead there.
func dialPublic(ctx context.Context, network, addr string) (net.Conn, error) {
	w, ok := ctx.Value(whereaboutsKey{}).(*whereabouts)
	if !ok {
		w = &whereabouts{}
	}
	d := net.Dialer{Timeout: slowest, Control: func(_, addr string, _ syscall.RawConn) error {
		if local(addr) && !w.looking.Load() && !w.near.Load() {
			return errors.New("it leads to an address of this machine or this network, and the server itself does not")
		}
		return nil
	}}
	conn, err := d.DialContext(ctx, network, addr)
	if err == nil && w.looking.Load() {
		w.near.Store(local(conn.RemoteAddr().String()))
	}
	return conn, err
}

// local reports whether an address is of this machine or this network, or not one that
// can be read.
func local(addr string) bool {
	at, err := netip.ParseAddrPort(addr)
	return err != nil || address.Local(at.Addr())
}

// statusError is a status of HTTP that is not a yes.
type statusError int

func (s statusError) Error() string { return "status " + strconv.Itoa(int(s)) + " of HTTP" }

// absent reports whether there is no document at an address, as against one that cannot
// be had.
func absent(err error) bool {
	var s statusError
	return errors.As(err, &s) && s/100 == 4 && s != http.StatusRequestTimeout && s != http.StatusTooEarly && s != http.StatusTooManyRequests
}

// document reads a document of JSON. What it says beside what is wanted is skipped.
func (l *Logins) document(ctx context.Context, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return unspoken(err)
	}
	return l.exchange(req, into)
}

// post sends a document of JSON, and reads the one that answers it.
func (l *Logins) post(ctx context.Context, at string, what, into any) error {
	body, err := jcs.Marshal(what)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		return unspoken(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return l.exchange(req, into)
}

func (l *Logins) exchange(req *http.Request, into any) error {
	req.Header.Set("Accept", "application/json")
	req.Header.Set("MCP-Protocol-Version", protocolVersion)
	resp, err := l.client.Do(req)
	if err != nil {
		return unspoken(err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode/100 != 2 {
		return statusError(resp.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return unspoken(err)
	case len(text) > maxDocument:
		return fmt.Errorf("%w: it has more than %d bytes", sayso.ErrInvalid, maxDocument)
	}
	if err := jcs.UnmarshalLenient(text, into); err != nil {
		return fmt.Errorf("%w: it is not the JSON that it should be", sayso.ErrInvalid) // the text may hold a secret
	}
	return nil
}

// unspoken is an error without the address that was asked, in which a secret may stand.
// That somebody ended the wait stays what it is.
func unspoken(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	if in, ok := errors.AsType[*url.Error](err); ok {
		err = in.Err
	}
	return errors.New(printable(redact.Scrub(err.Error())))
}

// printable is a text of others, short and without what deceives the eye.
func printable(text string) string {
	const most = 200
	out := strings.Map(func(r rune) rune {
		if r != ' ' && !strconv.IsGraphic(r) || r == 0x2028 || r == 0x2029 {
			return '?'
		}
		return r
	}, text)
	if len(out) > most {
		out = strings.ToValidUTF8(out[:most], "") + "…"
	}
	return out
}
