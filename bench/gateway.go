package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/garbage"
	"github.com/sayso-dev/sayso/internal/home"
)

// Where a gateway has its home and under which name its server is known, and the
// file in which the server says that it ran something.
const (
	gatewayHome = "SAYSO_BENCH_HOME"
	gatewayName = "SAYSO_BENCH_NAME"
	toolsRan    = "SAYSO_BENCH_RAN"
)

// relay is a gateway as sayso mcp runs it, before a server that is this program in
// another role.
func relay(c *child) error {
	ctx := context.Background()
	garbage.Tune(ctx)
	paths, err := homeIn(os.Getenv(gatewayHome))
	if err != nil {
		return err
	}
	b, closing, err := engine(ctx, paths)
	if err != nil {
		return err
	}
	if err := errors.Join(os.Setenv(roleVariable, roleTools), os.Unsetenv(profileVariable)); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	identity, err := gateway.Identity([]string{exe})
	if err != nil {
		return err
	}
	who := sayso.Actor{Principal: sayso.HostMCP, Kind: sayso.PrincipalAgent, Channel: "mcp", Owner: "ada"}
	_, err = gateway.Server{Args: []string{exe}, Stderr: os.Stderr}.Serve(ctx, gateway.Options{
		Gate: b.Gate(who), Pins: b, Actor: who, Name: os.Getenv(gatewayName), Identity: identity, Session: "mcp-" + strconv.Itoa(os.Getpid()),
		Cwd: paths.State, Facts: facts.Options{Workspace: paths.State, Home: home.PersonFolder()}, Impatience: time.Hour,
	}, os.Stdin, os.Stdout)
	return errors.Join(err, closing())
}

// tools is an MCP server with two tools that do nothing.
func tools(c *child) error {
	ran := io.Discard
	if name := os.Getenv(toolsRan); name != "" {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close() // each line is written at once
		ran = f
	}
	for c.lines.Scan() {
		line := c.lines.Bytes()
		_, id, _ := bytes.Cut(line, []byte(`"id":`))
		id, _, _ = bytes.Cut(id, []byte(`,`))
		result := `{"content":[{"type":"text","text":"done"}]}`
		if bytes.Contains(line, []byte(`"tools/list"`)) {
			result = `{"tools":[{"name":"apply","inputSchema":{"type":"object"}},{"name":"read5","inputSchema":{"type":"object"}}]}`
		} else if _, err := fmt.Fprintln(ran, "ran"); err != nil {
			return err
		}
		if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result); err != nil {
			return err
		}
	}
	return c.lines.Err()
}

// mcpEnd is the client's end of a server, with the gate before it or without.
type mcpEnd struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// mcp starts a role that speaks MCP, and lists its tools.
func (w *world) mcp(role, dir, name string) (*mcpEnd, error) {
	e := &mcpEnd{cmd: exec.Command(w.exe)}
	e.cmd.Env = append(append(os.Environ(), w.environ(role)...), gatewayHome+"="+dir, gatewayName+"="+name, toolsRan+"="+filepath.Join(dir, "ran"))
	if role == roleTools {
		e.cmd.Env = append(e.cmd.Env, toolsRan+"=")
	}
	e.cmd.Stderr = os.Stderr
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	e.out = bufio.NewReaderSize(out, 1<<20)
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = e.trip(`{"jsonrpc":"2.0","id":0,"method":"tools/list"}`)
	return e, err
}

func (e *mcpEnd) send(line string) error {
	_, err := io.WriteString(e.in, line+"\n")
	return err
}

func (e *mcpEnd) trip(line string) (string, error) {
	if err := e.send(line); err != nil {
		return "", err
	}
	return e.out.ReadString('\n')
}

// stop ends the server by the end of its input.
func (e *mcpEnd) stop() error {
	_ = e.in.Close() // it may have ended
	return e.cmd.Wait()
}

// mcpCall is a call of a tool, unlike every other.
func mcpCall(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"environment":"staging","release":"2026.11.%d","replicas":3}}}`, id, tool, id)
}

// gated measures what the gateway adds to a call that the policy allows, record
// included, what calls that wait cost, how soon they are released, and that none of them runs
// when the gateway is killed.
func gated(ctx context.Context, w *world, dir string) ([]figure, error) {
	added, err := w.added(ctx, filepath.Join(dir, "allowed"))
	if err != nil {
		return nil, err
	}
	held, err := w.held(ctx, filepath.Join(dir, "held"), w.few(1000, 20))
	if err != nil {
		return nil, err
	}
	cancelled, err := w.cancelled(ctx, filepath.Join(dir, "cancelled"), w.few(1000, 20))
	if err != nil {
		return nil, err
	}
	killed, err := w.killed(ctx, filepath.Join(dir, "killed"), w.few(500, 20))
	if err != nil {
		return nil, err
	}
	return slices.Concat(added, held, cancelled, []figure{killed}), nil
}

// added compares a server with and without the gate, call by call in turns, so
// that what else the machine does is in both.
func (w *world) added(ctx context.Context, dir string) (_ []figure, err error) {
	direct, err := w.mcp(roleTools, dir, "docs")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, direct.stop()) }()
	through, err := w.mcp(roleRelay, dir, "docs")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, through.stop()) }()
	bare, err := w.mcp(roleBare, dir, "docs")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	without, with, recorded := durations{}, durations{}, durations{}
	before := processorOf(through.cmd.Process.Pid)
	for i := range w.few(3000, 20) {
		for _, side := range []struct {
			end  *mcpEnd
			took *durations
		}{{direct, &without}, {through, &with}, {bare, &recorded}} {
			from := time.Now()
			line, err := side.end.trip(mcpCall(i+1, "read5"))
			if err != nil || !strings.Contains(line, `"done"`) {
				return nil, fmt.Errorf("a call that is allowed: %s: %w", line, err)
			}
			*side.took = append(*side.took, time.Since(from))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	each := (processorOf(through.cmd.Process.Pid) - before).Seconds() / float64(len(with))
	return []figure{{
		name: "MCP gateway, added to an allowed call, p50", value: with.at(0.5) - without.at(0.5), unit: seconds,
		must: w.limits.sync + 0.0001, aim: w.limits.sync + 0.00005,
		beside: fmt.Sprintf("p99 %s; without it p50 %s, p99 %s; CPU of the gateway %s a call", seconds.text(with.at(0.99)-without.at(0.99)), seconds.text(without.at(0.5)), seconds.text(without.at(0.99)), seconds.text(each)),
	}, {
		name: sketched, value: recorded.at(0.5) - without.at(0.5), unit: seconds,
		beside: "p99 " + seconds.text(recorded.at(0.99)-without.at(0.99)),
	}}, nil
}

// hold has n calls wait in a gateway.
func (w *world) hold(ctx context.Context, dir string, n int) (e *mcpEnd, b *broker.Broker, before int64, closing func() error, err error) {
	if e, err = w.mcp(roleRelay, dir, "deploy"); err != nil {
		return nil, nil, 0, nil, err
	}
	paths, err := homeIn(dir)
	if err != nil {
		return nil, nil, 0, nil, err
	}
	if b, closing, err = engine(ctx, paths); err != nil {
		return nil, nil, 0, nil, err
	}
	w.settle()
	before = residentOf(e.cmd.Process.Pid)
	for i := range n {
		if err := e.send(mcpCall(i+1, "apply")); err != nil {
			return nil, nil, 0, nil, err
		}
	}
	err = w.wait(ctx, func() bool { return len(openOnes(ctx, b, n)) == n })
	return e, b, before, closing, err
}

var mcpPerson = sayso.Actor{Principal: "ada", Kind: sayso.PrincipalPerson, Channel: "terminal"}

func openOnes(ctx context.Context, b *broker.Broker, n int) []sayso.Request {
	list, _ := b.Inbox(mcpPerson).Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true, Limit: n}) // the count says it
	return list
}

// held measures the memory of calls that wait, and how long until all of them
// have run once a person allows them, from another process.
func (w *world) held(ctx context.Context, dir string, n int) (_ []figure, err error) {
	e, b, before, closing, err := w.hold(ctx, dir, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.stop(), closing()) }()
	w.settle()
	memory := residentOf(e.cmd.Process.Pid) - before
	list := openOnes(ctx, b, n)
	from := time.Now()
	failed := make(chan error, len(list))
	for _, r := range list {
		go func() { // ends with its answer
			_, err := b.Inbox(mcpPerson).Answer(ctx, r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow})
			failed <- err
		}()
	}
	for range list {
		if err := <-failed; err != nil {
			return nil, err
		}
	}
	for range list {
		if line, err := e.out.ReadString('\n'); err != nil || !strings.Contains(line, `"done"`) {
			return nil, fmt.Errorf("a call that was allowed: %s: %w", line, err)
		}
	}
	return []figure{{
		name: fmt.Sprintf("%d calls held in it, memory", n), value: max(float64(memory), 1), unit: bytesUsed, must: float64(n * 64 << 10), aim: float64(n * 32 << 10),
		beside: fmt.Sprintf("%d KiB each; %s before", memory/int64(n)>>10, bytesUsed.text(float64(before))),
	}, {
		name: "  all of them released and run", value: time.Since(from).Seconds(), unit: seconds, must: 2, aim: 0.5, beside: "answered from another process",
	}}, nil
}

// cancelled has the client take back calls that wait, and measures how long until none of
// them waits. Then as many wait again, in the memory that was freed.
func (w *world) cancelled(ctx context.Context, dir string, n int) (_ []figure, err error) {
	e, b, before, closing, err := w.hold(ctx, dir, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.stop(), closing()) }()
	takeBack := func(first int) error {
		for id := first; id < first+n; id++ {
			if err := e.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)); err != nil {
				return err
			}
		}
		return w.wait(ctx, func() bool { return len(openOnes(ctx, b, 1)) == 0 })
	}
	w.settle()
	once := residentOf(e.cmd.Process.Pid) - before
	from := time.Now()
	if err := takeBack(1); err != nil {
		return nil, err
	}
	took := time.Since(from)
	for round := 1; round <= 3; round++ {
		for i := range n {
			if err := e.send(mcpCall(round*n+i+1, "apply")); err != nil {
				return nil, err
			}
		}
		if err := w.wait(ctx, func() bool { return len(openOnes(ctx, b, n)) == n }); err != nil {
			return nil, err
		}
		if err := takeBack(round*n + 1); err != nil {
			return nil, err
		}
	}
	w.settle()
	left := residentOf(e.cmd.Process.Pid) - before
	text, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil {
		return nil, err
	}
	return []figure{{
		name: "  all of as many cancelled by their client", value: took.Seconds(), unit: seconds,
		beside: fmt.Sprintf("memory with %d held %s, after four times as many %s", n, bytesUsed.text(float64(once)), bytesUsed.text(float64(left))),
	}, {
		name: "  ran of those", value: float64(bytes.Count(text, []byte("ran"))), unit: times,
	}}, nil
}

// wait waits until something holds.
func (w *world) wait(ctx context.Context, holds func() bool) error {
	for !holds() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// killed kills a gateway with calls that wait, has a person allow them, and
// counts what ran.
func (w *world) killed(ctx context.Context, dir string, n int) (f figure, err error) {
	e, b, _, closing, err := w.hold(ctx, dir, n)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, closing()) }()
	if err := e.cmd.Process.Kill(); err != nil {
		return f, err
	}
	_ = e.cmd.Wait() // it was killed
	for _, r := range openOnes(ctx, b, n) {
		if _, err := b.Inbox(mcpPerson).Answer(ctx, r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
			return f, err
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil {
		return f, err
	}
	return figure{name: fmt.Sprintf("  ran of %d held when it was killed", n), value: float64(bytes.Count(text, []byte("ran"))), unit: times}, nil
}

// residentOf is the memory of another process; zero where the system does not
// say.
func residentOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var total, pages int64
	if _, err := fmt.Sscan(string(text), &total, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// processorOf is the processor time that another process used; zero where the system
// does not say.
func processorOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name of the program stands before it
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if errors.Join(err1, err2) != nil {
		return 0
	}
	return time.Duration(user+system) * (time.Second / 100) // in which /proc counts, whatever the kernel does
}
