package sayso

// PathRules say which files tools may work on: beneath which roots, and what
// may be done there. They are values; only policy judges by them. The zero
// PathRules have no roots, and then they say nothing.
type PathRules struct {
	Roots []PathRoot
}

// PathRoot is a folder and what may be done with the files in it. The zero
// PathRoot denies everything in a folder that has no name.
type PathRoot struct {
	Name string // what rules on commands call it
	Root string // as written: absolute, relative to the workspace, or behind ~/
	// Read and Write are what is said of reading and of writing here. Write is
	// Deny for a root that is only read.
	Read  Effect
	Write Effect
	// ReadSaid and WriteSaid report that the file says so itself. What is not
	// said holds only where no rule speaks.
	ReadSaid  bool
	WriteSaid bool
	Suffixes  []string // endings that the names of files must have; none for any
	File      string   // where the root is declared
	Line      int
}

// Named returns the root with a name.
func (p PathRules) Named(name string) (PathRoot, bool) {
	for _, r := range p.Roots {
		if r.Name == name {
			return r, true
		}
	}
	return PathRoot{}, false
}

// ShellRules say what commands may be run. They are values; only policy judges
// by them. The zero ShellRules deny every command.
type ShellRules struct {
	// Default holds for a command that no rule matches.
	Default Effect
	Rules   []ShellRule
}

// ShellRule is what is said of the commands that begin with certain words.
type ShellRule struct {
	Words  []string // the first words of the command, without quotes
	Effect Effect
	Title  string // what a request is called on the screen
	// Paths are the names of the roots that every operand must lie in for the
	// rule to speak; none for anywhere.
	Paths []string
	File  string
	Line  int
}
