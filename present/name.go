package present

import (
	"strings"
	"unicode"

	"github.com/sayso-dev/sayso"
)

// InspectName is [Inspect] for a name that people know things by: of a tool, a
// server, a host, a session. A name is one line and stands alone, so it is
// looked at more closely than a text: one that is spelled wholly in look-alikes
// of ASCII is warned about, and so are blanks at its ends, which nobody sees,
// and line breaks.
func InspectName(s string) (shown string, warnings []sayso.Warning) {
	shown, warnings = inspect(s, true)
	shown = onOneLine.Replace(shown)
	var f findings
	if strings.ContainsAny(s, "\n\t") {
		f.add(sayso.WarnControl, "a line break or a tab in a name")
	}
	if s != strings.Trim(s, " ") {
		f.add(sayso.WarnWhitespace, "blanks at an end of a name")
	}
	if ascii := skeleton(s); !warned(warnings, sayso.WarnConfusable) && posesAsASCII(s, ascii) {
		f.add(sayso.WarnConfusable, ascii)
	}
	for _, w := range f.warnings() {
		if !warned(warnings, w.Kind) {
			warnings = append(warnings, w)
		}
	}
	return shown, warnings
}

// onOneLine spells out what would break a line of its own.
var onOneLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// posesAsASCII reports whether all letters of a name that are not ASCII look
// like ASCII ones.
func posesAsASCII(s, skeleton string) bool {
	if s == skeleton {
		return false
	}
	return !strings.ContainsFunc(skeleton, func(r rune) bool { return r >= 0x80 && unicode.IsLetter(r) })
}

func warned(warnings []sayso.Warning, kind sayso.WarningKind) bool {
	for _, w := range warnings {
		if w.Kind == kind {
			return true
		}
	}
	return false
}
