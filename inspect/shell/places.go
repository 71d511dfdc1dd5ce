package shell

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// loose are the places in a text where a program may stand, each with the words
// behind it, and a way from each program to its places.
type loose struct {
	places [][]Word
	nodes  []placeNode
	chains map[string]placeChain // by the folded names of programs
}

// placeNode leads from one place of a program to the next; next is 0 for none.
type placeNode struct{ place, next int32 }

// placeChain is the first and the last node of a program.
type placeChain struct{ first, last int32 }

// byProgram sorts places by the names of their programs: by the last part of
// the path and, if there is more of it, by the whole. Words that mean the same as
// others are a place of their own.
func byProgram(places [][]Word) loose {
	l := loose{places: places, nodes: make([]placeNode, 1, len(places)+1), chains: make(map[string]placeChain)}
	other := make(map[string]bool) // programs whose commands may be written otherwise
	for i, words := range places {
		l.place(i, words[0].Text)
		name := base(words[0].Text)
		may, seen := other[name]
		if !seen {
			may = respelled(name)
			other[name] = may
		}
		if !may || !words[0].Literal() {
			continue
		}
		for _, f := range forms(words) {
			if f.sure {
				l.places = append(l.places, f.words)
				l.place(len(l.places)-1, f.words[0].Text)
			}
		}
	}
	return l
}

// place files a place under the name of its program.
func (l *loose) place(at int, program string) {
	name := base(program)
	l.add(at, fold(name))
	if len(name) != len(program) {
		l.add(at, fold(program))
	}
}

func (l *loose) add(place int, name string) {
	at := int32(len(l.nodes))
	l.nodes = append(l.nodes, placeNode{place: int32(place)})
	c, ok := l.chains[name]
	if ok {
		l.nodes[c.last].next = at
	} else {
		c.first = at
	}
	c.last = at
	l.chains[name] = c
}

// named yields the words at the places of a program, in the order of the text.
func (l *loose) named(program string) iter.Seq[[]Word] {
	return func(yield func([]Word) bool) {
		for at := l.chains[fold(program)].first; at != 0; at = l.nodes[at].next {
			if !yield(l.places[l.nodes[at].place]) {
				return
			}
		}
	}
}

// fold makes one name of all that differ in case alone, as [strings.EqualFold]
// compares them.
func fold(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			out := make([]byte, 0, len(name)+utf8.UTFMax)
			for _, r := range name {
				out = utf8.AppendRune(out, foldRune(r))
			}
			return string(out)
		}
	}
	return name
}

// foldRune is the one that stands for all cases of a letter: a small one if it
// is ASCII, else the first.
func foldRune(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if least >= 'A' && least <= 'Z' {
		return least | 0x20
	}
	return least
}
