package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
	"github.com/sayso-dev/sayso/present/highlight"
)

// safe is text as a terminal may show it, in one line.
func safe(s string) string {
	text, _ := present.Safe(s)
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is that of the terminal; zero where there is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return min(n, 200)
}

// style is how calls are drawn on w.
func (a *app) style(w io.Writer) present.Style {
	return present.Style{
		Columns: width(w), Color: isTerminal(w) && a.getenv("NO_COLOR") == "", Highlight: highlight.Code,
	}
}

// draw writes a request with everything that may be shown of it, at most so
// many lines; zero for all. It reports whether all of it was drawn.
func (a *app) draw(w io.Writer, s shownRequest, limit int) (whole bool) {
	style := a.style(w)
	style.Lines = limit
	text, whole := present.Draw(view(s), style)
	fmt.Fprint(w, text)
	if !whole {
		fmt.Fprintf(w, "… all of it: sayso show %s\n", safe(s.Request.ShortID))
	}
	return whole
}

// view is a request as a terminal shows it.
func view(s shownRequest) present.View {
	r := s.Request
	v := present.View{
		Title: r.ShortID + " " + standingOf(r), Tool: r.Tool, Server: r.Server, From: from(r), Host: r.Host, Session: r.SessionID,
		Cwd: r.Cwd, Risk: string(r.Risk), Danger: dangerWords(r.Danger), Why: because(r), Description: r.Description, Titled: r.Titled, Said: r.Said,
		Preview: s.Content.Args, Presentation: s.Content.Presentation, Warnings: r.Warnings, Redactions: r.Redactions,
	}
	if r.HostTool != "" && r.HostTool != r.Tool {
		v.Tool += " (" + r.HostTool + ")"
	}
	if len(v.Preview) == 0 {
		v.Preview = r.Preview
	} else {
		v.Warnings = ofWhole(r.Warnings)
	}
	if v.Host == v.From {
		v.Host = ""
	}
	v.ShownBy = v.From
	if sameData(v.Preview, v.Presentation) {
		v.Presentation = nil
	}
	v.Drawn = drawnArgs(v.Preview, v.Presentation)
	return v
}

// ofWhole are the warnings about a call of which all arguments are drawn:
// nothing of them is left out.
func ofWhole(warnings []sayso.Warning) []sayso.Warning {
	return slices.DeleteFunc(slices.Clone(warnings), func(w sayso.Warning) bool {
		return w.Kind == sayso.WarnTruncated && (w.Path == "" || w.Path[0] == '/')
	})
}

// standingOf is where a request stands, for its title.
func standingOf(r sayso.Request) string {
	switch {
	case !r.State.Open() && isEdited(r):
		return "was " + string(r.State) + ", with changes"
	case !r.State.Open():
		return "was " + string(r.State)
	}
	text := "waits for an answer"
	if r.RemainingS != nil {
		text += ", " + left(r) + " left"
	}
	if r.State == sayso.StateParked {
		text += "; its agent has stopped waiting"
	}
	return text
}

// isEdited reports whether another call was allowed than was asked for.
func isEdited(r sayso.Request) bool {
	return r.Decision != nil && r.Decision.Allowed() && !r.Decision.Digest.IsZero() && r.Decision.Digest != r.Digest
}

// from is who asks: as they call themselves, or the host that they work in.
func from(r sayso.Request) string {
	for _, name := range []string{r.Caller, r.Host, r.Life.Asker.Principal} {
		if name != "" {
			return name
		}
	}
	return ""
}

// because says why a request is asked, and where that stands.
func because(r sayso.Request) string {
	why, known := causes[r.Cause]
	if !known {
		why = string(r.Cause)
	}
	if r.Rule != "" && r.Cause != sayso.CauseDefault {
		why += " " + quote(r.Rule)
	}
	if r.File != "" {
		why += fmt.Sprintf(", %s:%d", r.File, r.Line)
	}
	return why
}

// causes are the causes of an ask in words.
var causes = map[sayso.Cause]string{
	sayso.CauseRule: "rule", sayso.CauseDefault: "no rule speaks about it",
	sayso.CauseToolRequired: "this tool must be asked about", sayso.CauseToolOptional: "this tool would like to be asked about",
	sayso.CauseNotUnderstood: "it could not be read to its end", sayso.CauseSession: "set for this session", sayso.CauseBuiltin: "built-in rule",
}

func dangerWords(list []sayso.Danger) []string {
	var words []string
	for _, d := range list {
		words = append(words, strings.ReplaceAll(string(d), "_", " "))
	}
	return words
}

// what is a request in a few words, for a list: what the call is, and beside it
// what it is called. Words about a call never stand in its place.
func what(r sayso.Request) string {
	text := atMost(60, safe(values(r.Preview)))
	switch {
	case r.Description == "" || r.Description == text:
		return text
	case text == "":
		return atMost(60, safe(r.Description))
	}
	return text + "  (" + atMost(40, safe(r.Description)) + ")"
}

// atMost is the beginning of a text.
func atMost(n int, text string) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

// values are the arguments one after the other: for the usual call of one
// argument, its text alone.
func values(args sayso.Args) string {
	var members map[string]any
	if len(args) == 0 || jcs.Unmarshal(args, &members) != nil {
		return string(args)
	}
	var parts []string
	for _, name := range operandsFirst(members) {
		text, isText := members[name].(string)
		switch {
		case isText && len(members) == 1:
			return text
		case isText && slices.Contains(operands, name):
			parts = append(parts, text)
		case isText:
			parts = append(parts, name+"="+text)
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", name, members[name]))
		}
	}
	return strings.Join(parts, " ")
}

// operands are the arguments that a call is about; they need no name.
var operands = []string{"command", "path", "file_path", "notebook_path", "url"}

func operandsFirst(members map[string]any) []string {
	names := sortedKeys(members)
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

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
