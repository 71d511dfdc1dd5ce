package shell

import (
	"slices"
	"strings"
)

func init() { // a literal would refer to itself
	descents["git grep"], descents["git diff"] = (*call).gitGrep, (*call).gitDiff
	descents["git add"], descents["git stage"] = (*call).gitAdd, (*call).gitAdd
	descents["git stash"], descents["git stash push"], descents["git stash save"] = (*call).gitStash, (*call).gitStash, (*call).gitStash
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

// RepositoryRoot is the name that git has for the folder in which a repository begins,
// whichever folder in it one stands in.
const RepositoryRoot = ":/"

// untracked is what git takes in of the whole repository.
func (c *call) untracked() Tree {
	root := c.here()
	root.Text, root.Fixed = RepositoryRoot, len(RepositoryRoot)
	return Tree{Root: root, Hidden: true, Untracked: true}
}

// gitAdd takes in what git did not have, and whoever looks at what is to be committed,
// or at the history, sees it then; by force also what was to be kept out.
func (c *call) gitAdd(use usage) []Tree {
	if c.flagged("f", "--force") {
		return c.gitAddAll()
	}
	if sure := c.sure(use); !c.takesBack() && sure.names("-u", "--update", "--renormalize", "--refresh", "-n", "--dry-run", "-p", "--patch") {
		return nil // what git has already, or none
	}
	if c.flagged("", "--pathspec-from-file") {
		return []Tree{c.untracked()}
	}
	var out []Tree
	dashes := false
	for _, w := range c.words[1:] {
		switch {
		case w.Text == "--" && !dashes:
			dashes = true
		case dashes || !dashed(w.Text):
			out = append(out, c.pathspec(w)...)
		}
	}
	if len(out) == 0 {
		return []Tree{c.untracked()}
	}
	return out
}

// takesBack reports whether an option takes back one that stands before it, as
// --no-update does.
func (c *call) takesBack() bool {
	return slices.ContainsFunc(c.words[1:], func(w word) bool { return strings.HasPrefix(w.Text, "--no-") })
}

// pathspec is what git takes in of what a word names. Its stars go on behind slashes,
// where the shell has not put names in the place of the word.
func (c *call) pathspec(w word) (out []Tree) {
	if strings.HasPrefix(w.Text, ":") {
		return []Tree{c.untracked()}
	}
	like := Tree{Root: w.Word, Hidden: true, Untracked: true}
	star := strings.IndexAny(w.Text, "*?[\\")
	if star < 0 || w.Globs() {
		out = append(out, like)
	}
	if star < 0 {
		return out
	}
	like.Root = c.here()
	if slash := strings.LastIndexByte(w.Text[:star], '/'); slash >= 0 {
		like.Root.Text, like.Root.Fixed = w.Text[:slash+1], slash+1
	}
	end := w.Text[strings.LastIndexByte(w.Text, '*')+1:]
	if end = end[strings.LastIndexByte(end, '/')+1:]; end != "" && !strings.ContainsAny(w.Text, "?[]{}!\\") {
		like.Only = []string{"*" + end}
	}
	return append(out, like)
}

// gitAddAll takes in what was to be kept out, too.
func (c *call) gitAddAll() []Tree {
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

// gitStash takes in what git did not have where it is told to.
func (c *call) gitStash(usage) []Tree {
	switch {
	case c.flagged("a", "--all"):
		return c.listed()
	case c.flagged("u", "--include-untracked"):
		return []Tree{c.untracked()}
	}
	return nil
}

// gitStashShow shows what was not under version control where it is told to.
func (c *call) gitStashShow(usage) []Tree {
	if c.flagged("u", "--include-untracked", "--only-untracked") {
		return c.listed()
	}
	return nil
}
