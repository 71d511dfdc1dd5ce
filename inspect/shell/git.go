package shell

import (
	"slices"
	"strings"
)

// strategies are git's own ways to merge. Any other is a program whose name
// begins with git-merge-.
var strategies = set("ort", "recursive", "resolve", "octopus", "ours", "subtree")

// git can be told to run a program by an address, or by a strategy.
func (c *call) git(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if strings.Contains(w.Text, "::") {
			c.trait(Runs, w.Span, true, "an address that names a program", nil)
		}
	}
	for _, f := range use.options {
		if (f.name == "-s" || f.name == "--strategy") && f.has && !(f.value.Literal() && strategies[f.value.Text]) {
			c.trait(Runs, f.value.Span, true, "a strategy that is a program", &f.value)
		}
	}
	return c.stay()
}

// checkout makes a branch, turns to one, or throws the changes of files away. A
// name alone may be that of either; what can be no branch is a file.
func (c *call) checkout(use usage) (ok, fail dirs) {
	if c.says(use, "-b", "--orphan") {
		c.classed = Ordinary
		return c.git(use)
	}
	operands := c.operandsOf(use)
	if len(operands) > 1 || len(operands) == 1 && (c.behindDashes(operands[0]) || namesFiles(operands[0])) {
		last := operands[len(operands)-1]
		c.trait(Discards, last.Span, false, "changes that were not committed", &last)
	}
	return c.git(use)
}

// says reports whether one of some options is there for certain: what may be the
// value of another, stands behind the dashes, or is a pattern, is none.
func (c *call) says(use usage, names ...string) bool {
	return slices.ContainsFunc(use.options, func(f found) bool {
		return slices.Contains(names, f.name) && c.words[f.word].Literal() && !c.behindDashes(c.words[f.word]) &&
			!slices.ContainsFunc(use.options, func(other found) bool { return other.has && other.word < f.word && other.at == f.word })
	})
}

// behindDashes reports whether a word stands behind the word that ends the
// options.
func (c *call) behindDashes(w word) bool {
	for _, before := range c.words {
		if before.Span.From >= w.Span.From {
			break
		}
		if before.Text == "--" {
			return true
		}
	}
	return false
}

// namesFiles reports whether a word can be no name of a branch.
func namesFiles(w word) bool {
	return w.Text == "." || strings.HasPrefix(w.Text, "./") || strings.HasPrefix(w.Text, "..") || strings.HasPrefix(w.Text, "/") ||
		strings.HasPrefix(w.Text, ":") || w.Dynamic&Glob != 0
}

// restore throws the changes of files away, unless it is only to take them off
// the list of what is committed next.
func (c *call) restore(use usage) (ok, fail dirs) {
	if c.says(use, "-S", "--staged") {
		return c.git(use)
	}
	c.trait(Discards, c.line.Commands[c.at].Span, false, "changes that were not committed", nil)
	return c.git(use)
}

// clean deletes what is not under version control, unless it is only to say so.
func (c *call) clean(use usage) (ok, fail dirs) {
	taken := func(w word) bool { return strings.HasPrefix(w.Text, "--no-d") }
	if c.says(use, "-n", "--dry-run") && !slices.ContainsFunc(c.words, taken) {
		c.classed = ReadOnly
		return c.stay()
	}
	c.trait(Deletes, c.line.Commands[c.at].Span, false, "what is not under version control", nil)
	return c.stay()
}

// push replaces or deletes a branch that others have where a plus or a colon
// stands in front of its name.
func (c *call) push(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		if strings.HasPrefix(w.Text, "+") || strings.HasPrefix(w.Text, ":") {
			c.trait(Discards, w.Span, false, "commits that others have", nil)
		}
	}
	return c.git(use)
}

// pushForms are the other ways to write a push that replaces or deletes what
// others have: a plus in front of a name forces it, a colon deletes it. What forces
// only if nobody was faster may be meant by who says force, and may not.
func pushForms(words []Word, sure bool) (out []form) {
	if base(words[0].Text) != "git" {
		return nil
	}
	at := operandAt(words, 1, known("git"))
	if at == 0 || words[at].Text != "push" {
		return nil
	}
	says := func(i int, option, text string, sure bool) {
		as := append(slices.Clone(words[:at+1]), as(words[i], option))
		for k, w := range words[at+1:] {
			if at+1+k == i {
				if w, _ = w.after(len(w.Text) - len(text)); text == "" {
					continue
				}
			}
			as = append(as, w)
		}
		out = append(out, form{as, sure})
	}
	for i := at + 1; i < len(words); i++ {
		switch text := words[i].Text; {
		case strings.HasPrefix(text, "+"):
			says(i, "-f", text[1:], sure)
		case strings.HasPrefix(text, ":") && len(text) > 1:
			says(i, "-d", text[1:], sure)
		case strings.HasPrefix(text, "--force-"), len(text) > 3 && strings.HasPrefix("--mirror", text):
			says(i, "-f", "", false)
		}
	}
	return out
}

// fetch takes the place of a branch, whatever it held, where a plus stands in
// front of its name. What was fetched of others is theirs, and may be replaced.
func (c *call) fetch(use usage) (ok, fail dirs) {
	specs := c.operandsOf(use)
	for _, f := range use.options {
		if f.name == "--refmap" && f.has {
			specs = append(specs, f.value)
		}
	}
	for _, w := range specs {
		_, to, _ := strings.Cut(w.Text, ":")
		if strings.HasPrefix(w.Text, "+") && !strings.HasPrefix(to, "refs/remotes/") {
			c.trait(Discards, w.Span, false, "a branch of that name", &w)
		}
	}
	return c.git(use)
}

// eachRepo follows the command of git that is run in each of some repositories.
func (c *call) eachRepo(use usage) (ok, fail dirs) {
	if words := c.operandsOf(use); len(words) > 0 {
		c.run(append(gitAt(words[0].Span), words...), c.scope)
	}
	return c.stay()
}

// gitAt is the word git, in front of words that are run as its own.
func gitAt(at Span) []word {
	at.To = at.From
	return []word{{Word: Word{Text: "git", Fixed: 3, Span: at}}}
}

// visualize follows what git bisect shows its commits with: a program of git's
// or tig, or else a subcommand of git. Revisions are added to it.
func (c *call) visualize(usage) (ok, fail dirs) {
	words := c.words[1:]
	if len(words) == 0 {
		return c.stay()
	}
	git := gitAt(words[0].Span)
	at := git[0].Span
	switch first := words[0].Text; {
	case dashed(first):
		words = append(append(git, word{Word: Word{Text: "log", Fixed: 3, Span: at}}), words...)
	case first != "tig" && !strings.HasPrefix(first, "git"):
		words = append(git, words...)
	}
	c.run(words, c.scope.adding())
	return c.stay()
}
