package shell

import (
	"sort"
	"strings"
)

// found is an option in the words of a command.
type found struct {
	*option
	word  int  // index of the word that it stands in
	value word // its value, if it has one
	has   bool
	at    int // index of the word that the value stands in
}

// unknownOption is what an option is that no table has.
var unknownOption = &option{}

// usage is how the words of a command are read by its program.
type usage struct {
	options  []found
	operands []int // indices of words
	// rest is the index of the first word that is not read at all, because an
	// operand ended the options; len(words) if all were read.
	rest int
	// unsure says that an option that no table has may have taken the word at
	// rest, so that the command may begin there or behind it.
	unsure bool
}

// reader of words, in the ways that programs have of reading them.
type scanner struct {
	p       *program
	words   []word
	use     usage
	i       int
	ended   bool // -- was seen
	over    bool // an option was seen behind which everything belongs to another program
	unknown bool // the word before was an option that no table has
	through bool // operands do not end the options: a -- does
}

// scanWords reads the words of a command, the program first, as its table
// says. Where a table could be wrong it errs towards more options: a value that
// looks like one is looked at as one.
func scanWords(p *program, words []word, room *room) usage {
	s := scanner{p: p, words: words, i: 1}
	if p.dashes {
		s.cut()
	}
	s.use.options, s.use.operands = room.options.spare(min(len(words), 4)), room.operands.spare(min(len(words), 4))
	for s.i < len(s.words) && !s.over {
		if !s.step() {
			break
		}
	}
	if s.use.rest = s.i; s.through {
		s.use.rest++
	}
	s.use.options, s.use.operands = room.options.take(s.use.options), room.operands.take(s.use.operands)
	return s.use
}

// cut leaves the words in front of the first --, if there is one.
func (s *scanner) cut() {
	for i, w := range s.words {
		if w.Text == "--" && w.Literal() {
			s.words, s.through = s.words[:i], true
			return
		}
	}
}

// step reads one word; it is false at the operand that ends the options.
func (s *scanner) step() bool {
	text := s.words[s.i].Text
	unknown := s.unknown
	s.unknown = false
	switch {
	case s.p.toolchain(s.i, text):
		s.i++
	case s.ended || !dashed(text) && s.p.options[text] == nil:
		return s.operand(text, unknown)
	case text == "--" && !unknown:
		s.ended = true
		s.i++
	case text == "--":
		s.i++ // may be the value of the option before it
	case s.p.single:
		s.single(strings.TrimPrefix(text, "-"))
	case strings.HasPrefix(text, "--"):
		s.long(text)
	case s.p.options[text] != nil, s.attaches(text):
		s.single(text)
	default:
		s.cluster(text[1:])
	}
	return true
}

// attaches reports whether a word is an option of several letters behind one
// hyphen, with its value behind an equals sign: -fplugin=x.
func (s *scanner) attaches(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && len(name) > 2 && s.p.options[name] != nil
}

// dashed reports whether a word looks like an option.
func dashed(text string) bool { return len(text) > 1 && text[0] == '-' }

func (s *scanner) operand(text string, unknown bool) bool {
	if s.p.bundled && s.i == 1 && !s.ended && text != "" && letters(text) {
		s.bundle(text)
		return true
	}
	if s.p.assigns && isAssignment(text) {
		s.use.operands = append(s.use.operands, s.i)
		s.i++
		return true
	}
	if s.p.posix && !s.through {
		s.use.unsure = s.use.unsure || unknown
		if len(s.use.operands)-s.assignments() >= s.p.skip {
			return false
		}
	}
	s.use.operands = append(s.use.operands, s.i)
	s.i++
	if s.p.wraps || s.p.posix && !s.p.subcommands {
		s.ended = s.ended || !s.p.mixed && !s.through
	}
	return true
}

// bundle reads options without a hyphen, whose values are the next words, in
// order.
func (s *scanner) bundle(text string) {
	first := s.i
	next := first + 1
	for k := range len(text) {
		o := s.p.options["-"+text[k:k+1]]
		switch {
		case o == nil:
			s.add(unknownOption, word{}, false, first)
		case o.takes == takesOne && next < len(s.words):
			s.add(o, s.words[next], true, next)
			next++
		default:
			s.add(o, word{}, false, first)
		}
	}
	s.i = next
}

// assignments counts the operands that are assignments.
func (s *scanner) assignments() (n int) {
	if !s.p.assigns {
		return 0
	}
	for _, i := range s.use.operands {
		if isAssignment(s.words[i].Text) {
			n++
		}
	}
	return n
}

func letters(s string) bool {
	for i := 0; i < len(s); i++ {
		if !letter(s[i]) && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// isAssignment reports whether a word is NAME=VALUE.
func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != ""
}

// add records an option.
func (s *scanner) add(o *option, value word, has bool, at int) {
	s.use.options = append(s.use.options, found{option: o, word: s.i, value: value, has: has, at: at})
	s.over = s.over || o.ends
}

// long reads --name and --name=value.
func (s *scanner) long(text string) {
	name, _, attached := strings.Cut(text, "=")
	o := s.p.abbreviated(name)
	if o == nil {
		s.unknown = !attached
		s.add(unknownOption, word{}, false, s.i)
		s.i++
		return
	}
	if attached {
		value, _ := s.words[s.i].after(len(name) + 1)
		s.add(o, value, true, s.i)
		s.i++
		return
	}
	s.separate(o)
}

// single reads an option that is one whole word with one hyphen.
func (s *scanner) single(text string) {
	if text[0] != '-' { // --name for -name
		text = "-" + text
	}
	name, _, attached := strings.Cut(text, "=")
	o := s.p.options[name]
	if o == nil && attached {
		o = s.p.options[text]
	}
	switch {
	case o == nil:
		s.unknown = !attached
		s.add(unknownOption, word{}, false, s.i)
		s.i++
	case attached && o.takes != takesNone:
		value, _ := s.words[s.i].after(strings.IndexByte(s.words[s.i].Text, '=') + 1)
		s.add(o, value, true, s.i)
		s.i++
	default:
		s.separate(o)
	}
}

// separate takes the next word as the value of an option that wants one.
func (s *scanner) separate(o *option) {
	next := s.i + 1
	if o.takes != takesOne && o.takes != takesPerhaps || next >= len(s.words) {
		s.add(o, word{}, false, s.i)
		s.i++
		return
	}
	value := s.words[next]
	s.add(o, value, true, next)
	s.i++
	if o.takes == takesPerhaps {
		s.unknown = true // the next word is looked at as what it is, too
		return
	}
	// A value that looks like an option is one if the table is wrong. The
	// words of a wrapper have to be counted right.
	if s.p.wraps || !dashed(value.Text) || value.Text == "--" {
		s.i = min(s.i+1+o.more, len(s.words))
	}
}

// cluster reads short options that stand in one word.
func (s *scanner) cluster(text string) {
	w := s.words[s.i]
	skipped := len(w.Text) - len(text)
	for k := 0; k < len(text); k++ {
		o := s.p.options["-"+text[k:k+1]]
		if o == nil {
			s.unknown = k == len(text)-1
			s.add(unknownOption, word{}, false, s.i)
			continue
		}
		rest, has := w.after(skipped + k + 1)
		switch {
		case o.takes == takesLetters:
			if strings.Trim(rest.Text, wordBytes) != "" {
				o, has = unknownOption, false
			}
			s.add(o, rest, has, s.i)
			s.i++
			return
		case o.takes == takesNone:
			s.add(o, word{}, false, s.i)
		case o.takes == takesNumber:
			s.add(o, word{}, false, s.i)
			for k+1 < len(text) && text[k+1] >= '0' && text[k+1] <= '9' {
				k++
			}
		case has && rest.Text != "" || len(w.holes) > 0:
			s.add(o, rest, true, s.i)
			s.i++
			return
		case o.takes == takesAttached:
			s.add(o, word{}, false, s.i)
		default:
			s.separate(o)
			return
		}
	}
	s.i++
}

// wordBytes are what a value may hold that names no file and sets nothing.
const wordBytes = nameBytes + "-+."

// after is the word without its first n bytes.
func (w word) after(n int) (word, bool) {
	if n > len(w.Text) {
		return word{}, false
	}
	out := w
	out.Word, _ = w.Word.after(n)
	if n == 0 {
		out.Word = w.Word
	}
	if w.at != nil {
		out.at = w.at[min(n, len(w.at)):]
		if len(out.at) > 0 {
			out.Span.From = int(out.at[0])
		}
	} else {
		out.Span.From = min(w.Span.From+n, w.Span.To)
	}
	out.holes = nil
	for _, h := range w.holes {
		out.holes = append(out.holes, max(h-n, 0))
	}
	return out, true
}

// abbreviated finds a long option by its name or the beginning of it. Where
// several begin so, it is the one that has an effect.
func (p *program) abbreviated(name string) *option {
	if o := p.options[name]; o != nil {
		return o
	}
	var out *option
	for i := sort.SearchStrings(p.long, name); i < len(p.long) && strings.HasPrefix(p.long[i], name); i++ {
		if o := p.options[p.long[i]]; out == nil || len(out.effects) == 0 && len(o.effects) > 0 {
			out = o
		}
	}
	return out
}
