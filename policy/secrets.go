package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// printPrograms are programs whose words are no files: they print them.
var printPrograms = set("echo", "printf")

// secrets reports whether a command names a file known to hold keys, passwords
// or tokens: by a word, by what a redirection gives it, or by where either leads; or
// reads a folder in which one lies.
func (s *subject) secrets(at int) bool {
	l := s.line()
	c := &l.Commands[at]
	for i := range l.Redirects {
		if r := &l.Redirects[i]; r.Command == at && r.Kind != shell.Body && s.secretWord(r.Target, r.Dirs) {
			return true
		}
	}
	if printPrograms[c.Base()] {
		return false
	}
	if s.readsSecrets(c) {
		return true
	}
	for i, w := range c.Args {
		if isMessage(c, i) || leavesOut(c, i) {
			continue
		}
		if s.secretWord(w, c.Dirs) {
			return true
		}
	}
	return false
}

// secretStreams reports whether a redirection of a group or a loop names such a
// file.
func (s *subject) secretStreams() bool {
	l := s.line()
	for i := range l.Redirects {
		if r := &l.Redirects[i]; r.Command < 0 && r.Kind != shell.Body && s.secretWord(r.Target, r.Dirs) {
			return true
		}
	}
	return false
}

// isMessage reports whether an argument is the message of a commit or a tag.
func isMessage(c *shell.Command, i int) bool {
	if c.Base() != "git" || i == 0 {
		return false
	}
	before := c.Args[i-1].Text
	return before == "--message" || len(before) > 1 && before[0] == '-' && before[1] != '-' && strings.HasSuffix(before, "m")
}

// leavesOut reports whether an argument says which files a search leaves out.
func leavesOut(c *shell.Command, i int) bool {
	if len(c.Trees) == 0 {
		return false
	}
	text, before := c.Args[i].Text, ""
	if i > 0 {
		before = c.Args[i-1].Text
	}
	switch base := c.Base(); {
	case strings.HasSuffix(base, "grep"):
		return strings.HasPrefix(text, "--exclude=") || strings.HasPrefix(text, "--exclude-dir=") || before == "--exclude" || before == "--exclude-dir"
	case base == "rg":
		return strings.HasPrefix(text, "!") && (before == "-g" || before == "--glob") || strings.HasPrefix(text, "-g!") || strings.HasPrefix(text, "--glob=!")
	}
	return false
}

// secretWord reports whether a word names such a file, or a part of it does that
// a program may take for a name: behind an equals sign, an @, a colon, or the
// letter of an option.
func (s *subject) secretWord(w shell.Word, dirs []shell.Dir) bool {
	if w.Text == "" {
		return false
	}
	aimed := path.Credential
	if w.Dynamic&shell.Glob != 0 {
		aimed = path.CredentialGlob
	}
	if aimed(w.Text) || len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && aimed(w.Text[2:]) {
		return true
	}
	for i := 0; i < len(w.Text); i++ {
		if b := w.Text[i]; (b == '=' || b == '@' || b == ':') && i+1 < len(w.Text) && aimed(w.Text[i+1:]) {
			return true
		}
	}
	if strings.HasPrefix(w.Text, "-") {
		return false
	}
	if s.globFolder(w, dirs, func(folder string) bool { return path.CredentialGlobIn(folder, w.Text) }) {
		return true
	}
	if slices.ContainsFunc(s.globbed(w, dirs), func(o *sayso.PathFact) bool {
		return o.State == sayso.PathUnknown || path.Credential(o.Resolved)
	}) {
		return true
	}
	names, _ := s.wordNames(w, dirs)
	s.look()
	for _, name := range names {
		if o := s.place(name); path.Credential(name) || o != nil && o.Resolved != "" && path.Credential(o.Resolved) {
			return true
		}
	}
	return false
}
