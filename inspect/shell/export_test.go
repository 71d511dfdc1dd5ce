package shell

import (
	"maps"
	"slices"
)

// InspectWithout is Inspect with tables that lack some programs.
func InspectWithout(text string, names ...string) *Line {
	return inspect(text, func(name string) *program {
		for _, n := range names {
			if n == name {
				return nil
			}
		}
		return known(name)
	})
}

// ReadTables reads all of the tables, and returns the names that are in them
// and the mistakes that were found.
func ReadTables() (names, mistakes []string) {
	for name, text := range sections() {
		names = append(names, name)
		p, err := readProgram(name, text)
		if err != nil {
			mistakes = append(mistakes, err.Error())
			continue
		}
		if p.code != "" && handlers[p.code] == nil && wholly[p.code] == nil {
			mistakes = append(mistakes, name+": no function is called "+p.code)
		}
	}
	return names, mistakes
}

// Wrapping reports whether the tables say that a program runs its words.
func Wrapping(name string) bool {
	p := known(name)
	return p != nil && p.wraps
}

// Option is an option of the tables.
type Option struct {
	Name  string
	Value bool // it has one, in the same word or the next
}

// Programs are the names of the sections of the tables.
func Programs() []string { return slices.Sorted(maps.Keys(sections())) }

// Options are the options that a section has.
func Options(program string) (out []Option) {
	p := known(program)
	for _, name := range slices.Sorted(maps.Keys(p.options)) {
		out = append(out, Option{name, p.options[name].takes == takesOne})
	}
	return out
}
