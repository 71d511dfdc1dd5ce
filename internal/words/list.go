package words

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/patch"
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
func Summary(r sayso.Request) string { return summary(r, 60, 40) }

// Row is Summary in at most so many characters. What the call is about is shown to
// its end, and cut in front of that or in its middle.
func Row(r sayso.Request, most int) string {
	text := summary(r, most, 0)
	if beside := most - utf8.RuneCountInString(text) - len("  ()"); beside >= 10 {
		return summary(r, most, beside)
	}
	return text
}

func summary(r sayso.Request, most, beside int) string {
	text := AtMost(most, values(r, most))
	switch {
	case r.Description == "" || r.Description == text:
		return text
	case text == "":
		return AtMost(most, Safe(r.Description))
	case beside <= 0:
		return text
	}
	return text + "  (" + AtMost(beside, Safe(r.Description)) + ")"
}

// values are the arguments one after the other: for the usual call of one
// argument, its text alone. Where there is too little room for all of them, the
// first are shown, and a sign that there are more.
func values(r sayso.Request, most int) string {
	var members map[string]sayso.Args // a number stays as it is written
	if len(r.Preview) == 0 || jcs.Unmarshal(r.Preview, &members) != nil {
		return AtMost(most, Safe(string(r.Preview)))
	}
	if text, ok := patchIn(r, members); ok {
		return AtMost(most, text)
	}
	out, names := "", operandsFirst(members)
	for i, name := range names {
		if i > 0 {
			out += " "
		}
		room := most - utf8.RuneCountInString(out)
		if i < len(names)-1 && room > 10 {
			room -= 2 // for the sign
		}
		if room < 2 {
			return out + "…"
		}
		out += value(r, name, members[name], len(names) == 1, room)
	}
	return out
}

// patchIn is what a patch does with which files, for a tool that takes one. The
// text of a patch begins alike for all.
func patchIn(r sayso.Request, members map[string]sayso.Args) (string, bool) {
	tool := sayso.Call{Host: r.Host, Server: r.Server, Tool: cmp.Or(r.HostTool, r.Tool)}.Known()
	var text string
	if !tool.Patch || jcs.Unmarshal(members[tool.Primary], &text) != nil {
		return "", false
	}
	var did []string
	for _, line := range patch.Heads(text) {
		did = append(did, Safe(line))
	}
	return strings.Join(did, ", "), len(did) > 0
}

// value is one argument. The one that a call is about needs no name.
func value(r sayso.Request, name string, arg sayso.Args, alone bool, most int) string {
	var text string
	switch isText := jcs.Unmarshal(arg, &text) == nil && string(arg) != "null"; {
	case !isText:
		return AtMost(most, Safe(name+"="+string(arg)))
	case alone || slices.Contains(operands, name):
		return operand(r, name, text, most)
	}
	return AtMost(most, Safe(name+"="+text))
}

// operand is what a call is about. Of a file its end is what tells, seen from
// where the call would run; of a command its beginning and its end.
func operand(r sayso.Request, name, text string, most int) string {
	switch {
	case slices.Contains(pathArgs, name):
		if inside, ok := strings.CutPrefix(text, r.Cwd+"/"); ok && r.Cwd != "" && inside != "" {
			text = inside
		}
		return endOf(most, Safe(text))
	case name == "command":
		return aroundMiddle(most, Safe(text))
	}
	return AtMost(most, Safe(text))
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
