package address

import (
	"net/netip"
	"strconv"
	"strings"
)

// Loopback reports whether a host with or without a port, as it stands in a
// URL, in a Host header or in what a connection says of its end, is this
// machine by a name or a literal address that all programs read alike:
// localhost, 127.0.0.0/8, the same as ::ffff:127.0.0.1 and its like, and ::1. The
// port is empty if none is written.
//
// What a resolver would have to be asked about is not: other names, a dot at
// the end, numbers in odd spellings, an address with a zone.
func Loopback(hostport string) (port string, ok bool) {
	if ip, err := netip.ParseAddr(hostport); err == nil {
		return "", loops(ip)
	}
	host := hostport
	if at := strings.LastIndexByte(hostport, ':'); at > strings.LastIndexByte(hostport, ']') {
		host, port = hostport[:at], hostport[at+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
			return "", false
		}
	}
	if !loopbackHost(host) {
		return "", false
	}
	return port, true
}

// loopbackHost reads a host as it stands before a port: an IPv6 address is in
// brackets there, and nothing else is.
func loopbackHost(host string) bool {
	inner, opened := strings.CutPrefix(host, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	ip, err := netip.ParseAddr(inner)
	switch {
	case opened != closed || opened && (err != nil || !ip.Is6()):
		return false
	case err != nil:
		return len(host) == len("localhost") && strings.ToLower(host) == "localhost"
	}
	return opened == ip.Is6() && loops(ip)
}

func loops(ip netip.Addr) bool { return ip.Zone() == "" && ip.Unmap().IsLoopback() }
