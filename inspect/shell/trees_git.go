package shell

import "strings"

func init() { // a literal would refer to itself
	descents["git grep"], descents["git diff"] = (*call).gitGrep, (*call).gitDiff
	descents["git add"], descents["git stage"] = (*call).gitAdd, (*call).gitAdd
	descents["git stash show"] = (*call).gitStashShow
}

// gitGrep reads what is not under version control where it is told to.
func (c *call) gitGrep(use usage) []Tree {
	for _, w := range c.words[1:] {
		switch name, _, _ := strings.Cut(w.Text, "="); {
		case len(name) > 2 && strings.HasPrefix("--untracked", name), c.noIndex(name), strings.HasPrefix(name, "--no-exclude"):
			return c.searched(use, Tree{Hidden: true})
		}
	}
	return nil
}

// noIndex reports whether a word is the beginning of --no-index, and of no shorter one.
func (c *call) noIndex(name string) bool {
	return len(name) > len("--no-") && strings.HasPrefix("--no-index", name)
}

// gitDiff compares folders that are not under version control where it is told to, and
// where neither is.
func (c *call) gitDiff(use usage) []Tree {
	for _, w := range c.words[1:] {
		if c.noIndex(w.Text) {
			return c.anyWord(Tree{Hidden: true})
		}
	}
	if o := c.operandsOf(use); len(o) == 2 && c.behindDashes(o[0]) == c.behindDashes(o[1]) {
		return c.beneath(use, 0, Tree{Hidden: true})
	}
	return nil
}

// gitAdd takes in what was to be kept out where it is told to, and whoever looks at the
// history sees it then.
func (c *call) gitAdd(usage) []Tree {
	if !c.flagged("f", "--force") {
		return nil
	}
	if c.flagged("", "--pathspec-from-file") {
		return c.listed()
	}
	names := false
	for _, w := range c.words[1:] {
		if strings.ContainsAny(w.Text, "*?[") || strings.HasPrefix(w.Text, ":") {
			return c.listed() // git has patterns of its own
		}
		names = names || !dashed(w.Text)
	}
	if !names {
		return []Tree{{Root: c.here(), Hidden: true}}
	}
	return c.anyWord(Tree{Hidden: true})
}

// gitStashShow shows what was not under version control where it is told to.
func (c *call) gitStashShow(usage) []Tree {
	if c.flagged("u", "--include-untracked", "--only-untracked") {
		return c.listed()
	}
	return nil
}
