package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// said is what a pipe carries, if it is a plain text: what echo or printf says,
// or what cat passes on from a here-document. A shell that reads it is asked
// about anyway; this is for what must be found in it.
func (r *reading) said(st *syntax.Stmt) input {
	piped := input{kind: piped}
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return piped
	}
	switch name := call.Args[0].Lit(); {
	case name == "cat" && (len(call.Args) == 1 || len(call.Args) == 2 && call.Args[1].Lit() == "-"):
		piped.text, piped.known = r.body(st.Redirs)
	case (name == "echo" || name == "printf") && len(call.Args) > 1 && len(st.Redirs) == 0:
		piped.text, piped.known = printed(name, r.words(call.Args[1:]))
	}
	return piped
}

// body is the text of the here-document, or the word, that is the last standard
// input among redirections.
func (r *reading) body(list []*syntax.Redirect) (text word, ok bool) {
	for _, rd := range list {
		switch {
		case rd.N != nil && rd.N.Value != "0":
		case rd.Op == syntax.WordHdoc:
			text, ok = r.value(rd.Word), true
		case (rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc) && rd.Hdoc != nil:
			quoted, _ := delimiter(rd.Word)
			text, ok = r.bodyOf(rd.Hdoc, quoted, rd.Op == syntax.DashHdoc), true
			text.Dynamic &^= Glob | Tilde
		case rd.Op == syntax.RdrIn || rd.Op == syntax.DplIn || rd.Op == syntax.RdrInOut:
			ok = false
		}
	}
	return text, ok
}

// printed is what echo or printf says of its words. The words that printf puts
// into its format may each begin a line.
func printed(name string, words []word) (word, bool) {
	escapes := name == "printf"
	for len(words) > 1 && strings.HasPrefix(words[0].Text, "-") {
		escapes = escapes || strings.Contains(words[0].Text, "e")
		words = words[1:]
	}
	if len(words) == 0 {
		return word{}, false
	}
	text := joinWords(words)
	if name == "printf" && len(words) > 1 && strings.Contains(words[0].Text, "%") {
		text = joinWords(append([]word{text, newline(text)}, interleaved(words[1:])...))
	}
	if escapes {
		text = text.unescaped()
	}
	return text, true
}

// newline is a word that ends a line, standing behind another.
func newline(w word) word {
	return word{Word: Word{Text: "\n", Fixed: 1, Span: Span{w.Span.To, w.Span.To}}}
}

// interleaved puts the end of a line behind each word.
func interleaved(words []word) []word {
	out := make([]word, 0, 2*len(words))
	for _, w := range words {
		out = append(out, w, newline(w))
	}
	return out
}

// unescaped is the word with line ends and tabs for the escapes of printf that
// stand for them.
func (w word) unescaped() word {
	if !strings.Contains(w.Text, `\`) {
		return w
	}
	o := w.origin()
	out := word{Word: Word{Span: w.Span, Dynamic: w.Dynamic}}
	var b strings.Builder
	next := 0
	for i := 0; i <= len(w.Text); i++ {
		for ; next < len(w.holes) && w.holes[next] == i; next++ {
			out.holes = append(out.holes, b.Len())
		}
		if i == len(w.Text) {
			break
		}
		c, at := w.Text[i], o.place(i)
		if c == '\\' && i+1 < len(w.Text) && (w.Text[i+1] == 'n' || w.Text[i+1] == 't') && (next == len(w.holes) || w.holes[next] != i+1) {
			if i++; w.Text[i] == 'n' {
				c = '\n'
			} else {
				c = '\t'
			}
		}
		b.WriteByte(c)
		out.at = append(out.at, at)
	}
	out.Text = b.String()
	if out.Fixed = len(out.Text); len(out.holes) > 0 {
		out.Fixed = out.holes[0]
	}
	return out
}
