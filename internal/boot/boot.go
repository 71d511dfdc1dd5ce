// Package boot tells what wall clocks cannot: which boot of the machine this
// is, and how long ago it began.
//
// A wall clock can be set, by hand or by the network, so nothing that must
// expire may lean on it alone. Within one boot, the time since boot only grows,
// at the same rate for all processes; across boots the ids differ. Leases and
// deadlines are therefore stored with both.
//
// Linux and macOS are served. Elsewhere every call fails.
package boot

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Now returns the id of the running boot and the time since it began, with the
// time that the machine slept included. Two moments with the same id may be
// subtracted from each other; two with different ids may not. An error leaves
// id and since empty, and means that the moment is unknown, never that it is
// early.
//
// The id belongs to the machine's kernel, so containers share it with their
// host. A Linux time namespace with an offset shifts the time since boot though,
// so the processes that share a store should share that namespace.
func Now() (id string, since time.Duration, err error) {
	id, err = bootID()
	if err != nil {
		return "", 0, err
	}
	since, err = sinceBoot()
	if err != nil {
		return "", 0, fmt.Errorf("boot: read the time since boot: %w", err)
	}
	return id, since, nil
}

// bootID asks the system once per process: the answer cannot change.
var bootID = sync.OnceValues(func() (string, error) {
	text, err := readBootID()
	if err != nil {
		return "", fmt.Errorf("boot: read the boot id: %w", err)
	}
	id := strings.ToLower(strings.TrimSpace(text))
	if id == "" {
		return "", errors.New("boot: the system gives an empty boot id")
	}
	return id, nil
})
