package highlight

import (
	"strings"

	"github.com/sayso-dev/sayso"
)

// Presentation takes the content of a presentation apart, which must be safe
// already: the lines of a difference by what became of them, everything else as
// code of its language.
func Presentation(p sayso.Presentation) []sayso.Token {
	if p.Type == sayso.PresentDiff {
		return Diff(p.Content)
	}
	return Code(p.Content, p.Language)
}

// Diff takes a unified difference apart. Each line that was added, removed or
// says where the next ones stand is of that class; the others are plain.
func Diff(text string) []sayso.Token {
	c := cutter{text: text}
	head := true // the names of the files come before the first part
	for line := range strings.SplitAfterSeq(text, "\n") {
		if line == "" {
			continue
		}
		head = head && !strings.HasPrefix(line, "@@")
		c.add(classOfLine(line, head), len(line))
	}
	return c.rest()
}

func classOfLine(line string, head bool) sayso.Class {
	switch {
	case head && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")):
		return sayso.ClassHeading
	case strings.HasPrefix(line, "@@"):
		return sayso.ClassPlace
	case line[0] == '+':
		return sayso.ClassAdded
	case line[0] == '-':
		return sayso.ClassRemoved
	}
	return ""
}
