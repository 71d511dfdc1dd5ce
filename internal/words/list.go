package words

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Tool is a tool as a list names it, that of a server with the server.
func Tool(r sayso.Request) string {
	if r.Server == "" {
		return Safe(r.Tool)
	}
	return Safe(r.Server) + " › " + Safe(r.Tool)
}

// Left is how long a request may still wait.
func Left(r sayso.Request) string {
	switch {
	case !r.State.Open():
		return "-"
	case r.RemainingS == nil:
		return "for ever"
	}
	return Span(time.Duration(*r.RemainingS * float64(time.Second)))
}

// Summary is a request in a few words, for a list: what the call is, and beside it what
// it is called. Words about a call never stand in its place.
func Summary(r sayso.Request) string {
	text := AtMost(60, Safe(values(r.Preview)))
	switch {
	case r.Description == "" || r.Description == text:
		return text
	case text == "":
		return AtMost(60, Safe(r.Description))
	}
	return text + "  (" + AtMost(40, Safe(r.Description)) + ")"
}

// values are the arguments one after the other: for the usual call of one
// argument, its text alone.
func values(args sayso.Args) string {
	var members map[string]sayso.Args // a number stays as it is written
	if len(args) == 0 || jcs.Unmarshal(args, &members) != nil {
		return string(args)
	}
	var parts []string
	for _, name := range operandsFirst(members) {
		var text string
		isText := jcs.Unmarshal(members[name], &text) == nil && string(members[name]) != "null"
		switch {
		case isText && len(members) == 1:
			return text
		case isText && slices.Contains(operands, name):
			parts = append(parts, text)
		case isText:
			parts = append(parts, name+"="+text)
		default:
			parts = append(parts, name+"="+string(members[name]))
		}
	}
	return strings.Join(parts, " ")
}

// operands are the arguments that a call is about; they need no name.
var operands = []string{"command", "path", "file_path", "notebook_path", "url"}

func operandsFirst(members map[string]sayso.Args) []string {
	names := slices.Sorted(maps.Keys(members))
	slices.SortStableFunc(names, func(a, b string) int {
		switch x, y := slices.Contains(operands, a), slices.Contains(operands, b); {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return 0
	})
	return names
}
