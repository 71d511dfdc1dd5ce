package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/redact"
)

// addressIdentity is what a server is that is reached over HTTP: its address, and the key
// that it proves itself with. Of the address is shown what no secret stands in.
type addressIdentity struct {
	URL    string        `json:"url"`
	Digest sayso.Digest  `json:"url_digest"`
	Key    *sayso.Digest `json:"key_digest,omitempty"`
}

// CheckURL reports an address that is none of a server: over plain HTTP everybody
// on the way could read along.
func CheckURL(text string) error { return checkURL(text, false) }

// checkURL does so; where plain says so also other machines are spoken with by plain
// HTTP.
func checkURL(text string, plain bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Fragment != "" || u.Opaque != "":
		return rpc.Invalid("an address is https://HOST/PATH")
	case u.User != nil:
		return rpc.Invalid("an address holds no name and no password; put them into headers")
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return rpc.Invalid("an address is https://HOST/PATH")
	}
	if _, ok := address.Loopback(u.Host); !ok && !plain {
		return rpc.Invalid("plain HTTP is spoken with this machine alone; in the place of http://" + u.Host + " write: https://" + u.Host)
	}
	return nil
}

// notSecret is a part of a path that holds no secret: it is short, with few digits.
var notSecret = regexp.MustCompile(`^[A-Za-z@._~-]{0,20}[0-9]{0,4}[A-Za-z._-]{0,8}$`)

// identify is what a server is that shows this key; without one, what it is by its
// address alone. Parts of a path that may be a secret, as many services have them
// there, are not shown.
func identify(text string, key *sayso.Digest) (sayso.Args, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, rpc.Invalid("an address is https://HOST/PATH")
	}
	parts := strings.Split(u.EscapedPath(), "/")
	for i, part := range parts {
		if !notSecret.MatchString(part) {
			parts[i] = "[hidden]"
		}
	}
	shown := u.Scheme + "://" + u.Host + strings.Join(parts, "/")
	out, err := jcs.Marshal(addressIdentity{redact.Scrub(shown), sayso.HashOf("sayso/url/1", []byte(text)), key})
	if err != nil {
		return nil, err
	}
	return jcs.Object(out)
}

// errUntrustedKey is a server that is not the one that was trusted.
var errUntrustedKey = fmt.Errorf("%w: the key of this server is not the one that was trusted", sayso.ErrNotAllowed)

// setClient makes what talks to a server over HTTP.
func (up *upstream) setClient() error {
	if err := CheckURL(up.URL); err != nil {
		return err
	}
	up.client = up.newClient(up.verifyKey)
	if address, err := url.Parse(up.URL); err != nil || address.Scheme == "https" {
		return err // it is known when it has shown its key
	}
	identity, err := identify(up.URL, nil)
	if err != nil {
		return err
	}
	return up.trust.expectIdentity(up.handler.ctx, up.Options, identity)
}

// newClient makes a client of HTTP that has shows look at each key before anything is
// sent; nil looks at none.
func (up *upstream) newClient(shows func(tls.ConnectionState) error) *http.Client {
	var transport http.RoundTripper = &http.Transport{
		Proxy: proxy, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, DisableCompression: true,
		DialContext:         (&net.Dialer{Timeout: ioTimeout}).DialContext,
		TLSHandshakeTimeout: ioTimeout, IdleConnTimeout: idleTimeout,
		// A connection that ended without a word, as while a machine slept, is noticed.
		HTTP2:           &http.HTTP2Config{SendPingTimeout: ioTimeout, PingTimeout: ioTimeout},
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: up.Roots, VerifyConnection: shows},
	}
	transport = newSSETransport(transport)
	if up.Login != nil {
		transport = up.Login.Transport(transport)
	}
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

// closeClient ends what requests left behind, once there are no more.
func (up *upstream) closeClient(ctx context.Context) {
	if up.Login != nil {
		up.Login.Wait(ctx)
	}
	up.client.CloseIdleConnections()
}

// proxy is what stands before a server by the environment: before this machine nothing
// does, whose name the rule of the environment knows in lower case alone.
func proxy(r *http.Request) (*url.URL, error) {
	if _, here := address.Loopback(r.URL.Host); here {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// checkRedirect lets a redirect be followed that only puts a slash behind the address or
// takes it away. Others would take a call, and what it is authorised by, to where
// nobody looked.
func checkRedirect(next *http.Request, before []*http.Request) error {
	first := before[0]
	same := next.URL.Scheme == first.URL.Scheme && next.URL.Host == first.URL.Host && next.URL.RawQuery == first.URL.RawQuery &&
		strings.TrimSuffix(next.URL.EscapedPath(), "/") == strings.TrimSuffix(first.URL.EscapedPath(), "/")
	if !same || next.Method != first.Method || len(before) > 1 {
		return http.ErrUseLastResponse
	}
	return nil
}

// redirectTarget is the host that a redirect leads to, as it is told.
func redirectTarget(resp *http.Response) string {
	if to, err := resp.Location(); err == nil && to.Host != "" {
		return " (of " + redact.Scrub(to.Host) + ")"
	}
	return ""
}

// verifyKey looks at the key of a server before anything is sent to it. To another than
// the one that is trusted nothing is sent, until a person has accepted it.
func (up *upstream) verifyKey(c tls.ConnectionState) error {
	if len(c.PeerCertificates) == 0 {
		return errUntrustedKey
	}
	key := sayso.Digest(sha256.Sum256(c.PeerCertificates[0].RawSubjectPublicKeyInfo))
	identity, err := identify(up.URL, &key)
	if err != nil {
		return err
	}
	if now, ok := up.trust.identityTrusted(); ok && string(now) == string(identity) {
		return nil
	}
	if err := up.trust.checkIdentity(up.handler.ctx, up.Options, identity); err != nil {
		return err
	}
	if _, ok := up.trust.identityTrusted(); !ok {
		return fmt.Errorf("%w; type: sayso tools accept %s", errUntrustedKey, up.Name)
	}
	return nil
}

// verify has a server show its key, if it did not yet: calls are judged with it.
func (up *upstream) verify(ctx context.Context) error {
	if _, ok := up.trust.identityTrusted(); ok {
		return nil
	}
	if up.trust.hasIdentity() {
		return nil // it is not the one that is trusted, which calls are told
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, up.URL, nil)
	if err != nil {
		return err
	}
	resp, err := (&httpTransport{up: up}).do(req)
	switch {
	case errors.Is(err, sayso.ErrNotAllowed):
		return err
	case err != nil:
		return fmt.Errorf("%w: %s cannot be reached: %w", sayso.ErrUnavailable, up.Name, err)
	}
	return resp.Body.Close()
}

// recordAnswered takes an answer for a sign that the server is the one that is meant.
func (up *upstream) recordAnswered(ctx context.Context, resp *http.Response, err error) {
	if err != nil || resp.StatusCode/100 != 2 {
		return
	}
	if err := up.trust.confirmIdentity(ctx, up.Options); err != nil {
		up.Options.Note(up.errorText(err)) // calls are refused until that can be told
	}
}
