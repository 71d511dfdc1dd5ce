package facts

import (
	"io"
	"os"
	stdpath "path"
	"regexp"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// maxIgnoreFile is how much is read of a file that says what is ignored. Of a longer
// one nothing is believed.
const maxIgnoreFile = 64 << 10

// ignoreRules are what git, and ripgrep beside it, leave out in a folder. The last one
// that fits counts. What only some of the readers understand leaves nothing out.
type ignoreRules struct {
	rules []ignoreRule
	// none says that nothing may be left out: some reader is told to take something in
	// again, by words that are not followed here.
	none bool
	// work is what reading them and holding them against names has taken, which is counted
	// for all of a call; by nobody if it is nil.
	work *int
}

// maxIgnoreWork is how much of that is done for one call: about a second's. A repository may
// come with rules that would take minutes.
const maxIgnoreWork = 3_000_000

// took counts what was done and reports whether there may be more of it.
func (r ignoreRules) took(n int) bool {
	if r.work == nil {
		return true
	}
	*r.work += n
	return *r.work <= maxIgnoreWork
}

// ignoreRule is one line of a file that says what is ignored.
type ignoreRule struct {
	dir     string   // in which the file stands
	names   []string // of the pattern; one fits at any depth unless it is anchored
	anchor  bool
	folders bool // fits those alone
	again   bool // takes in again what others leave out; where files may be, whatever their case
}

// ignored reports whether what is at an absolute path is left out, with all that is
// beneath it.
func (r ignoreRules) ignored(at string, folder bool) bool {
	if r.none {
		return false
	}
	for _, rule := range slices.Backward(r.rules) {
		if !r.took(1 + len(at)/64) {
			return false
		}
		if r.fits(rule, at, folder) {
			return !rule.again
		}
	}
	return false
}

func (r ignoreRules) fits(rule ignoreRule, at string, folder bool) bool {
	if rule.again {
		at = strings.ToLower(at)
	}
	rel, beneath := strings.CutPrefix(at, strings.TrimSuffix(rule.dir, "/")+"/")
	if !beneath || rule.folders && !folder {
		return false
	}
	if !rule.anchor {
		return r.fitsNames(rule.names, []string{stdpath.Base(rel)})
	}
	return r.fitsNames(rule.names, strings.Split(rel, "/"))
}

// fitsNames holds names against those of a pattern. The number of ** in it is bounded where it
// is read.
func (r ignoreRules) fitsNames(pattern, names []string) bool {
	for i, p := range pattern {
		if p == "**" {
			last := i == len(pattern)-1
			for k := i; k < len(names); k++ {
				if last || r.fitsNames(pattern[i+1:], names[k:]) {
					return true
				}
			}
			return false
		}
		if i >= len(names) || !r.took(1+len(p)*len(names[i])/256) {
			return false
		}
		if fits, err := stdpath.Match(p, names[i]); err != nil || !fits {
			return false
		}
	}
	return len(pattern) == len(names)
}

// with are the rules with those of one file more.
func (r ignoreRules) with(dir, text string) ignoreRules {
	out := ignoreRules{rules: slices.Clip(r.rules), none: r.none, work: r.work}
	if !r.took(len(r.rules) + len(text)/8) { // to copy those, and to read these
		return out
	}
	if strings.ContainsRune(text, 0) || strings.HasPrefix(text, "\ufeff") {
		out.none = true // for some readers a line ends there, or begins
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, again := strings.CutPrefix(strings.TrimRight(line, " "), "!")
		if line == "" {
			continue
		}
		in := dir
		if again {
			in, line = strings.ToLower(dir), strings.ToLower(line)
		}
		rule, plain := parseIgnoreRule(in, line)
		switch rule.again = again; {
		case plain && !(again && strings.Contains(line, " ")):
			out.rules = append(out.rules, rule)
		case again:
			out.none = true
		}
	}
	return out
}

// parseIgnoreRule reads a pattern. plain is false for one that is written with more
// than letters and stars.
func parseIgnoreRule(dir, line string) (rule ignoreRule, plain bool) {
	text, folders := strings.CutSuffix(line, "/")
	rule = ignoreRule{dir: dir, folders: folders, anchor: strings.Contains(text, "/")}
	rule.names = strings.Split(strings.TrimPrefix(text, "/"), "/")
	deep := 0
	for _, name := range rule.names {
		if name == "**" {
			deep++
		}
		if name == "" || name != "**" && strings.Contains(name, "**") {
			return rule, false
		}
	}
	return rule, deep <= 2 && !strings.ContainsFunc(text, isOddInPattern) && (rule.anchor || rule.names[0] != "**")
}

// isOddInPattern reports whether a character may mean something else to one reader of a
// pattern than to another, or more than itself.
func isOddInPattern(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`[]{}\?!`, c) }

// inherit are the rules for what is in a folder: those from above, and its own. A
// repository in a repository begins anew.
func (r ignoreRules) inherit(at string, entries []path.Entry, top bool) ignoreRules {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e path.Entry) bool { return e.Name == name })
	}
	if !top && has(".git") {
		r = ignoreRules{none: r.none, work: r.work}
	}
	if has(".gitignore") {
		r = r.read(at, ".gitignore", r.with)
	}
	for _, name := range [...]string{".ignore", ".rgignore"} {
		if has(name) {
			r = r.read(at, name, r.others)
		}
	}
	return r
}

// others is a file that ripgrep alone reads, before all others: what it takes in again
// is believed, and what it leaves out is not.
func (r ignoreRules) others(_, text string) ignoreRules {
	r.none = r.none || strings.Contains(text, "!")
	return r
}

// read adds a file. One that cannot be read, or is a link, leaves nothing out: some
// readers go where links lead, and some do not.
func (r ignoreRules) read(dir, name string, add func(dir, text string) ignoreRules) ignoreRules {
	text, ok := readSmall(strings.TrimSuffix(dir, "/")+"/"+name, maxIgnoreFile)
	if !ok {
		r.none = true
		return r
	}
	return add(dir, string(text))
}

// readSmall reads a regular file of at most limit bytes, and follows no link at its end.
func readSmall(name string, limit int64) ([]byte, bool) {
	f, err := os.OpenFile(name, readOnly, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	return text, err == nil && int64(len(text)) <= limit
}

// ignoredAbove are the rules for a folder that stand in those above it: up to the root
// of its repository, which is empty if it lies in none, or in an odd one. Then nothing is left
// out.
func (g *gatherer) ignoredAbove(dir string) (rules ignoreRules, repository string, odd bool) {
	repository, odd = g.repositoryOf(dir)
	if repository == "" || odd {
		return ignoreRules{none: true}, "", odd
	}
	rules.work = &g.ignoreWork
	if text, ok := readSmall(repository+"/.git/info/exclude", maxIgnoreFile); ok {
		rules = rules.with(repository, string(text))
	}
	var above []string
	for at := dir; at != "/" && at != ""; {
		at = stdpath.Dir(at)
		above = append(above, at)
	}
	for _, at := range slices.Backward(above) {
		rules = g.ignoredIn(at, repository, rules)
	}
	return rules, repository, false
}

// ignoredIn adds the files of one folder above: outside of the repository those that
// ripgrep reads everywhere.
func (g *gatherer) ignoredIn(at, repository string, rules ignoreRules) ignoreRules {
	var entries []path.Entry
	for _, name := range [...]string{".gitignore", ".ignore", ".rgignore"} {
		if name == ".gitignore" && !sayso.Beneath(repository, at) {
			continue
		}
		if _, err := g.fs.Lstat(strings.TrimSuffix(at, "/") + "/" + name); err == nil {
			entries = append(entries, path.Entry{Name: name})
		}
	}
	return rules.inherit(at, entries, true)
}

// repositoryOf is the nearest folder from dir upwards that git takes for the root of a
// repository; empty if there is none. It is odd where it is not known whether git would, or
// would go on to one further up.
func (g *gatherer) repositoryOf(dir string) (root string, odd bool) {
	for at := dir; at != "" && at != "/"; at = stdpath.Dir(at) {
		info, err := g.fs.Lstat(at + "/.git")
		if err != nil {
			continue
		}
		if info.Mode.IsRegular() {
			return at, false // git goes where it leads, or nowhere
		}
		if _, err := g.fs.Lstat(at + "/.git/HEAD"); err == nil || !info.Mode.IsDir() {
			return at, !g.holdsRepository(at + "/.git")
		}
	}
	return "", false
}

// holdsRepository reports whether git takes a folder for a repository: by what begins its HEAD,
// and by two folders that are there.
func (g *gatherer) holdsRepository(at string) bool {
	head, ok := readSmall(at+"/HEAD", 4<<10)
	_, objects := g.fs.Lstat(at + "/objects")
	_, refs := g.fs.Lstat(at + "/refs")
	return ok && headOfGit.Match(head) && objects == nil && refs == nil
}

// headOfGit is the branch or the commit that is checked out.
var headOfGit = regexp.MustCompile(`^(ref: ?refs/|[0-9a-f]{40})`)

// settle finds out whether a line may change what git ignores before it adds something:
// what is on the disk is looked at before any of it runs.
func (g *gatherer) settle(line *shell.Line) {
	for i := range line.Commands {
		c := &line.Commands[i]
		first := gitSubcommands(c)
		in := func(names map[string]bool) bool {
			return slices.ContainsFunc(first, func(name string) bool { return names[name] })
		}
		if in(beginsRepository) {
			g.begins, g.unsettled = true, true
		}
		stashes := slices.Contains(first, "stash")
		if in(changesFiles) || len(first) > 0 && !in(leavesFiles) && !stashes || unpacks(c) {
			g.unsettled = true
		}
		if stashes && !looksAtStash(c.Args) && takenInBeside(line, i) {
			g.unsettled = true
		}
		if len(first) == 0 && c.Class != shell.ReadOnly && slices.ContainsFunc(c.Args, saysIgnored) {
			g.unsettled = true
		}
	}
	for i := range line.Redirects {
		if r := &line.Redirects[i]; r.Kind == shell.Write && saysIgnored(r.Target) {
			g.unsettled = true
		}
	}
}

var (
	beginsRepository = set("init", "clone")
	// leavesFiles are subcommands that change no file of a work tree, and none of those that
	// say what is ignored. What is in neither list is taken to do so.
	leavesFiles = set("add", "annotate", "blame", "branch", "cat-file", "check-attr", "check-ignore", "cherry", "clone", "commit", "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree", "fetch", "for-each-ref",
		"fsck", "gc", "grep", "help", "init", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "name-rev", "notes", "push", "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "stage", "status", "symbolic-ref", "tag", "var",
		"verify-commit", "verify-tag", "version", "whatchanged")
	// changesFiles count also where the word before them may be one of the others: the value
	// of an option.
	changesFiles = set("switch", "checkout", "restore", "merge", "pull", "rebase", "cherry-pick", "revert", "reset", "apply", "am", "mv", "rm", "clean", "config", "update-index", "read-tree", "checkout-index", "sparse-checkout", "bisect",
		"submodule", "subtree", "lfs", "worktree", "svn", "p4", "filter-branch", "replace", "rerere", "mergetool", "difftool", "maintenance")
	unpackers = set("rsync", "tar", "gtar", "bsdtar", "unzip", "7z", "cpio", "pax", "patch")
)

// looksAtStash reports whether the words of a git stash leave all files as they are. What
// puts changes aside has files be as they were before, and what takes them out again, too.
func looksAtStash(args []shell.Word) bool {
	return len(args) > 1 && args[0].Text == "stash" && (args[1].Text == "list" || args[1].Text == "show")
}

// takenInBeside reports whether git takes something in by another command of the line than
// this one.
func takenInBeside(line *shell.Line, this int) bool {
	for i := range line.Commands {
		if i != this && slices.ContainsFunc(line.Commands[i].Trees, func(t shell.Tree) bool { return t.Untracked }) {
			return true
		}
	}
	return false
}

// gitSubcommands are the words of a command of git that may be its subcommand: the first
// that is no option, and the one behind it where that may be an option's value.
func gitSubcommands(c *shell.Command) (out []string) {
	if c.Base() != "git" {
		return nil
	}
	for i, w := range c.Args {
		if strings.HasPrefix(w.Text, "-") {
			continue
		}
		out = append(out, w.Text)
		if i == 0 || !strings.HasPrefix(c.Args[i-1].Text, "-") || len(out) > 8 {
			break
		}
	}
	return out
}

// unpacks reports whether a command writes files that its words do not name.
func unpacks(c *shell.Command) bool {
	base := c.Base()
	return unpackers[base] || (base == "cp" || base == "gcp") && slices.ContainsFunc(c.Args, func(w shell.Word) bool {
		return strings.HasPrefix(w.Text, "--") || strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "rRa")
	})
}

// saysIgnored reports whether a word may name a file that says what is ignored, or a
// folder in which git keeps such a file.
func saysIgnored(w shell.Word) bool {
	if w.Globs() {
		return slices.ContainsFunc([]string{".gitignore", ".ignore", ".rgignore", "exclude"}, func(name string) bool { return w.MayBe(name) || w.MayBe("*/"+name) })
	}
	return strings.Contains(w.Text, "ignore") || strings.Contains(w.Text, ".git/")
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
