package policy

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
)

// urlPattern is a pattern on addresses.
type urlPattern struct {
	scheme  string // empty for both
	host    string // exact; or empty
	under   string // any host that ends in it, which begins with a dot; or empty
	port    int    // 0 for the scheme's own
	path    string // exact, or the beginning if more
	more    bool
	anyPath bool
}

// wide reports whether the pattern stands for more than one host.
func (p *urlPattern) wide() bool { return p.host == "" }

const urlShape = "write https://example.org/*, https://*.example.org/docs/* or https://*"

// url compiles a pattern on addresses.
func (r *reader) url(e sayso.Effect, n *yaml.Node, arg string) *urlPattern {
	p := &urlPattern{}
	if arg == "*" {
		p.anyPath = true
		return p
	}
	scheme, rest, ok := strings.Cut(arg, "://")
	switch {
	case ok && (scheme == "http" || scheme == "https"):
		p.scheme = scheme
	case ok && scheme == "*":
	default:
		r.fail(n, CodeURL, urlShape, "%s does not begin with http://, https:// or *://", quoted(arg))
		return p
	}
	if rest == "*" {
		p.anyPath = true
		return p
	}
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	if what := p.authority(rest[:end]); what != "" {
		r.fail(n, CodeURL, urlShape, "%s in %s", what, quoted(arg))
		return p
	}
	if what := p.readPath(rest[end:]); what != "" {
		r.fail(n, CodeURL, urlShape, "%s in %s", what, quoted(arg))
	}
	if end == len(rest) && e != sayso.Allow {
		p.anyPath = true
	} else if end == len(rest) {
		r.warn(n, "%s is the first page of the host alone; for all of them write %s/*", quoted(arg), arg)
	}
	return p
}

// authority reads host[:port], where the host may begin with a label that is a
// star.
func (p *urlPattern) authority(text string) string {
	host := text
	if colon := strings.LastIndexByte(text, ':'); colon > strings.LastIndexByte(text, ']') {
		port, err := strconv.ParseUint(text[colon+1:], 10, 16)
		if err != nil || port == 0 {
			return "there is no port"
		}
		p.port, host = int(port), text[:colon]
	}
	if host == "*" {
		return ""
	}
	bare, under := strings.CutPrefix(host, "*.")
	if strings.Contains(bare, "*") {
		return "there is a star that is not a whole label in front"
	}
	u := address.Parse("https://" + bare + "/")
	if u.Odd != "" || under && u.Literal {
		return "there is no name of a host"
	}
	if under {
		p.under = "." + u.Host
	} else {
		p.host = u.Host
	}
	return ""
}

func (p *urlPattern) readPath(text string) string {
	path, more := strings.CutSuffix(text, "*")
	if text == "" {
		path = "/"
	}
	if strings.ContainsAny(path, "*?#%") {
		return "there is a star before the end, or an escape, a ? or a #"
	}
	if u := address.Parse("https://example.org" + path); u.Odd != "" || u.Path != path {
		return "there is no plain path"
	}
	p.path, p.more, p.anyPath = path, more, path == "/" && more
	return ""
}

// matchURL compares the parsed address of a call with the pattern. An allow
// covers only what every reader understands alike; a wide one covers nothing
// local.
func (m *matcher) matchURL(s *subject, allow bool) bool {
	p, u := m.url, s.address()
	if allow && (u.Odd != "" || p.wide() && u.Local) {
		return false
	}
	if p.scheme != "" && p.scheme != u.Scheme && (allow || u.Scheme != "") || !p.matchHost(u) {
		return false
	}
	if allow && !p.matchPort(u) || !allow && p.port != 0 && p.port != u.Port {
		return false
	}
	return p.matchPath(u, allow)
}

func (p *urlPattern) matchHost(u *address.URL) bool {
	switch {
	case p.host != "":
		return u.Host == p.host
	case p.under != "":
		return !u.Literal && strings.HasSuffix(u.Host, p.under) && len(u.Host) > len(p.under)
	}
	return true
}

func (p *urlPattern) matchPort(u *address.URL) bool {
	want := p.port
	if want == 0 {
		want = 443
		if u.Scheme == "http" {
			want = 80
		}
	}
	return u.Port == want
}

func (p *urlPattern) matchPath(u *address.URL, allow bool) bool {
	if p.anyPath {
		return true
	}
	if u.Escaped {
		return !allow // servers disagree about where it leads
	}
	if p.more {
		return strings.HasPrefix(u.Path, p.path)
	}
	return u.Path == p.path && (!allow || !u.HasQuery)
}

// address is the parsed form of the argument.
func (s *subject) address() *address.URL {
	if !s.parsed {
		s.url, s.parsed = address.Parse(s.arg), true
	}
	return &s.url
}
