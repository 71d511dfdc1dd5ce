package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso/internal/words"
)

// maxField is how much may be typed into a field, in characters.
const maxField = 2000

// field is one line that is typed.
type field struct {
	text []rune
	at   int
}

func (f *field) String() string { return strings.TrimSpace(string(f.text)) }

func (f *field) set(s string) { f.text = []rune(s); f.at = len(f.text) }

// key takes a key, and reports whether it was one for a field.
func (f *field) key(k tea.KeyPressMsg) bool {
	switch k.Keystroke() {
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.text))
	case "home", "ctrl+a":
		f.at = 0
	case "end", "ctrl+e":
		f.at = len(f.text)
	case "backspace", "ctrl+h":
		f.cut(f.at-1, f.at)
	case "delete":
		f.cut(f.at, f.at+1)
	case "ctrl+u":
		f.cut(0, f.at)
	case "ctrl+k":
		f.cut(f.at, len(f.text))
	case "ctrl+w":
		f.cut(f.word(), f.at)
	default:
		if k.Text == "" {
			return false
		}
		f.insert(k.Text)
	}
	return true
}

// insert puts in what was typed or pasted, in one line.
func (f *field) insert(s string) {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
	add := []rune(s)
	add = add[:min(len(add), maxField-len(f.text))]
	f.text = append(f.text[:f.at:f.at], append(add, f.text[f.at:]...)...)
	f.at += len(add)
}

func (f *field) cut(from, to int) {
	from, to = max(from, 0), min(to, len(f.text))
	if from < to {
		f.text = append(f.text[:from:from], f.text[to:]...)
		f.at = from
	}
}

// word is where the word begins that ends at the cursor.
func (f *field) word() int {
	at := f.at
	for at > 0 && f.text[at-1] == ' ' {
		at--
	}
	for at > 0 && f.text[at-1] != ' ' {
		at--
	}
	return at
}

// typing reports whether letters go into a field, where they answer nothing.
func (m *model) typing() bool {
	switch p := m.panel.(type) {
	case *denying, *slow, *filtering:
		return true
	case *batch:
		return p.slow()
	case *history:
		return p.typing
	case *moding:
		return p.sure != nil
	}
	return false
}

// draw is what of the field fits, with its cursor.
func (f *field) draw(columns int) string {
	from := max(f.at-columns+2, 0)
	before, under, after := string(f.text[from:f.at]), " ", ""
	if f.at < len(f.text) {
		under, after = string(f.text[f.at]), string(f.text[f.at+1:])
	}
	return fit(words.Safe(before)+paint(reverse, words.Safe(under))+words.Safe(after), columns)
}
