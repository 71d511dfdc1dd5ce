package shell

import "strings"

// Tree is a folder of which a command reads the files, and those in all folders
// beneath it. A file may be named in its place.
type Tree struct {
	Root Word // "." if none is named
	// Only are patterns of the names of the files that alone are read, all if there are
	// none; NoFiles and NoFolders of those that are left out.
	Only, NoFiles, NoFolders []string
	Types                    []string // the types of files that alone are read, as ripgrep names them
	Hidden                   bool     // names that begin with a dot too, also where no pattern names them
	Follows                  bool     // what links lead to, too
}

// descents are the programs that read whole folders, and how their words say which.
// What they show of the files is no matter, but for those that show none of it.
var descents map[string]func(*call, usage) []Tree

func init() { // a literal would refer to itself
	descents = map[string]func(*call, usage) []Tree{
		"rg": (*call).ripgrep, "ag": (*call).searches, "ug": (*call).searches, "ugrep": (*call).searches, "ack": (*call).searches,
		"git grep": (*call).gitGrep, "tar": (*call).archives, "gtar": (*call).archives, "bsdtar": (*call).archives,
	}
	for _, name := range [...]string{"grep", "ggrep", "egrep", "fgrep", "zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep", "rgrep"} {
		descents[name] = (*call).grep
	}
	for _, name := range [...]string{"cp", "gcp", "rsync", "scp", "diff", "gdiff", "colordiff", "zip"} {
		descents[name] = (*call).copies
	}
}

// names reports whether one of the options was given.
func (u usage) names(options ...string) bool {
	for _, f := range u.options {
		for _, name := range options {
			if f.name == name {
				return true
			}
		}
	}
	return false
}

// values are those of the options. ok is false if one of them is not known; a glob
// stands for nothing that does not fit it.
func (u usage) values(options ...string) (out []string, ok bool) {
	for _, f := range u.options {
		for _, name := range options {
			if f.name != name || !f.has {
				continue
			}
			if f.value.Unknown() {
				return nil, false
			}
			out = append(out, f.value.Text)
		}
	}
	return out, true
}

// exactly are those values that all readers of patterns take alike, of one option. What
// is left out by the others is not believed to be.
func (u usage) exactly(option string) (out []string) {
	for _, f := range u.options {
		if f.name == option && f.has && f.value.Literal() && !strings.ContainsAny(f.value.Text, `[]{}\!/`) {
			out = append(out, f.value.Text)
		}
	}
	return out
}

// beneath are the trees below the operands, behind as many as are something else; that
// of the folder of the command if there are no others.
func (c *call) beneath(use usage, skip int, like Tree) (out []Tree) {
	words := c.operandsOf(use)
	for _, w := range words[min(skip, len(words)):] {
		like.Root = w.Word
		out = append(out, like)
	}
	if len(out) == 0 {
		like.Root = Word{Span: c.words[0].Span, Text: ".", Fixed: 1}
		out = append(out, like)
	}
	return out
}

// pattern is how many operands say what is looked for.
func pattern(use usage) int {
	if use.names("-e", "--regexp", "-f", "--file", "--match") {
		return 0
	}
	return 1
}

// grep reads folders where it is told to.
func (c *call) grep(use usage) []Tree {
	actions, known := use.values("-d", "--directories")
	deep := c.name == "rgrep" || use.names("-r", "-R", "--recursive", "--dereference-recursive") || !known
	for _, a := range actions {
		deep = deep || strings.HasPrefix(a, "r") // recurse, also cut short
	}
	if !deep || use.names("-l", "-L", "-c", "-q", "--files-with-matches", "--files-without-match", "--count", "--quiet", "--silent") {
		return nil
	}
	like := Tree{Hidden: true, Follows: use.names("-R", "--dereference-recursive")}
	if only, ok := use.values("--include"); ok {
		like.Only = only
	}
	like.NoFolders = use.exactly("--exclude-dir")
	if !use.names("--include") { // of both the last one counts
		like.NoFiles = use.exactly("--exclude")
	}
	return c.beneath(use, pattern(use), like)
}

// ripgrep reads the folder that it stands in, if it is not told which.
func (c *call) ripgrep(use usage) []Tree {
	if use.names("-l", "-c", "-q", "--files", "--type-list", "--files-with-matches", "--files-without-match", "--count", "--count-matches", "--quiet") {
		return nil
	}
	unrestricted := 0
	for _, f := range use.options {
		if f.name == "-u" || f.name == "--unrestricted" {
			unrestricted++
		}
	}
	like := Tree{Follows: use.names("-L", "--follow"), Hidden: unrestricted > 1 || use.names("-.", "--hidden")}
	globs, ok := use.values("-g", "--glob", "--iglob")
	like.Hidden = like.Hidden || !ok
	for _, g := range globs {
		if !strings.HasPrefix(g, "!") {
			like.Only, like.Hidden = append(like.Only, g), true // a glob finds what is hidden
		}
	}
	if ok && len(like.Only) == 0 { // of both the last one counts
		for _, g := range globs {
			if but := strings.TrimPrefix(g, "!"); !strings.ContainsAny(but, `[]{}\!/`) {
				like.NoFiles, like.NoFolders = append(like.NoFiles, but), append(like.NoFolders, but)
			}
		}
	}
	if types, known := use.values("-t", "--type"); known && !use.names("--type-add", "--type-clear") {
		like.Types = types
	}
	return c.beneath(use, pattern(use), like)
}

// searches are the other programs that look through folders by themselves, of which
// less is known: they are taken to read all.
func (c *call) searches(use usage) []Tree {
	if c.name != "ug" && c.name != "ugrep" && use.names("-l", "-L", "-c", "-f", "-g", "--files-with-matches", "--files-without-matches", "--count") {
		return nil
	}
	return c.beneath(use, pattern(use), Tree{Hidden: true})
}

// gitGrep reads what is not under version control where it is told to.
func (c *call) gitGrep(use usage) []Tree {
	for _, w := range c.words[1:] {
		switch name, _, _ := strings.Cut(w.Text, "="); {
		case len(name) > 6 && (strings.HasPrefix("--no-index", name) || strings.HasPrefix("--untracked", name)), strings.HasPrefix(name, "--no-exclude"):
			return c.beneath(use, pattern(use), Tree{Hidden: true})
		}
	}
	return nil
}

// archives reads what it is to put into an archive.
func (c *call) archives(use usage) []Tree {
	if !use.names("-c", "--create", "-r", "--append", "-u", "--update", "-A", "--catenate", "--concatenate") || len(c.operandsOf(use)) == 0 {
		return nil
	}
	return c.beneath(use, 0, Tree{Hidden: true})
}

// copies reads the folders that it is told to go into: the last operand is where it
// writes, and looked at like the others.
func (c *call) copies(use usage) []Tree {
	deep := false
	for _, w := range c.words[1:] {
		long := strings.HasPrefix(w.Text, "--")
		deep = deep || !long && dashed(w.Text) && strings.ContainsAny(w.Text, "rRa") ||
			long && len(w.Text) > 4 && (strings.HasPrefix("--recursive", w.Text) || strings.HasPrefix("--archive", w.Text))
	}
	if !deep || len(c.operandsOf(use)) == 0 {
		return nil
	}
	return c.beneath(use, 0, Tree{Hidden: true})
}
