package address_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/inspect/address"
)

func TestParse_plain(t *testing.T) {
	for text, want := range map[string]address.URL{
		"https://example.org":                {Scheme: "https", Host: "example.org", Port: 443, Path: "/"},
		"HTTPS://Example.ORG/A/b":            {Scheme: "https", Host: "example.org", Port: 443, Path: "/A/b"},
		"http://example.org:8080/?q=1&r=%2F": {Scheme: "http", Host: "example.org", Port: 8080, Path: "/", Query: "q=1&r=%2F", HasQuery: true},
		"https://example.org?x":              {Scheme: "https", Host: "example.org", Port: 443, Path: "/", Query: "x", HasQuery: true},
		"https://example.org#@evil.com/":     {Scheme: "https", Host: "example.org", Port: 443, Path: "/"},
		"https://example.org/a/../b/./c":     {Scheme: "https", Host: "example.org", Port: 443, Path: "/b/c"},
		"https://example.org/../..":          {Scheme: "https", Host: "example.org", Port: 443, Path: "/"},
		"https://example.org/%64ocs/%c3%a9":  {Scheme: "https", Host: "example.org", Port: 443, Path: "/docs/%C3%A9"},
		"https://example.org/a%2fb":          {Scheme: "https", Host: "example.org", Port: 443, Path: "/a%2Fb", Escaped: true},
		"https://example.org/a/%2e%2e/b":     {Scheme: "https", Host: "example.org", Port: 443, Path: "/a/%2E%2E/b", Escaped: true},
		"https://xn--bcher-kva.example/":     {Scheme: "https", Host: "xn--bcher-kva.example", Port: 443, Path: "/"},
		"https://8.8.8.8/dns":                {Scheme: "https", Host: "8.8.8.8", Port: 443, Path: "/dns", Literal: true},
		"https://[2606:4700::1]/":            {Scheme: "https", Host: "2606:4700::1", Port: 443, Path: "/", Literal: true},
		"http://localhost:3000/":             {Scheme: "http", Host: "localhost", Port: 3000, Path: "/", Local: true},
	} {
		if got := address.Parse(text); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", text, got, want)
		}
	}
}

func TestParse_odd(t *testing.T) {
	for _, tt := range []struct{ text, host string }{
		{"https://example.org@evil.com/", "evil.com"},
		{"https://user:pw@evil.com/", "evil.com"},
		{`https://evil.com\@example.org/`, "evil.com"},
		{`https:\\evil.com/`, "evil.com"},
		{"https:/evil.com/", "evil.com"},
		{"https:evil.com/", "evil.com"},
		{"https:///evil.com/", "evil.com"},
		{"//evil.com/", "evil.com"},
		{"evil.com/x", "evil.com"},
		{"https://evil.com./", "evil.com"},
		{"https://evil.com:/", "evil.com"},
		{"https://evil.com:0443/", "evil.com"},
		{"https://evil.com:99999/", "evil.com"},
		{"https://evil%2ecom/", "evil.com"},
		{"https://%65vil.com/", "evil.com"},
		{" https://evil.com/", "evil.com"},
		{"https://evil.com/\r\nHost: x", "evil.com"},
		{"https://evil.com/a b", "evil.com"},
		{"https://evil.com/\x00", "evil.com"},
		{"https://evil.com/é", "evil.com"},
		{"https://еvil.com/", "еvil.com"},
		{"ftp://evil.com/", "evil.com"},
		{"file:///etc/passwd", "etc"},
		{"https://evil..com/", "evil..com"},
		{"https://-evil.com/", "-evil.com"},
		{"https://", ""},
		{"", ""},
		{"https://evil.com/%zz", "evil.com"},
		{"https://0x7f.0.0.1/", "127.0.0.1"},
		{"https://0177.0.0.1/", "127.0.0.1"},
		{"https://2130706433/", "127.0.0.1"},
		{"https://127.1/", "127.0.0.1"},
		{"https://127.0.0.1./", "127.0.0.1"},
		{"https://0xa9fea9fe/latest", "169.254.169.254"},
		{"https://1.2.3.4.5/", "1.2.3.4.5"},
		{"https://[::1", "::1"},
		{"https://[fe80::1%25eth0]/", "fe80::1%eth0"},
		{"https://evil.com/" + strings.Repeat("a", address.MaxLen), "evil.com"},
	} {
		u := address.Parse(tt.text)
		if u.Odd == "" {
			t.Errorf("%.60q is not odd", tt.text)
		}
		if u.String() != "" {
			t.Errorf("%.60q has the form %s", tt.text, u)
		}
		if u.Host != tt.host {
			t.Errorf("%.60q: host %q, want %q", tt.text, u.Host, tt.host)
		}
	}
}

func TestParse_local(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.8.8": true, "10.1.2.3": true, "172.16.0.1": true, "172.32.0.1": false,
		"192.168.1.1": true, "169.254.169.254": true, "0.0.0.0": true, "0.1.2.3": true, "224.0.0.1": true,
		"255.255.255.255": true, "100.64.0.1": true, "8.8.8.8": false, "127.1": true, "2130706433": true,
		"017700000001": true, "0x7f000001": true, "0": true,
		"[::1]": true, "[::]": true, "[fe80::1]": true, "[fc00::1]": true, "[fd12::1]": true, "[ff02::1]": true,
		"[::ffff:127.0.0.1]": true, "[::ffff:8.8.8.8]": false, "[::127.0.0.1]": true, "[64:ff9b::10.0.0.1]": true,
		"[64:ff9b::8.8.8.8]": false, "[2002:7f00:1::]": true, "[2001:0:4136:e378:8000:63bf:80ff:fffe]": true, "[2001:db9::1]": false, "[2002:808:808::]": false, "[2606:4700::1]": false,
		"localhost": true, "LOCALHOST": true, "localhost.": true, "foo.localhost": true, "printer.local": true,
		"metadata.google.internal": true, "router": true, "nas.lan": true, "example.org": false,
		"localhost.example.org": false, "notlocal": true, "mylocal.com": false,
	} {
		if got := address.Parse("https://" + host + "/").Local; got != want {
			t.Errorf("%s: local is %v", host, got)
		}
	}
}

// FuzzParse holds the strict reading against the one of net/url: what is not
// odd means the same to both, and its form is a fixpoint.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"https://example.org/a/../b?x#y", "http://user@h:80/", `https:\\a\b`, "https://[::1]:8/%41%2f", "https://0x7f.1/",
		"https://a.b:443/%", "https://a/%2e%2e/", "HTTP://A.B//c", "https://a.b?c?d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u := address.Parse(text)
		if u.Odd != "" {
			return
		}
		text, _, _ = strings.Cut(text, "#") // never sent, so never an oddity
		std, err := url.Parse(text)
		if err != nil || std.User != nil || std.Scheme != u.Scheme {
			t.Fatalf("%q is plain to us; net/url: %v %v", text, std, err)
		}
		host := strings.ToLower(std.Hostname())
		if !u.Literal && host != u.Host {
			t.Fatalf("%q: host %q, net/url says %q", text, u.Host, host)
		}
		if again := address.Parse(u.String()); again != u {
			t.Fatalf("%q: its form %s reads differently:\n%+v\n%+v", text, u, u, again)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		address.Parse("https://pkg.go.dev/net/netip?tab=doc")
	}
}
