// Package present makes what a person is shown, and makes it safe for the eye.
//
// A person decides by what they see. An agent, a tool or a page it has read may
// try to make them see something else than what will run: by control sequences
// that redraw the screen, characters that reverse or hide text, letters of
// another script that look like the right ones, or blanks that push the
// interesting part out of sight. [Safe], [Inspect] and [SafeJSON] show such
// things for what they are and warn of them by kind; ordinary text in any one
// script passes unchanged and without a warning. [Terminal] draws a call so
// that each of its texts stays in a frame of its own, and the words of the
// agent are marked as its words.
//
// [Diff], [File], [Command], [Structured] and [PlainText] make presentations.
// Their content is raw: whoever draws it makes it safe, as Terminal does.
//
// A presentation, like everything shown, holds secrets until package redact
// has been over it. The order is: redact, make safe, shorten.
package present

import "github.com/sayso-dev/sayso"

// Safe returns s as it may be shown on a terminal or a page, and the kinds of
// what was found in it, each once. What it returns is safe as it stands: making
// it safe again changes nothing.
func Safe(s string) (shown string, kinds []sayso.WarningKind) {
	shown, warnings := Inspect(s)
	for _, w := range warnings {
		kinds = append(kinds, w.Kind)
	}
	return shown, kinds
}

// Inspect is Safe with more to tell: at most one warning of each kind, whose
// text names the code points, the ASCII form of look-alikes, or what was left
// out. The paths of the warnings are empty.
func Inspect(s string) (shown string, warnings []sayso.Warning) {
	return inspect(s, true)
}

func inspect(s string, withMarkup bool) (string, []sayso.Warning) {
	if plain(s) {
		if withMarkup {
			if w, ok := findMarkup(s); ok {
				return s, []sayso.Warning{w}
			}
		}
		return s, nil
	}
	var f findings
	shown := escape(s, &f)
	lookAlikeWords(s, &f)
	shown = collapse(shown, &f)
	warnings := f.warnings()
	if withMarkup {
		if w, ok := findMarkup(s); ok {
			warnings = append(warnings, w)
		}
	}
	return shown, warnings
}

// plain reports whether s is printable ASCII without long runs of blanks.
func plain(s string) bool {
	blanks, lines := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c > ' ' && c < 0x7f:
			blanks, lines = 0, 0
			continue
		case c == '\n':
			lines++
		case c == '\t':
			blanks += tabWidth
		case c == ' ':
			blanks++
		default:
			return false
		}
		if blanks >= maxBlanks || lines > maxEmptyLines {
			return false
		}
	}
	return true
}
