package sayso

import "fmt"

// Mode says what happens to asks. No mode turns a deny round.
type Mode string

// The modes.
const (
	ModeInteractive Mode = "interactive" // a person is asked
	ModeApproveAll  Mode = "approve_all" // asks are allowed, until its end
	ModeStrict      Mode = "strict"      // asks are denied
)

// ParseMode accepts the three words.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case ModeInteractive, ModeApproveAll, ModeStrict:
		return m, nil
	}
	return "", fmt.Errorf("%w: mode must be interactive, approve_all or strict", ErrInvalid)
}

// Apply turns what policy says into what happens in this mode. The zero Mode,
// and a word that is no mode, are interactive.
func (m Mode) Apply(v Match) Effect {
	if v.Effect.known() != Ask {
		return v.Effect.known()
	}
	switch {
	case m == ModeStrict && v.Cause == CauseToolOptional && !v.personal():
		return Allow
	case m == ModeStrict:
		return Deny
	case m == ModeApproveAll && !v.personal():
		return Allow
	}
	return Ask
}
