package shell

import (
	"slices"
	"strings"
	"unicode"
)

// sqlitePlain are commands of the shell of SQLite that only show something.
var sqlitePlain = set("tables", "schema", "fullschema", "indexes", "indices", "databases", "dbinfo", "headers", "header", "mode", "separator", "nullvalue", "width",
	"timeout", "timer", "stats", "show", "help", "quit", "exit", "dump", "changes", "echo", "print", "bail", "eqp")

// sqlite takes commands of its own behind a dot, some of which run programs, and
// functions that write files or load libraries.
func (c *call) sqlite(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use)[min(1, len(c.operandsOf(use))):] {
		for line := range strings.SplitSeq(w.Text, "\n") {
			line = strings.ToLower(strings.TrimSpace(line))
			rest, dot := strings.CutPrefix(line, ".")
			name := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))]
			switch {
			case dot && !sqlitePlain[name]:
				c.trait(Inline, w.Span, true, "a command of the shell of sqlite3", nil)
			case strings.Contains(line, "writefile") || strings.Contains(line, "load_extension") || strings.Contains(line, "edit("):
				c.trait(Inline, w.Span, true, "a function that writes a file or runs something", nil)
			case drops(line):
				c.trait(Discards, w.Span, false, "a statement that deletes", nil)
			}
		}
	}
	return c.stay()
}

// drops reports whether a line of SQL, in lower case, has a word that deletes.
func drops(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(words, "drop") || slices.Contains(words, "delete")
}
