package sqlite

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// networkFileSystems are the file systems on which neither locks nor shared memory can
// be trusted, by the number that statfs tells.
var networkFileSystems = map[int64]string{
	0x6969:     "nfs",
	0x517B:     "smb",
	0xFE534D42: "smb",
	0xFF534D42: "cifs",
	0x564C:     "ncp",
	0x5346414F: "afs",
	0x6B414653: "afs",
	0x73757245: "coda",
	0x00C36400: "ceph",
	0x0BD00BD0: "lustre",
	0x01161970: "gfs2",
	0x7461636F: "ocfs2",
	0x47504653: "gpfs",
	0x01021997: "9p",
}

const fuseMagic = 0x65735546

// localFuse are the file systems in user space that keep their files on this
// machine; of others it is not known.
var localFuse = []string{"fuseblk", "fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.bindfs", "fuse.securefs", "fuse.cryfs"}

// durablePragmas makes a commit wait for the disk.
var durablePragmas = []string{`PRAGMA synchronous = FULL`}

func localFileSystem(folder string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	name, bad := networkFileSystems[int64(st.Type)&0xFFFFFFFF]
	if int64(st.Type)&0xFFFFFFFF == fuseMagic {
		var err error
		if name, err = mountType(folder); err != nil {
			return fmt.Errorf("find out which file system %s is on: %w", folder, err)
		}
		bad = !slices.Contains(localFuse, name)
	}
	if bad {
		return networkedError(folder, name)
	}
	return nil
}

// mountType returns the type of the file system that a folder lies on.
func mountType(folder string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(folder, &st); err != nil {
		return "", err
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	device := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	return typeOfDevice(string(text), device), nil
}

// typeOfDevice finds a device in the text of /proc/self/mountinfo.
func typeOfDevice(mounts, device string) string {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		if f := strings.Fields(before); len(f) > 2 && f[2] == device {
			if t := strings.Fields(after); len(t) > 0 {
				return t[0]
			}
		}
	}
	return "fuse"
}
