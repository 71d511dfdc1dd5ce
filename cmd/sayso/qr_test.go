package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"rsc.io/qr"
)

// modules reads a drawing back: which modules are dark.
func modules(t *testing.T, lines []string, colour bool) (dark [][]bool) {
	t.Helper()
	for _, line := range lines {
		if colour {
			inner, light := strings.CutPrefix(line, "\x1b[30;47m")
			inner, ends := strings.CutSuffix(inner, "\x1b[0m")
			if !light || !ends {
				t.Fatalf("a line is not dark on light by itself: %q", line)
			}
			line = inner
		}
		var upper, lower []bool
		for _, r := range line {
			ink := map[rune][2]bool{' ': {}, '▀': {true, false}, '▄': {false, true}, '█': {true, true}}
			in, known := ink[r]
			if !known {
				t.Fatalf("%q in a code", r)
			}
			upper, lower = append(upper, in[0] == colour), append(lower, in[1] == colour)
		}
		dark = append(dark, upper, lower)
	}
	return dark
}

func TestQR_drawsEveryModule(t *testing.T) {
	link := "https://sayso.example.org:7117/#ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	for _, colour := range []bool{true, false} {
		lines, columns, err := qrLines(link, colour)
		if err != nil {
			t.Fatal(err)
		}
		drawn := modules(t, lines, colour)
		for y, row := range drawn {
			for x, got := range row {
				if want := code.Black(x-quiet, y-quiet); got != want {
					t.Fatalf("colour %v, module %d,%d: dark %v, want %v", colour, x, y, got, want)
				}
			}
		}
		if len(drawn) < code.Size+2*quiet || len(drawn[0]) != columns {
			t.Errorf("colour %v: %d × %d modules of %d", colour, len(drawn), len(drawn[0]), code.Size)
		}
	}
}

// The link, the code and what is said of it fit the smallest terminal there is.
func TestQR_fits(t *testing.T) {
	link := "https://" + strings.Repeat("x", 70) + "/#" + strings.Repeat("A", 26)
	lines, columns, err := qrLines(link, false)
	if err != nil {
		t.Fatal(err)
	}
	if n := utf8.RuneCountInString(lines[0]); n != columns || n > 80 || len(lines) > 21 {
		t.Errorf("%d bytes take %d × %d", len(link), n, len(lines))
	}
	if _, _, err := qrLines(strings.Repeat("x", 3000), false); err == nil {
		t.Error("what does not fit is drawn")
	}
}
