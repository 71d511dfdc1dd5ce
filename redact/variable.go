package redact

import "strings"

// variables are those that a command line sets, and which of them stand where a
// user's name does. P=x; mysql -p$P hides x.
type variables struct {
	set   []setting
	users map[string]bool
}

// setting is a word that sets a variable, and where its value begins in it.
type setting struct {
	name string
	word word
	from int
}

// sets notes that a word sets a variable.
func (v *variables) sets(name string, w *word, from int) {
	if v != nil && from < len(w.text) {
		v.set = append(v.set, setting{name, *w, from})
	}
}

// names notes the variable that stands where an address has a user's name.
func (v *variables) names(reference string) {
	if v == nil {
		return
	}
	if v.users == nil {
		v.users = map[string]bool{}
	}
	v.users[strings.Trim(reference, "${}")] = true
}

// taken is the size that is handed to a [hide] for a part of the text that is not
// to be hidden, but where a program takes a secret.
const taken = -1

// takes notes that a secret is taken at s[from:to], a reference to a variable. A
// substitution is none: what runs in it takes what it takes.
func (f *finder) takes(s string, from, to int, h hide) {
	if f.line != nil && substitution(s[from:to]) == 0 {
		h(from, to, taken, "")
	}
}

// settle hides what a variable was set to that is a secret and nothing else: it is
// set once, to one plain word, and named nowhere but where programs take secrets.
// The value is hidden there alone, since it is a secret only by what an agent does
// with it.
func (v *variables) settle(f *finder) {
	if len(v.set) == 0 || len(f.line.taken) == 0 {
		return
	}
	quiet := *f
	quiet.learn, quiet.line = func(string, string) {}, nil
	for i := range v.set {
		s := &v.set[i]
		if v.users[s.name] && !tokenLike(s.word.text[s.from:]) || !plain(s.word.text[s.from:]) || !f.line.onlyTaken(s.name) {
			continue
		}
		s.word.secret(&quiet, s.from, len(s.word.text), s.name)
	}
}
