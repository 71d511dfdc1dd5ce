package redact

import "sort"

// word is one word of a command after quotes are taken off.
type word struct {
	text    string
	h       hide
	at      int     // where it begins in the text of h
	places  []place // per byte of text; nil if text stands as it is
	dynamic []part  // parts of text that are substitutions
	quotes  []part  // parts of text that stood in quotes
	quoted  bool    // some of it was quoted, or it is an argument by itself
}

// place is where a byte of a word stands in the line.
type place struct{ from, to int32 }

// part is a part of a word, and where it stands in the line, quotes included.
type part struct{ from, to, lineFrom, lineTo int }

// hide hides a part of the word where it stands in the line, less the
// substitutions in it.
func (w *word) hide(from, to, size int, key string) {
	if size == taken {
		w.takesStatic(from, to)
		return
	}
	at := from
	for _, d := range w.dynamicIn(from, to) {
		w.hideStatic(at, d.from, d.from-at, key)
		at = d.to
	}
	if at == from {
		w.hideStatic(from, to, size, key)
		return
	}
	w.hideStatic(at, to, to-at, key)
}

func (w *word) hideStatic(from, to, size int, key string) {
	if from >= to {
		return
	}
	if w.places == nil {
		w.h(w.at+from, w.at+to, size, key)
		return
	}
	lineFrom, lineTo := int(w.places[from].from), int(w.places[to-1].to)
	first, last := w.quoteAt(from), w.quoteAt(to-1)
	if first != last {
		if first >= 0 {
			lineFrom = w.quotes[first].lineFrom
		}
		if last >= 0 {
			lineTo = w.quotes[last].lineTo
		}
	}
	w.h(w.at+lineFrom, w.at+lineTo, size, key)
}

// from returns a hide for the rest of the word from a byte on.
func (w *word) from(off int) hide {
	if off == 0 {
		return w.hide
	}
	return shift(w.hide, off)
}

// quoteAt returns the quotes that the byte at i stood in, or -1.
func (w *word) quoteAt(i int) int {
	n := firstPart(w.quotes, i)
	if n < len(w.quotes) && i >= w.quotes[n].from {
		return n
	}
	return -1
}

// firstPart returns the index of the first part that ends after i.
func firstPart(parts []part, i int) int {
	return sort.Search(len(parts), func(n int) bool { return parts[n].to > i })
}

// dynamicIn returns the substitutions that stand in text[from:to].
func (w *word) dynamicIn(from, to int) []part {
	i := firstPart(w.dynamic, from)
	j := i
	for j < len(w.dynamic) && w.dynamic[j].from < to {
		j++
	}
	return w.dynamic[i:j]
}

// secret hides text[from:to] less its substitutions, which stay visible.
func (w *word) secret(f *finder, from, to int, key string) {
	if to <= from {
		return
	}
	w.takes(f, from, to)
	at := from
	for _, d := range w.dynamicIn(from, to) {
		f.found(w.text, at, max(at, d.from), key, w.hide)
		at = d.to
	}
	f.found(w.text, at, max(at, to), key, w.hide)
}

// takes notes that a program takes text[from:to] as a secret, less what runs in it.
func (w *word) takes(f *finder, from, to int) {
	if f.line == nil {
		return
	}
	at := from
	for _, d := range w.dynamicIn(from, to) {
		if w.text[d.from:d.to] != "$" { // a reference
			continue
		}
		w.takesStatic(at, d.from)
		at = d.to
	}
	w.takesStatic(at, to)
}

func (w *word) takesStatic(from, to int) {
	switch {
	case from >= to:
	case w.places == nil:
		w.h(w.at+from, w.at+to, taken, "")
	default:
		w.h(w.at+int(w.places[from].from), w.at+int(w.places[to-1].to), taken, "")
	}
}

func isHidden(v string) bool { return v == "" || markerEnd(v) == len(v) }
