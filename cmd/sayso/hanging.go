package main

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// leastRoom is how many columns a text wants beside what it is about. Where there
// are fewer, the terminal breaks the line as it does.
const leastRoom = 20

// say prints what a text is about, and the text. On a terminal that is too narrow
// for both, the text goes on under itself.
func (a *app) say(head, text string) {
	a.print("%s", hanging(width(a.out), ansi.StringWidth(head), head, safe(printable(text))))
}

// hanging is a text behind what it is about, in lines of at most so many columns;
// zero for one line. It goes on below at this edge.
func hanging(columns, edge int, head, text string) string {
	if columns-edge < leastRoom {
		return head + text
	}
	var lines []string
	line, begun := head, false
	for _, word := range whole(text) {
		switch {
		case ansi.StringWidth(line)+1+ansi.StringWidth(word) > columns && strings.TrimSpace(line) != "":
			lines, line = append(lines, strings.TrimRight(line, " ")), strings.Repeat(" ", edge)+word
		case begun:
			line += " " + word
		default:
			line += word
		}
		begun = true
	}
	return strings.Join(append(lines, line), "\n")
}

// whole are the words of a text. What is to be typed stays whole, so that it can
// be copied: what stands between backquotes, and the rest behind "type:".
func whole(text string) []string {
	words := strings.Split(text, " ")
	for i := 0; i < len(words); i++ {
		end := i + 1
		switch {
		case words[i] == "type:":
			end = len(words)
		case strings.Count(words[i], "`")%2 == 1:
			if n := slices.IndexFunc(words[end:], func(w string) bool { return strings.Count(w, "`")%2 == 1 }); n >= 0 {
				end += n + 1
			}
		}
		words = slices.Replace(words, i, end, strings.Join(words[i:end], " "))
	}
	return words
}
