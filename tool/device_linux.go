package tool

import (
	"os"

	"golang.org/x/sys/unix"
)

// device says which mounted file system something lies on.
type device struct {
	major, minor uint32
	mount        uint64 // the mount, so that a folder mounted a second time is another; 0 if the kernel does not tell
	magic        int64
}

// synthetics are file systems whose files are no files: reading one may act,
// and what it says is about whoever reads it.
var synthetics = map[int64]string{
	unix.PROC_SUPER_MAGIC: "/proc", unix.SYSFS_MAGIC: "/sys", unix.DEBUGFS_MAGIC: "debugfs", unix.TRACEFS_MAGIC: "tracefs",
	unix.CGROUP_SUPER_MAGIC: "cgroup", unix.CGROUP2_SUPER_MAGIC: "cgroup", unix.SECURITYFS_MAGIC: "securityfs",
	unix.DEVPTS_SUPER_MAGIC: "devpts", unix.BPF_FS_MAGIC: "bpf", unix.EFIVARFS_MAGIC: "efivarfs", unix.SELINUX_MAGIC: "selinuxfs",
}

func (d device) synthetic() string { return synthetics[d.magic] }

// deviceOf says where an open folder lies.
func deviceOf(dir *os.Root) (device, error) {
	f, err := dir.Open(".")
	if err != nil {
		return device{}, err
	}
	defer f.Close() // only looked at
	return deviceOfFile(f)
}

// deviceOfFile says where an open file lies.
func deviceOfFile(f *os.File) (d device, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return d, err
	}
	var told error
	err = raw.Control(func(fd uintptr) {
		var st unix.Statx_t
		if told = unix.Statx(int(fd), "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &st); told != nil {
			return
		}
		d.major, d.minor = st.Dev_major, st.Dev_minor
		if st.Mask&unix.STATX_MNT_ID != 0 {
			d.mount = st.Mnt_id
		}
		var fs unix.Statfs_t
		if told = unix.Fstatfs(int(fd), &fs); told == nil {
			d.magic = int64(fs.Type)
		}
	})
	if err == nil {
		err = told
	}
	return d, err
}
