package redact

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// looksJSON reports whether s may be a JSON object or array.
func looksJSON(s string) bool {
	s = strings.Trim(s, " \t\r\n")
	return len(s) > 3 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '[' && s[len(s)-1] == ']')
}

// json searches a text that is JSON. It reports whether it is.
func (f *finder) json(s string, h hide, depth int) bool {
	if depth >= maxDepth {
		return false
	}
	n, err := parse([]byte(s), jsontext.AllowDuplicateNames(true))
	if err != nil {
		return false
	}
	held := f.held
	f.held = nil
	f.tree(n, "", depth+1)
	f.settle()
	f.held = held
	n.report(s, h)
	return true
}

// report hands what was found in a tree to the text it was read from.
func (n *node) report(s string, h hide) {
	switch {
	case n.hidden && n.kind == '"':
		h(n.at+1, n.at+n.size-1, len(n.text), n.key)
	case n.hidden:
		h(n.at, n.at+n.size, n.size, n.key)
	case len(n.spans) > 0:
		n.reportSpans(s, h)
	}
	for _, m := range n.members {
		m.name.report(s, h)
		m.value.report(s, h)
	}
	for _, item := range n.items {
		item.report(s, h)
	}
}

func (n *node) reportSpans(s string, h hide) {
	raw := s[n.at+1 : n.at+n.size-1]
	if raw == n.text {
		for _, sp := range n.spans {
			h(n.at+1+sp.from, n.at+1+sp.to, sp.size, sp.key)
		}
		return
	}
	places := unescaped(raw)
	for _, sp := range n.spans {
		h(n.at+1+places[sp.from], n.at+1+places[sp.to], sp.size, sp.key)
	}
}

// unescaped returns for each byte of the text that raw spells, and for its
// end, where its spelling begins.
func unescaped(raw string) []int {
	var places []int
	for i := 0; i < len(raw); {
		n := 1
		if raw[i] == '\\' {
			n = escapeLen(raw[i:])
		}
		text, err := jsontext.AppendUnquote(nil, `"`+raw[i:i+n]+`"`)
		if err != nil || n == 1 {
			text = []byte{raw[i]}
		}
		for range text {
			places = append(places, i)
		}
		i += n
	}
	return append(places, len(raw))
}

// escapeLen returns the length of the escape at the start of s: two escaped
// surrogates spell one character.
func escapeLen(s string) int {
	if len(s) < 6 || s[1] != 'u' {
		return 2
	}
	if len(s) >= 12 && (s[2] == 'd' || s[2] == 'D') && strings.IndexByte("89abAB", s[3]) >= 0 {
		return 12
	}
	return 6
}
