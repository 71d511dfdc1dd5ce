package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso/inspect/shell"
	"github.com/sayso-dev/sayso/policy/internal/condition"
)

// Bounds of the globs that are guessed at. Behind them a condition may hold, or
// not.
const (
	maxGuessed   = 32  // globs of a line
	maxGuessGlob = 256 // bytes of one
)

// eachGuess yields the call as conditions would see it if the globs among its
// words stood for the texts of a condition: for each of them, and for all. It
// returns false if there is too much to guess at.
func (s *subject) eachGuess(texts []string, yield func(*condition.Call) bool) bool {
	l, globs := s.line(), 0
	for i := range l.Commands {
		for _, w := range l.Commands[i].Args {
			if !w.Globs() {
				continue
			}
			if globs++; globs > maxGuessed || len(w.Text) > maxGuessGlob {
				return false
			}
		}
	}
	if globs == 0 {
		return true
	}
	var held []string // the texts that some glob may hold
	for _, text := range texts {
		if guess, ok := s.guess(l, []string{text}); ok {
			if held = append(held, text); !yield(guess) {
				return true
			}
		}
	}
	if guess, ok := s.guess(l, held); ok && len(held) > 1 {
		yield(guess)
	}
	return true
}

// guess is the call with words that hold the texts in the place of globs; ok is
// false if no glob may hold any.
func (s *subject) guess(l *shell.Line, texts []string) (guess *condition.Call, ok bool) {
	call := *s.input().Call()
	call.Commands = slices.Clone(call.Commands)
	at := 0
	for i := range l.Commands {
		c := &l.Commands[i]
		args, found := stoodFor(c.Args, texts)
		operands, more := stoodFor(c.Operands(), texts)
		ok = ok || found || more
		for range c.Dirs {
			call.Commands[at].Args, call.Commands[at].Operands = args, operands
			at++
		}
	}
	return &call, ok
}

// stoodFor are the texts of words, where each glob is also what it may stand for.
// Behind -- nothing is an option.
func stoodFor(words []shell.Word, texts []string) (out []string, found bool) {
	ended := false
	for _, w := range words {
		ended = ended || w.Text == "--" && w.Literal()
		out = append(out, w.Text)
		for _, text := range texts {
			if !w.Globs() || ended && strings.HasPrefix(text, "-") {
				continue
			}
			holding := w.Holding(text)
			found = found || len(holding) > 0
			out = append(out, holding...)
		}
	}
	return out, found
}
