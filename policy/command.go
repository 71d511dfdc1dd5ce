package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// commandPattern is a pattern on a simple command: its first words.
type commandPattern struct {
	words []string
	more  bool // further words may follow
	// Spelled are other ways to write the words, for a deny or an ask.
	spelled [][]string
}

// newCommandPattern is the pattern with these words.
func newCommandPattern(words []string, more bool) *commandPattern {
	return &commandPattern{words: words, more: more, spelled: shell.Spellings(words)}
}

// command compiles a pattern on commands. A star at the end stands for any
// further words, also right behind a word: ls* is ls with anything, not lsof.
func (r *reader) command(e sayso.Effect, n *yaml.Node, arg string) *commandPattern {
	bare := strings.TrimRight(arg, "*")
	more, words := bare != arg, r.commandWords(e, n, strings.TrimRight(bare, " "))
	if last := len(words) - 1; e != sayso.Allow && more && last >= 0 && strings.Contains(words[last], "*") && !strings.HasSuffix(bare, " ") {
		words[last] += "*" // in a word with a star, the one at its end is one too
	}
	return newCommandPattern(words, more)
}

// commandWords takes a pattern apart as the shell would, so that quotes in it
// mean what they mean in a command.
func (r *reader) commandWords(e sayso.Effect, n *yaml.Node, text string) []string {
	if text == "" {
		return nil
	}
	command := text
	if first, _, _ := strings.Cut(text, " "); first == "time" || first == "let" {
		command = `\` + text // the program, and not the word of the shell
	}
	line := shell.Inspect(command)
	if !line.Understood() || len(line.Commands) == 0 || len(line.Redirects) > 0 || line.Commands[0].Span != (shell.Span{From: 0, To: len(command)}) {
		r.fail(n, CodePattern, "write a pattern for each command", "%s is not the words of one command", quoted(text))
		return nil
	}
	var words []string
	for _, w := range line.Commands[0].Words() {
		switch {
		case w.Unknown() || w.Dynamic&^shell.Glob != 0:
			r.fail(n, CodeShellDynamic, "spell it out", "%s holds a part that is only known when it runs", quoted(text))
			return nil
		case e == sayso.Allow && !w.Literal():
			r.fail(n, CodeShellDynamic, "end the pattern with the star, or write a rule for each command", "a star in %s is not at the end", quoted(text))
			return nil
		}
		words = append(words, w.Text)
	}
	return words
}

// covers reports whether an allow with this pattern speaks of the command: the
// bare name as written, every word of the pattern as it is, and nothing in the
// command that makes it do more than its name says.
func (p *commandPattern) covers(c *shell.Command) bool {
	if c.Beyond() != nil || !p.more && (c.Open || len(c.Args) != len(p.words)-1) {
		return false
	}
	if len(p.words) == 0 {
		return p.more && c.Program.Literal() && !strings.Contains(c.Program.Text, "/")
	}
	if program := p.words[0]; strings.Contains(program, "/") && program[0] != '/' && moved(c) {
		return false // the same name is another file there
	}
	return c.Begins(p.words, nil)
}

// moved reports whether the command may run in another folder than the line
// began in.
func moved(c *shell.Command) bool {
	return slices.ContainsFunc(c.Dirs, func(d shell.Dir) bool { return d.Unknown || len(d.Steps) > 0 })
}

// fits reports whether the command may be what an ask or a deny with this
// pattern speaks of, however either is written.
func (p *commandPattern) fits(c *shell.Command, spelled []shell.Spelling) shell.Fit {
	if len(p.words) == 0 {
		return shell.Yes
	}
	fit := p.fitsWords(p.words, c)
	for _, words := range p.spelled {
		fit = max(fit, p.fitsWords(words, c))
	}
	for i := 0; i < len(spelled) && fit != shell.Yes; i++ {
		as := p.fitsWords(p.words, &spelled[i].Command)
		for _, words := range p.spelled {
			as = max(as, p.fitsWords(words, &spelled[i].Command))
		}
		if !spelled[i].Sure {
			as = min(as, shell.Perhaps)
		}
		fit = max(fit, as)
	}
	return fit
}

// fitsWords is fits for the words of the pattern in one spelling.
func (p *commandPattern) fitsWords(words []string, c *shell.Command) shell.Fit {
	fit := c.Fits(words, p.equal)
	if fit == shell.No || p.more {
		return fit
	}
	return min(fit, p.whole(words, c))
}

// mentioned looks for the pattern in a line that was not understood.
func (p *commandPattern) mentioned(l *shell.Line) (shell.Span, bool) {
	if len(p.words) == 0 {
		return shell.Span{From: 0, To: len(l.Text)}, true
	}
	if strings.Contains(p.words[0], "*") {
		return l.Mentions(p.words, p.equal)
	}
	span, ok := l.MentionsNamed(p.words, p.equal)
	for i := 0; i < len(p.spelled) && !ok; i++ {
		span, ok = l.MentionsNamed(p.spelled[i], p.equal)
	}
	return span, ok
}

// equal compares words for all but an allow: a star stands for anything, and
// the name of the program may be in any case, as some file systems have it.
func (p *commandPattern) equal(pattern, word string) bool {
	if strings.EqualFold(pattern, word) && p.program(pattern) {
		return true
	}
	return pattern == word || strings.Contains(pattern, "*") && glob(pattern, word)
}

// program reports whether a word is the program of the pattern in one of its
// spellings.
func (p *commandPattern) program(word string) bool {
	return word == p.words[0] || slices.ContainsFunc(p.spelled, func(words []string) bool { return word == words[0] })
}

// whole says how well the words of a command are those of the pattern and no
// others: Perhaps if there are options too many, or words that nobody knows.
func (p *commandPattern) whole(words []string, c *shell.Command) shell.Fit {
	fit, missing := shell.Yes, slices.Clone(words[1:])
	for i, w := range c.Args {
		at := slices.IndexFunc(missing, func(word string) bool { return p.equal(word, w.Text) })
		switch {
		case at >= 0:
			missing = slices.Delete(missing, at, at+1)
		case w.Globs() && slices.ContainsFunc(missing, w.MayBe):
			fit, missing = shell.Perhaps, nil
		case w.Unknown():
			fit = shell.Perhaps
		case strings.HasPrefix(w.Text, "-"):
			if len(missing) == 0 {
				fit = shell.Perhaps
			}
		case len(missing) > 0 && i > 0 && strings.HasPrefix(c.Args[i-1].Text, "-"): // the value of an option
		default:
			return shell.No
		}
	}
	if c.Open {
		return shell.Perhaps
	}
	return fit
}

// span is where the words of the pattern stand in the command: from its program
// to the last of them.
func (p *commandPattern) span(c *shell.Command) [2]int {
	to := c.Program.Span.To
	wanted := 1
	for _, w := range c.Args {
		if wanted < len(p.words) && p.equal(p.words[wanted], w.Text) {
			wanted, to = wanted+1, w.Span.To
		}
	}
	if wanted < len(p.words) || to < c.Program.Span.From {
		return [2]int{c.Span.From, c.Span.To}
	}
	return [2]int{c.Program.Span.From, to}
}
