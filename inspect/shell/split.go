package shell

import "strings"

// maxSplits is how often env -S may be inside of env -S.
const maxSplits = 4

// splitWords puts the words of env -S where the option stood, as env does.
func (c *call) splitWords() {
	for range maxSplits {
		use := scanWords(c.prog, c.words, &c.room)
		at := -1
		for i, f := range use.options {
			if len(f.effects) > 0 && f.effects[0].kind == splits && f.has {
				at = i
				break
			}
		}
		if at < 0 {
			return
		}
		f := use.options[at]
		c.trait(Wraps, f.value.Span, true, "words in one word", nil)
		words := append([]word(nil), c.words[:f.word]...)
		words = append(words, splitText(f.value)...)
		c.words = append(words, c.words[f.at+1:]...)
		if !c.spend(len(c.words), f.value.Span) {
			return
		}
	}
}

// splitter reads the text of env -S.
type splitter struct {
	from   word
	out    []word
	now    word
	text   strings.Builder
	open   bool
	quoted byte
}

// splitText takes the text of env -S apart: at blanks, with quotes, escapes and
// variables of its own.
func splitText(w word) []word {
	s := splitter{from: w}
	o := w.origin()
	for i := 0; i < len(w.Text); i++ {
		b := w.Text[i]
		switch {
		case s.quoted == 0 && strings.IndexByte(" \t\n\v\f\r", b) >= 0:
			s.end()
		case s.quoted == 0 && b == '#' && !s.open:
			i = len(w.Text)
		case b == s.quoted:
			s.quoted = 0
		case s.quoted == 0 && (b == '\'' || b == '"'):
			s.begin(o.place(i))
			s.quoted = b
		case b == '\\' && s.quoted != '\'' && i+1 < len(w.Text):
			i++
			s.escape(w.Text[i], o.place(i))
		case b == '$' && s.quoted != '\'':
			s.hole(o.place(i))
			i += max(strings.IndexByte(w.Text[i:], '}'), 0)
		default:
			s.add(b, o.place(i))
		}
	}
	if len(w.holes) > 0 { // any of the words may go on with what is not known
		s.hole(o.place(len(w.Text)))
	}
	s.end()
	return s.out
}

func (s *splitter) begin(at int32) {
	if !s.open {
		s.open = true
		s.now = word{Word: Word{Span: Span{From: int(at), To: int(at) + 1}}}
	}
}

func (s *splitter) add(b byte, at int32) {
	s.begin(at)
	s.text.WriteByte(b)
	s.now.at = append(s.now.at, at)
	s.now.Span.To = int(at) + 1
}

func (s *splitter) hole(at int32) {
	s.begin(at)
	s.now.holes = append(s.now.holes, s.text.Len())
	s.now.Dynamic |= Variable
}

// escape reads what stands behind a backslash.
func (s *splitter) escape(b byte, at int32) {
	switch {
	case b == '_' && s.quoted == 0:
		s.end()
	case b == '_':
		s.add(' ', at)
	case b == 'c':
		s.end()
	default:
		if k := strings.IndexByte("fnrtv", b); k >= 0 {
			b = "\f\n\r\t\v"[k]
		}
		s.add(b, at)
	}
}

func (s *splitter) end() {
	if !s.open {
		return
	}
	s.now.Text = s.text.String()
	s.now.Fixed = len(s.now.Text)
	if len(s.now.holes) > 0 {
		s.now.Fixed = s.now.holes[0]
		s.now.vanishes = s.now.Text == ""
	}
	s.out = append(s.out, s.now)
	s.text.Reset()
	s.open = false
}
