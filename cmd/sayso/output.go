package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

// printJSON prints one JSON value over several lines.
func (a *app) printJSON(v any) error {
	text, err := jcs.MarshalIndent(v)
	if err != nil {
		return err
	}
	return a.printText(text)
}

// printLine prints one JSON value in one line.
func (a *app) printLine(v any) error {
	text, err := jcs.Marshal(v)
	if err != nil {
		return err
	}
	return a.printText(text)
}

// printText prints JSON. What could make a terminal do or show something else is
// escaped, which changes nothing of what the JSON says.
func (a *app) printText(text []byte) error {
	_, err := fmt.Fprintf(a.out, "%s\n", escaped(text))
	return err
}

// escaped is JSON in which every character that cannot be seen is written as
// an escape. Such characters stand in strings alone.
func escaped(text []byte) []byte {
	var b []byte
	for i, r := range string(text) {
		switch {
		case r < utf8.RuneSelf && r != 0x7f || unicode.IsPrint(r):
			if b != nil {
				b = utf8.AppendRune(b, r)
			}
			continue
		case b == nil:
			b = append(make([]byte, 0, len(text)+64), text[:i]...)
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b = fmt.Appendf(b, `\u%04x`, unit)
		}
	}
	if b == nil {
		return text
	}
	return b
}

// print writes lines of the answer. The format is ours; what is put into it may
// be anybody's and is made safe to look at.
func (a *app) print(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", visible(args)...) }

// visible makes all that is text safe to look at. What is safe stays as it is.
func visible(args []any) []any {
	out := slices.Clone(args)
	for i, v := range out {
		switch v := v.(type) {
		case error, fmt.Stringer:
			out[i], _ = present.Safe(fmt.Sprint(v))
		default:
			if reflect.ValueOf(v).Kind() == reflect.String {
				out[i], _ = present.Safe(fmt.Sprint(v))
			}
		}
	}
	return out
}

// table prints rows in columns, and in each cell what is safe to look at.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = safe(c)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return t.Flush()
}

// fitted prints rows in columns as table does. On a terminal that is too narrow for
// them, what stands behind the first so many columns goes below these.
func (a *app) fitted(first int, rows [][]string) error {
	_, err := io.WriteString(a.out, fitted(width(a.out), first, rows))
	return err
}

func fitted(columns, first int, rows [][]string) string {
	lines := aligned(rows)
	wide := func(line string) bool { return ansi.StringWidth(line) > columns }
	if columns == 0 || !slices.ContainsFunc(lines, wide) {
		return strings.Join(lines, "\n") + "\n"
	}
	heads, rest := make([][]string, len(rows)), make([][]string, len(rows))
	for i, r := range rows {
		heads[i], rest[i] = r[:first], r[first:]
	}
	var b strings.Builder
	below := aligned(rest)
	for i, head := range aligned(heads) {
		fmt.Fprintf(&b, "%s\n%s%s\n", head, edge, below[i])
	}
	return b.String()
}

// edge is where goes on below what has no room beside it.
const edge = "      "

// aligned are the lines of a table.
func aligned(rows [][]string) []string {
	var b strings.Builder
	_ = table(&b, rows) // a builder takes all
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// span is a time in words that fit a column.
func span(d time.Duration) string { return words.Span(d) }

// count is a number of things, as 1 event or 2 events.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// dash stands for nothing in a column.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
