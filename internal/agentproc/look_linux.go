package agentproc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// look reads a process from /proc.
func look(pid int) (Process, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return Process{}, false
	}
	// The name stands in parentheses and may hold any byte, parentheses too.
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return Process{}, false
	}
	fields := strings.Fields(string(stat[to+1:]))
	if len(fields) < 2 {
		return Process{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return Process{}, false
	}
	p := Process{PID: pid, Parent: parent, Comm: string(stat[from+1 : to])}
	if line, err := os.ReadFile(dir + "/cmdline"); err == nil && len(line) > 0 { // the name alone will do without it
		p.Args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	}
	return p, true
}
