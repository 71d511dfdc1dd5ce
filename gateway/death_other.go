//go:build !linux

package gateway

import "syscall"

// apart puts a server into a process group of its own. When we die its standard
// input ends, which tells it to end.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
