package shell

import (
	"slices"
	"strings"
)

// Programs that hand their words on to others, which read them as options.

// compiler hands words on to a linker that loads plugins, and takes options from
// files.
func (c *call) compiler(use usage) (ok, fail dirs) {
	for i, f := range use.options {
		if c.name == "rustc" && (f.name == "--print" || f.name == "--emit") && strings.Contains(f.value.Text, "=") {
			c.trait(Writes, f.value.Span, true, f.name, &use.options[i].value)
		}
	}
	for _, w := range c.words[1:] {
		_, behind, list := strings.Cut(w.Text, ",")
		switch {
		case strings.HasPrefix(w.Text, "-Xplugin"), strings.HasPrefix(w.Text, "-W") && list && (strings.Contains(behind, "plugin") || strings.Contains(behind, "@")):
			c.trait(Runs, w.Span, true, "loads a plugin", nil)
		case list && passesWrite(w.Text[:len(w.Text)-len(behind)], strings.Split(behind, ",")):
			c.trait(Writes, w.Span, true, "an option of another program may write a file", nil)
		}
	}
	return c.stay()
}

// passesWrite reports whether what a compiler passes on, to the preprocessor, the
// assembler or the linker, may name a file that is written.
func passesWrite(to string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool {
		bare := strings.TrimLeft(part, "-")
		switch to {
		case "-Wp,":
			return !strings.HasPrefix(part, "-D") && !strings.HasPrefix(part, "-U")
		case "-Wa,":
			return !dashed(part) || strings.Contains(part, "=") || strings.HasPrefix(bare, "o")
		case "-Wl,":
			return dashed(part) && slices.ContainsFunc(linkerWrites, func(name string) bool { return strings.HasPrefix(bare, name) })
		}
		return false
	})
}

// linkerWrites are what the options of linkers begin with that write a file, or
// read a script that may.
var linkerWrites = []string{"o", "Map", "T", "script", "dep", "repro", "lto", "object_path", "print-", "time-trace", "thinlto", "save-temps"}

// underPython follows what coverage and the profilers run: a module or a script, as
// python would with the same words.
func (c *call) underPython(use usage) (ok, fail dirs) {
	words, module := c.operandsOf(use), false
	for _, f := range use.options {
		if f.name != "-m" && f.name != "--module" {
			continue
		}
		if module = true; f.has {
			words = append([]word{f.value}, words...)
		}
	}
	if len(words) == 0 || c.prog.wraps && !module {
		return c.stay()
	}
	lead := []word{c.spelled("python")}
	if module {
		lead = append(lead, c.spelled("-m"))
	}
	c.trait(Wraps, words[0].Span, false, "python runs it", nil)
	c.run(append(lead, words...), c.scope)
	return c.stay()
}

// spelled is a word that a command has in mind where it stands.
func (c *call) spelled(text string) word {
	return word{Word: Word{Text: text, Fixed: len(text), Span: c.words[0].Span}}
}

// byName follows a program that is run by its name where no script goes by it.
func (c *call) byName(use usage) (ok, fail dirs) {
	if words := c.operandsOf(use); len(words) > 1 && c.programs(base(words[0].Text)) != nil {
		c.trait(Wraps, words[0].Span, false, "runs the program that goes by this name", nil)
		c.run(c.words[slices.IndexFunc(c.words, func(w word) bool { return w.Span == words[0].Span }):], c.scope)
	}
	return c.stay()
}

// dotnet takes the switches of the program that builds, which are written in three
// ways and load loggers, name commands and read files of options.
func (c *call) dotnet(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if w.Text == "--" {
			break
		}
		name, value, ok := strings.Cut(strings.TrimLeft(w.Text, "-/"), ":")
		if !ok || !letters(name) || !strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "/") {
			continue
		}
		switch name = strings.ToLower(name); {
		case name == "p" || name == "property":
			if slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ';' || r == ',' }), setsProgram) {
				c.trait(Runs, w.Span, true, "a setting may name a command", nil)
			}
		case !quietSwitches[name]:
			c.trait(Runs, w.Span, true, "a switch of the build may load what it names", nil)
		}
	}
	return c.stay()
}

// setsProgram reports whether a setting of a build is none of those that name
// no command.
func setsProgram(setting string) bool {
	name, _, _ := strings.Cut(setting, "=")
	return !quietSettings[strings.ToLower(name)]
}

var (
	quietSwitches = set("v", "verbosity", "c", "m", "maxcpucount", "nologo", "nr", "nodereuse", "tl", "terminallogger", "clp", "consoleloggerparameters", "warnaserror", "nowarn", "t", "target")
	quietSettings = set("configuration", "version", "platform", "targetframework", "runtimeidentifier", "treatwarningsaserrors", "warninglevel", "nowarn", "collectcoverage")
)

// gotestsum gives the words behind its own to go test.
func (c *call) gotestsum(use usage) (ok, fail dirs) {
	if use.rest >= len(c.words) {
		return c.stay()
	}
	return c.handedOn("go test", c.words[use.rest-1:])
}

// behind reads the words behind a -- as those of the compiler that gets them.
func (c *call) behind(use usage) (ok, fail dirs) {
	if at := slices.IndexFunc(c.words, func(w word) bool { return w.Text == "--" }); at > 0 {
		return c.handedOn("rustc", c.words[at:])
	}
	return c.stay()
}

// module reads the words behind python -m as those of the program that goes by
// that name, where the tables have it.
func (c *call) module(use usage) (ok, fail dirs) {
	for _, f := range use.options {
		if f.name == "-m" && f.has && f.value.Literal() {
			name := "python -m " + f.value.Text
			if c.programs(name) == nil {
				name = f.value.Text
			}
			return c.handedOn(name, c.words[f.at:])
		}
	}
	return c.stay()
}

// handedOn adds what another program makes of the command, which gives it these
// words behind the first.
func (c *call) handedOn(name string, words []word) (ok, fail dirs) {
	p := c.programs(name)
	if p == nil || p.wraps || p.stdin || wholly[p.code] != nil {
		return c.stay()
	}
	own := *c
	defer func() { c.prog, c.words, c.name, c.classed = own.prog, own.words, own.name, own.classed }()
	c.prog, c.words, c.name = p, words, name
	c.effects()
	return c.stay()
}
