package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects follows the redirections of a command or a group, and returns what
// its standard input is.
func (r *reading) redirects(list []*syntax.Redirect, command int, s scope, in dirs) input {
	bodies := 0
	for _, rd := range list {
		if rd.N != nil && rd.N.Value[0] != '{' && !numbers(rd.N.Value) {
			r.problem(r.span(rd), Unparsed, "a number that is too great for a descriptor")
		}
		if rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc {
			s.input = r.hereDocument(rd, bodies == 0, command, s, in)
			bodies++
			continue
		}
		if target, ok := r.redirect(rd, command, s, in); ok {
			s.input = target
		}
		if rd.N != nil && rd.N.Value[0] == '{' {
			name, subscript, _ := strings.Cut(strings.Trim(rd.N.Value, "{}"), "[")
			r.named(subscript, r.span(rd.N))
			r.assignment(Assignment{Span: r.span(rd.N), Name: name, Lasting: true, Harmless: ordinaryName(name), Command: command})
		}
	}
	return s.input
}

// redirect records one redirection; ok is false if it is not of the standard
// input.
func (r *reading) redirect(rd *syntax.Redirect, command int, s scope, in dirs) (input, bool) {
	r.wordParts(rd.Word, s, in)
	var target word
	if rd.Op == syntax.WordHdoc {
		target = r.value(rd.Word)
	} else if words := r.words([]*syntax.Word{rd.Word}); len(words) == 1 {
		target = words[0]
	} else {
		target = word{Word: Word{Span: r.span(rd.Word), Dynamic: Brace | Many}}
	}
	r.duplicated(rd, &target, s, in)
	r.line.Redirects = append(r.line.Redirects, Redirect{
		Span: r.span(rd), Op: rd.Op.String(), Target: target.Word, Kind: direction(rd, target.Word), Command: command, Dirs: in,
	})
	if rd.N != nil && rd.N.Value != "0" {
		return input{}, false
	}
	switch rd.Op {
	case syntax.WordHdoc:
		return input{kind: fromBody, text: target, known: true}, true
	case syntax.RdrIn, syntax.DplIn, syntax.RdrInOut:
		return input{kind: fromFile, text: target}, true
	}
	return input{}, false
}

// duplicated looks at the target of >& and <&. Bash ends it behind a hyphen at
// its start, and expands the name of a file a second time, quotes or not.
func (r *reading) duplicated(rd *syntax.Redirect, target *word, s scope, in dirs) {
	if rd.Op != syntax.DplOut && rd.Op != syntax.DplIn {
		return
	}
	if text := r.source(rd.Word); len(text) > 1 && text[0] == '-' {
		r.problem(r.span(rd), Unparsed, "a hyphen that ends a redirection")
	}
	if strings.ContainsAny(target.Text, "$`") {
		r.problem(target.Span, Unparsed, "a target that is expanded twice")
		r.document(target.Text, target.origin(), s, in)
	}
	if strings.ContainsAny(target.Text, "$`'\"\\*?[{~ \t\n") {
		target.Dynamic |= Variable
		target.Fixed = 0
	}
}

// direction says what a redirection does.
func direction(rd *syntax.Redirect, target Word) Direction {
	text := target.Text[:target.Fixed]
	if strings.HasPrefix(text, "/dev/tcp/") || strings.HasPrefix(text, "/dev/udp/") {
		return Network
	}
	known := target.Literal()
	switch rd.Op {
	case syntax.WordHdoc:
		return Body
	case syntax.DplIn, syntax.DplOut:
		if known && descriptor(target.Text) {
			return Duplicate
		}
		if rd.Op == syntax.DplIn {
			return Read
		}
	case syntax.RdrIn:
		if known && (target.Text == "/dev/null" || target.Text == "/dev/stdin") {
			return Null
		}
		return Read
	}
	if known && nowhere(target.Text) {
		return Null
	}
	return Write
}

// descriptor reports whether the target of a duplication is a descriptor: 1, 1-
// or -.
func descriptor(s string) bool {
	s = strings.TrimSuffix(s, "-")
	return strings.Trim(s, "0123456789") == ""
}

// hereDocument records a here-document and follows what is expanded in it;
// first says that it is the first of its command.
func (r *reading) hereDocument(rd *syntax.Redirect, first bool, command int, s scope, in dirs) input {
	quoted, ok := delimiter(rd.Word)
	if !ok || !r.endsAlike(rd, first, quoted) {
		r.problem(r.span(rd), Unparsed, "a here-document that bash may end elsewhere")
	}
	body := word{Word: Word{Span: r.span(rd.Word)}}
	if rd.Hdoc != nil {
		body = r.bodyOf(rd.Hdoc, quoted, rd.Op == syntax.DashHdoc)
		if !quoted {
			r.parts(rd.Hdoc.Parts, inQuotes, s.in(InBody), in)
		}
	}
	body.Dynamic &^= Glob | Tilde // nothing is expanded to names in it
	r.line.Redirects = append(r.line.Redirects, Redirect{
		Span: r.origin.span(r.between(rd.Pos(), rd.Word.End())), Op: rd.Op.String(), Target: body.Word, Kind: Body, Command: command, Dirs: in,
	})
	if rd.N != nil && rd.N.Value != "0" {
		return s.input
	}
	return input{kind: fromBody, text: body, known: true}
}

// between is the range between two places of the grammar.
func (r *reading) between(a, b syntax.Pos) (from, to int) {
	from = min(int(a.Offset()), len(r.text))
	return from, max(from, min(int(b.Offset()), len(r.text)))
}

// delimiter reports whether the word that ends a here-document is quoted, so
// that nothing in the body is expanded; ok is false if bash may read the word
// otherwise than the grammar does.
func delimiter(w *syntax.Word) (quoted, ok bool) {
	ok = true
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			quoted = quoted || strings.Contains(p.Value, `\`)
			ok = ok && !strings.ContainsAny(p.Value, "\n\t$`")
		case *syntax.SglQuoted:
			quoted = true
			ok = ok && !p.Dollar && !strings.ContainsAny(p.Value, "\n\t")
		case *syntax.DblQuoted:
			quoted = true
			ok = ok && !p.Dollar && plainInside(p)
		default:
			return true, false
		}
	}
	return quoted, ok
}

func plainInside(q *syntax.DblQuoted) bool {
	for _, p := range q.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.ContainsAny(lit.Value, "\\\n\t$`") {
			return false
		}
	}
	return true
}

// endsAlike reports whether the body ends where bash would end it: at the first
// line that is the delimiter, counted from the line behind the operator.
func (r *reading) endsAlike(rd *syntax.Redirect, first, quoted bool) bool {
	_, end := r.offsets(rd.Word)
	stop := unquotedDelimiter(rd.Word)
	if rd.Hdoc == nil { // nothing between the line of the operator and the delimiter
		_, rest, ok := strings.Cut(r.text[end:], "\n")
		rest, _, _ = strings.Cut(rest, "\n")
		if rd.Op == syntax.DashHdoc {
			rest = strings.TrimLeft(rest, "\t")
		}
		return ok && first && rest == stop
	}
	from, to := r.bodyRange(rd.Hdoc)
	line := strings.TrimRight(r.text[end:max(from, end)], "\t")
	ends := r.lineEnds(end, max(from, end))
	r.bodies = append(r.bodies, Span{from, to + lineLength(r.text[to:]) + 1})
	if !strings.HasSuffix(line, "\n") || first && ends > 1 && strings.ContainsAny(line, "(`") {
		return false
	}
	if !quoted && strings.Contains(r.text[from:to], "\\\n") {
		return false
	}
	for text := range strings.Lines(r.text[from:to]) {
		text = strings.TrimSuffix(text, "\n")
		if rd.Op == syntax.DashHdoc {
			text = strings.TrimLeft(text, "\t")
		}
		if text == stop {
			return false
		}
	}
	return true
}

// lineEnds counts the ends of lines in a part of the text that are neither
// quoted nor in a body.
func (r *reading) lineEnds(from, to int) (n int) {
	for i := from; i < to; i++ {
		switch {
		case r.text[i] == '\\':
			i++
		case r.text[i] == '\'' || r.text[i] == '"':
			i += quotedLength(r.text[i:to])
		case r.text[i] == '\n' && !r.inBodies(i):
			n++
		}
	}
	return n
}

// quotedLength is how many bytes behind a quote belong to what it quotes; none
// if commands may stand in it.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			if s[0] == '"' && strings.ContainsAny(s[:i], "`$") {
				return 0
			}
			return i
		case s[i] == '\\' && s[0] == '"':
			i++
		}
	}
	return 0
}

func (r *reading) inBodies(i int) bool {
	for _, b := range r.bodies {
		if i >= b.From && i < b.To {
			return true
		}
	}
	return false
}

// bodyRange is where a body stands, without the line that ends it.
func (r *reading) bodyRange(body *syntax.Word) (from, to int) {
	from, to = r.offsets(body)
	if lit, ok := body.Parts[len(body.Parts)-1].(*syntax.Lit); ok {
		to = min(to, int(lit.ValuePos.Offset())+len(lit.Value))
	}
	return from, max(from, to)
}

// unquotedDelimiter is the delimiter without its quotes.
func unquotedDelimiter(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				}
			}
		}
	}
	return b.String()
}

// bodyOf is the body of a here-document as a word, if asked for without the
// tabs at the starts of its lines.
func (r *reading) bodyOf(body *syntax.Word, quoted, untabbed bool) word {
	cells := r.room.cells[:0]
	for _, p := range body.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || !quoted {
			cells = r.flatten(cells, []syntax.WordPart{p}, inBody)
			continue
		}
		places := r.follow(lit.Value, int(lit.ValuePos.Offset()), int(lit.ValueEnd.Offset()))
		for i := 0; i < len(lit.Value); i++ {
			cells = append(cells, cell{b: lit.Value[i], quoted: true, at: places.at(i)})
		}
	}
	r.room.cells = cells
	if untabbed {
		cells = withoutTabs(cells)
	}
	return r.finish(cells, r.origin.span(r.bodyRange(body)), 0)
}

func withoutTabs(cells []cell) []cell {
	kept, begins := cells[:0], true
	for _, c := range cells {
		if begins && c.b == '\t' && c.hole == 0 {
			continue
		}
		begins = c.b == '\n' && c.hole == 0
		kept = append(kept, c)
	}
	return kept
}
