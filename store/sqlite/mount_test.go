//go:build linux

package sqlite

import "testing"

func TestTypeOfDevice(t *testing.T) {
	const mounts = `22 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw
36 28 0:31 / /home/ada/far rw,nosuid,relatime shared:17 - fuse.sshfs ada@far:/ rw,user_id=1000
37 28 0:32 /sub /mnt/with\040space rw - fuseblk /dev/sdb1 rw
38 28 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
`
	for device, want := range map[string]string{
		"0:31": "fuse.sshfs", "0:32": "fuseblk", "259:2": "ext4", "9:9": "fuse", "0:3": "fuse",
	} {
		if got := typeOfDevice(mounts, device); got != want {
			t.Errorf("device %s is on %q, want %q", device, got, want)
		}
	}
}

func TestNetworkFileSystems(t *testing.T) {
	for magic, name := range map[int64]string{0x6969: "nfs", 0xFF534D42: "cifs", 0x01021997: "9p"} {
		if networkFileSystems[magic] != name {
			t.Errorf("%#x is %q, want %q", magic, networkFileSystems[magic], name)
		}
	}
	for _, magic := range []int64{0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630} { // ext4, xfs, btrfs, tmpfs, overlay
		if name, bad := networkFileSystems[magic]; bad {
			t.Errorf("%#x is refused as %s", magic, name)
		}
	}
}
