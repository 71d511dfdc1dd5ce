package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush throws away what was typed before it was asked for.
func flush(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // not a terminal: nothing is waiting
}
