package shell

// scope is what holds for the commands of a part of the line.
type scope struct {
	by    int
	place Place
	input input
	open  bool // words that nobody knows yet are added to the command
}

func (s scope) in(p Place) scope {
	s.place |= p
	return s
}

// adding is the scope of a command that gets words nobody knows yet.
func (s scope) adding() scope {
	s.open = true
	return s
}

// input is what the standard input is.
type input struct {
	kind  inputKind
	text  word // of a body or of a pipe from echo, if known
	known bool
}

type inputKind int

const (
	inherited inputKind = iota
	piped
	fromFile
	fromBody
)
