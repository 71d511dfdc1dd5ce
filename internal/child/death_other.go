//go:build !linux

package child

import "syscall"

// apart puts a program into a process group of its own. When we die its standard
// input ends, which tells it to end.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
