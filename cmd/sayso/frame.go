package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
	"github.com/sayso-dev/sayso/present/highlight"
)

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
	return min(n, unbroken)
}

// unbroken is how wide calls are drawn for what is no terminal: whoever searches a
// file for a path finds it whole. It is no more than [width] says of any terminal.
const unbroken = 200

// style is how calls are drawn on w.
func (a *app) style(w io.Writer) present.Style {
	return present.Style{
		Columns: cmp.Or(width(w), unbroken), Color: isTerminal(w) && a.getenv("NO_COLOR") == "", Highlight: highlight.Code,
	}
}

// safe is text as a terminal may show it, in one line.
func safe(s string) string { return words.Safe(s) }

// draw writes a request with everything that may be shown of it, at most so
// many lines; zero for all. It reports whether all of it was drawn.
func (a *app) draw(w io.Writer, s shownRequest, limit int) (whole bool) {
	style := a.style(w)
	style.Lines = limit
	text, whole := present.Draw(words.View(s.Request, s.Content), style)
	fmt.Fprint(w, text)
	if !whole {
		fmt.Fprintf(w, "… all of it: sayso show %s\n", safe(s.Request.ShortID))
	}
	return whole
}

// drawBox draws a request in a frame, for a question about it.
func (a *app) drawBox(s shownRequest, limit int) (whole bool) {
	style := a.style(a.err)
	style.Lines = limit
	text, whole := present.Box(words.View(s.Request, s.Content), style)
	fmt.Fprint(a.err, text)
	if !whole {
		fmt.Fprintf(a.err, "… all of it: v, or sayso show %s\n", safe(s.Request.ShortID))
	}
	return whole
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
