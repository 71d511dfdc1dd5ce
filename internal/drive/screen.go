package drive

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/lines"
)

// maxLine is the longest line of a host that is read.
const maxLine = 64 << 20

// maxNoise is how many lines that are no messages are told of.
const maxNoise = 8

// Screen is what the person sees of a host that is driven. Nil functions show
// nothing.
type Screen struct {
	// Say shows what the model says.
	Say func(text string)
	// Note tells what a person should know, in a line.
	Note func(text string)
	// Line is a call in a few words, without what must not be shown.
	Line func(sayso.Call) string
	// Raw is given every line of the host as it is.
	Raw func(line []byte)
	// Turn is called when the person may speak.
	Turn func()

	noises int
}

func (s *Screen) note(text string) {
	if s.Note != nil {
		s.Note(text)
	}
}

func (s *Screen) says(texts []string) {
	for _, text := range texts {
		if s.Say != nil {
			s.Say(text)
		}
	}
}

func (s *Screen) raw(line []byte) {
	if s.Raw != nil {
		s.Raw(line)
	}
}

func (s *Screen) turn() {
	if s.Turn != nil {
		s.Turn()
	}
}

// noise leaves out a line that is no message, as one that was printed by mistake.
func (s *Screen) noise(line []byte) {
	if s.noises++; s.noises <= maxNoise {
		s.note(fmt.Sprintf("a line of %d bytes is left out: it is no message", len(line)))
	}
}

// answered tells what came of it: of a call that a person changed, what runs.
func (s *Screen) answered(c sayso.Call, d sayso.Decision, err error) {
	switch {
	case s.Line == nil:
	case err == nil && d.Allowed() && len(d.Args) > 0:
		c.Args = d.Args
		s.note("✓ " + s.Line(c) + " (with changes)")
	case err == nil && d.Allowed():
		s.note("✓ " + s.Line(c))
	default:
		s.note("✗ " + s.Line(c) + ": " + sayso.Told(d, err))
	}
}

// eachLine reads the lines of a host. An error of do ends it.
func eachLine(from io.Reader, do func([]byte) error) error {
	in := lines.NewReader(from, maxLine)
	for {
		line, whole, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !whole:
			return fmt.Errorf("a line of the host is longer than %d bytes", maxLine)
		}
		if err := do(bytes.Clone(line)); err != nil {
			return err
		}
	}
}
