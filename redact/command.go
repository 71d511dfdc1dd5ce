package redact

import "strings"

var shells = set(`sh bash zsh dash ksh ash fish su powershell pwsh cmd`)

// innerCommands run their argument as a command line.
var innerCommands = set(`eval ssh watch xargs parallel su script`)

// base returns the last part of a program's path.
func base(program string) string {
	return strings.TrimSuffix(program[strings.LastIndexAny(program, `/\`)+1:], ".exe")
}

// command searches one simple command.
type command struct {
	f            *finder
	ws           []word
	depth        int
	rules        *program // of the program whose arguments are read, if it has any
	shell        bool     // that program runs arguments as commands
	inner        bool
	say          bool            // that program only prints its arguments
	sed          bool            // its arguments are scripts of sed
	head         bool            // still before the program
	seen         map[string]bool // the words so far
	all          map[string]bool // all of them, once a program asked
	store        bool            // the command stores what it is given as secrets
	takes        bool            // a program whose pairs may be secrets was met
	builds, does bool            // a builder was met, or a doer
}

// simple searches the words of one simple command.
func (f *finder) simple(ws []word, depth int) {
	c := command{f: f, ws: ws, depth: depth, head: true, seen: map[string]bool{}}
	if f.known == nil {
		c.store = storesSecrets(ws)
		c.printed()
	}
	for i := 0; i < len(ws); i++ {
		if f.known != nil {
			c.again(i)
			continue
		}
		i += c.word(i)
	}
}

// again looks for known secrets in the word at i. Words are looked at one by
// one, so that nothing but an argument can be hidden for having been called a
// secret elsewhere. A program stays visible unless it cannot be one.
func (c *command) again(i int) {
	w := &c.ws[i]
	program := c.head && !strings.ContainsAny(w.text, "= \t\n")
	c.meet(w)
	if !program || looksRandom(w.text) {
		c.plain(i)
	}
}

// word searches the word at i and says how many words after it are done too.
func (c *command) word(i int) int {
	w := &c.ws[i]
	if c.head && c.assignment(w) {
		return 0
	}
	if done, n := c.special(i); done {
		return n
	}
	c.meet(w)
	if c.sed {
		c.script(w)
		return 0
	}
	if c.isLine(i) {
		c.f.shell(w.text, w.hide, c.depth+1)
		return 0
	}
	if name, ok := optionName(w.text); ok {
		if c.store && name == "value" {
			return c.hideNext(i, 0)
		}
		if runsSecret(name) && i+1 < len(c.ws) {
			next := &c.ws[i+1]
			c.f.shell(next.text, next.hide, c.depth+1)
			return 1
		}
		if n := c.option(i, name); n >= 0 {
			return n
		}
	}
	if c.pairWord(i) {
		return 0
	}
	if n := c.spaced(i); n >= 0 {
		return n
	}
	c.plain(i)
	return 0
}

// meet notes which program the following words belong to.
func (c *command) meet(w *word) {
	if strings.HasPrefix(w.text, "-") || strings.ContainsAny(w.text, " \t\n=") {
		return
	}
	name := base(w.text)
	c.head = c.head && keywords[name]
	c.seen[name] = true
	if p, ok := programs[name]; ok {
		c.rules = p
	} else if knownPrograms[name] && !subcommands[name] {
		c.rules = nil
	}
	if shells[name] || innerCommands[name] {
		c.shell, c.inner = shells[name], innerCommands[name]
	}
	c.takes, c.builds, c.does = c.takes || pairTakers[name], c.builds || builders[name], c.does || doers[name]
	c.say = c.say || name == "echo" || name == "printf"
	c.sed = c.sed || name == "sed" || name == "gsed"
}

// optionName returns the name of an option that has no value attached.
func optionName(text string) (string, bool) {
	name := strings.TrimLeft(text, "-")
	if name == text || name == "" || strings.ContainsAny(name, "=: \t\n") {
		return "", false
	}
	return name, true
}

// option hides the value after an option, if its name is telling. It returns
// -1 if it is not.
func (c *command) option(i int, name string) int {
	if !takesValue(name) || !c.f.telling(name) || len(name) < 3 {
		return -1
	}
	if i+1 >= len(c.ws) {
		return 0
	}
	next := &c.ws[i+1]
	if strings.HasPrefix(next.text, "-") && !looksRandom(next.text) || !next.quoted && knownPrograms[base(next.text)] {
		return 0
	}
	c.value(next, name, 0)
	return 1
}

// plain searches a word that is neither option nor pair: a command line if the
// program runs it as one, else a text.
func (c *command) plain(i int) {
	w := &c.ws[i]
	if c.isLine(i) {
		c.f.shell(w.text, w.hide, c.depth+1)
		return
	}
	c.loosely(func() { c.f.text(w.text, w.hide, c.depth+1) })
}

// loosely searches a word of which it is not known that a secret is taken there.
func (c *command) loosely(search func()) {
	loose := c.f.loose
	c.f.loose = true
	search()
	c.f.loose = loose
}

// isLine reports whether the program runs the word at i as a command line.
func (c *command) isLine(i int) bool {
	if !strings.ContainsAny(c.ws[i].text, " \t\n;|&") {
		return false
	}
	if c.inner || i == 0 || !c.shell {
		return c.inner
	}
	prev := strings.ToLower(c.ws[i-1].text)
	return prev == "/c" || prev == "-command" || strings.HasPrefix(prev, "-") && strings.HasSuffix(prev, "c")
}

// quotedLine reports whether the word at i is an assignment and more, quoted as
// a whole and no value of an option: somebody's command line, such as that of a
// program not known here.
func (c *command) quotedLine(i int) bool {
	w := &c.ws[i]
	if i == 0 || c.depth == 0 && c.f.line != nil && c.f.line.list || strings.HasPrefix(c.ws[i-1].text, "-") || len(w.quotes) != 1 || w.quotes[0].from != 0 {
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(w.text[span0(w.text, isVarName):], "+"), "=") && strings.ContainsAny(w.text, " \t\n;|")
}
