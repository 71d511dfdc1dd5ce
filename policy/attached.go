package policy

import (
	"strings"

	"github.com/sayso-dev/sayso"
)

// floorAttached holds for a text whose host reads the files that it names: no rule
// for reading hears of them.
var floorAttached = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "files named in a prompt", Person: true,
	Reason: "the host reads what stands behind an @ by itself, if it is a file or a folder, and asks nobody",
}

// attachmentAt is where a text names what its host would read, below zero if it names
// nothing. An @ within a word or a quotation of code is none to the host.
func (s *subject) attachmentAt() int {
	if !s.tool.Attaches || s.state != argGiven {
		return -1
	}
	for at := 0; at < len(s.arg); at++ {
		next := strings.IndexByte(s.arg[at:], '@')
		if next < 0 {
			return -1
		}
		at += next
		within := at > 0 && (s.arg[at-1] == '`' || wordByte(s.arg[at-1]))
		if !within && at+1 < len(s.arg) && !strings.ContainsRune(" \t\n\r`,", rune(s.arg[at+1])) {
			return at
		}
	}
	return -1
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
