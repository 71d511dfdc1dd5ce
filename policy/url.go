package policy

import (
	"slices"
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
func (r *reader) url(n *yaml.Node, arg string) *urlPattern {
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
	p.anyPath = p.anyPath || end == len(rest) // a host alone stands for all of it
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
	return p.matchesOrigin(u, allow) && p.matchPath(u, allow)
}

// matchesOrigin compares scheme, host and port.
func (p *urlPattern) matchesOrigin(u *address.URL, allow bool) bool {
	if p.scheme != "" && p.scheme != u.Scheme && (allow || u.Scheme != "") || !p.matchHost(u) {
		return false
	}
	if allow {
		return p.matchPort(u)
	}
	return p.port == 0 || p.port == u.Port
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
	switch {
	case p.anyPath:
		return true
	case allow:
		return !u.Escaped && p.fits(u.Path) && (p.more || !u.HasQuery)
	case p.fits(u.Path):
		return true
	}
	readings, whole := u.Readings()
	return !whole || slices.ContainsFunc(readings, p.fits)
}

// fits compares a path.
func (p *urlPattern) fits(path string) bool {
	if p.more {
		return strings.HasPrefix(path, p.path)
	}
	return path == p.path
}

// mayLead reports whether servers disagree about where on the hosts of the
// pattern the address leads, and the pattern is not about all of them.
func (p *urlPattern) mayLead(u *address.URL) bool {
	return u.Escaped && !p.anyPath && p.matchesOrigin(u, false)
}

// namesAddress reports whether an allow that has no pattern on addresses covers
// the one of the call: one on this machine or network only if it, or its
// condition, says which. A tool's bare name is as wide as a star.
func (e *entry) namesAddress(s *subject) bool {
	if s.operand != sayso.OperandURL || s.state != argGiven || !s.address().Local {
		return true
	}
	if e.when != nil && (strings.Contains(e.when.String(), "call.url.host") || strings.Contains(e.when.String(), "call.url.local")) {
		return true
	}
	return e.m.selector != nil && slices.ContainsFunc(e.m.selector.args, func(a argument) bool {
		return a.key == s.tool.Primary && !slices.ContainsFunc(a.values, func(v value) bool { return strings.Contains(v.text, "*") })
	})
}

// address is the parsed form of the argument.
func (s *subject) address() *address.URL {
	if !s.parsed {
		s.url, s.parsed = address.Parse(s.arg), true
	}
	return &s.url
}
