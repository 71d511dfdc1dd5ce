package present

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Redefined presents what an MCP server says of a tool now beside what is trusted
// of it, made safe for the eye, with what a person should look out for in it.
func Redefined(p sayso.Pin) (sayso.Presentation, []sayso.WarningKind) {
	shown := Diff("definition", unfolded(p.Text), unfolded(p.Other))
	var kinds []sayso.WarningKind
	shown.Content, kinds = Safe(shown.Content)
	return shown, kinds
}

// unfolded is JSON on several lines, for a difference that people can read.
func unfolded(text sayso.Args) string {
	if len(text) == 0 {
		return ""
	}
	out, err := jcs.MarshalIndent(text)
	if err != nil {
		return string(text)
	}
	return string(out) + "\n"
}
