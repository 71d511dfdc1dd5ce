// Package shell says what a line of bash would run, without running it.
//
// [Inspect] takes the text that would be given to `bash -c` and returns a
// [Line]: every simple command in it, wherever it stands, with the words of its
// argument vector after quote removal; every redirection; every assignment;
// and, as a [Problem], everything that was not understood. Nothing is left out
// silently: what cannot be known before the line runs is marked in the [Word]
// that it is part of, with the reason.
//
// A wrapper such as sudo, xargs or find -exec is a command, and so is the
// command that it runs; the second names the first. Text that is run as a line
// of its own, as in `sh -c`, is inspected as one. What an option or an operand
// makes a program do beyond what its name says is a [Trait]; the programs that
// are known, with their options, are tables in the folder programs.
//
// The package knows no policy and no file system. It says what stands in the
// text, errs towards more, and leaves it to others what that means. Three
// methods carry the comparisons that are easily got wrong: [Command.Begins]
// for what may be allowed, [Command.Fits] for what must be found however it is
// written, [Line.Mentions] for what must be found even where the text was not
// understood.
package shell
