package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// This file tells where a request comes from, and which way it came. A proxy that
// was named is believed about both; whoever else says something of it is not.

// overSocket reports whether a request came over a Unix socket, which no
// browser can be talked into using.
func overSocket(r *http.Request) bool {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && a.Network() == "unix"
}

// forwarded reports whether a request says of itself that it came through a
// proxy.
func forwarded(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via"} {
		if r.Header[name] != nil {
			return true
		}
	}
	return false
}

// proxied reports whether a request came through a proxy of ours.
func (g *guard) proxied(r *http.Request) bool {
	if len(g.proxies) == 0 || !forwarded(r) {
		return false
	}
	from := remote(r)
	return slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool { return p.Contains(from) })
}

// private reports whether nobody could read along: TLS up to us or, on its word,
// up to a proxy of ours.
func (g *guard) private(r *http.Request) bool {
	if g.proxied(r) {
		said := r.Header["X-Forwarded-Proto"]
		return len(said) == 1 && said[0] == "https"
	}
	return r.TLS != nil
}

// way reports whether a request came a way on which its token was not shown to
// others. Plain HTTP is for this machine, under its own names; the public ones
// are those of TLS.
func (g *guard) way(r *http.Request) bool {
	switch {
	case overSocket(r):
		return true
	case g.proxied(r):
		return g.private(r) && !isLoopback(r.Host) // else everybody behind the proxy would pass for this machine
	case r.TLS != nil:
		return true
	}
	return isLoopback(r.RemoteAddr) && !(g.scheme == "https" && g.publicly(r))
}

// here reports whether it is a program of this machine that asks, and no proxy
// for somebody else. A proxy need not say that it is one: where one of ours may
// stand on this machine, it is the socket alone that tells.
func (g *guard) here(r *http.Request) bool {
	return overSocket(r) || !g.nearby && isLoopback(r.RemoteAddr) && isLoopback(r.Host) && !forwarded(r)
}

// client is the address of whoever asks: the other end or, on the word of a
// proxy of ours, the one it speaks for. It is zero over the socket.
func (g *guard) client(r *http.Request) netip.Addr {
	if said := r.Header["X-Forwarded-For"]; len(said) > 0 && g.proxied(r) {
		last := said[len(said)-1] // what came before is what the client told the proxy
		last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
		if a, err := netip.ParseAddr(last); err == nil {
			return a.Unmap()
		}
	}
	return remote(r)
}

// remote is the address of the other end; zero over the socket.
func remote(r *http.Request) netip.Addr {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}

// publicly reports whether a request came to the public address.
func (g *guard) publicly(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	return host == g.public || g.public != "" && strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80") == g.public
}

// stick has browsers come to the public address by TLS alone from now on.
func (g *guard) stick(h http.Header, r *http.Request) {
	if g.sticky && g.publicly(r) && g.private(r) {
		h["Strict-Transport-Security"] = []string{"max-age=31536000"}
	}
}
