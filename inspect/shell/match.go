package shell

import (
	"slices"
	"strings"
)

// Fit is how well the words of a pattern fit a command.
type Fit int

// The fits. Perhaps is for what only some programs would read like the
// pattern; it is at least to be asked about.
const (
	No Fit = iota
	Perhaps
	Yes
)

// Equal compares a word of a pattern with a word of a command.
type Equal func(pattern, word string) bool

func same(pattern, word string) bool { return pattern == word }

// Begins reports whether the command begins with the words of a pattern: the
// bare name as written, every word as it is, nothing skipped. It is what an
// allow rule may ask. A list in braces counts as the words that it stands for,
// but not for the program. A nil equal compares exactly.
func (c *Command) Begins(pattern []string, equal Equal) bool {
	if equal == nil {
		equal = same
	}
	if len(pattern) == 0 || len(pattern) > len(c.Args)+1 {
		return false
	}
	if !c.Program.Literal() || !equal(pattern[0], c.Program.Text) {
		return false
	}
	for i, p := range pattern[1:] {
		if w := c.Args[i]; w.Dynamic&^Brace != 0 || !equal(p, w.Text) {
			return false
		}
	}
	return true
}

// Fits reports whether the command may be what a pattern speaks of, however it
// is written: by its last path part, with options before and between the words
// of the pattern, with the options of the pattern in another place, clustered
// or abbreviated. It is what a deny or ask rule asks. A nil equal compares
// exactly.
func (c *Command) Fits(pattern []string, equal Equal) Fit {
	m := matcher{equal: equal, program: known(nameOf(c.Base())), budget: maxLook}
	if m.program != nil && m.program.subcommands && slices.ContainsFunc(pattern, dashed) {
		m.sub = c.subcommand(m.program)
	}
	return m.fits(pattern, c.Program, c.Args)
}

// subcommand is what the tables say of the subcommand that the words name.
func (c *Command) subcommand(p *program) (sub *program) {
	name, words := p.name, c.Words()
	for at := operandAt(words, 1, p); at > 0; at = operandAt(words, at+1, nil) {
		name += " " + words[at].Text
		deeper := known(name)
		if deeper == nil && sub != nil {
			break
		}
		if sub = deeper; strings.Count(name, " ") > 2 {
			break
		}
	}
	return sub
}

// maxLook is how many words are compared before a search is given up; what was
// not looked at may be anything.
const maxLook = 1 << 20

// matcher compares the words of a pattern with those of commands.
type matcher struct {
	equal   Equal
	program *program // whose options are known, or nil
	sub     *program // its subcommand
	budget  int
}

func (m *matcher) fits(pattern []string, program Word, args []Word) Fit {
	if m.equal == nil {
		m.equal = same
	}
	if len(pattern) == 0 || !m.equal(pattern[0], base(program.Text)) && !m.equal(pattern[0], program.Text) {
		return No
	}
	return m.words(pattern[1:], args)
}

// words compares the words behind the program. Options of the pattern may stand
// anywhere; its other words must be the first ones that are no options. What is
// written word for word fits, whatever a table makes of it.
func (m *matcher) words(pattern []string, args []Word) Fit {
	if m.verbatim(pattern, args) {
		return Yes
	}
	return m.from(pattern, args, 0)
}

// verbatim reports whether the words begin with those of the pattern.
func (m *matcher) verbatim(pattern []string, args []Word) bool {
	if len(pattern) > len(args) {
		return false
	}
	m.budget -= len(pattern)
	for i, p := range pattern {
		if args[i].Dynamic != 0 || !m.equal(p, args[i].Text) {
			return false
		}
	}
	return true
}

// from compares the words of a pattern from a place on. An option and its value
// may be written in every way that the program knows.
func (m *matcher) from(pattern []string, args []Word, at int) Fit {
	if len(pattern) == 0 {
		return Yes
	}
	fit := No
	s, paired := m.setting(pattern, at)
	if !paired || !s.sure {
		fit = m.apart(pattern, args, at)
	}
	if paired && fit != Yes {
		if set := m.set(s, args); set != No {
			fit = max(fit, min(set, m.from(pattern[s.words:], args, at)))
		}
	}
	return fit
}

// apart compares the first word of a pattern for itself, and those behind it.
func (m *matcher) apart(pattern []string, args []Word, at int) (found Fit) {
	if dashed(pattern[0]) {
		found = m.option(pattern[0], args)
	} else {
		found, at = m.operand(pattern[0], args, at)
	}
	if found == No || at > len(args) {
		return found
	}
	return min(found, m.from(pattern[1:], args, at))
}

// operand finds a word of the pattern from a place on, past options and what
// may be their values, and returns the place behind it. Behind a word that
// nobody knows everything is possible.
func (m *matcher) operand(p string, args []Word, at int) (Fit, int) {
	fit := Yes
	for i := at; i < len(args); i++ {
		if m.budget--; m.budget < 0 {
			return Perhaps, len(args) + 1
		}
		w := args[i]
		value := No
		if i > 0 {
			value = m.takesNext(args[i-1].Text)
		}
		if value == Yes && at > 0 && m.program.subcommands {
			value = Perhaps // the option may be one of the subcommand
		}
		switch {
		case w.Globs() && m.mayBe(p, w): // it may stand for several words, so anywhere
			return Perhaps, len(args) + 1
		case value == Yes && m.program.options[args[i-1].Text] != nil: // no word of the program's own
		case m.program.toolchain(i+1, w.Text) && !m.equal(p, w.Text):
		case m.equal(p, w.Text):
			return fit, i + 1
		case at == 0 && m.abbreviates(p, w.Text):
			return Perhaps, i + 1
		case w.Unknown() && w.Text == "":
			return Perhaps, len(args) + 1
		case dashed(w.Text):
		case value != No:
			fit = min(fit, value)
		default:
			return No, at
		}
	}
	return No, at
}

// abbreviates reports whether a word may be the beginning of the name of a
// subcommand, and is none itself.
func (m *matcher) abbreviates(p, word string) bool {
	return m.program != nil && m.program.shortened && word != "" && strings.HasPrefix(p, word) && known(m.program.name+" "+word) == nil
}

// takesNext reports whether the word behind an option is its value.
func (m *matcher) takesNext(option string) Fit {
	switch {
	case !dashed(option) || option == "--":
		return No
	case m.program == nil:
		return Perhaps
	}
	name, _, attached := strings.Cut(option, "=")
	o := m.program.options[option]
	switch {
	case o != nil:
	case strings.HasPrefix(option, "--") && attached:
		return No
	case strings.HasPrefix(option, "--"):
		o = m.program.abbreviated(name)
	default:
		o = m.program.options["-"+option[len(option)-1:]]
		if first := m.program.options[option[:2]]; len(option) > 2 && first != nil && first.takes != takesNone {
			return No
		}
	}
	switch {
	case o == nil || o.takes == takesPerhaps:
		return Perhaps
	case o.takes == takesOne:
		return Yes
	}
	return No
}

// option finds an option of the pattern among the words: as it is, with a value
// attached, as the beginning of a long one, or its letters in clusters.
func (m *matcher) option(p string, args []Word) Fit {
	fit := No
	missing := ""
	if p[1] != '-' && len(p) <= maxCluster {
		missing = p[1:]
	}
	for _, w := range args {
		if m.budget--; m.budget < 0 {
			return Perhaps
		}
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case w.Globs() && m.mayBeOption(p, missing, w):
			fit = Perhaps
		case m.equal(p, w.Text) || m.equal(p, name):
			return Yes
		case w.Unknown() && w.Text == "":
			fit = Perhaps
		case w.Text == "--":
			return fit
		case !dashed(w.Text):
		case strings.HasPrefix(name, "--"):
			if len(name) > 2 && strings.HasPrefix(p, name) {
				fit = Perhaps
			}
		case missing != "":
			if missing = without(missing, w.Text[1:]); missing == "" {
				fit = Perhaps
			}
		}
	}
	return fit
}

// mayBe reports whether a glob may stand for a word of the pattern.
func (m *matcher) mayBe(p string, w Word) bool {
	m.budget -= 1 + len(p)*len(w.Text)/64
	return w.MayBe(p)
}

// mayBeOption is mayBe for an option, also if only its beginning is written, or
// its letters in another order. What has its name before an equals sign is no
// such glob.
func (m *matcher) mayBeOption(p, missing string, w Word) bool {
	name, _, attached := strings.Cut(w.Text, "=")
	if strings.HasPrefix(w.Text, "--") && attached && !strings.ContainsAny(name, "*?[") {
		return false
	}
	if m.mayBe(p, w) || m.mayBe(p+"=*", w) && dashed(w.Text) {
		return true
	}
	if missing != "" {
		// A cluster: no letters but those of the pattern, or one that is written.
		return w.MayBe("-*") && (dashed(w.Text) && w.Text[1] != '-' || strings.Trim(w.Text, "*?[]!^-"+missing) == "")
	}
	for n := 3; n < len(p) && strings.HasPrefix(p, "--"); n++ {
		if m.mayBe(p[:n], w) {
			return true
		}
	}
	return false
}

// without drops the letters of a cluster from those that are missing.
func without(missing, cluster string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(cluster, r) {
			return -1
		}
		return r
	}, missing)
}

// maxCluster is how long an option with one hyphen may be to be taken for a
// cluster of letters.
const maxCluster = 5

// Operands are the words of the command that may name files: all words that do
// not begin with a hyphen, save a plain number right behind an option; the
// values of --option=value, and whatever looks like a path behind a letter or
// an equals sign; everything behind --.
func (c *Command) Operands() []Word {
	out := slices.Grow([]Word(nil), len(c.Args))
	ended := false
	for i, w := range c.Args {
		switch {
		case !ended && w.Text == "--" && w.Literal():
			ended = true
		case ended || !strings.HasPrefix(w.Text, "-") || w.Text == "-":
			if !ended && i > 0 && number(w) && dashed(c.Args[i-1].Text) {
				continue
			}
			out = append(out, w)
			if v, ok := w.after(strings.IndexByte(w.Text, '=') + 1); ok && pathLike(v) {
				out = append(out, v)
			}
		default:
			out = append(out, c.optionValues(w)...)
		}
	}
	return append(out, c.readsInside()...)
}

// readsInside are the files that a script among the words reads.
func (c *Command) readsInside() (out []Word) {
	for _, t := range c.Traits {
		if t.Kind == Reads && t.Target != nil && !slices.ContainsFunc(c.Args, func(w Word) bool { return w.Text == t.Target.Text }) {
			out = append(out, *t.Target)
		}
	}
	return out
}

// optionValues are the values that may be attached to an option, or to the last
// letter of several in one word. Behind a letter that no table has, whatever
// leads out of the folder is taken for a value.
func (c *Command) optionValues(w Word) (out []Word) {
	if strings.HasPrefix(w.Text, "--") {
		v, ok := w.after(strings.IndexByte(w.Text, '=') + 1)
		if !ok {
			v, ok = w.after(w.Fixed * unknownTail(w))
		}
		if ok {
			out = append(out, v)
		}
		return out
	}
	if v, ok := w.after(strings.IndexByte(w.Text, '=') + 1); ok && pathLike(v) {
		out = append(out, v)
	}
	p := known(nameOf(c.Base()))
	for k := 1; k < len(w.Text) && letters(w.Text[k:k+1]); k++ {
		v, _ := w.after(k + 1)
		takes := p.takesValue(w.Text[k])
		if (k == 1 && len(out) == 0 || takes || leadsOut(v.Text)) && pathLike(v) {
			out = append(out, v)
		}
		if takes {
			break // the rest is its value
		}
	}
	return out
}

// takesValue reports whether a table has an option of one letter that takes all
// of the word behind it.
func (p *program) takesValue(letter byte) bool {
	if p == nil {
		return false
	}
	o := p.options["-"+string(letter)]
	return o != nil && o.takes != takesNone && o.takes != takesNumber
}

func leadsOut(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "..")
}

// unknownTail is 1 for an option that ends in something unknown: it may have a
// value.
func unknownTail(w Word) int {
	if w.Unknown() {
		return 1
	}
	return 0
}

// pathLike reports whether a value can lead elsewhere than to a name in the
// folder: it is absolute, goes up, or nobody knows.
func pathLike(w Word) bool {
	return w.Unknown() || strings.ContainsAny(w.Text, "/~") || strings.HasPrefix(w.Text, "..")
}

// after is the word without its first n bytes; ok is false for n = 0.
func (w Word) after(n int) (Word, bool) {
	if n <= 0 || n > len(w.Text) {
		return Word{}, false
	}
	w.Text, w.Fixed = w.Text[n:], max(w.Fixed-n, 0)
	if strings.HasPrefix(w.Text, "~") {
		w.Dynamic |= Tilde
	}
	return w, true
}

func number(w Word) bool {
	return w.Literal() && w.Text != "" && strings.Trim(w.Text, "0123456789") == ""
}

// Mentions looks for the words of a pattern where the text was not read whole:
// because it does not parse, holds characters that it must not hold, or passed
// a limit. It finds them at every place where a program may stand, quotes or
// none, and is only good for reasons to deny. It finds nothing in a text that
// was understood, where [Command.Fits] has seen everything.
func (l *Line) Mentions(pattern []string, equal Equal) (Span, bool) {
	m := matcher{equal: equal, budget: maxLook}
	for _, words := range l.loose.places {
		if m.fits(pattern, words[0], words[1:]) != No {
			return mentioned(words, pattern), true
		}
	}
	return Span{}, false
}

// MentionsNamed is Mentions for a pattern whose first word is the name of a
// program, compared without case and without equal. It looks only at the places
// where that program stands, so that many patterns cost one look at the line.
func (l *Line) MentionsNamed(pattern []string, equal Equal) (Span, bool) {
	m := matcher{equal: equal, budget: maxLook}
	if m.equal == nil {
		m.equal = same
	}
	if len(pattern) == 0 {
		return Span{}, false
	}
	for words := range l.loose.named(pattern[0]) {
		if m.words(pattern[1:], words[1:]) != No {
			return mentioned(words, pattern), true
		}
	}
	return Span{}, false
}

// mentioned is where a pattern stands in the words of a place.
func mentioned(words []Word, pattern []string) Span {
	last := words[min(len(words), len(pattern))-1]
	return Span{words[0].Span.From, max(words[0].Span.To, last.Span.To)}
}
