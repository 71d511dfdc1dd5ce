package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// shape is a credential that is known by how it begins.
type shape struct {
	prefix string
	least  int // bytes that must follow the prefix
	chars  func(byte) bool
	mixed  bool // the rest must look generated
}

func base64url(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }
func base64dot(c byte) bool { return base64url(c) || c == '.' }
func upperNum(c byte) bool  { return isUpper(c) || isDigit(c) }
func hexDigit(c byte) bool  { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
func base64any(c byte) bool {
	return base64url(c) || c == '+' || c == '/' || c == '=' || c == '.' || c == '~'
}

// shapes, by their first byte.
var shapes = byFirst([]shape{
	{"ghp_", 16, isAlnum, false}, {"gho_", 16, isAlnum, false}, {"ghu_", 16, isAlnum, false},
	{"ghs_", 16, isAlnum, false}, {"ghr_", 16, isAlnum, false}, {"github_pat_", 20, isVarName, false},
	{"glpat-", 16, base64dot, false}, {"gldt-", 16, base64dot, false}, {"glrt-", 16, base64dot, false},
	{"glptt-", 16, base64dot, false}, {"glsoat-", 16, base64dot, false}, {"glcbt-", 16, base64dot, false},
	{"sk-ant-", 12, base64url, false}, {"sk-proj-", 16, base64url, false}, {"sk-svcacct-", 16, base64url, false},
	{"sk-or-", 16, base64url, false}, {"sk-", 16, base64url, true},
	{"sk_live_", 10, isAlnum, false}, {"sk_test_", 10, isAlnum, false}, {"rk_live_", 10, isAlnum, false},
	{"rk_test_", 10, isAlnum, false}, {"whsec_", 16, base64any, false},
	{"xoxa-", 10, base64dot, false}, {"xoxb-", 10, base64dot, false}, {"xoxe-", 10, base64dot, false}, {"xoxe.", 10, base64dot, false},
	{"xoxo-", 10, base64dot, false}, {"xoxp-", 10, base64dot, false}, {"xoxr-", 10, base64dot, false},
	{"xoxs-", 10, base64dot, false}, {"xoxc-", 10, base64dot, false}, {"xoxd-", 10, base64any, false}, {"xapp-", 10, base64dot, false},
	{"AKIA", 16, upperNum, false}, {"ASIA", 16, upperNum, false}, {"ABIA", 16, upperNum, false}, {"ACCA", 16, upperNum, false},
	{"AIza", 30, base64url, false}, {"ya29.", 20, base64dot, false}, {"GOCSPX-", 16, base64url, false}, {"1//0", 30, base64url, false},
	{"npm_", 30, isAlnum, false}, {"pypi-", 40, base64url, false}, {"rubygems_", 32, isAlnum, false},
	{"dop_v1_", 32, isAlnum, false}, {"doo_v1_", 32, isAlnum, false}, {"dor_v1_", 32, isAlnum, false},
	{"hf_", 24, isAlnum, false}, {"gsk_", 24, isAlnum, false}, {"r8_", 24, isAlnum, false}, {"xai-", 24, isAlnum, false},
	{"pplx-", 24, isAlnum, false}, {"nvapi-", 24, base64url, false}, {"fw_", 20, isAlnum, true}, {"tgp_v1_", 24, base64url, false},
	{"SG.", 40, base64dot, false}, {"shpat_", 24, isAlnum, false}, {"shpss_", 24, isAlnum, false},
	{"shpca_", 24, isAlnum, false}, {"shppa_", 24, isAlnum, false}, {"sq0atp-", 16, base64url, false}, {"sq0csp-", 16, base64url, false},
	{"dckr_pat_", 16, base64url, false}, {"dckr_oat_", 16, base64url, false}, {"hvs.", 16, base64dot, false},
	{"hvb.", 16, base64dot, false}, {"lin_api_", 20, isAlnum, false}, {"figd_", 20, base64url, false}, {"ntn_", 30, isAlnum, false},
	{"glc_", 30, base64any, false}, {"glsa_", 20, isVarName, false}, {"tskey-", 16, base64url, false}, {"PMAK-", 24, base64url, false},
	{"dp.pt.", 24, isAlnum, false}, {"dp.st.", 24, base64dot, false}, {"ATATT3xFfGF0", 20, base64any, false}, {"ATCTT3xFfGF0", 20, base64any, false},
	{"pul-", 32, hexDigit, false}, {"sntrys_", 24, base64any, false}, {"sbp_", 32, isAlnum, false}, {"pscale_tkn_", 20, base64dot, false},
	{"pscale_pw_", 20, base64dot, false}, {"ops_ey", 30, base64url, false}, {"EAACEdEose0cBA", 16, isAlnum, false},
	{"AGE-SECRET-KEY-1", 30, upperNum, false}, {"ctx7sk-", 16, base64url, false}, {"e2b_", 24, isAlnum, false},
	{"sayso_agent_", 16, isAlnum, false}, {"sayso_tool_", 16, isAlnum, false}, {"sayso_person_", 16, isAlnum, false},
	{"sayso_admin_", 16, isAlnum, false}, {"sayso_viewer_", 16, isAlnum, false},
})

func byFirst(list []shape) (m [256][]shape) {
	for _, s := range list {
		m[s.prefix[0]] = append(m[s.prefix[0]], s)
	}
	return m
}

// shapes finds credentials by their shape, wherever they stand in s.
func (f *finder) shapes(s string, h hide) {
	f.keyBlocks(s, h)
	var dots dotted
	for i := 0; i < len(s); i++ {
		if i > 0 && isAlnum(s[i-1]) && !escapeBefore(s, i) {
			continue
		}
		n := shapeLen(s[i:])
		if n == 0 && strings.HasPrefix(s[i:], "eyJ") {
			n = dots.jwtLen(s, i)
		}
		if n == 0 {
			n = f.schemeShape(s, i, h)
		} else {
			f.found(s, i, i+n, "", h)
		}
		i += max(0, n-1)
	}
}

// escapeBefore reports whether the letter before i belongs to an escape such
// as \n or %3D, so that a word begins at i all the same.
func escapeBefore(s string, i int) bool {
	return i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0 ||
		i >= 3 && s[i-3] == '%' && hexDigit(s[i-2]) && hexDigit(s[i-1])
}

// shapeLen returns the length of the credential at the start of s, or 0.
func shapeLen(s string) int {
	for _, sh := range shapes[s[0]] {
		if !strings.HasPrefix(s, sh.prefix) {
			continue
		}
		rest := s[len(sh.prefix):]
		if sh.mixed && !looksRandom(rest[:span0(rest[:min(len(rest), 96)], sh.chars)]) {
			continue
		}
		n := len(sh.prefix) + span0(rest, sh.chars)
		n = len(strings.TrimRight(s[:n], ".-="))
		if n >= len(sh.prefix)+sh.least {
			return n
		}
	}
	if isDigit(s[0]) {
		return botTokenLen(s)
	}
	return 0
}

// dotted remembers how far the run of base64 characters reaches that was last
// looked at, and its next dot, so that no text is measured twice.
type dotted struct{ end, dot int }

// jwtLen measures a JSON web token at i: dotted parts, the first of which is
// an object in base64.
func (d *dotted) jwtLen(s string, i int) int {
	if d.end <= i {
		d.end = i + span0(s[i:], base64dot)
		d.dot = i
	}
	if d.dot <= i {
		n := strings.IndexByte(s[i:d.end], '.')
		if n < 0 {
			n = d.end - i
		}
		d.dot = i + n
	}
	end := i + len(strings.TrimRight(s[i:d.end], ".-"))
	second := min(d.dot+1, end)
	if d.dot-i < 10 || span0(s[second:end], base64url) < 8 {
		return 0
	}
	return end - i
}

// botTokenLen measures a bot's token: digits, a colon, 35 characters.
func botTokenLen(s string) int {
	d := span0(s[:min(len(s), 12)], isDigit)
	if d < 8 || d > 11 || d >= len(s) || s[d] != ':' {
		return 0
	}
	n := span0(s[d+1:min(len(s), d+60)], base64url)
	if n < 34 || n > 40 || !looksRandom(s[d+1:d+1+n]) {
		return 0
	}
	return d + 1 + n
}

// schemeShape finds a bearer or basic credential without its header's name. It
// returns how far it has read.
func (f *finder) schemeShape(s string, i int, h hide) int {
	if c := s[i] | 0x20; c != 'b' {
		return 0
	}
	n := schemeLen(s[i:])
	if n == 0 {
		return 0
	}
	from := i + n
	to := from + span0(s[from:], base64any)
	v := s[from:to]
	basic := s[i+1]|0x20 == 'a'
	if !basic && !looksBearer(v) || basic && !isUserPass(v) {
		return 0
	}
	f.found(s, from, to, "", h)
	return to - i
}

// looksBearer tells a credential from an ordinary word after "bearer".
func looksBearer(v string) bool {
	if len(v) < 8 {
		return false
	}
	return looksRandom(v) || strings.ContainsAny(v, "0123456789") || len(v) >= 20 && !strings.ContainsAny(v, "-_./")
}

// isUserPass reports whether v is a name and a password in base64.
func isUserPass(v string) bool {
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	return err == nil && len(v) >= 6 && utf8.Valid(text) && strings.Contains(string(text), ":")
}

var schemes = []string{"bearer", "basic", "token", "apikey", "api-key", "digest", "negotiate", "ntlm", "hawk", "dpop", "splunk", "key", "oauth", "sso-key", "geniekey"}

// schemeLen returns the length of an authorization scheme and the blanks after
// it at the start of v, or 0.
func schemeLen(v string) int {
	n := span0(v[:min(len(v), 20)], func(c byte) bool { return isAlpha(c) || c == '-' })
	if n == 0 || n >= len(v) || v[n] != ' ' {
		return 0
	}
	word := strings.ToLower(v[:n])
	for _, s := range schemes {
		if word == s {
			return n + span0(v[n:], isBlank)
		}
	}
	return 0
}

// keyBlock is the name under which private keys are hidden.
const keyBlock = "private key"

// keyBlocks hides what stands between the lines BEGIN and END of a private key.
func (f *finder) keyBlocks(s string, h hide) {
	const begin, finish = "-----BEGIN ", "-----END "
	last := -1 // where the next END line is; len(s) if there is none
	for at := 0; ; {
		i := strings.Index(s[at:], begin)
		if i < 0 {
			return
		}
		i += at + len(begin)
		at = i
		end := strings.Index(s[i:min(len(s), i+80)], "-----")
		if end < 0 || !strings.Contains(s[i:i+end], "PRIVATE KEY") {
			continue
		}
		from := i + end + len("-----")
		if last < from {
			if last = strings.Index(s[from:], finish); last < 0 {
				last = len(s)
			} else {
				last += from
			}
		}
		from += breaks(s[from:])
		to := from + keyBody(s[from:max(from, last)], last < len(s))
		f.found(s, from, to, keyBlock, h)
		at = to
	}
}

// keyBody returns the length of a key's body at the start of s. A body that is
// closed by an END line may have lines of any length; one that is not ends
// with its first short line. A line with blanks in it is not part of a key:
// it may be a command that somebody would like to see hidden.
func keyBody(s string, closed bool) int {
	end := 0
	for i := 0; i < len(s); i += breaks(s[i:]) {
		n := keyHeader(s[i:])
		if n == 0 {
			n = span0(s[i:], func(c byte) bool { return base64any(c) || c == ':' || c == ',' })
			after := breaks(s[i+n:])
			if n == 0 || after == 0 && i+n < len(s) || n < 40 && after > 0 && isBlank(s[i+n]) && i+n+after < len(s) {
				return end
			}
			if !closed && n < 40 && !strings.ContainsAny(s[i:i+n], "0123456789+/=") {
				return end
			}
		}
		i += n
		end = i
		if !closed && n < 40 {
			return end
		}
	}
	return end
}

// keyHeader returns the length of a header line inside a key, or 0.
func keyHeader(s string) int {
	if !strings.HasPrefix(s, "Proc-Type:") && !strings.HasPrefix(s, "DEK-Info:") && !strings.HasPrefix(s, "Comment:") {
		return 0
	}
	return span0(s, func(c byte) bool { return c != '\n' && c != '\r' && c != '\\' })
}

// breaks returns the length of the line breaks at the start of s, plain or
// escaped.
func breaks(s string) int {
	i := 0
	for i < len(s) {
		switch {
		case isSpace(s[i]):
			i++
		case s[i] == '\\':
			i += 1 + span0(s[i+1:], func(c byte) bool { return c == '\\' })
			if i < len(s) && (s[i] == 'n' || s[i] == 'r') {
				i++
			}
		default:
			return i
		}
	}
	return i
}
