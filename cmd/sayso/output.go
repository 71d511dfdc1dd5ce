package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// printJSON prints one JSON value over several lines.
func (a *app) printJSON(v any) error {
	text, err := jcs.MarshalIndent(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s\n", text)
	return err
}

// printLine prints one JSON value in one line.
func (a *app) printLine(v any) error {
	text, err := jcs.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s\n", text)
	return err
}

// print writes lines of the answer.
func (a *app) print(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

// table prints rows in columns.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	return t.Flush()
}

// span is a time in words that fit a column.
func span(d time.Duration) string {
	if d >= 10*time.Minute {
		d = d.Round(time.Minute)
	}
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d >= 10*time.Minute && d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

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
