package shell

import (
	"embed"
	"fmt"
	"sort"
	"strings"
	"sync"
)

// The tables of programs are text, so that they can be read, and checked
// against a manual page, without reading this package. See programs/README.md
// for how they are written.
//
//go:embed programs/*.txt
var tables embed.FS

// program is what the tables say of one program, or of one of its
// subcommands: "git clone".
type program struct {
	name  string
	class Class
	// always are the effects that it has whatever its words are.
	always []effect
	// wraps says that it runs the command in its words, behind skip operands;
	// joined that a shell reads those words as a line.
	wraps, joined bool
	adds          bool // words are added to that command
	starts        bool // without that command it starts a shell
	skip          int
	mixed         bool // options may stand behind those operands
	optional      bool // the last of those operands may be left out
	dashes        bool // where a -- stands, that command is what stands behind it
	assigns       bool // NAME=VALUE may stand before that command
	stdin         bool // without operands it reads its program from the standard input
	posix         bool // the first operand ends the options
	single        bool // long options have one hyphen
	bundled       bool // the first word may be options without a hyphen
	subcommands   bool // the first operand names a section of its own
	shortened     bool // and may be the beginning of its name
	responses     bool // a word that begins with @ names a file of options
	fetches       bool // addresses among its words are fetched
	listed        bool // what an option does that is not here nobody knows
	chains        bool // the first word may name a toolchain behind a plus
	operands      []operandEffect
	options       map[string]*option
	long          []string // names of the long options, sorted
	code          string   // the function that knows the rest
	passes        bool     // runs what its words say, in one way or another
}

// option is one option of a program.
type option struct {
	name    string
	names   []string // all that stand in its line
	takes   takes
	more    int // values in further words
	effects []effect
	ends    bool     // what stands behind it belongs to the program that it names
	dash    bool     // a hyphen as its value is a stream
	plain   []string // values with which it has no effect; a star ends the beginning of one
}

// takes says whether an option has a value.
type takes int

const (
	takesNone     takes = iota
	takesOne            // in the same word or the next
	takesAttached       // only in the same word, if at all
	takesNumber         // digits behind it in the same word
	takesLetters        // letters, digits and hyphens behind it in the same word
	takesPerhaps        // in the same word or the next, if at all
)

// effect is what an option or an operand makes of a command.
type effect struct {
	kind   Kind
	beyond bool
	what   string
}

// Effects that are not traits: the value is a line of shell, or the words
// behind the option are a command.
const (
	shellLine Kind = "shell"
	command   Kind = "command"
	joins     Kind = "joins"     // a shell reads the words behind the option as a line
	picks     Kind = "picks"     // the value is the program, and the operands are its words
	splits    Kind = "splits"    // the value is words of the command
	sets      Kind = "sets"      // the value names a variable
	evaluates Kind = "evaluates" // bash expands the value
	filters   Kind = "filter"    // the value is a program of jq
)

// sections finds the text of each program in the tables, without reading it.
var sections = sync.OnceValue(func() map[string]string {
	index := map[string]string{}
	files, err := tables.ReadDir("programs")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, f := range files {
		text, err := tables.ReadFile("programs/" + f.Name())
		if err != nil {
			panic(err)
		}
		for section := range strings.SplitSeq(string(text), "\n\n") {
			indexSection(index, strings.Trim(section, "\n"))
		}
	}
	return index
})

// indexSection files a section under each of its names. Comments stand in
// front of it.
func indexSection(index map[string]string, section string) {
	for strings.HasPrefix(section, "#") {
		_, section, _ = strings.Cut(section, "\n")
	}
	names, _ := cutHead(section)
	if names == "" {
		return
	}
	for name := range strings.SplitSeq(names, ",") {
		index[strings.TrimSpace(name)] += section + "\n"
	}
}

// cutHead takes the head of a section apart: the names, and what is true of
// them. A colon inside a name has no blank behind it.
func cutHead(section string) (names, head string) {
	line, _, _ := strings.Cut(section, "\n")
	if names, head, ok := strings.Cut(line, ": "); ok {
		return names, head
	}
	names, ok := strings.CutSuffix(line, ":")
	if !ok {
		return "", ""
	}
	return names, ""
}

var programs sync.Map // name to *program, read when first asked for

// known returns what the tables say of a program, nil if nothing.
func known(name string) *program {
	if p, ok := programs.Load(name); ok {
		return p.(*program)
	}
	text, ok := sections()[name]
	if !ok {
		return nil
	}
	p, err := readProgram(name, text)
	if err != nil {
		panic(err) // a test reads them all
	}
	programs.Store(name, p)
	return p
}

// readProgram reads the sections of one program.
func readProgram(name, text string) (*program, error) {
	p := &program{name: name, options: map[string]*option{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		var err error
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "#") || line == "":
		case line[0] == ' ':
			err = p.readOption(line)
		default:
			_, head := cutHead(line)
			err = p.readHead(head)
		}
		if err != nil {
			return nil, fmt.Errorf("table of programs: %s: %q: %w", name, line, err)
		}
	}
	sort.Strings(p.long)
	p.passes = p.runsWords()
	return p, nil
}

// runsWords reports whether a program runs what its words say.
func (p *program) runsWords() bool {
	if p.wraps || p.joined || p.stdin {
		return true
	}
	switch p.code {
	case "shell", "eval", "trap", "su", "flock", "parallel", "ssh", "source":
		return true
	}
	for _, e := range p.always {
		if e.kind == Runs || e.kind == Inline {
			return true
		}
	}
	for _, o := range p.options {
		for _, e := range o.effects {
			switch e.kind {
			case shellLine, command, joins, picks, Inline:
				return true
			}
		}
	}
	return false
}

// toolchain reports whether a word of a command names the toolchain that the
// program is one of, and is no word of its own: cargo +nightly test.
func (p *program) toolchain(i int, text string) bool {
	return i == 1 && p != nil && p.chains && strings.HasPrefix(text, "+")
}

// operandEffect is what naming certain operands does: all of them, or the first,
// the second or the last.
type operandEffect struct {
	which string
	effect
}

// readHead reads what a section says of the program as a whole.
func (p *program) readHead(head string) error {
	for word := range strings.FieldsSeq(head) {
		key, value, hasValue := strings.Cut(word, "=")
		switch {
		case hasValue && key == "code":
			p.code = value
		case hasValue && key == "skip":
			p.skip = len(value) - len(strings.TrimLeft(value, "0123456789"))
			if _, err := fmt.Sscanf(value, "%d", &p.skip); err != nil {
				return err
			}
		case hasValue:
			e, err := readEffect(value)
			if err != nil {
				return err
			}
			p.operands = append(p.operands, operandEffect{key, e})
		default:
			if err := p.readFlag(word); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *program) readFlag(word string) error {
	switch word {
	case "read-only", "ordinary", "powerful":
		p.class = Class(word)
	case "wrapper":
		p.wraps, p.posix = true, true
	case "mixed":
		p.mixed = true
	case "optional":
		p.optional = true
	case "dashes":
		p.dashes = true
	case "adds":
		p.adds = true
	case "joined":
		p.joined = true
	case "starts":
		p.starts = true
	case "assignments":
		p.assigns = true
	case "stdin":
		p.stdin = true
	case "posix":
		p.posix = true
	case "single":
		p.single = true
	case "bundled":
		p.bundled = true
	case "abbreviated":
		p.shortened = true
	case "subcommands":
		p.subcommands, p.posix = true, true
	case "responses":
		p.responses = true
	case "listed":
		p.listed = true
	case "fetches":
		p.fetches = true
	case "toolchain":
		p.chains = true
	default:
		e, err := readEffect(word)
		if err != nil {
			return err
		}
		p.always = append(p.always, e)
	}
	return nil
}

// kinds are the effects by the words of the tables.
var kinds = map[string]Kind{
	"writes": Writes, "runs": Runs, "inline": Inline, "deletes": Deletes, "discards": Discards, "privilege": Privilege, "connects": Connects,
	"sends": Sends, "interpreter": Interpreter, "state": State, "moves": Moves, "looks-up": LooksUp,
	"reads": Reads, "shell": shellLine, "command": command, "joins": joins, "picks": picks, "splits": splits, "sets": sets, "evaluates": evaluates, "filter": filters,
}

// within are the effects of options that an allow rule for the program covers.
var within = map[Kind]bool{Connects: true, Sends: true, Moves: true, LooksUp: true, Interpreter: true, Reads: true, Discards: true, filters: true}

// readEffect reads one effect; a mark behind it says that no allow rule for the
// program covers it.
func readEffect(word string) (effect, error) {
	bare := strings.TrimSuffix(word, "!")
	if bare == "installs" {
		return effect{kind: Interpreter, beyond: bare != word, what: Installs}, nil
	}
	kind, ok := kinds[bare]
	if !ok {
		return effect{}, fmt.Errorf("%q is no effect", word)
	}
	return effect{kind: kind, beyond: bare != word}, nil
}

// readOption reads one line of options: their names, the value in capitals if
// they have one, their effects, and behind a semicolon what they do in words.
func (p *program) readOption(line string) error {
	line, what, _ := strings.Cut(line, ";")
	var names []string
	o := option{}
	for word := range strings.FieldsSeq(line) {
		bare := strings.TrimSuffix(word, ",")
		switch {
		case word[0] == '-' || word[0] == '+':
			names = append(names, bare)
		case word == "ends":
			o.ends = true
		case word == "[NUM]":
			o.takes = takesNumber
		case word == "[WORD]":
			o.takes = takesLetters
		case strings.HasPrefix(word, "["):
			o.takes, o.plain = takesAttached, plainValues(word)
		case word[0] >= 'A' && word[0] <= 'Z' && strings.HasSuffix(word, "?"):
			o.takes = takesPerhaps
		case word[0] >= 'A' && word[0] <= 'Z':
			if o.takes == takesOne {
				o.more++
			}
			o.takes = takesOne
			o.dash, o.plain = strings.HasSuffix(word, "|-"), plainValues(word)
		default:
			e, err := readEffect(word)
			if err != nil {
				return err
			}
			e.what = strings.TrimSpace(what)
			e.beyond = e.beyond || !within[e.kind]
			o.effects = append(o.effects, e)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("no option in it")
	}
	o.names = names
	for _, name := range names {
		if other := p.options[name]; other != nil && len(other.effects) > 0 && len(o.effects) == 0 {
			return fmt.Errorf("%s stands in another line too, where it has an effect", name)
		}
		p.addOption(name, o)
	}
	return nil
}

// plainValues are the values in parentheses behind the name of a value.
func plainValues(word string) []string {
	_, plain, ok := strings.Cut(strings.TrimSuffix(word, ")"), "(")
	if !ok {
		return nil
	}
	return strings.Split(plain, "|")
}

func (p *program) addOption(name string, o option) {
	o.name = name
	p.options[name] = &o
	if strings.HasPrefix(name, "--") || p.single {
		p.long = append(p.long, name)
	}
}
