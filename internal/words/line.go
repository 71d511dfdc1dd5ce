package words

import (
	"fmt"
	"strings"
	"time"

	"github.com/sayso-dev/sayso/present"
)

// Safe is text as a terminal may show it, in one line.
func Safe(s string) string {
	text, _ := present.Safe(s)
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text)
}

// AtMost is the beginning of a text.
func AtMost(n int, text string) string {
	if runes := []rune(text); len(runes) > max(n, 1) {
		return string(runes[:max(n, 1)-1]) + "…"
	}
	return text
}

// endOf is the end of a text that is too long.
func endOf(n int, text string) string {
	if runes := []rune(text); len(runes) > n && n > 0 {
		return "…" + string(runes[len(runes)-n+1:])
	}
	return text
}

// aroundMiddle is the beginning and the end of a text that is too long.
func aroundMiddle(n int, text string) string {
	runes := []rune(text)
	if len(runes) <= n || n < 3 {
		return AtMost(n, text)
	}
	head := n * 3 / 5
	return string(runes[:head]) + "…" + string(runes[len(runes)-(n-head-1):])
}

// Counted is a number of things.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

// Span is a time in words that fit a column.
func Span(d time.Duration) string {
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
