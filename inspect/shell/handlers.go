package shell

import "strings"

// wholly are the programs whose words only a function can read, by the name
// that a table gives for it.
var wholly map[string]func(*call) (ok, fail dirs)

// handlers are functions that know more of a program than its table.
var handlers map[string]func(*call, usage) (ok, fail dirs)

func init() { // a literal would refer to itself
	wholly = map[string]func(*call) (ok, fail dirs){
		"shell": (*call).shell, "find": (*call).find, "test": (*call).testCommand, "set": (*call).set,
	}
	handlers = map[string]func(*call, usage) (ok, fail dirs){
		"cd": (*call).cd, "pushd": (*call).cd, "popd": (*call).popd,
		"eval": (*call).eval, "source": (*call).sourced, "trap": (*call).trap,
		"let": (*call).let, "declare": (*call).declared, "alias": (*call).alias,
		"su": (*call).su, "sg": (*call).su, "parallel": (*call).parallel,
		"flock": (*call).flock, "script": (*call).flock, "awk": (*call).awk, "sed": (*call).sed, "vim": (*call).vim,
		"dd": (*call).dd, "tar": (*call).tar, "make": (*call).make, "git": (*call).git, "checkout": (*call).checkout, "restore": (*call).restore, "clean": (*call).clean, "push": (*call).push, "fetch": (*call).fetch, "each": (*call).eachRepo,
		"ssh":    (*call).ssh,
		"remote": (*call).remote, "go": (*call).goTool, "report": (*call).report, "wget": (*call).wget, "curl": (*call).curl, "sqlite": (*call).sqlite, "method": (*call).method,
		"compiler": (*call).compiler, "gotestsum": (*call).gotestsum, "module": (*call).module, "visualize": (*call).visualize,
		"pager": (*call).pager, "date": (*call).date, "zip": (*call).zip, "cmake": (*call).cmake, "maven": (*call).maven, "sbt": (*call).sbt,
		"under": (*call).underPython, "by-name": (*call).byName, "behind": (*call).behind, "dotnet": (*call).dotnet,
	}
}

// operandsOf are the words that the table's reading took for operands, with
// those that it left unread.
func (c *call) operandsOf(use usage) []word {
	var out []word
	for _, i := range use.operands {
		out = append(out, c.words[i])
	}
	return append(out, c.words[min(use.rest, len(c.words)):]...)
}

// stay is for commands that leave the shell in its folder.
func (c *call) stay() (ok, fail dirs) { return c.dirs, c.dirs }

// cd moves the shell, if it succeeds.
func (c *call) cd(use usage) (ok, fail dirs) {
	where := c.operandsOf(use)
	if len(where) != 1 || !where[0].Literal() || where[0].Text == "-" || c.name == "pushd" && strings.HasPrefix(where[0].Text, "+") {
		return unknownDirs, c.dirs
	}
	for _, f := range use.options {
		if f.option == unknownOption {
			return unknownDirs, c.dirs
		}
	}
	return c.dirs.into(where[0].Text), c.dirs
}

func (c *call) popd(usage) (ok, fail dirs) { return unknownDirs, c.dirs }

// eval runs its words as a line of the same shell.
func (c *call) eval(use usage) (ok, fail dirs) {
	c.trait(Inline, c.words[0].Span, true, "runs its words as a line", nil)
	words := c.words[1:]
	if len(words) > 0 && words[0].Text == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return c.stay()
	}
	out := c.text(joinWords(words), c.scope)
	return out, out
}

func (c *call) sourced(use usage) (ok, fail dirs) {
	var file *word
	if len(c.words) > 1 {
		file = &c.words[1]
	}
	c.trait(Inline, c.line.Commands[c.at].Span, true, "runs a file in this shell", file)
	return unknownDirs, unknownDirs
}

// trap runs its first operand later, nobody knows when. Without a text it takes
// one back, or has the shell ignore a signal.
func (c *call) trap(use usage) (ok, fail dirs) {
	operands := c.operandsOf(use)
	if len(operands) == 0 || c.line.Commands[c.at].Has(LooksUp) {
		return c.stay()
	}
	c.trait(Inline, operands[0].Span, true, "says what runs when something happens", nil)
	if len(operands) < 2 {
		return c.stay()
	}
	dirs := c.dirs
	c.dirs = unknownDirs
	c.text(operands[0], c.scope)
	return dirs, dirs
}

// evaluates reports text that bash expands although it was quoted.
func (c *call) evaluates(w word) {
	c.second.runs = c.second.runs || w.Unknown()
	if _, subscript, ok := strings.Cut(w.Text, "["); ok {
		c.named(subscript, w.Span)
	}
	if !strings.ContainsAny(w.Text, "$`[") || strings.ContainsAny(w.Text, "[") && plainSubscript(w.Text) {
		return
	}
	c.trait(Inline, w.Span, true, "expands a text that was quoted", nil)
	s := c.scope
	s.by = c.at
	c.document(w.Text, w.origin(), s, c.dirs)
}

// plainSubscript reports NAME[word] with nothing to expand in it.
func plainSubscript(s string) bool {
	_, rest, _ := strings.Cut(s, "[")
	return rest != "" && ordinaryText(strings.TrimSuffix(rest, "]"))
}

func ordinaryText(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !letter(c) && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// setsName records a variable that a builtin sets by the name in its words.
func (c *call) setsName(w word) {
	name, _, _ := strings.Cut(w.Text, "[")
	name, _, _ = strings.Cut(name, "=")
	if w.Unknown() {
		c.second.nobody, c.second.runs = true, true
	}
	c.assignment(Assignment{
		Span: w.Span, Name: name, Lasting: true, Command: c.at, Harmless: !w.Unknown() && (ordinaryName(name) || harmlessName(name)),
	})
	if strings.Contains(w.Text, "[") {
		c.evaluates(w)
	}
}

// let evaluates its words as arithmetic.
func (c *call) let(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if i := strings.IndexByte(w.Text, '='); i > 0 || strings.Contains(w.Text, "++") || strings.Contains(w.Text, "--") {
			name, _, _ := strings.Cut(strings.TrimLeft(w.Text, "+- "), "[")
			name = name[:len(name)-len(strings.TrimLeft(name, nameBytes))]
			c.assignment(Assignment{Span: w.Span, Name: name, Lasting: true, Command: c.at})
		}
		c.named(w.Text, w.Span)
		c.evaluates(w)
	}
	return c.stay()
}

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// declared follows declare, export and the like, also where they are written
// so that the grammar does not know them.
func (c *call) declared(use usage) (ok, fail dirs) {
	recorded := 0
	for _, a := range c.line.Assignments {
		if a.Command == c.at {
			recorded++
		}
	}
	for _, w := range c.words[1:] {
		name, _, assigns := strings.Cut(w.Text, "=")
		if assigns && recorded == 0 && !strings.HasPrefix(w.Text, "-") {
			value, _ := w.after(len(name) + 1)
			name = strings.TrimSuffix(name, "+")
			c.assignment(Assignment{Span: w.Span, Name: name, Value: value.Word, Lasting: true, Command: c.at, Harmless: !w.Unknown() && harmlessName(name)})
		}
		if w.Unknown() {
			c.second.nobody, c.second.runs = true, true
			continue
		}
		c.evaluates(w)
		if c.name != "export" && c.name != "readonly" && dashed(w.Text) && strings.ContainsAny(w.Text, "in") {
			c.second.runs = true
			c.problem(w.Span, Unknown, "a variable whose values are evaluated: a number, or the name of another")
		}
	}
	for _, f := range use.options {
		if f.name == "-f" && c.name != "declare" && c.name != "typeset" {
			c.trait(State, c.words[f.word].Span, true, "hands a function to other shells", nil)
		}
	}
	return c.stay()
}

// alias makes a name mean something else.
func (c *call) alias(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if name, _, defines := strings.Cut(w.Text, "="); defines || w.Unknown() {
			c.problem(w.Span, Shadow, "an alias, which runs in place of any program named "+name)
			value, _ := w.after(len(name) + 1)
			c.text(value, c.scope)
		}
	}
	return c.stay()
}

// ordinarySettings are options of set that change nothing of what later words
// mean.
var ordinarySettings = set("errexit", "nounset", "pipefail", "xtrace", "verbose", "noglob", "noclobber", "noexec", "errtrace", "functrace")

// set changes the options of the shell.
func (c *call) set() (ok, fail dirs) {
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		text := w.Text
		if text == "--" || text == "-" {
			break
		}
		switch {
		case w.Unknown():
			c.trait(State, w.Span, true, "changes options of the shell", nil)
		case len(text) < 2 || text[0] != '-' && text[0] != '+':
		case text == "-o" || text == "+o" || strings.HasSuffix(text, "o") && strings.Trim(text[1:], "euxvfCno") == "":
			if i++; i < len(c.words) && !ordinarySettings[c.words[i].Text] {
				c.trait(State, c.words[i].Span, true, "changes what the shell does with later words", nil)
			}
		case strings.Trim(text[1:], "euxvfCnETb") != "":
			c.trait(State, w.Span, true, "changes what the shell does with later words", nil)
		}
	}
	return c.stay()
}

// testCommand reads test and [, whose -v evaluates a subscript.
func (c *call) testCommand() (ok, fail dirs) {
	for i, w := range c.words[1:] {
		if w.Unknown() && i+2 < len(c.words) && strings.Contains(c.words[i+2].Text, "[") { // it may be a -v
			c.second.runs = true
		}
		if (w.Text == "-v" || w.Text == "-R") && i+2 < len(c.words) && strings.Contains(c.words[i+2].Text, "[") {
			c.trait(Inline, c.words[i+2].Span, true, "evaluates a subscript", nil)
			c.evaluates(c.words[i+2])
		}
	}
	return c.stay()
}

// zip tests its archive with a program that may stand in the word of the option.
func (c *call) zip(usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if dashed(w.Text) && w.Text[1] != '-' && strings.Contains(w.Text, "TT") && w.Text != "-TT" {
			c.trait(Runs, w.Span, true, "-TT", nil)
		}
	}
	return c.stay()
}
