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

// draw writes a request with everything that may be shown of it, at most so
// many lines; zero for all. It reports whether all of it was drawn.
func (a *app) draw(w io.Writer, s shownRequest, limit int) (whole bool) {
	drawn := present.Terminal
	if isTerminal(w) && a.getenv("NO_COLOR") == "" {
		drawn = present.Colored
	}
	text := strings.TrimSuffix(drawn(view(s), width(w)), "\n")
	lines := strings.Split(text, "\n")
	if limit <= 0 || len(lines) <= limit {
		fmt.Fprintf(w, "%s\n", text)
		return true
	}
	fmt.Fprintf(w, "%s\n… %d more lines: sayso show %s\n", strings.Join(lines[:limit], "\n"), len(lines)-limit, s.Request.ShortID)
	return false
}

// view is a request as a terminal shows it.
func view(s shownRequest) present.View {
	r := s.Request
	v := present.View{
		Title: r.ShortID + " " + standingOf(r), Tool: r.Tool, Server: r.Server, Host: r.Host, Caller: r.Caller, Session: r.SessionID,
		Cwd: r.Cwd, Risk: string(r.Risk), Danger: dangerWords(r.Danger), Why: because(r), Description: r.Description, Said: r.Said,
		Preview: s.Content.Args, Presentation: s.Content.Presentation, Warnings: r.Warnings, Redactions: r.Redactions,
	}
	if r.HostTool != "" && r.HostTool != r.Tool {
		v.Tool += " (" + r.HostTool + ")"
	}
	if len(v.Preview) == 0 {
		v.Preview = r.Preview
	}
	return v
}

// standingOf is where a request stands, for its title.
func standingOf(r sayso.Request) string {
	switch {
	case !r.State.Open():
		return "was " + string(r.State)
	case r.RemainingS == nil:
		return "waits for an answer"
	}
	return "waits for an answer, " + left(r) + " left"
}

// because says why a request is asked, and where that stands.
func because(r sayso.Request) string {
	why := string(r.Cause)
	if r.Rule != "" {
		why += " " + quote(r.Rule)
	}
	if r.File != "" {
		why += fmt.Sprintf(" (%s:%d)", r.File, r.Line)
	}
	return why
}

func dangerWords(list []sayso.Danger) []string {
	var words []string
	for _, d := range list {
		words = append(words, strings.ReplaceAll(string(d), "_", " "))
	}
	return words
}

// what is a request in a few words, for a list.
func what(r sayso.Request) string {
	const most = 60
	text := safe(r.Description)
	if text == "" {
		text = safe(values(r.Preview))
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
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
	for _, name := range sortedKeys(members) {
		text, isText := members[name].(string)
		switch {
		case isText && len(members) == 1:
			return text
		case isText:
			parts = append(parts, name+"="+text)
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", name, members[name]))
		}
	}
	return strings.Join(parts, " ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
