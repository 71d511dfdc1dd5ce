package policy_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// TestTP2_primaryArguments: whatever a policy allows of a tool, a call is at least
// asked about whose primary argument is no string under its documented key.
func TestTP2_primaryArguments(t *testing.T) {
	tools := []struct{ host, tool, key, good string }{
		{"", "bash", "command", "ls"}, {"", "file-read", "path", "main.go"}, {"", "file-write", "path", "docs/new.md"}, {"", "file-edit", "path", "main.go"},
		{"", "file-delete", "path", "main.go"}, {"", "web-fetch", "url", "https://example.org/"}, {"", "web-search", "query", "go"}, {"", "delegate", "prompt", "x"},
		{"", "read_file", "path", "main.go"}, {"", "file-list", "path", "docs"}, {"", "file-search", "path", "docs"},
		{"claude-code", "Bash", "command", "ls"}, {"claude-code", "Read", "file_path", "/home/dev/app/main.go"}, {"claude-code", "Edit", "file_path", "/home/dev/app/main.go"},
		{"claude-code", "WebFetch", "url", "https://example.org/"}, {"claude-code", "WebSearch", "query", "go"}, {"claude-code", "Grep", "path", "docs"},
	}
	policies := map[string]*policy.Policy{
		"everything": load(t, rules(`allow: ["*", "bash", "file-*", "web-fetch:*", "web-search:*", "delegate:*", "bash:*"]`)),
		"by kind":    load(t, rules(`allow: {kind: [shell, read, write, edit, delete, list, fetch, search, delegate, other]}`, `allow: "bash:*"`)),
		"by default": load(t, "version: 1\ndefault: allow\n"),
		"roots":      load(t, "version: 1\ndefault: allow\nsandbox: {paths: {all: {root: ., mode: rw, write_approval: false}}}\n"),
	}
	for _, tt := range tools {
		upper := strings.ToUpper(tt.key[:1]) + tt.key[1:]
		bad := map[string]string{
			"a number": `{"KEY":1}`, "null": `{"KEY":null}`, "a list": `{"KEY":["GOOD"]}`, "a mapping": `{"KEY":{"KEY":"GOOD"}}`, "a truth value": `{"KEY":true}`,
			"twice": `{"KEY":"GOOD","KEY":"GOOD"}`, "twice, escaped": `{"KEY":"GOOD","\u00` + fmt.Sprintf("%02x", tt.key[0]) + tt.key[1:] + `":"GOOD"}`,
			"in another case too": `{"KEY":"GOOD","UPPER":"GOOD"}`, "in another case": `{"UPPER":"GOOD"}`, "a lone surrogate": `{"KEY":"\ud800"}`, "no object": `["GOOD"]`,
			"a key twice deep within": `{"KEY":"GOOD","x":{"a":1,"a":2}}`,
		}
		if tt.tool != "file-list" && tt.tool != "file-search" && tt.tool != "Grep" {
			bad["missing"] = `{}`
			bad["under another name"] = `{"argument":"GOOD"}`
		}
		spell := func(text string) sayso.Args {
			return sayso.Args(strings.NewReplacer("KEY", tt.key, "UPPER", upper, "GOOD", tt.good).Replace(text))
		}
		c := sayso.Call{Host: tt.host, Tool: tt.tool, Cwd: "/home/dev/app"}
		good := 0
		for name, p := range policies {
			if c.Args = spell(`{"KEY":"GOOD"}`); judge(p, c).Effect == sayso.Allow {
				good++
			}
			for what, text := range bad {
				c.Args = spell(text)
				if v := judge(p, c); v.Effect == sayso.Allow {
					t.Errorf("%s, %s: %s %s is allowed by %q", name, what, tt.tool, c.Args, v.Rule)
				}
			}
		}
		if good == 0 {
			t.Errorf("%s %s: no policy allows it as it should be", tt.tool, spell(`{"KEY":"GOOD"}`))
		}
	}
}

// TestUR1_oneReading: an address that two programs may read in two ways is at
// least asked about, whatever is allowed; one that all read alike is compared by
// its parts.
func TestUR1_oneReading(t *testing.T) {
	wide := load(t, rules(`allow: ["web-fetch:*", "web-fetch:*://*", "web-fetch:https://*.example.org", "web-fetch:https://example.org"]`))
	paths := load(t, rules(`allow: ["web-fetch:https://example.org/docs/*", "web-fetch:https://*.example.org/docs/*"]`))
	fetch := func(p *policy.Policy, url string) sayso.Effect {
		return judge(p, call(t, "web-fetch", obj{"url": url})).Effect
	}
	for _, url := range []string{
		"https://user@example.org/", "https://user:pw@www.example.org/", "https://@example.org/", "https://example.org:pw@evil.test/",
		`https://example.org\@evil.test/`, `https:\\example.org/`, `https://example.org\docs`, "https:/example.org/", "https:///example.org/", "https:////example.org/", "https:example.org/", "//example.org/", "example.org/",
		" https://example.org/", "https://example.org/ ", "https://exam ple.org/", "https://example.org/\t", "https://exa\nmple.org/", "https://example.org\x00/", "https://example.org/\x7f",
		"https://%65xample.org/", "https://example%2eorg/", "https://example.org%2f@evil.test/", "https://example.org./", "https://www.example.org../",
		"https://exämple.org/", "https://еxample.org/", "https://example。org/", "https://ｅxample.org/", "https://example.org:/x@evil.test/", "https://example.org:0443x/", "https://example.org:-1/", "https://example.org:99999/",
		"ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)", "https://", "https://?x", "https://[::1", "",
	} {
		for name, p := range map[string]*policy.Policy{"wide": wide, "paths": paths} {
			if fetch(p, url) == sayso.Allow {
				t.Errorf("%s: %q is allowed", name, url)
			}
		}
	}
	for _, url := range []string{
		"https://example.org/docs/%2e%2e/x", "https://example.org/docs/..%2fx", "https://example.org/docs/%2fetc", "https://example.org/docs/%5c..%5cx", "https://example.org/docs/%252e%252e/x",
		"https://example.org/docs/../x", "https://example.org/docs", "https://example.org/Docs/x", "https://example.org/docsx", "https://example.org:8443/docs/x", "http://example.org/docs/x", "http://example.org:443/docs/x",
		"https://badexample.org/docs/x", "https://example.org.evil.test/docs/x", "https://example.org/docs/x/../../y",
	} {
		if fetch(paths, url) == sayso.Allow {
			t.Errorf("%q is allowed", url)
		}
	}
	for _, url := range []string{"https://example.org/docs/x", "HTTPS://EXAMPLE.ORG/docs/x?q=%2f#y", "https://example.org:443/docs/a/b", "https://a.b.example.org/docs/", "https://example.org/docs/a/../b", "https://example.org/docs/%61"} {
		if e := fetch(paths, url); e != sayso.Allow {
			t.Errorf("%q: %s", url, e)
		}
	}
}

// TestUR2_wildcards: a star in a host stands for whole labels, and for nothing
// that is, or may be, on this machine or network, however it is spelled.
func TestUR2_wildcards(t *testing.T) {
	labels := load(t, rules(`allow: "web-fetch:https://*.example.org"`))
	for host, want := range map[string]sayso.Effect{
		"a.example.org": sayso.Allow, "a.b.example.org": sayso.Allow, "A.EXAMPLE.ORG": sayso.Allow,
		"example.org": sayso.Ask, "aexample.org": sayso.Ask, "a-example.org": sayso.Ask, ".example.org": sayso.Ask, "a..example.org": sayso.Ask, "a.example.org.": sayso.Ask,
		"a.example.org.evil.test": sayso.Ask, "a.example.orgs": sayso.Ask, "example.org.evil.test": sayso.Ask,
	} {
		if v := judge(labels, call(t, "web-fetch", obj{"url": "https://" + host + "/x"})); v.Effect != want {
			t.Errorf("%s: %s by %q, want %s", host, v.Effect, v.Rule, want)
		}
	}
	wide := load(t, rules(`allow: ["web-fetch:*", "web-fetch:*://*", "web-fetch:http://*"]`))
	names := []string{
		"localhost", "LocalHost", "foo.localhost", "localhost.localdomain", "printer", "printer.local", "a.b.LOCAL", "metadata.google.internal", "x.internal", "intranet", "localhost.", "printer.local.",
		"[::]", "[::1]", "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[0:0:0:0:0:0:0:1]",
	}
	for _, ip := range []string{"127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.254", "192.168.0.1", "169.254.169.254", "224.0.0.1", "239.1.2.3", "255.255.255.255", "100.64.0.1"} {
		names = append(names, spelled(netip.MustParseAddr(ip))...)
	}
	for _, host := range names {
		if v := judge(wide, call(t, "web-fetch", obj{"url": "http://" + host + "/x"})); v.Effect == sayso.Allow {
			t.Errorf("%s is allowed by %q", host, v.Rule)
		}
	}
	for _, host := range []string{"example.org", "8.8.8.8", "localhost.example.org", "local.org", "internal.com", "10.example.com"} {
		if v := judge(wide, call(t, "web-fetch", obj{"url": "http://" + host + "/x"})); v.Effect != sayso.Allow {
			t.Errorf("%s: %s by %q", host, v.Effect, v.Rule)
		}
	}
}

// spelled are the ways in which programs write an address of four bytes.
func spelled(ip netip.Addr) []string {
	b := ip.As4()
	last2, last3, all := int(b[2])<<8|int(b[3]), int(b[1])<<16|int(b[2])<<8|int(b[3]), uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3])
	return []string{
		ip.String(), fmt.Sprint(all), fmt.Sprintf("0x%x", all), fmt.Sprintf("0X%08X", all), fmt.Sprintf("0%o", all),
		fmt.Sprintf("%d.%d", b[0], last3), fmt.Sprintf("%d.%d.%d", b[0], b[1], last2), fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", b[0], b[1], b[2], b[3]),
		fmt.Sprintf("0%o.0%o.0%o.0%o", b[0], b[1], b[2], b[3]), fmt.Sprintf("%03d.%03d.%03d.%03d", b[0], b[1], b[2], b[3]), fmt.Sprintf("0x%x.%d", b[0], last3),
		fmt.Sprintf("[::ffff:%s]", ip), fmt.Sprintf("[::ffff:%x:%x]", all>>16, all&0xffff), fmt.Sprintf("[::%s]", ip), fmt.Sprintf("[64:ff9b::%s]", ip), fmt.Sprintf("[2002:%x:%x::1]", all>>16, all&0xffff),
		ip.String() + ".", strings.ReplaceAll(ip.String(), ".", "%2e"), strings.ReplaceAll(ip.String(), ".", "。"),
	}
}
