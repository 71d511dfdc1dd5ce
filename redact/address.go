package redact

import (
	"net/url"
	"strings"
)

// address searches the address at s[i:] whose authority begins at a. It
// returns where the address ends.
func (f *finder) address(s string, i, a int, h hide, depth int) int {
	end := a + addressEnd(s[a:])
	from := f.authority(s, a, end, h, depth)
	from = f.webhook(s, a, from, end, h)
	for from < end {
		n := strings.IndexAny(s[from:end], "?&#;")
		if n < 0 {
			break
		}
		from = f.parameter(s, from+n+1, end, h, depth)
	}
	return max(end, a)
}

// schemeEnd returns the length of what stands between a scheme and its
// authority at the start of rest, or 0 if there is no address. What many read
// as an address is one: backslashes for slashes, and one of them where it
// cannot be anything else.
func schemeEnd(scheme, rest string) int {
	if !strings.HasPrefix(rest, ":") {
		return 0
	}
	n := span0(rest[1:], func(c byte) bool { return c == '/' || c == '\\' })
	switch {
	case strings.HasPrefix(rest, "://"):
		return 3
	case n == 0 || n == 1 && rest[1] == '/':
		return 0
	case n >= 2 || strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"):
		return 1 + n
	}
	return 0
}

// addressEnd returns the length of the address at the start of s.
func addressEnd(s string) int {
	for i := 0; i < len(s); i++ {
		if n := opaque(s[i:]); n > 0 {
			i += n - 1
			continue
		}
		if c := s[i]; c <= ' ' || strings.IndexByte("\"'`<>|\\^", c) >= 0 {
			return i
		}
	}
	return len(s)
}

// authority hides the password before the @, or a token in its place. It
// returns where the path begins.
func (f *finder) authority(s string, a, end int, h hide, depth int) int {
	path := end
	if n := strings.IndexAny(s[a:end], "/?#"); n >= 0 {
		path = a + n
	}
	at := strings.LastIndexByte(s[a:path], '@')
	if at < 0 {
		if at = brokenUserInfo(s[a:path], s[a:end]); at < 0 {
			if n := strings.IndexByte(s[a:path], ';'); n >= 0 {
				path = a + n // jdbc:sqlserver://host;name=value
			}
			return path
		}
		path = a + at
	}
	info := s[a : a+at]
	if c := strings.IndexByte(info, ':'); c >= 0 {
		f.userPassword(s, a+c+1, a+at, h, depth)
	} else if isReference(info) {
		f.vars.names(info)
		f.takes(s, a, a+at, h)
	} else if tokenLike(info) {
		f.foundText(s, a, a+at, "user info", h, depth)
	}
	return path
}

// tokenLike reports whether what stands where a user's name does is a token.
func tokenLike(info string) bool {
	return len(info) >= 20 || len(info) >= 12 && noWord(info) || looksRandom(info)
}

// brokenUserInfo finds the @ after a password that holds a slash or the like
// which should have been escaped.
func brokenUserInfo(authority, all string) int {
	c := strings.IndexByte(authority, ':')
	if c < 0 || isDigits(authority[c+1:]) || c+1 == len(authority) || authority[c+1] == '$' {
		return -1
	}
	return strings.LastIndexByte(all, '@')
}

func (f *finder) userPassword(s string, from, to int, h hide, depth int) {
	v := s[from:to]
	if isReference(v) {
		f.takes(s, from, to, h)
		if v != "" && substitution(v) == len(v) {
			f.inside(s, from, to, h, depth)
		}
		return
	}
	if plain, err := url.PathUnescape(v); err == nil && plain != v {
		f.learn(plain, "password")
	}
	f.foundText(s, from, to, "password", h, depth)
}

// webhooks are hosts in whose addresses the path itself is the secret, and the
// part of the path before it.
var webhooks = []struct{ host, before string }{
	{"hooks.slack.com", "/services/"}, {"hooks.slack.com", "/workflows/"}, {"hooks.slack.com", "/triggers/"},
	{"discord.com", "/api/webhooks/"}, {"discordapp.com", "/api/webhooks/"}, {"api.telegram.org", "/bot"},
	{"webhook.office.com", "/webhookb2/"}, {"hooks.zapier.com", "/hooks/catch/"}, {"maker.ifttt.com", "/use/"},
	{"hooks.chat.google.com", "/"}, {"open.feishu.cn", "/hook/"},
}

// webhook hides the secret part of a webhook's path. It returns where the
// query begins, or path if it hid nothing.
func (f *finder) webhook(s string, a, path, end int, h hide) int {
	if path <= a || path >= end || s[path] != '/' {
		return path
	}
	host := strings.ToLower(s[a:path])
	stop := end
	if n := strings.IndexAny(s[path:end], "?#"); n >= 0 {
		stop = path + n
	}
	for _, w := range webhooks {
		if !strings.HasSuffix(host, w.host) {
			continue
		}
		n := strings.Index(s[path:stop], w.before)
		if n < 0 {
			continue
		}
		from := path + n + len(w.before)
		to := len(strings.TrimRight(s[:stop], ".,;)"))
		if w.before == "/bot" {
			if n := strings.IndexByte(s[from:stop], '/'); n >= 0 {
				to = from + n
			}
		}
		f.found(s, from, max(from, to), "webhook", h)
		return stop
	}
	return path
}

// addressNames are names of parameters that are telling in an address only.
var addressNames = set(`sig signature auth pwd pw pass assertion samlresponse samlrequest xamzcredential
	xamzsignature xgoogsignature xgoogcredential sas ticket hmac`)

// parameter reads the pair of name and value at from. It returns where it ends.
func (f *finder) parameter(s string, from, end int, h hide, depth int) int {
	to := end
	if n := strings.IndexAny(s[from:end], "?&#"); n >= 0 {
		to = from + n
	}
	for i := from; i < to; i++ {
		if s[i] == ';' && after(s[:end], i) {
			to = i
		}
	}
	eq := strings.IndexByte(s[from:to], '=')
	if eq < 0 {
		return to
	}
	name, v := s[from:from+eq], from+eq+1
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	if to == end {
		to = max(v, len(strings.TrimRight(s[:to], ".,;)]}")))
	}
	f.parameterValue(s, v, to, name, h, depth)
	return to
}

func (f *finder) parameterValue(s string, v, to int, name string, h hide, depth int) {
	text := s[v:to]
	if !f.tellingParameter(name, text) {
		if strings.Contains(text, "%") && depth < maxDepth {
			f.escapedText(s, v, to, h, depth)
		}
		return
	}
	if isReference(text) {
		f.takes(s, v, to, h)
		if text != "" && substitution(text) == len(text) {
			f.inside(s, v, to, h, depth)
		}
		return
	}
	if plainFigure(name, text) || isFile(text) {
		return
	}
	if plain, err := url.QueryUnescape(text); err == nil && plain != text {
		f.learn(plain, name)
	}
	f.foundText(s, v, to, name, h, depth)
}

func (f *finder) tellingParameter(name, text string) bool {
	if f.telling(name) || addressNames[strings.Join(words(name), "")] {
		return true
	}
	switch strings.ToLower(name) {
	case "key", "code":
		return looksRandom(text)
	}
	return false
}

// escapedText searches a percent-escaped text, such as an address in an
// address.
func (f *finder) escapedText(s string, from, to int, h hide, depth int) {
	var plain []byte
	var places []int
	for i := from; i < to; {
		n, c := 1, s[i]
		if c == '%' && i+2 < to && hexDigit(s[i+1]) && hexDigit(s[i+2]) {
			n, c = 3, unhex(s[i+1])<<4|unhex(s[i+2])
		}
		plain, places = append(plain, c), append(places, i)
		i += n
	}
	places = append(places, to)
	f.text(string(plain), func(a, b, size int, key string) { h(places[a], places[b], size, key) }, depth+1)
}

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
