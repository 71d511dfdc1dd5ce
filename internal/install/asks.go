package install

import (
	"slices"
	"strings"
)

// Asks is why a server that is started by our program is not known to ask the gate in
// a place, which is given as sayso init mcp writes it; empty if it does. The flags must
// be those that we write, each once, and nothing else in the entry may move the gate.
func (s Server) Asks(place []string) string {
	rest, ok := beyond(s.Flags, place)
	if !ok {
		return "its flags name another place than " + strings.Join(place, " ")
	}
	for len(rest) > 0 {
		if len(rest) >= 2 && len(s.Command) == 0 && (rest[0] == "--header" || rest[0] == "--url" && !slices.Contains(rest[2:], "--url")) && !strings.HasPrefix(rest[1], "-") {
			rest = rest[2:]
			continue
		}
		if len(rest) < 2 || rest[0] != "--name" && rest[0] != "--patience" || strings.HasPrefix(rest[1], "-") {
			return "sayso init mcp does not write " + rest[0]
		}
		if slices.Contains(rest[2:], rest[0]) {
			return rest[0] + " stands twice"
		}
		rest = rest[2:]
	}
	if len(s.Moves) > 0 {
		return "its entry has " + strings.Join(s.Moves, ", ") + ", which may move it"
	}
	return ""
}

// beyond are flags without those of a place, which must all be there.
func beyond(flags, place []string) (rest []string, ok bool) {
	rest = slices.Clone(flags)
	for i := 0; i+1 < len(place); i += 2 {
		at := -1
		for j := 0; j+1 < len(rest); j += 2 {
			if rest[j] == place[i] && rest[j+1] == place[i+1] {
				at = j
			}
		}
		if at < 0 {
			return nil, false
		}
		rest = slices.Delete(rest, at, at+2)
	}
	return rest, true
}

// moves are what in an entry beside its command may have our program be another, or
// ask another gate: an address, a file of variables, and the variables that say where
// things are or what a program loads.
func moves(entry *node, url string) (all []string) {
	if url != "" {
		all = append(all, "an address")
	}
	for _, m := range entry.members {
		switch strings.ToLower(m.name) {
		case "envfile", "env_file":
			all = append(all, m.name)
		case "env", "environment":
			for _, v := range m.value.members {
				if moving(v.name) {
					all = append(all, v.name)
				}
			}
			if m.value.kind != '{' {
				all = append(all, m.name)
			}
		}
	}
	return all
}

// moving reports whether a variable may say where our program, its files or its home
// are, or what is loaded into it.
func moving(name string) bool {
	name = strings.ToUpper(name)
	if name == "SAYSO_PATIENCE" { // how long is nobody's place
		return false
	}
	if slices.Contains([]string{"HOME", "PATH", "GODEBUG"}, name) {
		return true
	}
	return slices.ContainsFunc([]string{"SAYSO_", "XDG_", "LD_", "DYLD_"}, func(p string) bool { return strings.HasPrefix(name, p) })
}
