package shell

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
