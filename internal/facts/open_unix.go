//go:build unix

package facts

import (
	"os"
	"syscall"
)

// readOnly neither follows a link at the end nor waits for a writer.
const readOnly = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
