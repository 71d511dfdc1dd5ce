package shell

import "strings"

// setting is an option of a pattern with its value.
type setting struct {
	option, value string
	cluster       string // letters in front of that of the option, behind a hyphen
	words         int    // of the pattern
	sure          bool   // the program takes them for that
}

// setting is the option that a pattern begins with, and its value: in the same
// word or the next.
func (m *matcher) setting(pattern []string, at int) (s setting, ok bool) {
	p := pattern[0]
	if !dashed(p) || p == "--" {
		return s, false
	}
	if name, value, attached := strings.Cut(p, "="); attached && len(name) > 1 {
		return setting{option: name, value: value, words: 1}, true
	}
	for k := 1; k < len(p)-1 && p[1] != '-' && m.known(p) == nil; k++ {
		if m.takesValue(p[k]) {
			return setting{option: "-" + p[k:k+1], value: p[k+1:], cluster: clusterOf(p[:k]), words: 1}, true
		}
	}
	takes := m.takes(p)
	if len(pattern) < 2 || takes == No || dashed(pattern[1]) && takes != Yes {
		return s, false
	}
	s = setting{option: p, value: pattern[1], words: 2, sure: takes == Yes && !(at > 0 && m.program.subcommands)}
	if last := len(p) - 1; p[1] != '-' && last > 1 && m.program != nil && m.known(p) == nil {
		s.option, s.cluster = "-"+p[last:], clusterOf(p[:last])
	}
	return s, true
}

// takes is takesNext for an option of a pattern, which may be one of the
// subcommand.
func (m *matcher) takes(option string) Fit {
	o := m.known(option)
	switch {
	case o == nil && m.sub != nil, o != nil && o.takes == takesPerhaps:
		return Perhaps
	case o == nil:
		return m.takesNext(option)
	case o.takes == takesOne:
		return Yes
	}
	return No
}

// clusterOf is a word of options, if it has any.
func clusterOf(text string) string {
	if text == "-" {
		return ""
	}
	return text
}

// set finds an option with its value among the words: in two words or one, by
// any of its names, at the end of a cluster.
func (m *matcher) set(s setting, args []Word) Fit {
	fit := No
	for i, w := range args {
		if m.budget--; m.budget < 0 {
			return Perhaps
		}
		if w.Text == "--" && w.Literal() {
			break
		}
		var next *Word
		if i+1 < len(args) {
			next = &args[i+1]
		}
		if fit = max(fit, m.sets(s, w, next)); fit == Yes {
			break
		}
	}
	if s.cluster != "" && fit != No {
		fit = min(fit, m.option(s.cluster, args))
	}
	return fit
}

// sets reports whether a word, with the one behind it, gives an option its value.
func (m *matcher) sets(s setting, w Word, next *Word) Fit {
	missing := ""
	if s.option[1] != '-' && len(s.option) == 2 {
		missing = s.option[1:]
	}
	switch {
	case w.Unknown() && w.Fixed == 0:
		return Perhaps
	case w.Globs() && m.mayBeOption(s.option, missing, w):
		return Perhaps
	case !dashed(w.Text):
		return No
	}
	name, _, attached := strings.Cut(w.Text, "=")
	if named := m.names(s.option, name); named != No {
		if attached {
			v, _ := w.after(len(name) + 1)
			return min(named, m.valued(s.value, &v))
		}
		if w.Unknown() {
			return Perhaps // the value may stand in it
		}
		return min(named, m.valued(s.value, next))
	}
	if w.Unknown() && w.Fixed <= len(name) && strings.HasPrefix(s.option, w.Text[:w.Fixed]) {
		return Perhaps
	}
	if w.Text[1] == '-' {
		return No
	}
	return m.clustered(s, w, next)
}

// clustered is sets for the letters of a word, the last of which may have the
// value behind it.
func (m *matcher) clustered(s setting, w Word, next *Word) Fit {
	sure := Yes
	if m.program == nil {
		sure = Perhaps
	}
	for k := 1; k < len(w.Text); k++ {
		if named := min(sure, m.names(s.option, "-"+w.Text[k:k+1])); named != No {
			v, _ := w.after(k + 1)
			switch {
			case v.Text == "" && !w.Unknown():
				return min(named, m.valued(s.value, next))
			case strings.HasPrefix(v.Text, "="):
				bare, _ := v.after(1)
				return min(named, max(m.valued(s.value, &v), m.valued(s.value, &bare)))
			}
			return min(named, m.valued(s.value, &v))
		}
		if m.takesValue(w.Text[k]) {
			break // the rest is its value
		}
	}
	return No
}

// known is what the tables say of an option, of the program or its subcommand.
func (m *matcher) known(name string) *option {
	for _, p := range [...]*program{m.sub, m.program} {
		if p == nil {
			continue
		}
		if o := p.options[name]; o != nil {
			return o
		}
	}
	return nil
}

// takesValue reports whether an option of one letter takes the rest of its word.
func (m *matcher) takesValue(letter byte) bool {
	o := m.known("-" + string(letter))
	return o != nil && o.takes != takesNone && o.takes != takesNumber
}

// names reports whether an option of a command is that of a pattern: by its
// name, by another that the table has for it, or by the beginning of a long one.
func (m *matcher) names(option, name string) Fit {
	if m.equal(option, name) {
		return Yes
	}
	if o := m.known(name); o != nil {
		return o.also(option)
	}
	if strings.HasPrefix(name, "--") && len(name) > 2 {
		if strings.HasPrefix(option, name) {
			return Perhaps
		}
		if m.program != nil {
			if o := m.program.abbreviated(name); o != nil && o.also(option) != No {
				return Perhaps
			}
		}
	}
	return No
}

// valued compares a value of a pattern with that of a command.
func (m *matcher) valued(value string, w *Word) Fit {
	switch {
	case w == nil:
		return No
	case w.Unknown():
		return Perhaps
	case w.Globs() && m.mayBe(value, *w):
		return Perhaps
	case m.equal(value, w.Text):
		return Yes
	}
	return No
}

// also reports whether an option is another name of this one. A letter beside a
// long name is; of others in the same line of a table nobody knows.
func (o *option) also(name string) Fit {
	fit := No
	for _, n := range o.names {
		if n == name {
			fit = Perhaps
		}
	}
	if fit == Perhaps && (o.name == name || len(o.names) == 2 && long(o.names[0]) != long(o.names[1])) {
		return Yes
	}
	return fit
}

func long(name string) bool { return strings.HasPrefix(name, "--") }
