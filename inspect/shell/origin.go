package shell

// origin says where the bytes of a text stand in the line that was inspected.
// A text inside another one, such as the argument of `sh -c`, is spread over it
// by quotes and escapes.
type origin struct {
	from int
	at   []int32 // nil: one behind the other, from from
	to   int     // where the text ends
}

// place is where one byte stands.
func (o origin) place(i int) int32 {
	switch {
	case o.at == nil:
		return int32(o.from + i)
	case i < len(o.at):
		return o.at[i]
	}
	return int32(o.to)
}

// places is where n bytes stand, nil if place(from) says it all because the
// text is the line itself.
func (o origin) places(from, n int) []int32 {
	if o.at == nil {
		return nil
	}
	return o.at[min(from, len(o.at)):min(from+n, len(o.at))]
}

// span is the range of the line that a range of the text comes from.
func (o origin) span(from, to int) Span {
	if o.at == nil {
		return Span{o.from + from, o.from + to}
	}
	s := Span{int(o.place(from)), int(o.place(from))}
	if to > from {
		s.To = int(o.place(to-1)) + 1
	}
	s.To = max(s.To, s.From)
	return s
}

// places says where the bytes of a literal stand, from which the grammar
// dropped escaped line ends.
type places struct {
	origin origin
	from   int
	source []int // places in the text, nil if nothing was dropped
}

func (p places) at(i int) int32 {
	if p.source == nil {
		return p.origin.place(p.from + i)
	}
	return p.origin.place(p.source[i])
}

// follow finds the bytes of a literal in the part of the text that it was read
// from.
func (r *reading) follow(value string, from, to int) places {
	p := places{origin: r.origin, from: from}
	if len(value) == to-from {
		return p
	}
	p.source = make([]int, len(value))
	at := from
	for i := 0; i < len(value); i++ {
		for at < to && at < len(r.text) && r.text[at] != value[i] {
			at++
		}
		p.source[i] = at
		if at < to {
			at++
		}
	}
	return p
}

// origin of a word's text, for reading it as a text of its own.
func (w *word) origin() origin {
	if w.at == nil {
		return origin{from: w.Span.From, to: w.Span.To}
	}
	return origin{at: w.at, to: w.Span.To}
}
