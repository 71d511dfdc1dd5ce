//go:build unix && !linux

package down_test

import "testing"

func smallDisk(t *testing.T, _ string) {
	t.Helper()
	t.Skip("a small disk cannot be mounted here; run this on Linux as root")
}

func remount(t *testing.T, _ string) func() {
	t.Helper()
	t.Skip("a folder cannot be made read-only for the administrator here; run this on Linux")
	return nil
}
