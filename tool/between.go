package tool

import (
	"os"
)

// between calls do with the descriptors of two open folders. The package os can
// rename within one folder and what is beneath it alone.
func between(from, to *os.Root, do func(from, to int) error) error {
	a, err := from.Open(".")
	if err != nil {
		return err
	}
	defer a.Close() // only named
	b, err := to.Open(".")
	if err != nil {
		return err
	}
	defer b.Close() // only named
	rawA, err := a.SyscallConn()
	if err != nil {
		return err
	}
	rawB, err := b.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	err = rawA.Control(func(fdA uintptr) {
		if inner := rawB.Control(func(fdB uintptr) { done = do(int(fdA), int(fdB)) }); inner != nil {
			done = inner
		}
	})
	if err != nil {
		return err
	}
	return done
}
