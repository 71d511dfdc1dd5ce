package shell

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// cell is one byte of a word on its way through the expansions, or a hole: a
// part that is known only when the word runs.
type cell struct {
	b      byte
	quoted bool
	hole   Dynamic // 0 for a byte
	at     int32   // where it stands in the line
}

// word is a Word with what is needed to read it as a text of its own.
type word struct {
	Word
	at    []int32 // where each byte of Text stands in the line; nil if one behind the other from Span.From
	holes []int   // places in Text where unknown parts were
	// vanishes says that the word may expand to no word at all.
	vanishes bool
}

// words expands the words of a command as far as that can be done before it
// runs. A list in braces becomes the words that it stands for.
func (r *reading) words(ws []*syntax.Word) []word {
	out := r.room.words.spare(len(ws))
	for _, w := range ws {
		out = r.appendWord(out, w)
	}
	return r.room.words.take(out)
}

func (r *reading) appendWord(out []word, w *syntax.Word) []word {
	if plain, ok := r.plainWord(w); ok {
		return append(out, plain)
	}
	span := r.span(w)
	cells := r.flatten(r.room.cells[:0], w.Parts, "")
	r.room.cells = cells
	list, why := braces(cells)
	if len(list) == 1 {
		return append(out, r.finish(list[0], span, why))
	}
	for _, cells := range list {
		out = append(out, r.finish(cells, span, why))
	}
	return out
}

// value expands the value of an assignment or the target of a body, where no
// braces are expanded.
func (r *reading) value(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	if plain, ok := r.plainWord(w); ok {
		return plain
	}
	cells := r.flatten(r.room.cells[:0], w.Parts, "")
	r.room.cells = cells
	return r.finish(cells, r.span(w), 0)
}

// plainWord is the short way for a word without quotes or anything to expand.
func (r *reading) plainWord(w *syntax.Word) (word, bool) {
	if len(w.Parts) != 1 {
		return word{}, false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || !literal(lit.Value) || len(lit.Value) != int(lit.ValueEnd.Offset()-lit.ValuePos.Offset()) {
		return word{}, false
	}
	out := word{Word: Word{Text: r.stands.original(lit.Value), Fixed: len(lit.Value), Span: r.span(lit)}}
	out.at = r.origin.places(int(lit.ValuePos.Offset()), len(lit.Value))
	if len(r.masks) > 0 {
		if m := r.unmasked(int(lit.ValuePos.Offset())); m != "" {
			out.Text = m
		}
	}
	return out, true
}

// literal reports whether no byte of an unquoted text means anything but
// itself.
func literal(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return false
		case c == '\\' || c == '*' || c == '?' || c == '[' || c == '{' || c == '~':
			return false
		}
	}
	return true
}

// What a backslash can quote between double quotes, and in the body of a
// here-document.
const (
	inDouble = "$`\"\\\n"
	inBody   = "$`\\\n"
)

// flatten appends the parts of a word. If they stand in quotes, escapes are the
// bytes that a backslash can quote there.
func (r *reading) flatten(cells []cell, parts []syntax.WordPart, escapes string) []cell {
	quoted := escapes != ""
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			cells = r.flattenLit(cells, p, escapes)
		case *syntax.SglQuoted:
			cells = r.flattenSingle(cells, p)
		case *syntax.DblQuoted:
			if p.Dollar { // the message catalogue decides
				cells = append(cells, r.hole(p, Variable, true))
			}
			cells = r.flatten(cells, p.Parts, inDouble)
		case *syntax.ExtGlob:
			cells = r.flattenPattern(cells, p)
		case *syntax.ParamExp:
			cells = append(cells, r.hole(p, Variable, quoted))
		case *syntax.CmdSubst:
			cells = append(cells, r.hole(p, Substitution, quoted))
		case *syntax.ArithmExp:
			cells = append(cells, r.hole(p, Arithmetic, quoted))
		case *syntax.ProcSubst:
			cells = append(cells, r.hole(p, Process, quoted))
		default:
			cells = append(cells, r.hole(p, Variable, quoted))
		}
	}
	return cells
}

func (r *reading) hole(n syntax.Node, why Dynamic, quoted bool) cell {
	return cell{hole: why, quoted: quoted, at: r.origin.place(int(n.Pos().Offset()))}
}

// flattenLit appends a literal without the backslashes that quote something.
func (r *reading) flattenLit(cells []cell, lit *syntax.Lit, escapes string) []cell {
	v, quoted := lit.Value, escapes != ""
	places := r.follow(v, int(lit.ValuePos.Offset()), int(lit.ValueEnd.Offset()))
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' || i+1 == len(v) || quoted && strings.IndexByte(escapes, v[i+1]) < 0 {
			cells = append(cells, cell{b: v[i], quoted: quoted || v[i] == '\\', at: places.at(i)})
			continue
		}
		if i++; v[i] != '\n' {
			cells = append(cells, cell{b: v[i], quoted: true, at: places.at(i)})
		}
	}
	return cells
}

func (r *reading) flattenSingle(cells []cell, q *syntax.SglQuoted) []cell {
	from := int(q.Left.Offset()) + 1
	v := q.Value
	if q.Dollar {
		return r.flattenANSI(cells, v, from+1)
	}
	places := r.follow(v, from, int(q.Right.Offset()))
	for i := 0; i < len(v); i++ {
		cells = append(cells, cell{b: v[i], quoted: true, at: places.at(i)})
	}
	return cells
}

// flattenPattern appends an extended glob as it is written. Bash reads it as
// something else unless extglob is on, which is a problem of its own.
func (r *reading) flattenPattern(cells []cell, p *syntax.ExtGlob) []cell {
	from, to := int(p.Pos().Offset()), int(p.End().Offset())
	cells = append(cells, cell{b: '*', at: r.origin.place(from)})
	for i := from; i < min(to, len(r.text)); i++ {
		cells = append(cells, cell{b: r.text[i], quoted: true, at: r.origin.place(i)})
	}
	return cells
}

// finish makes a word of cells.
func (r *reading) finish(cells []cell, span Span, why Dynamic) word {
	w := word{Word: Word{Span: span, Dynamic: why | globs(cells) | tildes(cells)}}
	var text strings.Builder
	text.Grow(len(cells))
	w.at = make([]int32, 0, len(cells))
	for _, c := range cells {
		if c.hole != 0 {
			w.holes = append(w.holes, text.Len())
			w.Dynamic |= c.hole
			continue
		}
		text.WriteByte(c.b)
		w.at = append(w.at, c.at)
	}
	w.Text = r.stands.original(text.String())
	w.Fixed = len(w.Text)
	if len(w.holes) > 0 {
		w.Fixed = w.holes[0]
		w.vanishes = w.Text == ""
	}
	r.odd(cells, span)
	r.keeps(w)
	return w
}

// odd finds blanks outside of quotes that separate nothing.
func (r *reading) odd(cells []cell, span Span) {
	for i := 0; i < len(cells); i++ {
		if cells[i].b < utf8.RuneSelf || cells[i].quoted {
			continue
		}
		var buf [utf8.UTFMax]byte
		n := 0
		for n < len(buf) && i+n < len(cells) {
			buf[n] = cells[i+n].b
			n++
		}
		c, size := utf8.DecodeRune(buf[:n])
		if blank(c) {
			r.problem(span, Character, "a blank that separates nothing")
			return
		}
		i += size - 1
	}
}

// globs reports whether there is a pattern among the cells.
func globs(cells []cell) Dynamic {
	closes := true // a bracket may, as far as is known
	for i, c := range cells {
		if c.quoted || c.hole != 0 {
			continue
		}
		switch c.b {
		case '*', '?':
			return Glob
		case '[':
			if !closes {
				continue
			}
			for _, d := range cells[i+1:] {
				if d.b == ']' {
					return Glob
				}
			}
			closes = false // nor can those behind it
		}
	}
	return 0
}

// tildes reports whether a tilde stands where it is expanded: at the start, or
// in what looks like an assignment.
func tildes(cells []cell) Dynamic {
	assigns := false
	for i, c := range cells {
		if c.quoted || c.hole != 0 {
			continue
		}
		switch {
		case c.b == '=':
			assigns = true
		case c.b == '~' && i == 0:
			return Tilde
		case c.b == '~' && assigns && !cells[i-1].quoted && (cells[i-1].b == '=' || cells[i-1].b == ':'):
			return Tilde
		}
	}
	return 0
}
