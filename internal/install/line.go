package install

import "strings"

// line is the hook of a host as a line for a shell.
func (h Hook) line(host string) string {
	words := append([]string{h.Program, host}, h.Place...)
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// hookFailed is said for a hook that did not say anything itself: one that is
// missing, was killed or crashed. Hosts run a call whose hook fails in some of
// these ways.
const hookFailed = "sayso: the hook failed, so this call does not run; type: sayso doctor"

// The last word of a hook, for hosts that heed the exit status and the words on
// standard error, for those that read JSON alone, and for those that heed the
// status and take the words from JSON. A hook that denies ends with status 2, and
// has said why.
const (
	lastStatus = `{ [ $? -eq 2 ] || echo '` + hookFailed + `' >&2; exit 2; }`
	lastJSON   = `echo '%s'`
	lastBoth   = `{ [ $? -eq 2 ] || { echo '%s'; echo '` + hookFailed + `' >&2; }; exit 2; }`
)

// guarded is the line of a hook that decides, with a last word.
func (h Hook) guarded(host, last string) string { return h.line(host) + " || " + last }

// watched is the same for a host that starts hooks through whatever shell the
// person has, which may read the last word otherwise than it is meant.
func (h Hook) watched(host string) string {
	return strings.Join([]string{watcher, "-c", quoted(watch), "sayso", h.line(host)}, " ")
}

const (
	watcher = "/bin/sh"
	watch   = `"$@" || { [ $? -eq 2 ] || echo "` + hookFailed + `" >&2; exit 2; }`
)

// unwatched is what a line starts, without the shell that watches it, whatever
// that shell is told by now.
func unwatched(words []string) []string {
	if len(words) > 4 && words[0] == watcher && words[1] == "-c" && words[3] == "sayso" {
		return words[4:]
	}
	return words
}

// quoted is a word as a shell reads it.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:,@%", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// unquoted takes a line apart that quoted made, or that a person wrote as
// simply.
func unquoted(line string) []string {
	var words []string
	var word strings.Builder
	started, inside := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			inside, started = !inside, true
		case inside:
			word.WriteByte(c)
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			started = true
		case c == ' ' || c == '\t':
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteByte(c)
			started = true
		}
	}
	if started {
		words = append(words, word.String())
	}
	return words
}
