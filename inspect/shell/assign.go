package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// harmless are the variables that change how programs print and nothing else.
var harmless = set("LANG", "TZ", "NO_COLOR", "FORCE_COLOR", "CI", "TERM", "COLUMNS", "LINES")

func harmlessName(name string) bool { return harmless[name] || strings.HasPrefix(name, "LC_") }

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// steering are variables in small letters that programs look at.
var steering = set("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "histchars", "auto_resume")

// ordinaryName reports whether a variable can only mean something to the line
// that sets it: the shell and other programs read names in capitals.
func ordinaryName(name string) bool {
	return name != "" && !steering[name] && (len(name) == 1 && name != "_" || name == strings.ToLower(name))
}

// counter records a variable that a loop or a coprocess sets.
func (r *reading) counter(name *syntax.Lit) {
	r.assignment(Assignment{Span: r.span(name), Name: name.Value, Lasting: true, Harmless: ordinaryName(name.Value), Command: -1})
}

// assigns follows the assignments of a command, or those of the shell.
func (r *reading) assigns(list []*syntax.Assign, lasting bool, command int, s scope, in dirs) {
	for _, a := range list {
		r.assign(a, lasting, command, s, in)
	}
}

func (r *reading) assign(a *syntax.Assign, lasting bool, command int, s scope, in dirs) {
	if a.Index != nil {
		r.arithm(a.Index, s, in)
	}
	r.wordParts(a.Value, s, in)
	plain := a.Index == nil && a.Array == nil
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			r.arithm(e.Index, s, in)
			r.wordParts(e.Value, s, in)
			r.kept(e.Value)
		}
	}
	if a.Naked || a.Name == nil {
		return
	}
	v := r.value(a.Value)
	set := Assignment{
		Span: r.span(a), Name: a.Name.Value, Value: v.Word, Lasting: lasting, Command: command,
		Harmless: plain && !v.Unknown() && harmlessName(a.Name.Value),
	}
	if plain && !a.Append && v.Literal() && v.Text != "" && strings.Trim(v.Text, "0123456789") == "" {
		r.counted(set)
		return
	}
	r.assignment(set)
}

// declare follows declare, export, readonly and the like.
func (r *reading) declare(c *syntax.DeclClause, redirs []*syntax.Redirect, s scope, in dirs) (ok, fail dirs) {
	name := c.Variant.Value
	words := []word{{Word: Word{Span: r.span(c.Variant), Text: name, Fixed: len(name)}}}
	for _, a := range c.Args {
		words = r.appendDeclared(words, a)
	}
	at := r.open(words, s, in)
	r.assigns(c.Args, true, at, s, in)
	s.input = r.redirects(redirs, at, s, in)
	return r.study(at, words, s, in)
}

// appendDeclared appends an argument of declare as a word.
func (r *reading) appendDeclared(words []word, a *syntax.Assign) []word {
	if a.Naked && a.Name == nil {
		return r.appendWord(words, a.Value)
	}
	from, to := r.offsets(a)
	w := word{Word: Word{Span: r.origin.span(from, to), Text: r.text[from:to], Fixed: to - from}}
	w.at = r.spread(from, to)
	if a.Value != nil {
		v := r.value(a.Value)
		start, _ := r.offsets(a.Value)
		if start = min(max(start, from), to); v.at == nil {
			v.at = r.spread(start, min(start+len(v.Text), len(r.text)))
		}
		w.Text, w.at = r.text[from:start]+v.Text, append(w.at[:start-from], v.at...)
		w.Fixed, w.Dynamic = start-from+v.Fixed, v.Dynamic
		for _, h := range v.holes {
			w.holes = append(w.holes, start-from+h)
		}
	}
	if a.Array != nil || a.Index != nil && strings.ContainsAny(w.Text, "$`") {
		w.Dynamic |= Variable
		w.Fixed = min(w.Fixed, len(a.Name.Value))
		w.holes = append(w.holes, len(w.Text))
	}
	w.Text = r.stands.original(w.Text)
	return append(words, w)
}
