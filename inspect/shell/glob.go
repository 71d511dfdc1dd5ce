package shell

import (
	"slices"
	"strings"
	"unicode"
)

// maxGlob bounds how much of two globs is compared; longer ones may meet.
const maxGlob = 1 << 16

// atom is a part of a glob: one character, or any number of them.
type atom struct {
	one  rune            // the character, or one of those that fit; nothing if many is true
	fits func(rune) bool // the characters that may stand here
	many bool            // any number of characters, also none
	deep bool            // of these, also slashes
}

// Globs reports whether the word may stand for names of files that nobody knows
// yet.
func (w Word) Globs() bool { return w.Dynamic&Glob != 0 }

// MayBe reports whether one of the names that a glob stands for may be a word of
// a pattern, in which a star stands for anything. When in doubt it may: quotes
// are gone from the text, so brackets are taken for as much as they can be.
func (w Word) MayBe(pattern string) bool {
	return w.Globs() && stars(pattern, true).meets(atoms(w.Text))
}

// glob is a glob, or a word of a pattern, taken apart.
type glob []atom

// stars is a pattern of a rule, in which only the star is special.
func stars(pattern string, special bool) (g glob) {
	for _, r := range pattern {
		g = append(g, atom{one: r, many: special && r == '*', deep: true})
	}
	return g
}

func anyRune(r rune) bool { return r != '/' }

// atoms takes a glob apart.
func atoms(text string) (g glob) {
	rs := []rune(text)
	for i := 0; i < len(rs); i++ {
		switch r := rs[i]; {
		case strings.ContainsRune("?*+@!", r) && i+1 < len(rs) && rs[i+1] == '(': // extglob
			return append(g, atom{many: true, deep: true})
		case r == '*':
			deep := i+1 < len(rs) && rs[i+1] == '*'
			g = append(g, atom{many: true, deep: deep})
		case r == '?':
			g = append(g, atom{one: 'a', fits: anyRune})
		case r == '[' && slices.Contains(rs[i:], ']'):
			a, n := bracket(rs[i:])
			g, i = append(g, a), i+n-1
		default:
			g = append(g, atom{one: r})
		}
	}
	return g
}

// bracket reads [...] and returns how many characters it took. What has several
// ends, or a class in it, is anything up to the last end.
func bracket(rs []rune) (atom, int) {
	end := slices.Index(rs, ']')
	if last := len(rs) - 1 - slices.Index(reversed(rs), ']'); last != end || slices.Contains(rs[1:end], '[') || end == 1 {
		return atom{many: true, deep: true}, last + 1
	}
	set := rs[1:end]
	if set[0] == '!' || set[0] == '^' {
		return atom{one: 'a', fits: anyRune}, end + 1
	}
	return atom{one: set[0], fits: func(r rune) bool {
		return inSet(set, unicode.ToLower(r)) || inSet(set, unicode.ToUpper(r))
	}}, end + 1
}

func reversed(rs []rune) []rune {
	rs = slices.Clone(rs)
	slices.Reverse(rs)
	return rs
}

func inSet(set []rune, r rune) bool {
	for i, c := range set {
		if c == r || i+2 < len(set) && set[i+1] == '-' && c <= r && r <= set[i+2] {
			return true
		}
	}
	return false
}

// takes reports whether some character may stand at both places.
func (a atom) takes(b atom) bool {
	switch {
	case a.many || a.fits != nil && (b.many || b.fits != nil):
		return a.deep || b.many || b.fits != nil || b.one != '/'
	case a.fits != nil:
		return a.fits(b.one)
	case b.many || b.fits != nil:
		return b.takes(a)
	}
	return a.one == b.one
}

// meets reports whether some word fits both.
func (g glob) meets(h glob) bool {
	if len(g)*len(h) > maxGlob {
		return true
	}
	next, row := make([]bool, len(h)+1), make([]bool, len(h)+1)
	for i := len(g); i >= 0; i-- {
		for j := len(h); j >= 0; j-- {
			switch {
			case i == len(g) && j == len(h):
				row[j] = true
			case i == len(g):
				row[j] = h[j].many && row[j+1]
			case j == len(h):
				row[j] = g[i].many && next[j]
			default:
				row[j] = g[i].many && next[j] || h[j].many && row[j+1] ||
					g[i].takes(h[j]) && (g[i].many && row[j+1] || h[j].many && next[j] || !g[i].many && !h[j].many && next[j+1])
			}
		}
		row, next = next, row
	}
	return next[0]
}

// Holding returns words that a glob may stand for and that hold a text: the text
// alone if that may be, else the shortest with it at some places. What begins
// with a hyphen is only taken for an option if the glob can be that and no more,
// or begins with the hyphen itself. Case is that of the text.
func (w Word) Holding(text string) (out []string) {
	if !w.Globs() || text == "" {
		return nil
	}
	lower := w
	lower.Text = strings.ToLower(w.Text)
	as, g, want := atoms(w.Text), atoms(lower.Text), stars(strings.ToLower(text), false)
	switch {
	case want.meets(g):
		return []string{text}
	case text[0] == '-' && w.Text[0] != '-' || !lower.MayBe("*"+strings.ToLower(text)+"*"):
		return nil
	}
	for i := range g {
		for j := i + 1; j <= len(g) && len(out) < maxHolding && g[i].takes(want[0]); j++ {
			if want.meets(g[i:j]) {
				out = append(out, as[:i].shortest()+text+as[j:].shortest())
				break
			}
		}
	}
	return out
}

// maxHolding is how many places of a text in a glob are looked at.
const maxHolding = 4

// shortest is a word that fits.
func (g glob) shortest() string {
	var b strings.Builder
	for _, a := range g {
		if !a.many {
			b.WriteRune(a.one)
		}
	}
	return b.String()
}
