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
	"net/url"
	"strconv"
	"strings"
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
		Timeout: slowest,
		Transport: &http.Transport{
			Proxy: func(r *http.Request) (*url.URL, error) {
				if _, here := address.Loopback(r.URL.Host); here {
					return nil, nil
				}
				return http.ProxyFromEnvironment(r)
			},
			ForceAttemptHTTP2: true, DialContext: (&net.Dialer{Timeout: slowest}).DialContext, TLSHandshakeTimeout: slowest,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// statusError is a status of HTTP that is not a yes.
type statusError int

func (s statusError) Error() string { return "status " + strconv.Itoa(int(s)) + " of HTTP" }

// absent reports whether there is no document at an address, as against one that cannot
// be had.
func absent(err error) bool {
	var s statusError
	return errors.As(err, &s) && s/100 == 4
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
func unspoken(err error) error {
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
