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

// Switch says how one of the two switches beside the log was turned. They are
// files, so that they work when all else is broken; the log tells of them and
// they do not depend on it.
type Switch string

// How the switches are turned.
const (
	SwitchOff      Switch = "off"      // calls go to the hosts' own prompts, for a time
	SwitchOn       Switch = "on"       // calls are gated again
	SwitchLocked   Switch = "locked"   // everything asks or denies, and grants are dead
	SwitchReleased Switch = "released" // policy and grants count again
)

// Known reports whether w is one of the ways to turn a switch.
func (w Switch) Known() bool {
	return w == SwitchOff || w == SwitchOn || w == SwitchLocked || w == SwitchReleased
}

// ParseMode accepts the three words.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case ModeInteractive, ModeApproveAll, ModeStrict:
		return m, nil
	}
	return "", fmt.Errorf("%w: mode must be interactive, approve_all or strict", ErrInvalid)
}

// Within returns the mode, or the limit where that lets less through. The zero limit
// is none, and a word that is no mode is strict.
func (m Mode) Within(limit Mode) Mode {
	switch {
	case limit == "" || limit == ModeApproveAll || limit == ModeInteractive && m != ModeApproveAll:
		return m
	case limit == ModeInteractive:
		return limit
	}
	return ModeStrict
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
