package client

import (
	"fmt"
	"net"
	"os"

	"github.com/sayso-dev/sayso"
)

// strangerError says that somebody else's program listens on a socket, or that
// it could not be found out whose does.
type strangerError struct {
	socket string
	why    string
}

func (e *strangerError) Error() string {
	return fmt.Sprintf("%v: %s, so no token was sent there; look whose %s is", sayso.ErrUnavailable, e.why, e.socket)
}

func (e *strangerError) Unwrap() error { return sayso.ErrUnavailable }

// checkPeer refuses a connection over a Unix socket to a program of another
// user, before anything is said. The administrator can read our tokens anyway.
func checkPeer(c net.Conn, socket string) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return &strangerError{socket, "what answers is no Unix socket"}
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return &strangerError{socket, "it cannot be found out who listens"}
	}
	uid, failed := os.Getuid(), error(nil)
	if err := raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) }); err != nil || failed != nil {
		return &strangerError{socket, "it cannot be found out who listens"}
	}
	if uid != 0 && uid != os.Getuid() {
		return &strangerError{socket, fmt.Sprintf("user %d listens, not you", uid)}
	}
	return nil
}
