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

// isUnixSocket reports whether a request came over a Unix socket, which no
// browser can be talked into using.
func isUnixSocket(r *http.Request) bool {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && a.Network() == "unix"
}

// isForwarded reports whether a request says of itself that it came through a
// proxy.
func isForwarded(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via"} {
		if r.Header[name] != nil {
			return true
		}
	}
	return false
}

// isProxied reports whether a request came through a proxy of ours.
func (g *requestGuard) isProxied(r *http.Request) bool {
	if len(g.proxies) == 0 || !isForwarded(r) {
		return false
	}
	from := remoteAddr(r)
	return slices.ContainsFunc(g.proxies, func(p netip.Prefix) bool { return p.Contains(from) })
}

// isTLS reports whether nobody could read along: TLS up to us or, on its word,
// up to a proxy of ours.
func (g *requestGuard) isTLS(r *http.Request) bool {
	if g.isProxied(r) {
		said := r.Header["X-Forwarded-Proto"]
		return len(said) == 1 && said[0] == "https"
	}
	return r.TLS != nil
}

// isPrivateTransport reports whether a request came a way on which its token was not shown to
// others. Plain HTTP is for this machine, under its own names; the public ones
// are those of TLS.
func (g *requestGuard) isPrivateTransport(r *http.Request) bool {
	switch {
	case isUnixSocket(r):
		return true
	case g.isProxied(r):
		return g.isTLS(r) && !isLoopback(r.Host) // else everybody behind the proxy would pass for this machine
	case r.TLS != nil:
		return true
	}
	return isLoopback(r.RemoteAddr) && !(g.scheme == "https" && g.isPublicHost(r))
}

// isLocalProgram reports whether it is a program of this machine that asks, and no proxy
// for somebody else. A proxy need not say that it is one: where one of ours may
// stand on this machine, it is the socket alone that tells.
func (g *requestGuard) isLocalProgram(r *http.Request) bool {
	return isUnixSocket(r) || !g.proxyOnHost && isLoopback(r.RemoteAddr) && isLoopback(r.Host) && !isForwarded(r)
}

// clientAddr is the address of whoever asks: the other end or, on the word of a
// proxy of ours, the one it speaks for. It is zero over the socket.
func (g *requestGuard) clientAddr(r *http.Request) netip.Addr {
	if said := r.Header["X-Forwarded-For"]; len(said) > 0 && g.isProxied(r) {
		last := said[len(said)-1] // what came before is what the client told the proxy
		last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
		if a, err := netip.ParseAddr(last); err == nil {
			return a.Unmap()
		}
	}
	return remoteAddr(r)
}

// remoteAddr is the address of the other end; zero over the socket.
func remoteAddr(r *http.Request) netip.Addr {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}

// isPublicHost reports whether a request came to the public address.
func (g *requestGuard) isPublicHost(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	return host == g.public || g.public != "" && strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80") == g.public
}

// setHSTS has browsers come to the public address by TLS alone from now on.
func (g *requestGuard) setHSTS(h http.Header, r *http.Request) {
	if g.hsts && g.isPublicHost(r) && g.isTLS(r) {
		h["Strict-Transport-Security"] = []string{"max-age=31536000"}
	}
}
