package policy

import (
	stdpath "path"
	"strings"

	"github.com/sayso-dev/sayso"
)

// scope is the project that a part of a file speaks of. A nil scope is
// everywhere.
type scope struct {
	folder string // as written, from the root or from home
	home   string
}

// holds reports whether the call belongs to the project: the workspace lies in
// its folder. All but an allow also look at the directory that the call would
// run in.
func (sc *scope) holds(s *subject, e sayso.Effect) bool {
	if sc == nil {
		return true
	}
	led, known := s.led(sc.folder)
	for _, folder := range [...]string{led, stdpath.Clean(atHomeOf(sc.folder, sc.home))} {
		if sayso.Beneath(folder, s.facts.Workspace) || e != sayso.Allow && sayso.Beneath(folder, s.facts.Cwd) {
			return true
		}
	}
	if !known && s.gaps != nil {
		s.gaps.folder(atHomeOf(sc.folder, s.home))
	}
	return false
}

// atHomeOf is a folder as a file writes it, with the person's for a tilde.
func atHomeOf(folder, home string) string {
	if rest, ok := strings.CutPrefix(folder, "~"); ok {
		return home + rest
	}
	return folder
}

// root is where a folder that the policy names leads on the machine of the
// call; empty if that is not known.
func (s *subject) root(name string) string {
	at, known := s.led(name)
	if !known {
		s.noteGap()
	}
	return at
}

// led is where a folder leads, as the facts say; known is false if they do not.
func (s *subject) led(name string) (at string, known bool) {
	name = atHomeOf(name, s.home)
	for _, r := range s.facts.Roots {
		if r.Root == name {
			return r.Resolved, true
		}
	}
	return "", false
}
