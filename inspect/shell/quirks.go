package shell

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The grammar and bash disagree in places. Where they do, the text is either
// changed so that both see the same, or it is a problem.

// commented takes the backslash at the end of a comment away: for bash the
// comment ends with the line, for the grammar the line goes on behind it.
func (r *reading) commented() {
	if !strings.Contains(r.text, "\\\n") || !strings.Contains(r.text, "#") {
		return
	}
	p := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	for range maxMasks {
		found := -1
		f, _ := p.Parse(strings.NewReader(r.text), "")
		syntax.Walk(f, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok && found < 0 {
				found = r.goesOn(c)
			}
			return found < 0
		})
		if found < 0 {
			return
		}
		r.text = r.text[:found] + " " + r.text[found+1:]
	}
	r.problem(r.origin.span(0, len(r.text)), Unparsed, "comments that end in backslashes")
}

// goesOn finds the backslash at the end of a comment, -1 if there is none. It may
// be none of the comment: a backquote ends that, too.
func (r *reading) goesOn(c *syntax.Comment) int {
	from := int(c.Hash.Offset())
	end := from + lineLength(r.text[from:])
	switch {
	case end >= len(r.text) || !strings.HasSuffix(r.text[from:end], "\\"):
		return -1
	case int(c.End().Offset()) < end-1:
		r.problem(r.span(c), Unparsed, "a comment that ends in front of a line that goes on")
		return -1
	}
	return end - 1
}

// hashes finds comments that are none for bash. In brackets the grammar takes a
// hash behind a quote or an expansion for the beginning of a comment, though the
// word has not ended; what it skips is run.
func hashes[N syntax.Node](r *reading, nodes ...N) {
	if !strings.Contains(r.text, "#") {
		return
	}
	for _, n := range nodes {
		syntax.Walk(n, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok && insideWord(r.text[:min(int(c.Hash.Offset()), len(r.text))]) {
				r.problem(r.span(c), Unparsed, "a hash inside of a word")
			}
			return true
		})
	}
}

// insideWord reports whether a text may end within a word: it ends with no
// blank and no operator, but for line ends that a backslash takes away.
func insideWord(text string) bool {
	for strings.HasSuffix(text, "\\\n") && endSlashes(text[:len(text)-1])%2 == 1 {
		text = text[:len(text)-2]
	}
	if text == "" {
		return false
	}
	last := len(text) - 1
	return strings.IndexByte(" \t\n;&|(<>", text[last]) < 0 || endSlashes(text[:last])%2 == 1 && text[last] != '\n'
}

// continued finds line ends that a backslash takes away inside of an operator.
// Bash reads the operator whole, the grammar in two.
func (r *reading) continued() {
	for i := 0; ; {
		n := strings.Index(r.text[i:], "\\\n")
		if n < 0 {
			return
		}
		i += n
		if endSlashes(r.text[:i])%2 == 1 { // the backslash is quoted itself
			i += 2
			continue
		}
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = r.text[i-1]
		}
		if i+2 < len(r.text) {
			after = r.text[i+2]
		}
		if torn(before, after) {
			r.problem(r.origin.span(max(i-1, 0), min(i+3, len(r.text))), Unparsed, "a line that goes on inside of an operator")
			return
		}
		i += 2
	}
}

// endSlashes counts the backslashes at the end of a text.
func endSlashes(s string) int { return len(s) - len(strings.TrimRight(s, `\`)) }

// torn reports whether a line end between two bytes may stand inside of an
// operator.
func torn(before, after byte) bool {
	switch {
	case strings.IndexByte("$<{`#", before) >= 0:
		return true
	case strings.IndexByte("&|;>()[]=!+?*@-:%/^,", before) >= 0:
		return strings.IndexByte("&|;<>()[]=!-+:%/^,#`$\\", after) >= 0
	case before == '}' || before >= '0' && before <= '9':
		return after == '<' || after == '>' || after == '\\'
	}
	return after == '\\'
}

// mask is a word that the grammar takes for more than bash does. It is read a
// second time with another byte at its start, and gets its own back in words.
type mask struct {
	at   int
	word string
}

// masked reads the text again if the grammar took a word for a keyword that is
// none for bash: let, whose words bash reads as those of any command, and time
// behind a pipe.
func (r *reading) masked(stmts []*syntax.Stmt, err error) ([]*syntax.Stmt, error) {
	let := hasWord(r.text, "let")
	if !let && !hasWord(r.text, "time") {
		return stmts, err
	}
	if err != nil && let {
		stmts, err = r.maskedLet(stmts, err)
	}
	for range maxMasks {
		found := masks(stmts)
		if len(found) == 0 {
			return stmts, err
		}
		stmts, err = r.mask(found)
	}
	r.problem(r.origin.span(0, len(r.text)), Unparsed, "too many words that are read in two ways")
	return stmts, err
}

// mask reads the text again with words masked.
func (r *reading) mask(found []mask) ([]*syntax.Stmt, error) {
	text := []byte(r.text)
	for _, m := range found {
		text[m.at] = '1'
	}
	r.text = string(text)
	r.masks = append(r.masks, found...)
	return parse(r.text)
}

// maskedLet masks every let that turns out to be a command, in a text that does
// not parse because of one.
func (r *reading) maskedLet(stmts []*syntax.Stmt, err error) ([]*syntax.Stmt, error) {
	text, masks := r.text, r.masks
	var found []mask
	for i := 0; ; i += len("let") {
		n := strings.Index(text[i:], "let")
		if n < 0 {
			break
		}
		if i += n; aloneAt(text, i) {
			found = append(found, mask{i, "let"})
		}
	}
	again, _ := r.mask(found)
	found = commandsAt(again, found)
	r.text, r.masks = text, masks
	if len(found) == 0 {
		return stmts, err
	}
	return r.mask(found)
}

// aloneAt reports whether a word of three letters stands alone at a place.
func aloneAt(text string, i int) bool {
	const blanks = " \t\n;|&(){}`"
	return (i == 0 || strings.IndexByte(blanks, text[i-1]) >= 0) && i+3 < len(text) && strings.IndexByte(" \t", text[i+3]) >= 0
}

// commandsAt keeps the masks that stand where a command begins.
func commandsAt(stmts []*syntax.Stmt, masks []mask) (kept []mask) {
	begins := map[int]bool{}
	for _, st := range stmts {
		syntax.Walk(st, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
				begins[int(c.Args[0].Pos().Offset())] = true
			}
			return true
		})
	}
	for _, m := range masks {
		if begins[m.at] {
			kept = append(kept, m)
		}
	}
	return kept
}

// maxMasks is how often a text is read again: each time may bring words to
// light that stood inside of one.
const maxMasks = 8

// masks finds such words.
func masks(stmts []*syntax.Stmt) (found []mask) {
	look := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LetClause:
			found = append(found, mask{int(n.Let.Offset()), "let"})
		case *syntax.BinaryCmd:
			if t, ok := n.Y.Cmd.(*syntax.TimeClause); ok && isPipe(n.Op) {
				found = append(found, mask{int(t.Time.Offset()), "time"})
			}
		}
		return true
	}
	for _, st := range stmts {
		syntax.Walk(st, look)
	}
	return found
}

// hasWord reports whether a text has a word that is not part of a longer name.
func hasWord(text, word string) bool {
	for i := 0; ; {
		n := strings.Index(text[i:], word)
		if n < 0 {
			return false
		}
		from := i + n
		i = from + len(word)
		if (from == 0 || !inName(text[from-1])) && (i == len(text) || !inName(text[i])) {
			return true
		}
	}
}

func inName(b byte) bool {
	return letter(b) || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.' || b == '/'
}

// unmasked is the word that a mask stands for at a place, "" if none does.
func (r *reading) unmasked(at int) string {
	for _, m := range r.masks {
		if m.at == at {
			return m.word
		}
	}
	return ""
}

// reopened reads a text that does not parse again, with a blank inside of (( in
// front of the mistake: bash takes what is no arithmetic for a subshell inside
// of another. It returns what was read before if that does not help.
func (r *reading) reopened(stmts []*syntax.Stmt, err error) []*syntax.Stmt {
	text, o := r.text, r.origin
	if bare := timeless(text); bare != text {
		if again, err := parse(bare); err == nil {
			r.text = bare
			return again
		}
	}
	for range maxMasks {
		var at syntax.ParseError
		if !errors.As(err, &at) {
			break
		}
		n := strings.LastIndex(text[:min(int(at.Pos.Offset())+2, len(text))], "((")
		if n < 0 {
			break
		}
		text, o = blankAt(text, o, n+1)
		var again []*syntax.Stmt
		if again, err = parse(text); err == nil {
			r.text, r.origin = text, o
			return again
		}
	}
	return stmts
}

// timeless blanks the -- behind the keyword time, which the grammar does not
// know.
func timeless(text string) string {
	out := []byte(text)
	for i := 0; ; {
		n := strings.Index(text[i:], "time")
		if n < 0 {
			return string(out)
		}
		i += n + len("time")
		rest := strings.TrimLeft(text[i:], " \t")
		if p, ok := strings.CutPrefix(rest, "-p"); ok {
			rest = strings.TrimLeft(p, " \t")
		}
		if strings.HasPrefix(rest, "-- ") {
			at := len(text) - len(rest)
			out[at], out[at+1] = ' ', ' '
		}
	}
}

// blankAt puts a blank into a text.
func blankAt(text string, o origin, i int) (string, origin) {
	at := make([]int32, 0, len(text)+1)
	for k := range len(text) {
		if k == i {
			at = append(at, o.place(k))
		}
		at = append(at, o.place(k))
	}
	return text[:i] + " " + text[i:], origin{at: at, to: int(o.place(len(text)))}
}
