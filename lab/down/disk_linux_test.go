package down_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk puts a file system of 512 KB at dir until the test ends.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=512k,mode=0700"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v; type: sudo -E go test ./lab/down", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// remount makes dir a place that nobody can write to, and returns what ends it.
func remount(t *testing.T, dir string) func() {
	t.Helper()
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("a folder cannot be made read-only for the administrator here: %v; type: sudo -E go test ./lab/down", err)
	}
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}
}
