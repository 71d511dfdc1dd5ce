package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// The roles that this program plays when it is started again.
const (
	roleVariable = "SAYSO_BENCH_ROLE"

	roleEcho      = "echo"
	roleServer    = "server"
	roleAgents    = "agents"
	rolePerson    = "person"
	roleFollowers = "followers"
	roleRelay     = "relay"
	roleTools     = "tools"
	roleSketch    = "sketch"
	roleBare      = "bare"
)

// roles are what a process does until its input ends.
var roles = map[string]func(*child) error{
	roleEcho: echo, roleServer: serve, roleAgents: ask, rolePerson: answer, roleFollowers: follow,
	roleRelay: relay, roleTools: tools, roleSketch: sketchServe, roleBare: sketchRelay,
}

// process is this program in a role, seen from outside. Both ends speak lines
// of JSON.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

// start starts a role with its task. It ends when its input does, also if this
// process is killed.
func (w *world) start(role string, task any) (*process, error) {
	cmd := exec.Command(w.exe)
	cmd.Env = append(os.Environ(), w.environ(role)...)
	return launch(cmd, task)
}

// environ is what the environment of this program has for a role.
func (w *world) environ(role string) []string {
	env := []string{roleVariable + "=" + role}
	if w.profile != "" {
		name := fmt.Sprintf("%s-%d.prof", role, time.Now().UnixMilli())
		env = append(env, profileVariable+"="+filepath.Join(w.profile, name))
	}
	return env
}

// launch starts a program that reads its task as a role does.
func launch(cmd *exec.Cmd, task any) (*process, error) {
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, lines: scanner(stdout)}
	if err := p.write(task); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func scanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	return s
}

func (p *process) write(v any) error { return writeLine(p.stdin, v) }

// read reads the next line that the process wrote.
func (p *process) read(into any) error {
	if !p.lines.Scan() {
		return errors.Join(fmt.Errorf("%s ended before its answer", p.cmd.Env[len(p.cmd.Env)-1]), p.lines.Err())
	}
	return jcs.Unmarshal(p.lines.Bytes(), into)
}

// stop closes the input of the process and waits for its end.
func (p *process) stop() error {
	_ = p.stdin.Close() // it may have ended
	return p.cmd.Wait()
}

func writeLine(w io.Writer, v any) error {
	text, err := jcs.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// profileVariable names the file for a CPU profile of a role. Beside it lies
// what was in memory each time the role was asked.
const profileVariable = "SAYSO_BENCH_PROFILE"

// profileMemory writes what is in memory now, the nth time, if profiles are
// wanted.
func profileMemory(n int) error {
	path := os.Getenv(profileVariable)
	if path == "" {
		return nil
	}
	f, err := os.Create(fmt.Sprintf("%s.%d.heap", path, n))
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

// child is the same from inside.
type child struct{ lines *bufio.Scanner }

func (c *child) read(into any) error {
	if !c.lines.Scan() {
		return errors.Join(io.ErrUnexpectedEOF, c.lines.Err())
	}
	return jcs.Unmarshal(c.lines.Bytes(), into)
}

func (c *child) write(v any) error { return writeLine(os.Stdout, v) }

// begin reads the task. The context ends with the input, whose further lines
// are given to told, which may be nil.
func (c *child) begin(task any, told func()) (context.Context, error) {
	if err := c.read(task); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with the input
		defer cancel()
		for c.lines.Scan() {
			if told != nil {
				told()
			}
		}
	}()
	return ctx, nil
}

// play runs a role in this process.
func play(role string) error {
	do, ok := roles[role]
	if !ok {
		return fmt.Errorf("%s is no role", role)
	}
	if path := os.Getenv(profileVariable); path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	err := do(&child{scanner(os.Stdin)})
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

// listen opens a port of loopback.
func listen(ctx context.Context) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
}
