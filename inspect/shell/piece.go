package shell

// piece is the part of a word that was read: a range of the text, as long as
// nothing was left out of the middle of it, and a copy from then on.
type piece struct {
	from, to int
	copied   bool
	buf      []byte
}

// clear empties the piece.
func (p *piece) clear() { p.from, p.to, p.copied = 0, 0, false }

// add appends a range of the text.
func (p *piece) add(text string, from, to int) {
	switch {
	case p.copied:
		p.buf = append(p.buf, text[from:to]...)
	case p.from == p.to:
		p.from, p.to = from, to
	case p.to == from:
		p.to = to
	case from < to:
		p.write(text, text[from:to])
	}
}

// write appends what does not stand in the text.
func (p *piece) write(text, out string) {
	if !p.copied {
		p.copied = true
		p.buf = append(p.buf[:0], text[p.from:p.to]...)
	}
	p.buf = append(p.buf, out...)
}

// in is the piece as a string.
func (p *piece) in(text string) string {
	if p.copied {
		return string(p.buf)
	}
	return text[p.from:p.to]
}
