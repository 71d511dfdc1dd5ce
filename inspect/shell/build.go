package shell

import (
	"slices"
	"strings"
)

// Programs that build: settings, goals and flags that name programs.

// make takes settings that can name any program.
func (c *call) make(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		if _, value, ok := strings.Cut(w.Text, "="); ok && (w.Unknown() || strings.Trim(value, "0123456789") != "") {
			c.trait(Runs, w.Span, true, "a setting may name a program", nil)
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
		if strings.HasSuffix(f.name, "flags") && writesByFlags(f.value.Text) {
			c.trait(Writes, f.value.Span, true, "flags that write a file", nil)
		}
	}
	c.goTest()
	return c.stay()
}

// toolWrites are the flags of go's compiler, assembler and linker with which those
// write a file besides their output, or elsewhere.
var toolWrites = set("o", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "traceprofile", "benchmarkprofile", "bench", "json", "linkobj", "asmhdr", "symabis", "gen-dwarf-inl", "tmpdir", "capturehostobjs")

// writesByFlags reports whether flags for those have them write a file. In front of the
// flags packages may stand that they are for.
func writesByFlags(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n'\"", r) }) {
		if i := strings.Index(word, "=-"); i >= 0 && word[0] != '-' {
			word = word[i+1:]
		}
		name, _, _ := strings.Cut(word, "=")
		if dashed(word) && toolWrites[strings.TrimLeft(name, "-")] {
			return true
		}
	}
	return false
}

// report is for options whose value names a form, and behind a colon the file that is
// written in it.
func (c *call) report(use usage) (ok, fail dirs) {
	for _, f := range use.options {
		if f.name != "--cov-report" && f.name != "--out-format" || !f.has {
			continue
		}
		from := 0
		for one := range strings.SplitSeq(f.value.Text, ",") {
			if form, _, named := strings.Cut(one, ":"); named {
				if target, ok := f.value.after(from + len(form) + 1); ok {
					c.trait(Writes, f.value.Span, false, f.name, &target)
				}
			}
			from += len(one) + 1
		}
	}
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
