package gateway_test

import "runtime"

// diesWithUs says that the system ends a server whose gateway was killed.
const diesWithUs = runtime.GOOS == "linux"
