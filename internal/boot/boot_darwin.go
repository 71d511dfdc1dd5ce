package boot

import (
	"time"

	"golang.org/x/sys/unix"
)

func readBootID() (string, error) {
	return unix.Sysctl("kern.bootsessionuuid")
}

// sinceBoot reads CLOCK_MONOTONIC, which on macOS, other than on Linux, goes on
// during sleep.
func sinceBoot() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}
