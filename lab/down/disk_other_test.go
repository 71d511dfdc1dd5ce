//go:build unix && !linux

package down_test

import "testing"

func smallDisk(t *testing.T, _ string) {
	t.Helper()
	t.Skip("a small disk is mounted on Linux alone; there, type: sudo -E go test ./lab/down")
}

func remount(t *testing.T, _ string) func() {
	t.Helper()
	t.Skip("a folder is made read-only for the administrator on Linux alone; there, type: sudo -E go test ./lab/down")
	return nil
}
