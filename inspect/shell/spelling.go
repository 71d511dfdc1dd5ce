package shell

import (
	"slices"
	"strings"
)

// Spelling is another way to write a command.
type Spelling struct {
	Command
	// Sure says that it does the same. What is not sure is the program of a
	// version taken for the program: python3 may be what python is.
	Sure bool
}

// Spellings are other ways to write the command, with the words that stand for
// all that mean the same: rm -R is rm -r, npm i is npm install, docker container
// run is docker run, git-push is git push, python3 -m pip is pip. They are for
// what must be found however it is called, and never for what may be allowed.
func (c *Command) Spellings() []Spelling {
	if !c.Program.Literal() || !respelled(c.Base()) {
		return nil
	}
	var out []Spelling
	for _, f := range forms(c.Words()) {
		as := *c
		as.Program, as.Args = f.words[0], f.words[1:]
		out = append(out, Spelling{as, f.sure})
	}
	return out
}

// Spellings are other ways to write the words of a pattern, as those of a
// command that mean the same.
func Spellings(pattern []string) [][]string {
	if len(pattern) == 0 || !respelled(base(pattern[0])) {
		return nil
	}
	words := make([]Word, len(pattern))
	for i, text := range pattern {
		words[i] = Word{Text: text, Fixed: len(text)}
	}
	var out [][]string
	for _, f := range forms(words) {
		if !f.sure {
			continue // a pattern about a version is about that one
		}
		var texts []string
		for _, w := range f.words {
			texts = append(texts, w.Text)
		}
		out = append(out, texts)
	}
	return out
}

// form is one way to write a command.
type form struct {
	words []Word
	sure  bool
}

// respelled reports whether commands of a program may have other forms.
func respelled(name string) bool {
	return synonyms()[name] != nil || nameOf(name) != name || modular[nameOf(name)] || unprefixed(name) != name
}

// modular are programs that run a module, which may be a program as well.
var modular = set("python", "pypy", "pypy3")

// forms are the other forms of a command, its program first: by its program, and
// each of them with the words that stand for others.
func forms(words []Word) (out []form) {
	all := append([]form{{words, true}}, programForms(words)...)
	for i, f := range all {
		stand, changed := standing(f.words)
		if changed || i > 0 {
			out = append(out, form{stand, f.sure})
		}
		out = append(out, pushForms(stand, f.sure)...)
	}
	return out
}

// programForms are the forms with other programs.
func programForms(words []Word) (out []form) {
	name := base(words[0].Text)
	family := nameOf(name)
	if sub, ok := strings.CutPrefix(family, "git "); ok && family != name {
		out = append(out, form{append([]Word{as(words[0], "git"), as(words[0], sub)}, words[1:]...), true})
	}
	if plain := unprefixed(name); plain != name {
		out = append(out, form{append([]Word{as(words[0], plain)}, words[1:]...), true})
	}
	if modular[family] {
		if module := moduleWords(words); module != nil {
			out = append(out, form{module, true})
		}
	}
	if p := known(family); p == nil || p.class != Powerful || !strings.HasPrefix(name, family) {
		return out
	}
	for short := shorter(name); len(short) >= len(family) && short != name; name, short = short, shorter(short) {
		out = append(out, form{append([]Word{as(words[0], short)}, words[1:]...), false})
	}
	return out
}

// shorter is the name of a program without the last part of its version:
// python3.12, python3, python.
func shorter(name string) string {
	short := strings.TrimRight(name, "0123456789")
	if trimmed := strings.TrimRight(short, ".-"); trimmed != "" {
		return trimmed
	}
	return name
}

// as is a word that stands where another does.
func as(w Word, text string) Word {
	return Word{Span: w.Span, Text: text, Fixed: len(text)}
}

// moduleWords are the words from the module of python -m on, however the option
// is written: -m pip, -mpip, -Im pip. None if there is none.
func moduleWords(words []Word) []Word {
	for i := 1; i < len(words) && dashed(words[i].Text); i++ {
		at := strings.IndexAny(words[i].Text, "mcWX")
		if strings.HasPrefix(words[i].Text, "--") || at < 0 {
			if words[i].Text == "--check-hash-based-pycs" {
				i++
			}
			continue
		}
		attached := at+1 < len(words[i].Text)
		switch letter := words[i].Text[at]; {
		case letter == 'c':
			return nil
		case letter != 'm':
			if !attached {
				i++
			}
		case attached && words[i].Literal():
			return append([]Word{as(words[i], words[i].Text[at+1:])}, words[i+1:]...)
		case !attached && i+1 < len(words) && words[i+1].Literal():
			return words[i+1:]
		default:
			return nil
		}
	}
	return nil
}

// standing are words where those that mean the same as another are that one.
func standing(words []Word) (out []Word, changed bool) {
	name := base(words[0].Text)
	s := synonyms()[name]
	if s == nil {
		return words, false
	}
	all := []*meanings{s}
	if first := operandAt(words, 1, known(nameOf(name))); first > 0 {
		words, changed = s.operands(words, first)
		if sub := synonyms()[name+" "+words[first].Text]; sub != nil {
			all = append(all, sub)
			if second := operandAt(words, first+1, nil); second > 0 {
				more, also := sub.operands(words, second)
				words, changed = more, changed || also
			}
		}
	}
	for i := 1; i < len(words) && words[i].Text != "--"; i++ {
		for _, m := range all {
			text, took := m.option(words[i].Text), 0
			if text == words[i].Text && i+1 < len(words) && strings.HasPrefix(text, "--") && !strings.Contains(text, "=") {
				if with := m.option(text + "=" + words[i+1].Text); with != text+"="+words[i+1].Text {
					text, took = with, 1 // the value is the next word
				}
			}
			if text == words[i].Text {
				continue
			}
			if !changed {
				words, changed = slices.Clone(words), true
			}
			words[i].Text, words[i].Fixed = text, len(text)
			words = slices.Delete(words, i+1, i+1+took)
		}
	}
	return words, changed
}

// operands are words where the operand in a place, or that and the next, is the
// one that stands for it.
func (m *meanings) operands(words []Word, at int) (out []Word, changed bool) {
	if next := operandAt(words, at+1, nil); next > 0 {
		if stands := m.words[words[at].Text+" "+words[next].Text]; stands != "" {
			words = slices.Delete(slices.Clone(words), next, next+1)
			words[at] = as(words[at], stands)
			return words, true
		}
	}
	if stands := m.words[words[at].Text]; stands != "" {
		words = slices.Clone(words)
		words[at] = as(words[at], stands)
		return words, true
	}
	return words, false
}

// operandAt is the index of the first operand from a place on, past options and
// their values; 0 if there is none that is literal.
func operandAt(words []Word, from int, p *program) int {
	m := matcher{program: p}
	for i := from; i < len(words); i++ {
		if dashed(words[i].Text) || p.toolchain(i, words[i].Text) || i > 1 && p != nil && m.takesNext(words[i-1].Text) == Yes {
			continue
		}
		if words[i].Literal() {
			return i
		}
		break
	}
	return 0
}
