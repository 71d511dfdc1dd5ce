package redact

import "strings"

// variables are those of one command line: what they are set to, and which of them
// stand where a program takes a secret. P=x; mysql -p$P hides x.
type variables struct {
	set   []setting
	spent map[string]int
	users map[string]bool // those that stand where a user's name does, or a token
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

// spends notes the variables that a secret is made of.
func (v *variables) spends(secret string) {
	if v == nil {
		return
	}
	for i := strings.IndexByte(secret, '$'); i >= 0 && i+1 < len(secret); {
		name := strings.TrimPrefix(secret[i+1:], "{")
		if name = name[:span0(name, isVarName)]; name != "" {
			if v.spent == nil {
				v.spent = map[string]int{}
			}
			v.spent[name]++
		}
		next := strings.IndexByte(secret[i+1:], '$')
		if next < 0 {
			return
		}
		i += 1 + next
	}
}

// names notes the variable that stands where an address has a user's name.
func (v *variables) names(reference string) {
	if v == nil {
		return
	}
	v.spends(reference)
	if v.users == nil {
		v.users = map[string]bool{}
	}
	v.users[strings.Trim(reference, "${}")] = true
}

// settle hides what a variable was set to that is a secret and nothing else: it is
// set once, to one plain word, and named nowhere but where programs take secrets.
// The value is hidden there alone, since it is a secret only by what an agent does
// with it.
func (v *variables) settle(f *finder) {
	quiet := *f
	quiet.learn = func(string, string) {}
	for i := range v.set {
		s := &v.set[i]
		spent := v.spent[s.name]
		if v.users[s.name] && !tokenLike(s.word.text[s.from:]) {
			continue
		}
		if spent == 0 || !plain(s.word.text[s.from:]) || !f.line.onlySpent(s.name, spent) {
			continue
		}
		s.word.secret(&quiet, s.from, len(s.word.text), s.name)
	}
}
