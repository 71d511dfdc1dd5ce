package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// fileSystem names the file system that a folder is on, and refuses one in
// memory: nothing there is durable.
func fileSystem(dir string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", err
	}
	device := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		_, after, ok := strings.Cut(line, " - ")
		if !ok || len(words) < 3 || words[2] != device {
			continue
		}
		name, _, _ := strings.Cut(after, " ")
		if name == "tmpfs" || name == "ramfs" {
			return "", fmt.Errorf("%s is in memory (%s); name a folder on a disk with -dir", dir, name)
		}
		return name, nil
	}
	return "unknown", nil
}
