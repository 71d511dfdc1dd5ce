package address

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plainHost is a host with its wide and styled letters as the plain ones that
// browsers take them for, its full stops as dots, and without marks that cannot
// be seen. What has no plain form is left as it is.
func plainHost(host string) string {
	if strings.IndexFunc(host, func(r rune) bool { return r >= 0x80 }) < 0 {
		return host
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == '。':
			return '.'
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, norm.NFKC.String(host))
	return plain
}

// badName says what is wrong with the name of a host.
func badName(host string) string {
	if host == "" {
		return "it has no host"
	}
	if len(host) > 253 {
		return "its host is too long"
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "its host is no name"
		}
		for i := 0; i < len(label); i++ {
			if c := label[i]; !unreserved(c) || c == '~' {
				return "its host is no name"
			}
		}
	}
	return ""
}

// localNames end the names of hosts that only a local network knows.
var localNames = []string{
	".localhost", ".local", ".internal", ".localdomain", ".home.arpa", ".lan", ".intranet", ".private",
	".corp", ".home", ".test", ".onion", ".svc", ".in-addr.arpa", ".ip6.arpa",
}

// localName reports whether a name may mean this machine or network. A name of
// one label always may.
func localName(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	for _, end := range localNames {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// parseNumeric reads a host as inet_aton does: one to four numbers, decimal,
// octal or hexadecimal, the last filling what is left. It reports whether some
// reader would take the host for a number; the address is the zero Addr if it
// makes none.
func parseNumeric(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	last := len(parts) - 1
	if !numeric(parts[last]) {
		return netip.Addr{}, false
	}
	if last > 3 {
		return netip.Addr{}, true
	}
	var ip uint32
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32) // 0x and 0 are prefixes here
		bits := 8
		if i == last {
			bits = 8 * (4 - last)
		}
		if err != nil || n>>bits != 0 {
			return netip.Addr{}, true
		}
		ip |= uint32(n) << (32 - 8*i - bits)
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}), true
}

// numeric reports whether a label is a number, or begins like one in
// hexadecimal.
func numeric(label string) bool {
	if strings.HasPrefix(label, "0x") {
		return true
	}
	for i := 0; i < len(label); i++ {
		if label[i] < '0' || label[i] > '9' {
			return false
		}
	}
	return label != ""
}

// localRanges are the addresses that are not out on the Internet, besides
// those that netip knows.
var localRanges = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // shared by carriers
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),   // reserved, broadcast
	netip.MustParsePrefix("fec0::/10"),     // site-local, of old
	netip.MustParsePrefix("100::/64"),      // discarded
	netip.MustParsePrefix("2001::/32"),     // Teredo: another address within, written upside down
}

// Local reports whether an address is on this machine, on this network, or for
// many at once: what a name that was looked up must not lead to unawares.
func Local(ip netip.Addr) bool { return !ip.IsValid() || ip.Zone() != "" || localAddr(ip) }

// localAddr reports whether an address is on this machine, on this network, or for
// many at once.
func localAddr(ip netip.Addr) bool {
	ip = ip.Unmap()
	if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return true
	}
	for _, r := range localRanges {
		if r.Contains(ip) {
			return true
		}
	}
	inner, ok := carried(ip)
	return ok && localAddr(inner)
}

// carriers are IPv6 prefixes whose addresses carry an IPv4 address, and the
// byte at which it stands.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

// carried returns the IPv4 address inside an IPv6 address.
func carried(ip netip.Addr) (netip.Addr, bool) {
	if ip.Is4() {
		return ip, false
	}
	for _, c := range carriers {
		if c.prefix.Contains(ip) {
			b := ip.As16()
			return netip.AddrFrom4([4]byte(b[c.at : c.at+4])), true
		}
	}
	return ip, false
}
