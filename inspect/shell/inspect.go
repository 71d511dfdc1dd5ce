package shell

import (
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of what is inspected. What passes one of them is a problem, and
// [Line.Mentions] still sees all of the text.
const (
	MaxBytes    = 64 << 10 // of the text
	MaxCommands = 1000     // in the line, those inside wrappers and texts included
	MaxDepth    = 100      // of commands inside commands
	MaxTexts    = 8        // of texts inside texts, as in sh -c 'sh -c …'
	maxWork     = 120_000  // words looked at, and bytes of texts inside
)

// Inspect reads a line of bash as `bash -c` would read it. It never fails: what
// it does not understand is a Problem.
func Inspect(text string) *Line { return inspect(text, known) }

// inspect reads a line with the help of tables of programs.
func inspect(text string, programs func(name string) *program) *Line {
	in := &inspector{line: &Line{Text: text, whole: true}, programs: programs}
	in.line.Problems = characters(text)
	if len(in.line.Problems) > 0 {
		in.line.whole = false
	}
	if len(text) > MaxBytes {
		in.problem(Span{0, len(text)}, TooLong, "the text is too long to be read whole")
	} else {
		r := reading{inspector: in, origin: origin{to: len(text)}}
		r.text, r.stands = readable(text)
		r.lines(scope{by: -1}, start)
		in.again()
	}
	if len(in.line.Commands) == 0 {
		in.line.Problems = append(in.line.Problems, Problem{Span: Span{0, len(text)}, Kind: Nothing, What: "there is no command in it"})
	}
	if !in.line.whole {
		trusted := !slices.ContainsFunc(in.line.Problems, func(p Problem) bool { return p.Kind == Unparsed })
		in.line.loose = byProgram(scan(text, trusted, programs))
	}
	return in.line
}

// inspector gathers what is found in one line.
type inspector struct {
	line     *Line
	programs func(name string) *program
	work     int
	full     bool            // a limit was passed, and nothing more is looked at
	names    map[string]bool // functions that the line defines
	room     room
	second   second
}

// problem reports something that was not understood. All but some kinds mean
// that there may be more in the text than was found.
func (in *inspector) problem(at Span, kind Trouble, what string) {
	switch kind {
	case Unparsed, TooLong, TooDeep, TooMany:
		in.line.whole = false
	}
	for _, p := range in.line.Problems {
		if p.Kind == kind && p.What == what && (p.Span == at || kind == TooMany || kind == TooDeep) {
			return
		}
	}
	if len(in.line.Problems) < maxProblems {
		in.line.Problems = append(in.line.Problems, Problem{Span: at, Kind: kind, What: what})
	}
}

const maxProblems = 100

// spend counts work, and reports whether there is any left.
func (in *inspector) spend(n int, at Span) bool {
	if in.work += n; in.work > maxWork && !in.full {
		in.full = true
		in.problem(at, TooMany, "there is too much in it to look at")
	}
	return !in.full
}

// reading is one text being read: the line, or a text inside it.
type reading struct {
	*inspector
	text   string
	origin origin
	depth  int // of commands inside commands
	texts  int // of texts inside texts
	masks  []mask
	stands stands
	bodies []Span // of here-documents, with the lines that end them, in the text
}

func (r *reading) span(n syntax.Node) Span {
	return r.origin.span(r.offsets(n))
}

// offsets is where a node stands in the text.
func (r *reading) offsets(n syntax.Node) (from, to int) {
	from = min(int(n.Pos().Offset()), len(r.text))
	return from, max(from, min(int(n.End().Offset()), len(r.text)))
}

var parsers = sync.Pool{New: func() any {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
}}

// lines reads the text as lines of bash. What stands before a part that does
// not parse is read, as bash would run it.
func (r *reading) lines(s scope, in dirs) dirs {
	if !r.shallow() {
		return unknownDirs
	}
	r.commented()
	stmts, err := r.masked(parse(r.text))
	if err != nil {
		r.problem(r.origin.span(0, len(r.text)), Unparsed, "it does not parse: "+err.Error())
		stmts = r.reopened(stmts, err)
	}
	r.continued()
	hashes(r, stmts...)
	return r.stmts(stmts, s, in)
}

// parse returns the statements of a text up to the first mistake. The sequence
// is called rather than ranged over, because it goes on once when it is told to
// stop at a mistake.
func parse(text string) (stmts []*syntax.Stmt, err error) {
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	p.StmtsSeq(strings.NewReader(text))(func(s *syntax.Stmt, e error) bool {
		if s != nil && err == nil {
			stmts = append(stmts, s)
		}
		if err == nil {
			err = e
		}
		return err == nil && len(stmts) <= MaxCommands // as many as will be looked at
	})
	return stmts, err
}

// inside reads a text that stands inside this one.
func (r *reading) inside(text string, o origin, s scope, in dirs) dirs {
	inner := reading{inspector: r.inspector, origin: o, depth: r.depth + 1, texts: r.texts + 1}
	inner.text, inner.stands = readable(text)
	if inner.texts > MaxTexts {
		r.problem(o.span(0, len(text)), TooDeep, "texts run texts run texts")
		return unknownDirs
	}
	if !r.spend(1+len(text)/2, o.span(0, len(text))) {
		return unknownDirs
	}
	return inner.lines(s, in)
}
