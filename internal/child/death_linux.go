package child

import "syscall"

// apart puts a program into a process group of its own, and has the system end it
// when we die, whatever of.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
