package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// quoting is what quotes mean where a word stands.
type quoting int

const (
	plain quoting = iota
	// inQuotes is for the words inside ${…} between double quotes or in a
	// here-document, and for arithmetic: single quotes quote nothing there for
	// bash, though the grammar takes them for quotes.
	inQuotes
)

// parts follows the commands inside the parts of a word.
func (r *reading) parts(ps []syntax.WordPart, q quoting, s scope, in dirs) {
	for _, p := range ps {
		if r.full {
			return
		}
		switch p := p.(type) {
		case *syntax.Lit:
		case *syntax.SglQuoted:
			if q == inQuotes {
				r.problem(r.span(p), Unparsed, "single quotes where they quote nothing")
				r.document(p.Value, r.within(p, p.Value), s, in)
			}
		case *syntax.DblQuoted:
			r.parts(p.Parts, q, s, in)
		case *syntax.CmdSubst:
			r.substitution(p, s, in)
		case *syntax.ProcSubst:
			r.stmts(p.Stmts, s.in(InSubstitution), in)
		case *syntax.ArithmExp:
			r.arithm(p.X, s, in)
		case *syntax.ParamExp:
			r.parameter(p, q, s, in)
		case *syntax.ExtGlob:
			r.extended(p, s, in)
		}
	}
}

// param follows the parts of words, and tells those that stand in double
// quotes.
func (r *reading) wordParts(w *syntax.Word, s scope, in dirs) {
	if w == nil {
		return
	}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			r.parts(p.Parts, inQuotes, s, in)
		default:
			r.parts([]syntax.WordPart{p}, plain, s, in)
		}
	}
}

// substitution follows a command substitution. Bash takes the text between
// backquotes first and reads it afterwards, so that is what is done here.
func (r *reading) substitution(c *syntax.CmdSubst, s scope, in dirs) {
	s = s.in(InSubstitution)
	if !c.Backquotes {
		r.stmts(c.Stmts, s, in)
		return
	}
	from, to := int(c.Left.Offset())+1, int(c.Right.Offset())
	if from > to || to > len(r.text) || closingQuote(r.text[from:]) != to-from {
		r.problem(r.span(c), Unparsed, "backquotes that bash would pair otherwise")
		r.stmts(c.Stmts, s, in)
		return
	}
	text := r.text[from:to]
	if !strings.Contains(text, `\`) && !strings.Contains(text, "<<") {
		r.stmts(c.Stmts, s, in)
		return
	}
	o := origin{at: r.spread(from, to), to: int(r.origin.place(to))}
	text, o.at = backslashes(text, o.at)
	r.inside(text, o, s, in)
}

// closingQuote finds the first backquote that no backslash quotes, -1 if there
// is none.
func closingQuote(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '`':
			return i
		}
	}
	return -1
}

// backslashes takes off what quoted something from a text between backquotes,
// and the places of what it takes off, if there are any.
func backslashes(text string, at []int32) (string, []int32) {
	if strings.IndexByte(text, '\\') < 0 {
		return text, at
	}
	var b strings.Builder
	b.Grow(len(text))
	kept := at[:0]
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\\`$\"", text[i+1]) >= 0 {
			i++
		}
		b.WriteByte(text[i])
		if at != nil {
			kept = append(kept, at[i])
		}
	}
	return b.String(), kept
}

// spread is where each byte of a part of the text stands in the line.
func (r *reading) spread(from, to int) []int32 {
	at := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		at = append(at, r.origin.place(i))
	}
	return at
}

// within is where the bytes of a quoted part stand.
func (r *reading) within(n syntax.Node, value string) origin {
	from, to := r.offsets(n)
	p := r.follow(value, from, to)
	at := make([]int32, len(value))
	for i := range at {
		at[i] = p.at(i)
	}
	return origin{at: at, to: int(r.origin.place(to))}
}

// document follows the substitutions in a text that is data otherwise.
func (r *reading) document(text string, o origin, s scope, in dirs) {
	if !strings.ContainsAny(text, "$`") || !r.spend(1+len(text)/16, o.span(0, len(text))) {
		return
	}
	inner := reading{inspector: r.inspector, origin: o, depth: r.depth + 1, texts: r.texts + 1}
	inner.text, inner.stands = readable(text)
	if inner.texts > MaxTexts {
		r.problem(o.span(0, len(text)), TooDeep, "texts run texts run texts")
		return
	}
	p := parsers.Get().(*syntax.Parser)
	w, err := p.Document(strings.NewReader(inner.text))
	parsers.Put(p)
	if err != nil {
		r.problem(o.span(0, len(text)), Unparsed, "it does not parse: "+err.Error())
		return
	}
	if w != nil {
		hashes(&inner, w)
		inner.parts(w.Parts, inQuotes, s.in(InText), in)
	}
}

// parameter follows what stands inside ${…}.
func (r *reading) parameter(p *syntax.ParamExp, q quoting, s scope, in dirs) {
	r.arithm(p.Index, s, in)
	if again(p) {
		r.second.runs = true
		r.problem(r.span(p), Unknown, "a variable whose value is expanded again")
	}
	if p.Slice != nil {
		r.arithm(p.Slice.Offset, s, in)
		r.arithm(p.Slice.Length, s, in)
	}
	if p.Repl != nil {
		r.inBraces(p.Repl.Orig, q, s, in)
		r.inBraces(p.Repl.With, q, s, in)
	}
	if p.NestedParam != nil {
		r.parts([]syntax.WordPart{p.NestedParam}, q, s, in)
	}
	if p.Exp == nil {
		return
	}
	r.inBraces(p.Exp.Word, q, s, in)
	if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
		r.assignment(Assignment{Span: r.span(p), Name: p.Param.Value, Value: r.value(p.Exp.Word).Word, Lasting: true, Command: -1})
	}
}

// again reports ${!x}, which takes the value for a name with a subscript, and
// ${x@P}, which expands it as a prompt.
func again(p *syntax.ParamExp) bool {
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && (p.Exp.Word == nil || p.Exp.Word.Lit() == "P") {
		return true
	}
	if !p.Excl || p.Names != 0 {
		return false
	}
	keys, ok := p.Index.(*syntax.Word) // ${!x[@]} are the subscripts that there are
	return !ok || keys.Lit() != "@" && keys.Lit() != "*"
}

func (r *reading) inBraces(w *syntax.Word, q quoting, s scope, in dirs) {
	r.kept(w)
	switch {
	case w == nil:
	case q == inQuotes:
		r.parts(w.Parts, inQuotes, s, in)
	default:
		r.wordParts(w, s, in)
	}
}

// extended follows an extended glob. Without extglob bash takes !(…) for a
// negated subshell, and the others for mistakes.
func (r *reading) extended(p *syntax.ExtGlob, s scope, in dirs) {
	r.problem(r.span(p), Unparsed, "an extended glob, which bash reads otherwise unless extglob is on")
	if p.Pattern != nil {
		r.inside(p.Pattern.Value, r.within(p.Pattern, p.Pattern.Value), s, in)
	}
}

// arithm follows the commands in an arithmetic expression.
func (r *reading) arithm(x syntax.ArithmExpr, s scope, in dirs) { r.arithmIn(x, s, in, false) }

// arithmIn is arithm; what is set in the head of a loop is its counter.
func (r *reading) arithmIn(x syntax.ArithmExpr, s scope, in dirs, counter bool) {
	if r.full || x == nil {
		return
	}
	if r.depth++; r.depth > MaxDepth {
		r.full = true
		r.problem(r.span(x), TooDeep, "commands stand too deep inside each other")
	}
	defer func() { r.depth-- }()
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if assigns(x.Op) {
			r.sets(x.X, x, counter)
		}
		r.arithmIn(x.X, s, in, counter)
		r.arithmIn(x.Y, s, in, counter)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			r.sets(x.X, x, counter)
		}
		r.arithmIn(x.X, s, in, counter)
	case *syntax.ParenArithm:
		r.arithmIn(x.X, s, in, counter)
	case *syntax.FlagsArithm:
		r.arithmIn(x.X, s, in, counter)
	case *syntax.Word:
		r.parts(x.Parts, inQuotes, s, in)
		r.expanded(x)
	}
}

func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return false
}

// sets records a variable that arithmetic sets.
func (r *reading) sets(target syntax.ArithmExpr, whole syntax.Node, counter bool) {
	source := strings.TrimSpace(r.source(target))
	name, _, element := strings.Cut(source, "[")
	name = strings.TrimSpace(name)
	a := Assignment{Span: r.span(whole), Name: name, Lasting: true, Harmless: counter && ordinaryName(name), Command: -1}
	if b, ok := whole.(*syntax.BinaryArithm); ok && b.Op == syntax.Assgn && !element {
		r.counted(a) // an expression is a number, and the names in it are evaluated where they stand
		return
	}
	r.line.Assignments = append(r.line.Assignments, a) // it stays what it was: a number or not
}

// test follows the commands in [[ … ]].
func (r *reading) test(x syntax.TestExpr, s scope, in dirs) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		if x.Op == syntax.TsReMatch {
			r.regex(x.Y)
		}
		if arithmetic(x.Op) {
			r.evaluated(x.X, s, in)
			r.evaluated(x.Y, s, in)
		}
		r.test(x.X, s, in)
		r.test(x.Y, s, in)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			r.subscripted(x.X)
			r.evaluated(x.X, s, in)
		}
		r.test(x.X, s, in)
	case *syntax.ParenTest:
		r.test(x.X, s, in)
	case *syntax.Word:
		r.loose([]*syntax.Word{x}, s, in, "an operand of a test")
	}
}

func arithmetic(op syntax.BinTestOperator) bool {
	switch op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return true
	}
	return false
}

// regex refuses what the grammar may end at another place than bash does.
func (r *reading) regex(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok && !slices.ContainsFunc(w.Parts, endsElsewhere) {
		return
	}
	r.problem(r.span(x), Unparsed, "a regular expression that bash may end elsewhere")
}

func endsElsewhere(p syntax.WordPart) bool {
	lit, ok := p.(*syntax.Lit)
	return !ok || strings.ContainsAny(lit.Value, "<>;&\n")
}

// subscripted reports a test for an element of an array, whose subscript is
// run as arithmetic.
func (r *reading) subscripted(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok && strings.Contains(r.value(w).Text, "[") {
		r.second.runs = true
		r.problem(r.span(w), Unknown, "a subscript that a test evaluates")
	}
}

// evaluated follows an operand whose text is run as arithmetic, quotes or not.
func (r *reading) evaluated(x syntax.TestExpr, s scope, in dirs) {
	w, ok := x.(*syntax.Word)
	if !ok {
		return
	}
	v := r.value(w)
	r.named(v.Text, v.Span)
	r.second.runs = r.second.runs || v.Unknown()
	if strings.ContainsAny(v.Text, "$`") {
		r.problem(v.Span, Unknown, "a text that is evaluated as arithmetic")
		r.document(v.Text, v.origin(), s, in)
	}
}

// loose follows words that are no command's. What is known of them only when
// they are used is a problem.
func (r *reading) loose(ws []*syntax.Word, s scope, in dirs, what string) {
	for _, w := range ws {
		if w == nil {
			continue
		}
		if _, ok := r.plainWord(w); ok {
			continue
		}
		r.wordParts(w, s, in)
		if v := r.value(w); v.Unknown() {
			r.problem(v.Span, Unknown, what+" is known only when it runs")
		}
	}
}
