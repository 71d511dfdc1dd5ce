package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/boot"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// MaxOff is the longest time for which the gate can be switched off at once.
const MaxOff = 24 * time.Hour

// Off says that calls go back to the hosts' own prompts.
type Off struct {
	By    string        // who switched the gate off
	Since time.Time     //
	Until time.Time     // by the wall clock, for people
	Left  time.Duration // by the boot clock if it is the same boot
}

// offFile is what stands in the file. Boot and SinceNS keep a wall clock that
// was set back from lengthening the pause.
type offFile struct {
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"`
	Boot    string    `json:"boot"`
	SinceNS int64     `json:"since_ns"`
	ForNS   int64     `json:"for_ns"`
}

// CheckOff returns an error if the gate cannot be switched off for d.
func CheckOff(d time.Duration) error {
	if d <= 0 || d > MaxOff {
		return fmt.Errorf("%w: off takes a time above zero and up to %.0fh, as in --for 1h", sayso.ErrInvalid, MaxOff.Hours())
	}
	return nil
}

// SwitchOff hands calls back to the hosts for d, at most [MaxOff].
func (p Paths) SwitchOff(by string, d time.Duration, now time.Time) error {
	if err := CheckOff(d); err != nil {
		return err
	}
	id, since, err := boot.Now()
	if err != nil {
		return err
	}
	text, err := jcs.Marshal(offFile{by, now.UTC(), now.Add(d).UTC(), id, int64(since), int64(d)})
	if err != nil {
		return err
	}
	if err := p.Make(); err != nil {
		return err
	}
	return Write(p.OffFile(), append(text, '\n'))
}

// SwitchOn ends an off at once. It is no error if the gate is on.
func (p Paths) SwitchOn() error {
	if err := os.Remove(p.OffFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Driven is the variable by which a command that drives a host tells its hook so. The
// gate has taken the place of the host's prompt there, so that a call cannot be handed
// back to it: that the gate is off does not reach such a hook.
const Driven = "SAYSO_DRIVEN"

// IsOff reports whether the gate is off at now. Whatever is doubtful about the
// file, the gate is on: a file of another boot, of another owner, that does
// not parse, or from a time that has not come. The error says what is wrong
// with the file, for status and doctor; off is false then.
func (p Paths) IsOff(now time.Time) (o Off, off bool, err error) {
	text, err := Read(p.OffFile())
	if errors.Is(err, fs.ErrNotExist) {
		return Off{}, false, nil
	}
	if err != nil {
		return Off{}, false, err
	}
	var f offFile
	if err := jcs.Unmarshal(text, &f); err != nil {
		return Off{}, false, fmt.Errorf("%s: %w", p.OffFile(), err)
	}
	id, since, err := boot.Now()
	if err != nil {
		return Off{}, false, err
	}
	left := time.Duration(f.ForNS) - (since - time.Duration(f.SinceNS))
	if id != f.Boot || f.ForNS <= 0 || time.Duration(f.ForNS) > MaxOff || int64(since) < f.SinceNS || left <= 0 || now.After(f.Until) {
		return Off{}, false, nil
	}
	return Off{f.By, f.At, f.Until, left}, true, nil
}

// Lock makes everything ask or deny, and every grant dead, until Unlock.
func (p Paths) Lock(by string, now time.Time) error {
	if err := p.Make(); err != nil {
		return err
	}
	return Write(p.LockFile(), fmt.Appendf(nil, "%s %s\n", now.UTC().Format(time.RFC3339), by))
}

// Unlock ends a lock. It is no error if there is none.
func (p Paths) Unlock() error {
	if err := os.Remove(p.LockFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Locked reports whether there is a lock. Anything at all in its place locks,
// and so does not being able to tell.
func (p Paths) Locked() bool {
	_, err := os.Lstat(p.LockFile())
	return !errors.Is(err, fs.ErrNotExist)
}
