package redact

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// span is a part of a string that is to be hidden.
type span struct {
	from, to int
	size     int    // bytes of the value once unquoted
	key      string // the name it is hidden under, if it has one of its own
}

// hide takes a part of a text and the name it is hidden under, or a part of which
// it is told that it is [taken]. Texts quoted in
// texts are searched in unquoted form; each level has a hide that knows where
// its bytes stand in the level above.
type hide func(from, to, size int, key string)

// merge sorts spans and joins those that overlap or touch. The marker says how
// long the joined value is where its parts stood quoted in the text.
func merge(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		switch {
		case s.from > last.to:
			out = append(out, s)
		case s.to > last.to:
			if s.from == last.from {
				last.size = s.size
			} else {
				last.size = max(last.size, s.to-last.from)
			}
			last.to = s.to
			if last.key == "" {
				last.key = s.key
			}
		case last.key == "":
			last.key = s.key
		}
	}
	return out
}

// whole widens spans to the borders of characters, so that what is left is
// still text.
func whole(s string, spans []span) []span {
	for i := range spans {
		for spans[i].from > 0 && !utf8.RuneStart(s[spans[i].from]) {
			spans[i].from--
		}
		for spans[i].to < len(s) && !utf8.RuneStart(s[spans[i].to]) {
			spans[i].to++
		}
	}
	return spans
}

// cut replaces the spans of s, which are merged, by markers.
func cut(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, sp := range spans {
		b.WriteString(s[at:sp.from])
		b.WriteString(marker(sp.size))
		at = sp.to
	}
	b.WriteString(s[at:])
	return b.String()
}
