package address_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/address"
)

func TestLoopback(t *testing.T) {
	for _, host := range []string{
		"localhost", "LocalHost", "127.0.0.1", "127.0.0.0", "127.255.255.255", "127.8.8.8",
		"[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::FFFF:127.8.8.8]", "[::ffff:7f00:1]",
	} {
		for text, port := range map[string]string{host: "", host + ":7117": "7117", host + ":0": "0", host + ":65535": "65535"} {
			if got, ok := address.Loopback(text); !ok || got != port {
				t.Errorf("%s: %v, port %q", text, ok, got)
			}
		}
		for _, odd := range []string{host + ":", host + ":080", host + ":+80", host + ":65536", host + ":http", host + ":80:80", host + ":8 0", "u@" + host, host + "."} {
			if _, ok := address.Loopback(odd); ok {
				t.Errorf("%s is loopback", odd)
			}
		}
	}
	for _, bare := range []string{"::1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1"} { // as listeners and resolvers write them
		if port, ok := address.Loopback(bare); !ok || port != "" {
			t.Errorf("%s: %v, port %q", bare, ok, port)
		}
	}
}

// What is another machine, or another machine to some program, is not this one.
func TestLoopback_refuses(t *testing.T) {
	for _, host := range []string{
		"", "0.0.0.0", "128.0.0.1", "126.255.255.255", "10.0.0.1", "8.8.8.8", "169.254.169.254", "[::]", "[::2]", "[fe80::1]", "[::ffff:8.8.8.8]",
		"[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]",
		"127.1", "127.0.1", "127", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.0.0.01", "127.0.0.1.1",
		"localhost.", "localhost.localdomain", "foo.localhost", "xlocalhost", "localhostx", "localhoſt", "ｌocalhost", "local host", "127.0.0.1.nip.io",
		"１２７.0.0.1", "127。0。0。1", " 127.0.0.1", "127.0.0.1 ", "127.0.0.1\x00", "127.0.0.1/", "127.0.0.1#x", "127.0.0.1@evil.com", "evil.com@127.0.0.1", "%3127.0.0.1",
		"[127.0.0.1]", "[localhost]", "[::1", "::1]", "[[::1]]", "[::1%lo]", "[::1%25lo]", "::1%lo", "[]", "[::1]x",
		"ip6-localhost", "loopback", "broadcasthost",
	} {
		for _, text := range []string{host, host + ":7117"} {
			if port, ok := address.Loopback(text); ok || port != "" {
				t.Errorf("%q is loopback, port %q", text, port)
			}
		}
	}
	if _, ok := address.Loopback("::1:7117"); ok { // an address of its own
		t.Error("::1:7117 is loopback")
	}
}

// FuzzLoopback holds the reading against those of the standard library: what is
// loopback is a literal of 127.0.0.0/8 or ::1 to it as well, or localhost.
func FuzzLoopback(f *testing.F) {
	for _, s := range []string{"127.0.0.1:80", "[::1]:80", "::1", "localhost:7117", "[::ffff:127.0.0.1]", "127.1", "[::1%lo]:1", "localhost."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		port, ok := address.Loopback(text)
		if !ok {
			if port != "" {
				t.Fatalf("%q is not loopback and has the port %q", text, port)
			}
			return
		}
		host := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
		if port != "" {
			var err error
			var p string
			if host, p, err = net.SplitHostPort(text); err != nil || p != port {
				t.Fatalf("%q: host %q, port %q, %v; not port %q", text, host, p, err, port)
			}
		}
		ip, err := netip.ParseAddr(host)
		if !strings.EqualFold(host, "localhost") && (err != nil || !ip.Unmap().IsLoopback() || !net.ParseIP(host).IsLoopback()) {
			t.Fatalf("%q is loopback; its host is %q: %v", text, host, err)
		}
	})
}
