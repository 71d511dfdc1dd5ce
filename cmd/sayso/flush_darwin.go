package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush throws away what was typed before it was asked for.
func flush(f *os.File) {
	const read = 1                                                 // FREAD
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read) // not a terminal: nothing is waiting
}
