package shell

import "strings"

// Command is a simple command: a program or builtin with its words.
type Command struct {
	Span    Span
	Program Word
	Args    []Word
	// Open says that words that nobody knows yet are added when it runs, as
	// with the command of xargs.
	Open bool
	// By is the index in Line.Commands of the wrapper, shell or builtin that
	// runs this command; -1 if the shell of the line does.
	By    int
	Place Place
	// Dirs are the folders that it may run in, each from where the line began;
	// never empty. An operand that must lie somewhere must do so from each.
	Dirs   []Dir
	Traits []Trait
	// Trees are the folders that it reads with all that is beneath them.
	Trees []Tree
	// Class is what is known of the program as it is called here.
	Class Class
}

// Place is where in a line a command stands. Places add up.
type Place uint16

// The places.
const (
	InSubstitution Place = 1 << iota // $(…), `…`, <(…)
	InFunction                       // the body of a function
	InLoop                           // runs any number of times
	InBranch                         // may not run
	InBackground                     // & or coproc
	InPipe                           // its standard input is a pipe
	InText                           // in a text that another command runs as a program
	InBody                           // in a here-document
)

// Dir is a folder relative to the one that the line started in.
type Dir struct {
	// Steps are the words that cd was given, in order; none means that the
	// folder is unchanged. All are literal.
	Steps []string
	// Unknown says that nobody knows the folder.
	Unknown bool
}

// Class is what is known of a command.
type Class string

// The classes, from the least to the most known.
const (
	Foreign  Class = ""          // no table has the program
	Powerful Class = "powerful"  // a table has it, and it can do a lot: interpreters, package managers, deletion
	Ordinary Class = "ordinary"  // changes files that it is pointed at, and little else
	ReadOnly Class = "read-only" // changes nothing and talks to nobody, called like this
)

// Base is the last part of the program's path: "rm" of "/bin/rm".
func (c *Command) Base() string { return base(c.Program.Text) }

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Words is the program and its arguments.
func (c *Command) Words() []Word { return append([]Word{c.Program}, c.Args...) }

// Has reports whether the command has a trait of the kind.
func (c *Command) Has(kind Kind) bool {
	for i := range c.Traits {
		if c.Traits[i].Kind == kind {
			return true
		}
	}
	return false
}

// Beyond returns the first trait that no allow rule for the program covers, nil
// if it has none.
func (c *Command) Beyond() *Trait {
	for i := range c.Traits {
		if c.Traits[i].Beyond {
			return &c.Traits[i]
		}
	}
	return nil
}
