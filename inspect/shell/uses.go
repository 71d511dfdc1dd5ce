package shell

import (
	"maps"
	"slices"
	"strings"
)

// Uses returns lines that call the programs of the tables whose names, with
// those of their subcommands, begin with some words, or that the words begin
// with: without more, with operands, and with each option that has an effect
// and that an allow for the program covers. Without words they are of all
// programs. They are made to be judged, and not to be run.
func Uses(words ...string) []string {
	var out []string
	prefix := strings.Join(words, " ")
	for _, name := range slices.Sorted(maps.Keys(sections())) {
		base := name
		switch {
		case strings.Contains(name, "*"):
			continue
		case begins(prefix, name):
			base = prefix
		case !begins(name, prefix):
			continue
		}
		out = append(out, base, base+" x", base+" x y")
		p := known(name)
		for _, option := range slices.Sorted(maps.Keys(p.options)) {
			o := p.options[option]
			if len(o.effects) == 0 || slices.ContainsFunc(o.effects, func(e effect) bool { return e.beyond }) {
				continue
			}
			if use := base + " " + option; o.takes == takesNone {
				out = append(out, use, use+" x")
			} else {
				out = append(out, use+" x", use+" x y")
			}
		}
	}
	return out
}

// begins reports whether a text begins with the words of another.
func begins(text, words string) bool {
	rest, ok := strings.CutPrefix(text, words)
	return ok && (words == "" || rest == "" || rest[0] == ' ')
}
