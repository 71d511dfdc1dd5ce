package agentproc

import (
	"bytes"
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// look asks the kernel about a process.
func look(pid int) (Process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return Process{}, false
	}
	p := Process{PID: pid, Parent: int(k.Eproc.Ppid), Comm: unix.ByteSliceToString(k.Proc.P_comm[:])}
	if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil { // the name alone will do without it
		p.Args = arguments(raw)
	}
	return p, true
}

// arguments takes kern.procargs2 apart: a count, the path of the program, zero
// bytes to fill up, then the arguments, each ended by a zero.
func arguments(raw []byte) []string {
	if len(raw) < 4 {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(raw))
	_, rest, ok := bytes.Cut(raw[4:], []byte{0})
	if !ok {
		return nil
	}
	parts := strings.Split(string(bytes.TrimLeft(rest, "\x00")), "\x00")
	return parts[:min(max(n, 0), len(parts))]
}
