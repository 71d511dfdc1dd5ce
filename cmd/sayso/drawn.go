package main

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// The arguments that a difference may show in full.
var (
	pathArgs = []string{"path", "file_path", "notebook_path"}
	textArgs = []string{"content", "old_string", "new_string", "new_source"}
)

// drawnArgs names the arguments that a difference shows in full, each line of
// them, so that they need not be drawn again. What is not certain is not named.
func drawnArgs(args sayso.Args, p *sayso.Presentation) []string {
	var members map[string]any
	if p == nil || p.Type != sayso.PresentDiff || jcs.Unmarshal(args, &members) != nil {
		return nil
	}
	before, after := sides(p.Content)
	var names []string
	for _, name := range sortedKeys(members) {
		text, isText := members[name].(string)
		path := slices.Contains(pathArgs, name) && p.Metadata["path"] == text
		whole := "\n" + strings.TrimSuffix(text, "\n") + "\n"
		shown := slices.Contains(textArgs, name) && (strings.Contains(before, whole) || strings.Contains(after, whole))
		if isText && (path || shown) {
			names = append(names, name)
		}
	}
	return names
}

// sides are what a difference shows of the text before and after it. Its parts
// are kept apart, so that no text seems to run from one into the next.
func sides(diff string) (before, after string) {
	var b, a strings.Builder
	head := true
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			head = false
			b.WriteString("\x00\n")
			a.WriteString("\x00\n")
		case head || line == "":
		case line[0] == '-':
			b.WriteString(line[1:] + "\n")
		case line[0] == '+':
			a.WriteString(line[1:] + "\n")
		case line[0] == ' ':
			b.WriteString(line[1:] + "\n")
			a.WriteString(line[1:] + "\n")
		}
	}
	return b.String(), a.String()
}
