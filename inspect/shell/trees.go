package shell

import (
	"slices"
	"strings"
)

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
	Untracked                bool     // those alone that git neither has nor is told to ignore
	Listed                   bool     // the files stand in a list that nobody knows: any may be among them
}

// descents are the programs that read whole folders, and how their words say which.
// What they show of the files is no matter, but for those that show none of it.
var descents = map[string]func(*call, usage) []Tree{}

func init() { // a literal would refer to itself
	for _, group := range [...]struct {
		how   func(*call, usage) []Tree
		names string
	}{
		{(*call).grep, "grep ggrep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep rgrep"},
		{(*call).ripgrep, "rg"},
		{(*call).silver, "ag"},
		{(*call).ack, "ack"},
		{(*call).ugrep, "ug ugrep"},
		{(*call).archives, "tar gtar bsdtar"},
		{(*call).archivesList, "cpio pax"},
		{(*call).zips, "zip"},
		{(*call).copies, "cp gcp rsync scp"},
		{(*call).moves, "mv gmv ln gln"},
		{(*call).compares, "diff gdiff colordiff zdiff"},
		{(*call).compresses, "gzip gunzip zcat pigz zstd unzstd zstdcat lz4 unlz4 lz4cat compress uncompress"},
		{(*call).sorts, "sort gsort"},
	} {
		for name := range strings.FieldsSeq(group.names) {
			descents[name] = group.how
		}
	}
	descents["git mv"] = (*call).moves
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

// sure are the options that are there for certain: what may be the value of another,
// stands behind the dashes, or is a pattern, is none. What reads less because of an
// option is believed of these alone.
func (c *call) sure(use usage) (out usage) {
	dashes, taken := len(c.words), make(map[int]bool)
	for i, w := range c.words {
		if w.Text == "--" {
			dashes = i
			break
		}
	}
	for _, f := range use.options {
		if f.has && f.word < f.at {
			taken[f.at] = true
		}
	}
	for _, f := range use.options {
		if w := c.words[f.word]; f.word < dashes && !taken[f.word] && (f.has && !w.Unknown() || w.Literal()) {
			out.options = append(out.options, f)
		}
	}
	return out
}

// among are those options that have one of the names, in the order given.
func (u usage) among(names ...string) (out usage) {
	for _, f := range u.options {
		if slices.Contains(names, f.name) {
			out.options = append(out.options, f)
		}
	}
	return out
}

// flagged reports whether a word looks like one of the letters as an option, or like
// the beginning of a long one.
func (c *call) flagged(letters string, long ...string) bool {
	for _, w := range c.words[1:] {
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case !dashed(w.Text):
		case !strings.HasPrefix(name, "--"):
			if strings.ContainsAny(w.Text, letters) {
				return true
			}
		case len(name) > 2 && slices.ContainsFunc(long, func(o string) bool { return strings.HasPrefix(o, name) }):
			return true
		}
	}
	return false
}

// here is the folder of the command.
func (c *call) here() Word { return Word{Span: c.words[0].Span, Text: ".", Fixed: 1} }

// listed is what a command reads that is told by a list which files.
func (c *call) listed() []Tree { return []Tree{{Root: c.here(), Listed: true}} }

// anyWord are the trees below whatever a word may name.
func (c *call) anyWord(like Tree) (out []Tree) {
	for _, w := range c.words[1:] {
		like.Root = w.Word
		out = append(out, like)
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
		like.Root = c.here()
		out = append(out, like)
	}
	return out
}

// but is the usage without an option.
func (u usage) but(name string) usage {
	out := u
	out.options = nil
	for _, f := range u.options {
		if f.name != name {
			out.options = append(out.options, f)
		}
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

// searched are the trees below the operands that do not say what is looked for. Where
// that is not certain there may be none.
func (c *call) searched(use usage, like Tree) []Tree {
	out := c.beneath(use, pattern(use), like)
	if pattern(use) == 0 && pattern(c.sure(use)) == 1 && len(c.operandsOf(use)) < 2 {
		like.Root = c.here()
		out = append(out, like)
	}
	return out
}

// grep reads folders where it is told to.
func (c *call) grep(use usage) []Tree {
	actions, known := use.values("-d", "--directories")
	deep := c.name == "rgrep" || use.names("-r", "-R", "--recursive", "--dereference-recursive") || !known
	for _, a := range actions {
		deep = deep || strings.HasPrefix(a, "r") // recurse, also cut short
	}
	sure := c.sure(use)
	if !deep || sure.names("-l", "-L", "-c", "-q", "--files-with-matches", "--files-without-match", "--count", "--quiet", "--silent") {
		return nil
	}
	like := Tree{Hidden: true, Follows: use.names("-R", "--dereference-recursive"), NoFolders: sure.exactly("--exclude-dir")}
	narrow := [...]string{"--include", "--exclude", "--exclude-from"}
	if given := use.among(narrow[:]...).options; len(given) > 0 && len(given) == len(sure.among(narrow[:]...).options) {
		only, known := use.values("--include")
		switch { // what fits none is read, unless the first of them says what to read
		case given[0].name == "--include" && known && !slices.Contains(only, ""):
			like.Only = only
		case !use.names("--include"): // of both the last one counts
			like.NoFiles = use.exactly("--exclude")
		}
	}
	return c.searched(use, like)
}

// ripgrep reads the folder that it stands in, if it is not told which.
func (c *call) ripgrep(use usage) []Tree {
	sure := c.sure(use)
	if sure.names("-q", "--quiet", "--files", "--type-list") {
		return nil
	}
	if !use.names("--json", "--no-json") && // of those that say what is shown the last one counts
		sure.names("-l", "-c", "--files-with-matches", "--files-without-match", "--count", "--count-matches") {
		return nil
	}
	like := Tree{Follows: use.names("-L", "--follow"), Hidden: len(use.among("-u", "--unrestricted").options) > 1 || use.names("-.", "--hidden")}
	c.ripgrepGlobs(&like, use, sure)
	if types, known := sure.values("-t", "--type"); known && !use.names("--type-add", "--type-clear") &&
		len(types) == len(use.among("-t", "--type").options) {
		like.Types = types
	}
	return c.searched(use, like)
}

// ripgrepGlobs are what ripgrep reads alone, and leaves out. A glob finds what is
// hidden; one that is empty, or a comment, is none.
func (c *call) ripgrepGlobs(like *Tree, use, sure usage) {
	narrow := [...]string{"-g", "--glob", "--iglob"}
	globs, known := use.values(narrow[:]...)
	var only, but []string
	for _, g := range globs {
		g = strings.TrimRight(g, " \t\r\n\v\f")
		if out, not := strings.CutPrefix(g, "!"); not && !strings.ContainsAny(out, `[]{}\!/`) {
			but = append(but, out)
		} else if !not && g != "" && g[0] != '#' {
			only = append(only, g)
		}
	}
	like.Hidden = like.Hidden || !known || len(only) > 0
	switch {
	case !known || len(use.among(narrow[:]...).options) != len(sure.among(narrow[:]...).options):
	case len(only) > 0: // of both the last one counts
		like.Only = only
	default:
		like.NoFiles, like.NoFolders = but, but
	}
}

// silver is The Silver Searcher. Of it and the next ones less is known: they are taken
// to read all.
func (c *call) silver(use usage) []Tree {
	if c.sure(use).names("-l", "-L", "-c", "-g", "--files-with-matches", "--files-without-matches", "--count") {
		return nil
	}
	return c.searched(use.but("-f"), Tree{Hidden: true, Follows: use.names("-f", "--follow")})
}

func (c *call) ack(use usage) []Tree {
	if c.sure(use).names("-l", "-L", "-c", "-f", "-g", "--files-with-matches", "--files-without-matches", "--count") {
		return nil
	}
	if use.names("-x", "--files-from") {
		return c.listed()
	}
	return c.searched(use, Tree{Hidden: true, Follows: use.names("--follow")})
}

func (c *call) ugrep(use usage) []Tree {
	if use.names("--from") {
		return c.listed()
	}
	return c.searched(use, Tree{Hidden: true, Follows: use.names("-R", "-S", "--dereference", "--dereference-recursive", "--dereference-files")})
}

// archives reads what it is to put into an archive.
func (c *call) archives(use usage) []Tree {
	if !use.names("-c", "--create", "-r", "--append", "-u", "--update", "-A", "--catenate", "--concatenate") {
		return nil
	}
	if use.names("-T", "--files-from") {
		return c.listed()
	}
	like := Tree{Hidden: true, Follows: use.names("-h", "--dereference", "-L", "-H")}
	out := c.valued(use, like, "--add-file")
	if len(c.operandsOf(use)) > 0 {
		out = append(out, c.beneath(use, 0, like)...)
	}
	return out
}

// archivesList reads what its standard input says.
func (c *call) archivesList(use usage) []Tree {
	if !use.names("-o", "--create", "-p", "--pass-through", "-w") {
		return nil
	}
	return append(c.listed(), c.anyWord(Tree{Hidden: true})...)
}

// valued are the trees below the values of options.
func (c *call) valued(use usage, like Tree, names ...string) (out []Tree) {
	for _, f := range use.among(names...).options {
		if f.has {
			like.Root = f.value.Word
			out = append(out, like)
		}
	}
	return out
}

// zips reads what links lead to, unless it is told not to.
func (c *call) zips(use usage) []Tree {
	if c.flagged("@", "--names-stdin") {
		return c.listed()
	}
	if !c.flagged("rR", "--recurse-paths", "--recurse-patterns") || len(c.operandsOf(use)) == 0 {
		return nil
	}
	return c.beneath(use, 0, Tree{Hidden: true, Follows: !c.sure(use).names("-y", "--symlinks")})
}

// copies reads the folders that it is told to go into: the last operand is where it
// writes, and looked at like the others.
func (c *call) copies(use usage) []Tree {
	if c.name == "rsync" && use.names("--files-from") {
		return c.listed()
	}
	if !c.flagged("rRa", "--recursive", "--archive") || len(c.operandsOf(use)) == 0 {
		return nil
	}
	follows := c.name == "scp" || c.flagged("LHk", "--dereference", "--copy-links", "--copy-unsafe-links", "--copy-dirlinks")
	return c.beneath(use, 0, Tree{Hidden: true, Follows: follows})
}

// moves gives folders other names, under which the rest of the line, or the next one,
// reads what is in them: nobody knows beforehand what lies there.
func (c *call) moves(use usage) []Tree {
	words := c.operandsOf(use)
	if len(words) > 1 && !c.flagged("t", "--target-directory") {
		words = words[:len(words)-1]
	}
	var out []Tree
	for _, w := range words {
		out = append(out, Tree{Root: w.Word, Hidden: true})
	}
	return out
}

// compares reads both folders that it is given, and without -r the files right in them.
func (c *call) compares(use usage) []Tree {
	like := Tree{Hidden: true, Follows: !c.sure(use).names("--no-dereference")}
	return append(c.valued(use, like, "--from-file", "--to-file"), c.beneath(use, 0, like)...)
}

// compresses reads folders where it is told to, and shows them or puts others in their
// place.
func (c *call) compresses(use usage) []Tree {
	if c.flagged("", "--filelist") {
		return c.listed()
	}
	if !c.flagged("r", "--recursive") {
		return nil
	}
	return c.anyWord(Tree{Hidden: true, Follows: true})
}

// sorts reads no folders, but what a list names.
func (c *call) sorts(use usage) []Tree {
	if use.names("--files0-from") {
		return c.listed()
	}
	return nil
}
