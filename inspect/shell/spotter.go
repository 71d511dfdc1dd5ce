package shell

import (
	"cmp"
	"strings"
	"unicode"
)

// scan finds every place in a text where a program may stand, without a
// grammar. It is for texts that were not read whole, and only ever used to
// find more reasons to be strict: what it reads wrongly it reads as more
// commands than there are. It takes time in proportion to the text.
//
// Where the quotes are not trusted, the text is read without them as well.
func scan(text string, trusted bool, programs func(string) *program) [][]Word {
	s := spotter{programs: programs, running: make(map[string]bool)}
	if broken := s.read(text, nil, 0); broken || !trusted {
		s.uncommented = true
		distrusted(text, s.keep(0))
	}
	documents(text, s.keep(0))
	if plainText(text) {
		return s.places
	}
	if bare := strings.Map(visible, text); bare != text { // split by something that nobody sees
		s.read(bare, nil, 0)
		s.read(strings.Map(ending, text), nil, 0)
	}
	return s.places
}

func visible(r rune) rune {
	if r == '\n' || r == '\t' || !unicode.IsControl(r) && !invisible(r) && !turns(r) {
		return r
	}
	return -1
}

// ending takes what nobody sees for the end of a command.
func ending(r rune) rune {
	if visible(r) < 0 {
		return '\n'
	}
	return r
}

// spotter gathers the places where a program may stand, each with the words
// behind it.
type spotter struct {
	programs func(string) *program
	places   [][]Word
	room     []Word // where the words of commands are kept
	// uncommented says that nothing is taken for a comment.
	uncommented bool
	running     map[string]bool // programs that were looked up, and whether they run their words
}

// read takes a text apart, and reports whether its quotes or brackets do not
// end. What it finds stands at a span, if that is given.
func (s *spotter) read(text string, at *Span, depth int) (broken bool) {
	return read(text, at, s.uncommented, s.keep(depth))
}

// keep has the words of commands kept, and looked at.
func (s *spotter) keep(depth int) func([]Word) {
	return func(words []Word) { s.command(s.kept(words), depth) }
}

// kept is a copy of words that stays.
func (s *spotter) kept(words []Word) []Word {
	if len(s.room)+len(words) > cap(s.room) {
		s.room = make([]Word, 0, max(len(words), min(2*cap(s.room), 512), 8))
	}
	from := len(s.room)
	s.room = append(s.room, words...)
	return s.room[from:len(s.room):len(s.room)]
}

// maxLoose is how often a text inside a text is read.
const maxLoose = 4

// command gathers the places in the words of one command: its first word, and
// those behind a word that may be nothing, that runs what follows, or that only
// stands in front of a program.
func (s *spotter) command(words []Word, depth int) {
	wraps, place, timed, lead := false, true, false, ""
	for i, w := range words {
		if i > 0 {
			place = wraps || leads(words[i-1].Text) || place && before(words[i-1], timed) || i > 1 && words[i-2].Text == "coproc"
		}
		if place {
			timed = timed || w.Text == "time"
			s.places = append(s.places, words[i:])
			s.braced(words[i:])
			s.defaulted(words[i:])
			wraps = wraps || s.passes(w.Text)
			lead = s.leader(base(w.Text))
		} else if lead != "" {
			wraps = wraps || s.passes(lead+w.Text)
			lead = cmp.Or(s.leader(lead+w.Text), lead)
		}
		if i > 0 && wraps && depth < maxLoose {
			s.text(w, depth)
			s.attached(words[i:], depth)
		}
	}
}

// text reads a word of a program that runs its words as a line.
func (s *spotter) text(w Word, depth int) {
	if !strings.ContainsAny(w.Text, " \t\n;|&()<>$`'\"\\#") {
		return
	}
	s.read(w.Text, &w.Span, depth+1)
	if split := splitEscapes.Replace(w.Text); split != w.Text {
		s.read(split, &w.Span, depth+1)
	}
}

// splitEscapes are what env -S takes for blanks.
var splitEscapes = strings.NewReplacer(`\_`, " ", `\t`, " ", `\n`, " ", `\f`, " ", `\v`, " ", `\r`, " ", `\c`, " ")

// maxLetters is how many letters of options are looked behind, and maxBehind how
// many words are kept behind what is found there.
const maxLetters, maxBehind = 4, 16

// attached looks at the values that may be in the same word as an option:
// --command=x, -cx, -lcx.
func (s *spotter) attached(words []Word, depth int) {
	first := words[0]
	if !dashed(first.Text) {
		return
	}
	values := make([]string, 0, maxLetters+1)
	if _, value, ok := strings.Cut(first.Text, "="); ok {
		values = append(values, value)
	}
	if first.Text[1] != '-' {
		for n := 2; n < len(first.Text) && n < 2+maxLetters; n++ {
			values = append(values, first.Text[n:])
		}
	}
	for _, value := range values {
		first.Text, first.Fixed = value, len(value)
		s.places = append(s.places, append([]Word{first}, words[1:min(len(words), maxBehind)]...))
		s.text(first, depth)
	}
}

// before reports whether a word where a program may stand may have the program
// behind it. If it was quoted, it is a program all the same.
func before(w Word, timed bool) bool {
	return w.Dynamic != 0 || keywords[w.Text] || isAssignment(w.Text) || timed && dashed(w.Text)
}

// leads reports whether the word behind this one is a program.
func leads(word string) bool {
	switch word {
	case "run", "exec", "-exec", "-execdir", "-ok", "-okdir", "--exec", "-x", "-X", "--", "{", ")", "do", "then", "else", "!", "time", "coproc":
		return true
	}
	return false
}

// leader is the name in front of the subcommands of a program, if it has any.
func (s *spotter) leader(name string) string {
	if p := s.programs(nameOf(name)); p != nil && p.subcommands {
		return p.name + " "
	}
	return ""
}

// passes reports whether a program runs what its words say.
func (s *spotter) passes(name string) bool {
	name = base(name)
	runs, seen := s.running[name]
	if !seen {
		p := s.programs(nameOf(name))
		runs = p != nil && p.passes
		s.running[name] = runs
	}
	return runs
}

// braced takes a list in braces for the words of a command.
func (s *spotter) braced(words []Word) {
	first := words[0]
	if !strings.HasPrefix(first.Text, "{") || !strings.Contains(first.Text, ",") {
		return
	}
	var list []Word
	for text := range strings.SplitSeq(strings.Trim(first.Text, "{}"), ",") {
		list = append(list, Word{Span: first.Span, Text: text, Fixed: len(text), Dynamic: Brace})
	}
	s.places = append(s.places, list)
}

// defaulted takes the word that stands for a variable without a value for the
// program.
func (s *spotter) defaulted(words []Word) {
	rest, ok := strings.CutPrefix(words[0].Text, "${")
	if !ok {
		return
	}
	if i := strings.IndexAny(rest, "-+=?"); i >= 0 {
		first := words[0]
		first.Text = strings.Trim(rest[i+1:], "}")
		first.Fixed = len(first.Text)
		s.places = append(s.places, append([]Word{first}, words[1:]...))
	}
}
