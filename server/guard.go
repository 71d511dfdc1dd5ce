package server

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/wire"
)

// requestGuard refuses requests that a browser was talked into making: for a host
// that is not ours, from a page that is not ours.
type requestGuard struct {
	hosts       map[string]bool // exact values of Host, in lower case
	public      string          // the host of the public address
	scheme      string          // of the public address
	hsts        bool            // browsers are told to come to the public address by TLS alone
	crossOrigin *http.CrossOriginProtection

	proxies     []netip.Prefix // whose word counts for where a request came from, and how
	proxyOnHost bool           // one of them may be on this machine
}

var loopback4 = netip.MustParsePrefix("127.0.0.0/8")

func newGuard(public string, hosts []string, proxies []netip.Prefix) (*requestGuard, error) {
	g := &requestGuard{hosts: map[string]bool{}, crossOrigin: http.NewCrossOriginProtection(), proxies: proxies}
	for _, p := range proxies {
		if !p.IsValid() || p.Bits() == 0 {
			return nil, fmt.Errorf("%w: a proxy is an address or a network, and not everybody", sayso.ErrInvalid)
		}
		g.proxyOnHost = g.proxyOnHost || p.Addr().Unmap().IsLoopback() || p.Overlaps(loopback4) || p.Contains(netip.IPv6Loopback())
	}
	if public != "" {
		u, err := url.Parse(public)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			return nil, fmt.Errorf("%w: the public address must be https://HOST without a path", sayso.ErrInvalid)
		}
		if u.Scheme == "http" && !isLoopback(u.Host) {
			return nil, fmt.Errorf("%w: the public address must be https", sayso.ErrInvalid)
		}
		g.public, g.scheme = strings.ToLower(u.Host), u.Scheme
		g.hosts[g.public] = true
		if u.Port() == "" {
			g.hosts[g.public+":"+map[string]string{"https": "443", "http": "80"}[u.Scheme]] = true
			g.hsts = u.Scheme == "https" // it holds for all ports of a name, so one with a port may not be ours alone
		}
	}
	for _, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/*@ ") {
			return nil, fmt.Errorf("%w: an allowed host is a name or an address, with its port", sayso.ErrInvalid)
		}
		g.hosts[strings.ToLower(h)] = true
	}
	return g, nil
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(hostport string) bool {
	_, ok := address.Loopback(hostport)
	return ok
}

// isOurHost reports whether the Host header is one of ours.
func (g *requestGuard) isOurHost(r *http.Request) bool {
	if isUnixSocket(r) {
		return true
	}
	given := strings.ToLower(r.Host)
	if g.hosts[given] {
		return true
	}
	port, ok := address.Loopback(given)
	return ok && cmp.Or(port, "80") == localPort(r)
}

// localPort is the port that the request came to.
func localPort(r *http.Request) string {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return ""
	}
	_, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return ""
	}
	return port
}

// isOurOrigin reports whether a request with an Origin comes from our own page: the
// same scheme, host and port. Whatever sends none is no page, or asks its own
// origin for something that changes nothing.
func (g *requestGuard) isOurOrigin(r *http.Request) bool {
	given, ok := r.Header["Origin"]
	if !ok {
		return true
	}
	return len(given) == 1 && r.Host != "" && given[0] == g.originOf(r)
}

// originOf is the origin that a page has which makes this request of its own
// server.
func (g *requestGuard) originOf(r *http.Request) string {
	host := strings.ToLower(r.Host)
	if g.isTLS(r) {
		return "https://" + host
	}
	return "http://" + host
}

// isOurSite reports whether the browser says that it was our own page, or a person
// at the address bar, who made the request. Pages may be linked to.
func (g *requestGuard) isOurSite(r *http.Request, page bool) bool {
	given, ok := r.Header["Sec-Fetch-Site"]
	if !ok {
		return true
	}
	if len(given) != 1 {
		return false
	}
	if given[0] == "same-origin" || given[0] == "none" {
		return true
	}
	return page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// check refuses what is not for us.
func (g *requestGuard) check(r *http.Request, page bool) error {
	if !g.isPrivateTransport(r) {
		return wire.ErrPlain
	}
	if !g.isOurHost(r) || !g.isOurOrigin(r) || !g.isOurSite(r, page) || g.crossOrigin.Check(r) != nil {
		return wire.ErrForbidden
	}
	return nil
}

// bearerToken is the token that a request shows: one Authorization header or, for a
// WebSocket of a browser, a subprotocol.
func bearerToken(r *http.Request) (string, error) {
	given := r.Header["Authorization"]
	if len(given) == 0 {
		return subprotocolToken(r)
	}
	scheme, secret, ok := strings.Cut(given[0], " ")
	if len(given) != 1 || !ok || !strings.EqualFold(scheme, "Bearer") || !isTokenText(secret) {
		return "", wire.ErrUnauthenticated
	}
	return secret, nil
}

func isTokenText(s string) bool {
	return s != "" && len(s) <= 512 && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

func subprotocolToken(r *http.Request) (string, error) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return "", wire.ErrUnauthenticated
	}
	found := ""
	for _, line := range r.Header["Sec-Websocket-Protocol"] {
		for name := range strings.SplitSeq(line, ",") {
			secret, ok := strings.CutPrefix(strings.TrimSpace(name), wire.TokenProtocol)
			if ok && found != "" {
				return "", wire.ErrUnauthenticated
			}
			if ok {
				found = secret
			}
		}
	}
	if !isTokenText(found) {
		return "", wire.ErrUnauthenticated
	}
	return found, nil
}

// isJSON reports whether the content type says JSON and nothing else.
func isJSON(r *http.Request) bool {
	given := r.Header["Content-Type"]
	if len(given) != 1 {
		return false
	}
	if given[0] == wire.JSON {
		return true
	}
	kind, param, _ := strings.Cut(given[0], ";")
	return strings.EqualFold(strings.TrimSpace(kind), wire.JSON) && strings.EqualFold(strings.TrimSpace(param), "charset=utf-8")
}

// The headers of every answer. There are never any that let another origin in.
var securityHeaders = map[string][]string{
	"X-Content-Type-Options":       {"nosniff"},
	"Cache-Control":                {"no-store"},
	"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
}

// pagePolicy lets our own page do what it needs and nothing more. A page may
// set a stricter one.
var pagePolicy = []string{"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types svelte-trusted-html sayso"}

func setSecurityHeaders(h http.Header) {
	for name, values := range securityHeaders {
		h[name] = values
	}
}
