package shell

import (
	"slices"
	"strings"
	"unicode"
)

// shell follows a shell: its text is the first operand if -c is among its
// options, in whatever cluster; else a file; else what it reads.
func (c *call) shell() (ok, fail dirs) {
	if len(c.words) == 2 && (c.words[1].Text == "--version" || c.words[1].Text == "--help") {
		return c.stay()
	}
	var inline, reads bool
	i := 1
options:
	for ; i < len(c.words); i++ {
		w := c.words[i]
		switch text := w.Text; {
		case text == "--" || text == "-":
			i++
			break options
		case strings.HasPrefix(text, "--"):
			i += c.shellOption(i)
		case len(text) > 1 && (text[0] == '-' || text[0] == '+'):
			inline = inline || text[0] == '-' && strings.Contains(text, "c")
			reads = reads || text[0] == '-' && strings.Contains(text, "s")
			i += strings.Count(text, "o") + strings.Count(text, "O") // each takes a word
		default:
			break options
		}
	}
	for _, w := range c.words[1:min(i, len(c.words))] {
		if name, _, ok := strings.Cut(w.Text, "="); ok && (name == "--command" || name == "--init-command") {
			v, _ := w.after(len(name) + 1)
			c.trait(Inline, w.Span, true, "runs a text as a line of shell", nil)
			c.text(v, c.scope)
		}
	}
	if c.name == "fish" {
		inline = inline || slices.ContainsFunc(c.words, func(w word) bool { return strings.HasPrefix(w.Text, "-C") || strings.HasPrefix(w.Text, "--init") })
	}
	rest := c.words[min(i, len(c.words)):]
	switch {
	case inline:
		c.inlineText(rest)
	case len(rest) == 0 || reads:
		c.readsLine()
	case streams(rest[0].Text) || rest[0].Dynamic&Process != 0:
		c.trait(Inline, rest[0].Span, true, "reads its program from a stream", nil)
		c.readsLine()
	default:
		c.trait(Interpreter, rest[0].Span, false, "runs a program from a file", &rest[0])
	}
	return c.stay()
}

// shellOption reads a long option of a shell, and returns how many words its
// value takes.
func (c *call) shellOption(i int) int {
	name, _, attached := strings.Cut(c.words[i].Text, "=")
	switch {
	case strings.HasPrefix("--rcfile", name), strings.HasPrefix("--init-file", name):
		c.trait(Runs, c.words[i].Span, true, "runs a file first", nil)
	case name == "--features" || name == "--profile" || name == "--debug-output":
	default:
		return 0
	}
	if attached {
		return 0
	}
	return 1
}

// inlineText follows the text of sh -c. Some shells take several.
func (c *call) inlineText(rest []word) {
	c.trait(Inline, c.line.Commands[c.at].Span, true, "runs a text as a line of shell", nil)
	if len(rest) == 0 {
		return
	}
	c.text(rest[0], c.scope)
	if c.name == "fish" || c.name == "nu" {
		for _, w := range rest[1:] {
			c.text(w, c.scope)
		}
	}
}

// readsLine follows a shell that reads its program from its standard input.
func (c *call) readsLine() {
	c.trait(Inline, c.words[0].Span, true, "a shell reads its program from its standard input", nil)
	if in := c.scope.input; in.known {
		c.text(in.text, c.scope)
	}
}

// find follows -exec and its relatives, and names what deletes and writes.
func (c *call) find() (ok, fail dirs) {
	for i := 1; i < len(c.words); i++ {
		w := c.words[i]
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir":
			i = c.findExec(i)
		case "-delete":
			starts := c.starts()
			if len(starts) == 0 {
				c.trait(Deletes, w.Span, true, w.Text, nil)
			}
			for k := range starts {
				c.trait(Deletes, w.Span, true, w.Text, &starts[k])
			}
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			var target *word
			if i+1 < len(c.words) {
				target = &c.words[i+1]
			}
			if target == nil || !target.Literal() || !nowhere(target.Text) {
				c.trait(Writes, w.Span, true, w.Text, target)
			}
		case "-files0-from", "-D", "-f":
			i++
		case "-name", "-iname", "-lname", "-ilname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex":
			if literals(c.words[:i+1]) {
				i++ // a name, whatever it looks like
			}
		default:
			if w.Fixed == 0 && w.Unknown() {
				c.trait(Runs, w.Span, true, "an expression that is known only when it runs", nil)
			}
		}
	}
	return c.stay()
}

// literals reports whether all of the words are certain.
func literals(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !w.Literal() })
}

// findExec follows the command of one -exec, and returns where it ends.
func (c *call) findExec(i int) int {
	end := i + 1
	for end < len(c.words) {
		if t := c.words[end].Text; t == ";" || t == "+" && end > i+1 && c.words[end-1].Text == "{}" {
			break
		}
		end++
	}
	c.trait(Wraps, c.words[i].Span, true, c.words[i].Text, nil)
	words := c.words[i+1 : end]
	if len(words) == 0 {
		return end
	}
	dirs := c.dirs
	if strings.HasSuffix(c.words[i].Text, "dir") {
		c.dirs = unknownDirs
	}
	from := len(c.line.Commands)
	c.run(filled(words), c.scope.adding())
	c.dirs = dirs
	c.aimed(from)
	return end
}

// starts are the folders that find begins in: the words in front of its
// expression.
func (c *call) starts() []word {
	i := 1
	for i < len(c.words) && (c.words[i].Text == "-H" || c.words[i].Text == "-L" || c.words[i].Text == "-P") {
		i++
	}
	from := i
	for i < len(c.words) && !dashed(c.words[i].Text) && c.words[i].Text != "(" && c.words[i].Text != "!" {
		i++
	}
	return c.words[from:i]
}

// aimed gives what the commands of find write and delete the folder that it
// begins in for a target, where it fills in a name and begins in one folder.
func (c *call) aimed(from int) {
	starts := c.starts()
	if len(starts) > 1 {
		return
	}
	for i := from; i < len(c.line.Commands); i++ {
		for k := range c.line.Commands[i].Traits {
			t := &c.line.Commands[i].Traits[k]
			if t.Target == nil || t.Target.Text != "{}" || t.Target.Dynamic&^Added != 0 || (t.Kind != Deletes && t.Kind != Writes) {
				continue
			}
			target := Word{Text: ".", Fixed: 1, Span: t.Target.Span}
			if len(starts) == 1 {
				target = starts[0].Word
			}
			t.Target = &target
		}
	}
}

// filled marks the words of a command that find fills in.
func filled(words []word) []word {
	out := make([]word, len(words))
	for i, w := range words {
		if strings.Contains(w.Text, "{}") {
			w.Dynamic |= Added
			w.Fixed = min(w.Fixed, strings.Index(w.Text, "{}"))
		}
		out[i] = w
	}
	return out
}

// su runs a shell, for the words behind the user as well.
func (c *call) su(use usage) (ok, fail dirs) {
	for _, f := range use.options {
		if f.name == "--user" || f.name == "-u" { // of runuser: then its words are a command
			c.trait(Wraps, c.words[f.word].Span, false, "runs the command in its words", nil)
			c.run(c.operandsOf(use), c.scope)
			return c.stay()
		}
	}
	for i, w := range c.words[1:] { // behind the user its options go to the shell
		if w.Text == "-c" || strings.HasPrefix(w.Text, "-") && strings.HasSuffix(w.Text, "c") && !strings.HasPrefix(w.Text, "--") {
			if i+2 < len(c.words) && !c.studied(c.words[i+2].Span) {
				c.text(c.words[i+2], c.scope)
			}
		}
	}
	if !c.line.Commands[c.at].Has(Inline) {
		c.trait(Inline, c.words[0].Span, true, "starts a shell", nil)
	}
	if operands := c.operandsOf(use); c.name == "sg" && len(operands) > 1 {
		c.text(operands[len(operands)-1], c.scope)
	}
	return c.stay()
}

// studied reports whether a command in a range was listed.
func (c *call) studied(at Span) bool {
	for i := c.at + 1; i < len(c.line.Commands); i++ {
		if s := c.line.Commands[i].Span; s.From >= at.From && s.To <= at.To {
			return true
		}
	}
	return false
}

// parallel gives its words to a shell, with others that it reads.
func (c *call) parallel(use usage) (ok, fail dirs) {
	c.trait(Inline, c.words[0].Span, true, "a shell reads its words as lines", nil)
	rest := c.words[min(use.rest, len(c.words)):]
	for i, w := range rest {
		if strings.HasPrefix(w.Text, ":::") {
			for _, line := range rest[i+1:] {
				if i == 0 {
					c.text(line, c.scope)
				}
			}
			rest = rest[:i]
			break
		}
	}
	if len(rest) > 0 {
		c.joinedText(joinWords(rest), c.scope.adding())
	} else if c.scope.input.known {
		c.text(c.scope.input.text, c.scope)
	}
	return c.stay()
}

// flock and script have an operand before their command, or a text for a shell
// behind -c.
func (c *call) flock(use usage) (ok, fail dirs) {
	rest := c.words[min(use.rest, len(c.words)):]
	if len(rest) == 0 {
		if c.name == "script" && !c.line.Commands[c.at].Has(Inline) {
			c.trait(Inline, c.words[0].Span, true, "starts a shell", nil)
		}
		return c.stay()
	}
	c.trait(Writes, rest[0].Span, c.name == "script", "operand", &rest[0])
	rest = rest[1:]
	if len(rest) > 0 && rest[0].Text == "--" {
		rest = rest[1:]
	}
	for i, w := range rest {
		if (w.Text == "-c" || strings.HasPrefix("--command", w.Text) && len(w.Text) > 2) && i+1 < len(rest) {
			c.trait(Inline, w.Span, true, "runs a text as a line of shell", nil)
			c.text(rest[i+1], c.scope)
			return c.stay()
		}
		if !dashed(w.Text) {
			c.trait(Wraps, w.Span, false, "runs the command in its words", nil)
			c.run(rest[i:], c.scope)
			return c.stay()
		}
	}
	return c.stay()
}

// vim takes commands behind a plus.
func (c *call) vim(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if strings.HasPrefix(w.Text, "+") && len(w.Text) > 1 && strings.Trim(w.Text[1:], "0123456789") != "" {
			c.trait(Inline, w.Span, true, "runs a command of the editor", nil)
		}
	}
	for i := range c.words[1:] {
		c.trait(Writes, c.words[i+1].Span, false, "operand", &c.words[i+1])
	}
	return c.stay()
}

// pager takes keys behind a plus, which can run programs and open files. Those
// that only go somewhere are a line, a place and what to look for.
func (c *call) pager(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		keys := strings.TrimLeft(w.Text, "+")
		if keys == w.Text || strings.Trim(keys, "0123456789gGF%") == "" {
			continue
		}
		if keys[0] != '/' && keys[0] != '?' || strings.ContainsFunc(keys, unicode.IsControl) {
			c.trait(Inline, w.Span, true, "presses keys in the pager", nil)
		}
	}
	return c.stay()
}

// date sets the clock to what stands there without an option and is no format.
func (c *call) date(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		if !strings.HasPrefix(w.Text, "+") {
			c.trait(State, w.Span, true, "sets the clock", nil)
		}
	}
	return c.stay()
}

// dd writes to of=.
func (c *call) dd(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if strings.HasPrefix(w.Text, "of=") {
			v, _ := w.after(len("of="))
			c.trait(Writes, w.Span, false, "of=", &v)
		}
	}
	return c.stay()
}

// tar writes to its archive when it creates one.
func (c *call) tar(use usage) (ok, fail dirs) {
	creates, unpacks := false, false
	for _, f := range use.options {
		creates = creates || f.name == "-c" || f.name == "--create"
		unpacks = unpacks || f.name == "-x" || f.name == "--extract" || f.name == "--get"
	}
	for i, f := range use.options {
		if unpacks && (f.name == "-C" || f.name == "--directory") {
			c.trait(Writes, f.value.Span, true, "where it unpacks", &use.options[i].value)
		}
		if creates && (f.name == "-f" || f.name == "--file") && f.has && f.value.Text != "-" {
			c.trait(Writes, f.value.Span, false, "the archive", &use.options[i].value)
		}
		if (f.name == "-f" || f.name == "--file") && strings.Contains(f.value.Text, ":") {
			c.trait(Runs, f.value.Span, true, "an archive on another machine", nil)
		}
	}
	return c.stay()
}

// make takes settings that can name any program.
func (c *call) make(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		if _, value, ok := strings.Cut(w.Text, "="); ok && (w.Unknown() || strings.Trim(value, "0123456789") != "") {
			c.trait(Runs, w.Span, true, "a setting may name a program", nil)
		}
	}
	return c.stay()
}

// ssh gives its words to a shell of another machine.
func (c *call) ssh(use usage) (ok, fail dirs) {
	rest := c.words[min(use.rest, len(c.words)):]
	for len(rest) > 1 && dashed(rest[1].Text) { // options may stand behind the host
		rest = rest[1:]
	}
	if len(rest) > 1 {
		c.trait(Inline, rest[1].Span, true, "runs a line on another machine", nil)
		c.dirs = unknownDirs
		c.text(joinWords(rest[1:]), c.scope)
	}
	return c.stay()
}

// remote names the machines that files are sent to.
func (c *call) remote(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		if strings.Contains(w.Text, ":") {
			c.trait(Sends, w.Span, false, "another machine", nil)
		}
	}
	return c.stay()
}

// goTool looks at the flags that go hands to other tools.
func (c *call) goTool(use usage) (ok, fail dirs) {
	for _, f := range use.options {
		if strings.HasSuffix(f.name, "flags") && (strings.Contains(f.value.Text, "extld") || strings.Contains(f.value.Text, "-tool") || f.value.Unknown()) {
			c.trait(Runs, f.value.Span, true, "flags that name a program", nil)
		}
	}
	c.goTest()
	return c.stay()
}

// goTest looks at the options of the program of a test, which has a word in front
// of them and reads them wherever they stand.
func (c *call) goTest() {
	for i, w := range c.words[1:] {
		name, value, attached := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		name, ok := strings.CutPrefix(name, "test.")
		if !ok || !dashed(w.Text) || !testWrites[name] {
			continue
		}
		target := &c.words[1+i]
		if v, ok := w.after(len(w.Text) - len(value)); attached && ok {
			target = &v
		} else if 2+i < len(c.words) {
			target = &c.words[2+i]
		}
		c.trait(Writes, w.Span, true, "-test."+name, target)
	}
}

// testWrites are the options of the program of a test that write a file or a
// folder.
var testWrites = set("testlogfile", "outputdir", "gocoverdir", "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace", "fuzzcachedir")

// cmake takes settings that name programs and files that are run, and hands words
// on to the program that builds.
func (c *call) cmake(use usage) (ok, fail dirs) {
	for i, f := range use.options {
		if f.name != "-D" || !f.has {
			continue
		}
		name, value, _ := strings.Cut(f.value.Text, "=")
		name, _, _ = strings.Cut(strings.ToUpper(name), ":")
		if f.value.Unknown() || !compilers[value] && slices.ContainsFunc(cmakeRuns, func(part string) bool { return strings.Contains(name, part) }) {
			c.trait(Runs, f.value.Span, true, "a setting may name a program", &use.options[i].value)
		}
	}
	if at := slices.IndexFunc(c.words, func(w word) bool { return w.Text == "--" }); at > 0 {
		c.handedOn("make", c.words[at:]) // or the other: nobody knows
		c.handedOn("ninja", c.words[at:])
	}
	return c.make(use)
}

// cmakeRuns are parts of the names of settings that name a program, or a file
// that is run.
var cmakeRuns = []string{"COMPILER", "LAUNCHER", "LINKER", "PROGRAM", "EXECUTABLE", "_INCLUDE", "TOOLCHAIN", "RULE_", "EMULATOR", "MODULE_PATH", "COMMAND"}

// compilers are values of such settings that name what everybody builds with.
var compilers = set("", "cc", "c++", "gcc", "g++", "clang", "clang++", "ccache", "sccache", "ld", "lld", "gold", "mold", "make", "ninja", "ON", "OFF")

// maven takes goals of plugins that it fetches, or that run what they are told to.
func (c *call) maven(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		plugin, _, _ := strings.Cut(w.Text, ":")
		if strings.Count(w.Text, ":") > 1 || plugin == "exec" || plugin == "antrun" || plugin == "groovy" {
			c.trait(Runs, w.Span, true, "a plugin that is fetched, or that runs programs", nil)
		}
	}
	return c.stay()
}

// sbt takes words that are programs in the language of its builds.
func (c *call) sbt(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		for command := range strings.SplitSeq(w.Text, ";") {
			switch first, _, _ := strings.Cut(strings.TrimLeft(command, " ~+"), " "); first {
			case "set", "eval", "apply", "alias", "console", "consoleProject", "<", "load", "iflast", "onFailure", "shell", "session":
				c.trait(Inline, w.Span, true, "a command of the shell of sbt", nil)
			}
		}
	}
	return c.stay()
}

// sqlitePlain are commands of the shell of SQLite that only show something.
var sqlitePlain = set("tables", "schema", "fullschema", "indexes", "indices", "databases", "dbinfo", "headers", "header", "mode", "separator", "nullvalue", "width",
	"timeout", "timer", "stats", "show", "help", "quit", "exit", "dump", "changes", "echo", "print", "bail", "eqp")

// sqlite takes commands of its own behind a dot, some of which run programs, and
// functions that write files or load libraries.
func (c *call) sqlite(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use)[min(1, len(c.operandsOf(use))):] {
		for line := range strings.SplitSeq(w.Text, "\n") {
			line = strings.ToLower(strings.TrimSpace(line))
			rest, dot := strings.CutPrefix(line, ".")
			name := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))]
			switch {
			case dot && !sqlitePlain[name]:
				c.trait(Inline, w.Span, true, "a command of the shell of sqlite3", nil)
			case strings.Contains(line, "writefile") || strings.Contains(line, "load_extension") || strings.Contains(line, "edit("):
				c.trait(Inline, w.Span, true, "a function that writes a file or runs something", nil)
			case drops(line):
				c.trait(Discards, w.Span, false, "a statement that deletes", nil)
			}
		}
	}
	return c.stay()
}

// drops reports whether a line of SQL, in lower case, has a word that deletes.
func drops(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(words, "drop") || slices.Contains(words, "delete")
}
