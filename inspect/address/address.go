// Package address says what a URL means: once, strictly, and the same way for
// the one who decides and the one who fetches.
//
// [Parse] never fails. It returns the parts as well as they can be made out
// and, in Odd, the first reason why another program could read the text
// differently. A URL with such a reason must never be fetched on the strength
// of a rule; its parts are still good enough to recognise what is forbidden.
package address

import (
	"net/netip"
	"strconv"
	"strings"
)

// MaxLen is the longest URL that is not odd, in bytes.
const MaxLen = 8192

// URL is the parsed form of an address.
type URL struct {
	Scheme string // http or https unless Odd
	Host   string // lower case, no brackets
	Port   int    // the scheme's own if none is written
	Path   string // begins with a slash; dot segments resolved, harmless escapes decoded
	Query  string // without the question mark
	// HasQuery tells an empty query from none.
	HasQuery bool
	// Escaped says that the path holds what servers read differently: an escaped
	// slash, backslash, dot or percent sign, or a dot segment with a parameter.
	Escaped bool
	// Literal says that Host is an IP address in its usual spelling.
	Literal bool
	// Local says that the host is, or may well be, on this machine or network.
	Local bool
	// Odd is empty, or says why readers may disagree about the URL.
	Odd string
}

// String is the parsed form as a URL, to be handed to the fetcher instead of
// the text that it came from. It is empty if the URL is odd.
func (u URL) String() string {
	if u.Odd != "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(u.Scheme)
	b.WriteString("://")
	if strings.Contains(u.Host, ":") {
		b.WriteString("[" + u.Host + "]")
	} else {
		b.WriteString(u.Host)
	}
	if u.Port != defaultPort(u.Scheme) {
		b.WriteString(":" + strconv.Itoa(u.Port))
	}
	b.WriteString(u.Path)
	if u.HasQuery {
		b.WriteString("?" + u.Query)
	}
	return b.String()
}

// Parse reads an address.
func Parse(text string) URL {
	var u URL
	if len(text) > MaxLen {
		u.odd("it is too long")
	}
	u.oddCharacters(text)
	rest := u.scheme(withoutBlanks(text))
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, `/\?`)
	if end < 0 {
		end = len(rest)
	}
	u.authority(rest[:end])
	u.path(rest[end:])
	return u
}

// odd keeps the first reason.
func (u *URL) odd(why string) {
	if u.Odd == "" {
		u.Odd = why
	}
}

// withoutBlanks takes out what browsers take out: tabs and line breaks wherever
// they stand, and blanks and control characters at both ends.
func withoutBlanks(text string) string {
	text = strings.Trim(text, " \x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f")
	if !strings.ContainsAny(text, "\t\n\r") {
		return text
	}
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
}

func (u *URL) oddCharacters(text string) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c <= ' ' || c == 0x7f:
			u.odd("it holds a blank or a control character")
		case c >= 0x80:
			u.odd("it holds a character that is not ASCII; write the ASCII form")
		case c == '\\':
			u.odd("it holds a backslash")
		}
	}
}

// scheme takes scheme:// off the text.
func (u *URL) scheme(text string) string {
	name, rest, ok := strings.Cut(text, ":")
	u.Scheme = strings.ToLower(name)
	if !ok || u.Scheme != "http" && u.Scheme != "https" {
		u.odd("its scheme is not http or https")
	}
	if !ok {
		u.Scheme, rest = "", text
	}
	bare := strings.TrimLeft(rest, `/\`)
	if rest != "//"+bare {
		u.odd("its scheme is not followed by exactly two slashes")
	}
	return bare
}

func defaultPort(scheme string) int {
	if scheme == "http" {
		return 80
	}
	return 443
}

// authority reads [user@]host[:port].
func (u *URL) authority(text string) {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		u.odd("it holds user information")
		text = text[at+1:]
	}
	if strings.IndexByte(text, '%') >= 0 {
		u.odd("its host holds an escape")
		text = unescapeAll(text)
	}
	host, port := text, ""
	colon := strings.LastIndexByte(text, ':')
	if open := strings.HasPrefix(text, "[") && strings.IndexByte(text, ']') < 0; !open && colon > strings.LastIndexByte(text, ']') {
		host, port = text[:colon], text[colon+1:]
		u.port(port)
	} else {
		u.Port = defaultPort(u.Scheme)
	}
	u.host(strings.ToLower(plainHost(host)))
}

func (u *URL) port(text string) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || text[0] == '0' || text[0] == '+' {
		u.odd("its port is no number from 1 to 65535")
	}
	u.Port = int(n)
}

func (u *URL) host(host string) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		u.bracketed(inner)
		return
	}
	if strings.HasSuffix(host, ".") {
		u.odd("its host ends in a dot")
		host = strings.TrimRight(host, ".")
	}
	u.Host = host
	if ip, ok := parseNumeric(host); ok {
		u.numeric(host, ip)
		return
	}
	if why := badName(host); why != "" {
		u.odd(why)
	} else if why := badLetters(host); why != "" {
		u.odd(why)
	}
	u.Local = localName(host)
}

func (u *URL) bracketed(inner string) {
	text, ok := strings.CutSuffix(inner, "]")
	ip, err := netip.ParseAddr(text)
	u.Host, u.Local = text, true
	if !ok || err != nil || !ip.Is6() || ip.Zone() != "" {
		u.odd("its host is no IPv6 address")
		return
	}
	u.Host, u.Literal, u.Local = ip.String(), true, localAddr(ip)
}

func (u *URL) numeric(host string, ip netip.Addr) {
	if strict, err := netip.ParseAddr(host); err != nil || strict != ip {
		u.odd("its host is a number that could be another address than it seems")
	}
	u.Literal = u.Odd == ""
	u.Local = !ip.IsValid() || localAddr(ip)
	if ip.IsValid() {
		u.Host = ip.String()
	}
}

// path reads what follows the authority.
func (u *URL) path(text string) {
	text, u.Query, u.HasQuery = strings.Cut(text, "?")
	if text == "" {
		text = "/"
	}
	text = strings.ReplaceAll(text, `\`, "/")
	decoded, escaped, ok := unescapePlain(text)
	if !ok {
		u.odd("its path holds a percent sign that escapes nothing")
	}
	u.Escaped = escaped || strings.Contains(decoded, "/..;") || strings.Contains(decoded, "/.;")
	u.Path = resolveDots(decoded)
}

// resolveDots takes . and .. out of a path, as fetchers do.
func resolveDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	segments := strings.Split(path[1:], "/")
	out := segments[:0]
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}
