package wire

import (
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// History is what GET /v1/history selects by, beside what every list does.
type History struct {
	Query
	By     string
	Source sayso.Source
	Cause  sayso.Cause
	Text   string
	Longer time.Duration
	Like   string
}

// maxText is the longest text that is searched for, in bytes.
const maxText = 1000

// History takes all parameters of a [History].
func (p *Params) History() History {
	h := History{
		By: p.One("by"), Source: sayso.Source(p.One("source")), Cause: sayso.Cause(p.One("cause")), Text: p.One("text"), Like: p.One("like"),
	}
	if longer := p.One("longer"); longer != "" {
		d, err := ParseFor(longer)
		if err != nil {
			p.fail("longer", "a duration such as 30s or 5m")
		}
		h.Longer = d
	}
	h.Query = p.Query()
	return h
}

// Seeks reports whether the requests themselves must be looked at.
func (h *History) Seeks() bool {
	return h.By != "" || h.Source != "" || h.Cause != "" || h.Text != "" || h.Longer != 0 || h.Like != ""
}

// Check refuses what cannot be sought.
func (h *History) Check() error {
	switch {
	case len(h.Text) > maxText:
		return fmt.Errorf("%w: text may have %d bytes", sayso.ErrInvalid, maxText)
	case h.Seeks() && h.Oldest:
		return fmt.Errorf("%w: oldest does not go with by, source, cause, text, longer and like", sayso.ErrInvalid)
	}
	switch h.Source {
	case "", sayso.SourcePolicy, sayso.SourcePerson, sayso.SourceGrant, sayso.SourceMode, sayso.SourceDeadline:
		return nil
	}
	return fmt.Errorf("%w: source must be policy, person, grant, mode or deadline", sayso.ErrInvalid)
}
