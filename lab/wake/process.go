package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The roles of the processes.
const (
	roleVariable = "SAYSO_WAKE_ROLE"
	roleAsk      = "ask"
	roleAnswer   = "answer"
)

// process is a process that is started again each time it was killed. It is
// told of calls by lines on its input, each a number, and tells of them by
// lines on its output: "heard N NANOSECONDS" or "lost N".
type process struct {
	lab  *lab
	role string

	mu    sync.Mutex // guards what follows
	cmd   *exec.Cmd  // nil while none runs
	stdin io.WriteCloser
	under map[int]bool // calls under way
}

// keep runs the process until it has nothing left to do or ctx ends.
func (p *process) keep(ctx context.Context) error {
	for ctx.Err() == nil {
		killed, err := p.live(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if killed {
			if ctx.Err() == nil {
				p.lab.killed()
			}
			continue
		}
		if p.role == roleAsk {
			return nil
		}
	}
	return nil
}

// live is one life of the process.
func (p *process) live(ctx context.Context) (killed bool, err error) {
	cmd := exec.CommandContext(ctx, p.lab.exe, p.lab.database())
	cmd.Env = append(os.Environ(), roleVariable+"="+p.role)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return false, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	p.born(cmd, stdin)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && err == nil {
		err = p.hear(lines.Text())
	}
	p.mu.Lock()
	p.cmd = nil
	p.mu.Unlock()
	status := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(status, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true, err
	}
	return false, errors.Join(err, status)
}

// born gives an asker the calls that it had under way when it died, and new
// ones.
func (p *process) born(cmd *exec.Cmd, stdin io.WriteCloser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.stdin = cmd, stdin
	if p.role != roleAsk {
		return
	}
	for n := range p.under {
		p.tell(n)
	}
	for len(p.under) < p.lab.lanes && p.oneMore() {
	}
	p.enough()
}

// oneMore gives the process another call, if there is one.
func (p *process) oneMore() bool {
	n, ok := p.lab.more()
	if ok {
		p.under[n] = true
		p.tell(n)
	}
	return ok
}

// tell writes a number. A process that is dead does not read it, and is told
// again in its next life.
func (p *process) tell(n int) { _, _ = io.WriteString(p.stdin, strconv.Itoa(n)+"\n") }

// enough lets an asker end that has nothing under way.
func (p *process) enough() {
	if len(p.under) == 0 {
		_ = p.stdin.Close() // it may be dead
	}
}

// hear takes one line of the process.
func (p *process) hear(line string) error {
	words := strings.Fields(line)
	if len(words) < 2 {
		return fmt.Errorf("a process wrote %q", line)
	}
	n, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	if words[0] == "lost" {
		p.lab.lost()
		return nil
	}
	ns, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.under[n] {
		return fmt.Errorf("call %d was heard of twice", n)
	}
	delete(p.under, n)
	p.lab.heard(time.Duration(ns))
	p.oneMore()
	p.enough()
	return nil
}

// die kills the process that runs now, if one does.
func (p *process) die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Kill() // it may have ended
	}
}
