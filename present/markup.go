package present

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// activeTags are the elements that do or load something when a page takes a
// text for its own.
var activeTags = []string{"script", "img", "iframe", "svg", "object", "embed", "link", "style", "meta", "form", "base", "video", "audio", "frame", "frameset", "applet", "math", "template"}

// activeAddresses run when followed.
var activeAddresses = []string{"javascript:", "vbscript:", "data:text/html"}

// findMarkup warns of text that a careless page would take for markup.
func findMarkup(s string) (sayso.Warning, bool) {
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], "<:!]")
		if n < 0 {
			break
		}
		i += n
		if what := markupAt(s, i); what != "" {
			return sayso.Warning{Kind: sayso.WarnMarkup, Text: what}, true
		}
		i++
	}
	return sayso.Warning{}, false
}

func markupAt(s string, i int) string {
	switch s[i] {
	case '<':
		return tag(s[i+1:])
	case ':':
		from := max(0, i-10)
		before := strings.ToLower(s[from:min(len(s), i+10)])
		for _, a := range activeAddresses {
			if k := strings.Index(before, a); k >= 0 {
				return a
			}
		}
	case '!':
		if strings.HasPrefix(s[i:], "![") {
			if k := strings.Index(s[i:min(len(s), i+300)], "](http"); k > 0 && !strings.Contains(s[i:i+k], "\n") {
				return "an image to be loaded"
			}
		}
	}
	return ""
}

// tag returns the active tag that begins at s, after its bracket.
func tag(s string) string {
	n := 0
	for n < len(s) && n < 10 && asciiLetter(rune(s[n])) {
		n++
	}
	name := strings.ToLower(s[:n])
	if n == 0 || n >= len(s) || !slices.Contains(activeTags, name) || strings.IndexByte(" \t\n/>", s[n]) < 0 {
		return ""
	}
	if strings.IndexByte(s[n:min(len(s), n+2000)], '>') < 0 {
		return ""
	}
	return "<" + name + ">"
}
