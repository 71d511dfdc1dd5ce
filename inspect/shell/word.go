package shell

import "strings"

// Dynamic says why a word is known only when it runs. Reasons add up.
type Dynamic uint16

// The reasons.
const (
	Variable     Dynamic = 1 << iota // $x, ${x…}, $1, $?
	Substitution                     // $(…), `…`
	Process                          // <(…), >(…)
	Arithmetic                       // $((…))
	Glob                             // * ? […], and the patterns of extglob
	Brace                            // a list or a sequence in braces
	Tilde                            // ~ or ~user, at the start or behind = or :
	Many                             // a list in braces that is too long to write out
	Added                            // comes from elsewhere: the standard input of xargs, the names that find finds
)

// Unknowable are the reasons that leave parts of a word unknown. A glob, a list
// in braces and a tilde are written out in Text as they stand.
const Unknowable = Variable | Substitution | Process | Arithmetic | Many | Added

// Word is one word of a command.
type Word struct {
	Span Span
	// Text is the word after quote removal. Where parts are known only when it
	// runs they are left out, and the first of them would stand at Fixed.
	// Globs and tildes stay as written. Of a list in braces, each of the words
	// that it stands for is a Word of its own, unless there are too many.
	Text  string
	Fixed int // bytes of Text that are certain, from its start
	// Dynamic is 0 if Text is exactly what the program gets.
	Dynamic Dynamic
}

// Literal reports whether Text is exactly what the program gets.
func (w Word) Literal() bool { return w.Dynamic == 0 }

// Known reports whether all that is not certain about the word is a glob or a
// list in braces: which files or words it stands for, but not what is run.
func (w Word) Known() bool { return w.Dynamic&^(Glob|Brace) == 0 }

// Unknown reports whether parts of the word can only be known when it runs.
func (w Word) Unknown() bool { return w.Dynamic&Unknowable != 0 }

// String names the reasons, "" if there are none.
func (d Dynamic) String() string {
	var names []string
	for i, name := range [...]string{"variable", "substitution", "process substitution", "arithmetic", "glob", "brace", "tilde", "too many words", "added"} {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
