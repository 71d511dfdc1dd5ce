package redact

import "strings"

// variables are those of one command line: what they are set to, and which of them
// stand where a program takes a secret. P=x; mysql -p$P hides x.
type variables struct {
	set   []setting
	spent map[string]bool
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
				v.spent = map[string]bool{}
			}
			v.spent[name] = true
		}
		next := strings.IndexByte(secret[i+1:], '$')
		if next < 0 {
			return
		}
		i += 1 + next
	}
}

// settle hides what the variables were set to that turned out to be secrets.
func (v *variables) settle(f *finder) {
	for i := range v.set {
		if s := &v.set[i]; v.spent[s.name] {
			s.word.secret(f, s.from, len(s.word.text), s.name)
		}
	}
}
