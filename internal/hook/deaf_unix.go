//go:build unix

package hook

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// deaf reports whether nobody is left to read what is written to out. A host that
// starts its hooks through a shell may be gone while the shell, our parent, is
// not.
func deaf(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
