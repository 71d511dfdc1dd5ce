package policy

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/sayso-dev/sayso"
)

// floorSpelling holds for a path that programs read in different ways. A host
// may cut blanks off, or put the person's folder in place of a tilde, before it
// opens what it was given.
var floorSpelling = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "paths must be plain", Person: true,
	Reason: "programs may read this path differently",
}

// oddPath says why programs may read a path differently; empty for a plain one.
func oddPath(p string) string {
	switch first, last := firstRune(p), lastRune(p); {
	case p == "":
	case unicode.IsSpace(first) || isInvisible(first) || unicode.IsSpace(last) || isInvisible(last):
		return "it begins or ends with white space"
	case first == '~':
		return "it begins with a tilde; write the folder out"
	case first == '$' || first == '%' || strings.Contains(p, "${"):
		return "it may name a variable"
	case strings.ContainsRune(p, '\\'):
		return "it holds a backslash"
	case strings.HasPrefix(p, "//") || hasScheme(p):
		return "it may be an address"
	case !norm.NFC.IsNormalString(p):
		return "its letters are not composed in the usual way"
	}
	return ""
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) rune {
	var last rune
	for _, r := range s[max(0, len(s)-4):] {
		last = r
	}
	return last
}

// hasScheme reports whether a path begins as an address does, or with the
// letter of a drive.
func hasScheme(p string) bool {
	scheme, _, ok := strings.Cut(p, ":")
	return ok && (len(scheme) == 1 || strings.HasPrefix(p[len(scheme):], "://") || strings.EqualFold(scheme, "file"))
}
