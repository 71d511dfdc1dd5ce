package redact

import (
	"slices"
	"strings"
)

// converters are calls that give back the text they are handed, in small
// letters. What they are handed is the value itself, and no look-up.
var converters = set(`string str text bytes bytearray unicode buffer.from bytes.from string.valueof string.from string.new
	string::from str::from []byte []rune std::string std::string_view string_view qstring nsstring cow::from
	some ok just box::new arc::new rc::new optional.of ref usestate secret secret.new secret::new secretstr secretbytes
	secretstring secretstring::new secretstring::from sensitivestring sensitivestring.new securestring redacted protectedstring`)

// converted returns where the text in quotes begins that one of the converters
// at from is handed: new String("…"), []byte("…"), String::from("…").
func (v *value) converted(from int) (at int, ok bool) {
	s := v.s
	at = from
	if strings.HasPrefix(s[at:], "new ") {
		at += len("new ")
	}
	n := pathLen(s[at:])
	if strings.HasPrefix(s[at:], "[]") {
		n = 2 + pathLen(s[at+2:])
	}
	if at += n; at >= len(s) || s[at] != '(' && s[at] != '{' || !converters[strings.ToLower(s[at-n:at])] {
		return 0, false
	}
	at += 1 + span0(s[at+1:], isBlank)
	if at < len(s) {
		at += stringPrefix(s[at:])
	}
	return at, at < len(s) && v.opensQuote(at) && v.closes(at)
}

// joined returns where the next text in quotes begins that is joined to the one
// that ends before at: "…" + "…".
func (v *value) joined(at int) (next int, ok bool) {
	next = at + span0(v.s[min(at, len(v.s)):], isSpace)
	if next >= len(v.s) || v.s[next] != '+' {
		return 0, false
	}
	next += 1 + span0(v.s[next+1:], isSpace)
	return next, next < len(v.s) && v.opensQuote(next) && v.closes(next)
}

// pairCalls are calls whose second argument is the password of the first.
var pairCalls = set(`setbasicauth basicauth httpbasicauth httpdigestauth httpproxyauth usernamepasswordcredentials
	networkcredential passwordauthentication usernamepasswordauthenticationtoken auth`)

// pairCall returns where the password begins that a call takes behind a user's
// name: SetBasicAuth("bob", "…"), auth=("bob", "…"). What the name auth is given
// is often no password, and is one only if it does not look like a word.
func (r *reader) pairCall(j int, name string) (at int, ok bool) {
	s := r.s
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if !pairCalls[name] {
		return 0, false
	}
	at = j
	if rest := strings.TrimLeft(s[j:min(len(s), j+8)], " "); name == "auth" && strings.HasPrefix(rest, "=") {
		at += strings.IndexByte(s[j:], '=') + 1
		at += span0(s[at:], isBlank)
	}
	if at >= len(s) || s[at] != '(' {
		return 0, false
	}
	at += 1 + span0(s[at+1:], isBlank)
	comma := strings.IndexAny(s[at:min(len(s), at+maxType)], ",)\n")
	if comma <= 0 || s[at+comma] != ',' {
		return 0, false
	}
	at += comma + 1
	at += span0(s[at:], isBlank)
	if !r.opensQuote(at) {
		return 0, false
	}
	text := s[at+1:]
	return at, name != "auth" || text[span0(text, func(c byte) bool { return isAlpha(c) || c == '_' })] != s[at]
}

// oraclePassword returns where the password stands in jdbc:oracle:thin:bob/…@host,
// whose third part ends at j.
func (r *reader) oraclePassword(i, j int) (from, to int, ok bool) {
	s := r.s
	if !strings.HasSuffix(strings.ToLower(s[max(0, i-7):i]), "oracle:") || j >= len(s) || s[j] != ':' {
		return 0, 0, false
	}
	from = j + 1 + span0(s[j+1:], isVarName)
	if from >= len(s) || from == j+1 || s[from] != '/' {
		return 0, 0, false
	}
	from++
	to = from + addressEnd(s[from:])
	at := strings.IndexByte(s[from:to], '@')
	return from, from + at, at > 0
}

// settingNames stand before their value with a blank between, first in a line of
// settings.
var settingNames = set(`requirepass masterauth rootpw bindpw`)

// setting hides the value at b of a name in a line of settings. A pattern that
// looks for such a line has none.
func (r *reader) setting(i, j, b int, name string) int {
	s := r.s
	inPattern := i > 0 && s[i-1] == '/'
	if !settingNames[strings.ToLower(name)] || !inPattern && !(&value{reader: r, start: i}).leads() || strings.IndexByte(`.\*[<%(`, s[b]) >= 0 {
		return j
	}
	to := r.wordEnd(b)
	if inPattern {
		to = b + len(strings.TrimRight(s[b:to], "/"))
	}
	if v := s[b:to]; proseWords[strings.ToLower(v)] || isReference(v) {
		return j
	}
	r.f.foundText(s, b, to, name, r.h, r.depth)
	return max(j, to)
}

// connectionNames are members of a connection string.
var connectionNames = [...]string{"uid=", "user id=", "user=", "server=", "data source=", "database=", "driver="}

// inConnection reports whether a name is that of the password in a connection
// string, uid=sa;pwd=x, and not of a folder.
func (r *reader) inConnection(i int, name string) bool {
	if !strings.EqualFold(name, "pwd") {
		return false
	}
	before := strings.ToLower(strings.TrimRight(r.s[max(0, i-maxCode):i], " "))
	return strings.HasSuffix(before, ";") &&
		slices.ContainsFunc(connectionNames[:], func(member string) bool { return strings.Contains(before, member) })
}
