package shell

// Kind is a kind of trait.
type Kind string

// The kinds of traits.
const (
	Wraps       Kind = "wraps"       // runs the command in its words, which is listed behind it
	Inline      Kind = "inline"      // runs a text as a program: sh -c, eval, python -c, a shell that reads a pipe
	Runs        Kind = "runs"        // an option or operand makes it run another program
	Writes      Kind = "writes"      // writes a file that its words name
	Reads       Kind = "reads"       // reads a file that no operand names
	Deletes     Kind = "deletes"     // deletes what its words name
	Discards    Kind = "discards"    // throws away work that nothing else may hold: changes, commits, what a file held
	Privilege   Kind = "privilege"   // becomes another user, or root
	Connects    Kind = "connects"    // talks to another machine
	Sends       Kind = "sends"       // sends something to another machine
	Interpreter Kind = "interpreter" // runs a program in a language of its own, from a file
	State       Kind = "state"       // changes what later words of the same shell mean
	Moves       Kind = "moves"       // an option makes it work in another folder
	LooksUp     Kind = "looks up"    // says where a program is, and does not run it
)

// Installs is what a trait of kind [Interpreter] says of a program that installs
// packages: what it runs comes from elsewhere.
const Installs = "fetches code and may run it"

// Trait is something that a command does because of its words.
type Trait struct {
	Kind Kind
	Span Span   // the words that make it so
	What string // in words, lower case
	// Beyond says that an allow rule for the program does not cover it: such a
	// command is at least to be asked about.
	Beyond bool
	// Target is the file or folder that is written, deleted or entered, nil if
	// none is named.
	Target *Word
}
