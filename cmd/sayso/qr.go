package main

import (
	"strings"

	"rsc.io/qr"
)

// quiet is how many modules of light surround a code, without which cameras do not
// find it. Four are the rule and two do; so a link of 100 bytes fits 24 lines.
const quiet = 2

// qrLines draws a text as a QR code so many columns wide, two modules in a
// character. With colour it
// is dark on light in every terminal; without, the terminal is taken for a dark
// one, and a light one shows it inverted, which phones read too.
func qrLines(text string, colour bool) (lines []string, columns int, err error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil, 0, err
	}
	for y := -quiet; y < code.Size+quiet; y += 2 {
		var b strings.Builder
		for x := -quiet; x < code.Size+quiet; x++ {
			b.WriteString(halves(code.Black(x, y) == colour, code.Black(x, y+1) == colour))
		}
		line := b.String()
		if colour {
			line = "\x1b[30;47m" + line + "\x1b[0m"
		}
		lines = append(lines, line)
	}
	return lines, code.Size + 2*quiet, nil
}

// halves is the character whose upper and lower half are inked or not.
func halves(upper, lower bool) string {
	switch {
	case upper && lower:
		return "█"
	case upper:
		return "▀"
	case lower:
		return "▄"
	}
	return " "
}
