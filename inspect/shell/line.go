package shell

// Span is a range of bytes of the text that was inspected.
type Span struct {
	From, To int
}

// Line is what inspection found in a text. Its lists are in the order of the
// text, save that what a command runs stands behind it.
type Line struct {
	Text        string
	Commands    []Command
	Redirects   []Redirect
	Assignments []Assignment
	// Expressions are [[ ]], (( )) and the head of for (( )), in which the shell
	// itself compares and computes.
	Expressions []Span
	// Problems is what was not understood, or is understood and never to be
	// passed over. A line that has any is at least to be asked about.
	Problems []Problem

	loose loose // if the text was not read whole
	whole bool  // the grammar read all of the text
}

// Understood reports whether the grammar read the whole text: nothing can be
// in it that is not in the lists.
func (l *Line) Understood() bool { return l.whole }

// Trouble is a kind of problem.
type Trouble string

// The kinds of problems.
const (
	Unparsed  Trouble = "unparsed"  // not bash, or bash would read it otherwise than we do
	Character Trouble = "character" // control, bidirectional, invisible or tag characters, blanks that are none
	TooLong   Trouble = "too long"
	TooDeep   Trouble = "too deep"
	TooMany   Trouble = "too many" // commands, or words to look at
	Nothing   Trouble = "nothing"  // no simple command in the whole line
	Shadow    Trouble = "shadow"   // a function, an alias, a hash entry: a name no longer means the program
	Unknown   Trouble = "unknown"  // something outside of a command's words is known only when it runs
)

// Problem is one thing that was not understood.
type Problem struct {
	Span Span
	Kind Trouble
	What string // in words, lower case
}

// Assignment is a variable that the line sets, in whatever way.
type Assignment struct {
	Span  Span
	Name  string
	Value Word // empty if the value comes from elsewhere, as with read
	// Lasting says that the variable stays for later commands; else it is in
	// the environment of one command only.
	Lasting bool
	// Harmless says that the variable is one of the few that only change how
	// programs print, or the counter of a loop.
	Harmless bool
	Command  int // index in Line.Commands of the command that sets or receives it, -1 if none
}
