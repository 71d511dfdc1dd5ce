package client

import "golang.org/x/sys/unix"

// peerUID is the user who listens at the other end of a Unix socket.
func peerUID(fd int) (int, error) {
	who, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(who.Uid), nil
}
