//go:build unix

package down_test

import (
	"context"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
	"github.com/sayso-dev/sayso/lab/machine"
	"github.com/sayso-dev/sayso/server"
)

func noServer(t *testing.T, m *machine.Machine) seen {
	w := m.Start(m.Touch("1", "marker"))
	r := m.Opened(1)[0]
	person := m.Sayso("status").Both() + m.Must("inbox")
	m.Approve(r)
	w.Wait().Allowed(t)
	lives(t, m, "requested answered resolved redeemed")
	return seen{"", person}
}

// serverDies: see also lab/e2e, where the real agent waits.
func serverDies(t *testing.T, m *machine.Machine) seen {
	s := m.Serve("none")
	w := m.Start(m.Touch("1", "marker"))
	r := m.Opened(1)[0]
	s.Kill()
	m.Event(sayso.EventTaken)
	person := m.Must("inbox")
	m.Approve(r)
	w.Wait().Allowed(t)
	lives(t, m, "requested parked taken answered resolved redeemed")
	return seen{"", person}
}

// hookMissing drives the real agent: what a host makes of a hook that is not
// there can be seen in a host alone.
func hookMissing(t *testing.T, m *machine.Machine) seen {
	m.Must("init", "claude-code", "--yes", "--claude", claude.Binary(t))
	allow(m)
	hook := filepath.Join(m.Bin, "sayso-hook")
	copied := filepath.Join(m.Home, "bin", "sayso-hook")
	install := func(from string, mode os.FileMode) {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		m.Write(copied, string(text))
		if err := os.Chmod(copied, mode); err != nil {
			t.Fatal(err)
		}
	}
	install(hook, 0o755)
	m.Must("init", "claude-code", "--yes", "--hook", copied, "--claude", claude.Binary(t))
	var person string
	call := func(id string) modelstub.Turn {
		return modelstub.Use(modelstub.Call{ID: id, Name: "Bash", Input: `{"command":"touch marker"}`})
	}
	then := func(id string, change func()) modelstub.Turn {
		return modelstub.Then(func([]modelstub.ToolResult) modelstub.Turn { change(); return call(id) })
	}
	stub := modelstub.New(
		then("toolu_missing", func() {
			if err := os.Remove(copied); err != nil {
				t.Error(err)
			}
			person = m.Sayso("status").Both()
		}),
		then("toolu_mode", func() { install(hook, 0o644); person += m.Sayso("status").Both() }),
		then("toolu_empty", func() { m.Write(copied, "no program\n"); install(copied, 0o755) }),
		then("toolu_panic", func() { _ = os.Remove(copied); install(machine.Crashing(t), 0o755) }),
		then("toolu_mended", func() {
			_ = os.Remove(copied) // so that a running one is not written to
			m.Must("init", "claude-code", "--yes", "--hook", hook, "--claude", claude.Binary(t))
			install(hook, 0o755) // the agent may go on with the settings that it began with
			if m.Exists("marker") {
				t.Error("a call ran although its hook could not say yes")
			}
		}),
	)
	res := claude.Run(t, claude.Options{
		Stub: stub, Dir: m.Dir, Home: m.Home, Env: append(m.Env, "SAYSO_HOOK_PANIC=the hook's own mistake"), Timeout: 2 * time.Minute,
	})
	if len(res.Results) != 5 {
		t.Fatalf("%d results reached the model: %+v\n%s%s", len(res.Results), res.Results, res.Stdout, res.Stderr)
	}
	var agent []string
	for i, r := range res.Results {
		if denied := i < 4; r.IsError != denied {
			t.Errorf("%s: error %v: %s", r.ID, r.IsError, r.Content)
		}
		agent = append(agent, r.Content)
	}
	if !m.Exists("marker") {
		t.Error("the call did not run when the hook was mended")
	}
	return seen{strings.Join(agent[:4], "\n"), person}
}

// What ends a program that does not handle it, and what a Go program passes
// over. The rest of the signals say that somebody wants the hook to end.
var (
	ending = []syscall.Signal{
		syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE,
		syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS,
	}
	ignored = []syscall.Signal{
		syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE, syscall.SIGPROF,
		syscall.SIGXCPU, syscall.SIGXFSZ,
	}
	polite = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
)

// hookKilled: whatever ends the hook, it never says yes, and the request stays
// for the same call made again.
func hookKilled(t *testing.T, m *machine.Machine) seen {
	w := m.Start(m.Touch("1", "marker"))
	r := m.Opened(1)[0]
	var person string
	n := 0
	again := func() {
		person = m.Must("inbox")
		w = m.Start(m.Touch("1", "marker"))
		n++
		takenUp(t, m, r, n)
	}
	for _, sig := range ending {
		w.Signal(sig)
		if res := w.Wait(); res.Exit == 0 || res.Stdout != "" || strings.Contains(res.Stderr, "marker") {
			t.Errorf("killed by %s the hook ended with %+v", sig, res)
		}
		again()
	}
	for _, sig := range polite {
		w.Signal(sig)
		if told := w.Wait().Denied(t); !strings.Contains(told, "the host stopped waiting") {
			t.Errorf("ended by %s the hook said %q", sig, told)
		}
		again()
	}
	for _, sig := range ignored {
		w.Signal(sig)
	}
	m.Approve(r)
	w.Wait().Allowed(t)
	return seen{"", person}
}

// takenUp waits until a request was taken up n times.
func takenUp(t *testing.T, m *machine.Machine, r sayso.Request, n int) {
	t.Helper()
	m.Inbox(func(ctx context.Context, in sayso.Inbox) {
		for _, err := range in.Follow(ctx, 0, sayso.EventQuery{Request: r.ID, Types: []sayso.EventType{sayso.EventTaken}}) {
			if err != nil {
				t.Fatalf("waiting for the request to be taken up %d times: %v", n, err)
			}
			if n--; n == 0 {
				return
			}
		}
	})
}

func hookPanics(t *testing.T, m *machine.Machine) seen {
	allow(m)
	cmd := m.HookCommand(m.Touch("1", "marker"), "SAYSO_HOOK_PANIC=a mistake in the hook")
	cmd.Path = machine.Crashing(t)
	told := m.Run(cmd).Denied(t)
	lives(t, m)
	return seen{told, ""}
}

func halfACall(t *testing.T, m *machine.Machine) seen {
	allow(m)
	whole := m.Touch("1", "marker")
	var told string
	for n := range len(whole) {
		if n%7 == 0 || n == len(whole)-1 {
			told = m.Hook(whole[:n]).Denied(t)
		}
	}
	for _, odd := range []string{
		"null", "[]", "1", whole + whole, whole + "x", "\xff", strings.Replace(whole, `"cwd"`, `"CWD"`, 1),
		strings.Replace(whole, `"cwd"`, `"session_id":"2","cwd"`, 1), strings.Replace(whole, `"touch marker"`, `"a","command":"touch marker"`, 1),
	} {
		m.Hook(odd).Denied(t)
	}
	lives(t, m)
	return seen{told, m.Must("log")}
}

func tooLarge(t *testing.T, m *machine.Machine) seen {
	allow(m)
	told := m.Hook(m.Touch("1", strings.Repeat("x", sayso.MaxCall+1<<20))).Denied(t)
	lives(t, m)
	return seen{told, m.Must("log")}
}

func unknownEvent(t *testing.T, m *machine.Machine) seen {
	told := m.Hook(strings.Replace(m.Touch("1", "marker"), "PreToolUse", "BeforeToolUse", 1)).Denied(t)
	cmd := m.HookCommand(m.Touch("1", "marker"))
	cmd.Args[1] = "another-host"
	m.Run(cmd).Denied(t)
	lives(t, m)
	return seen{told, ""}
}

func staleSocket(t *testing.T, m *machine.Machine) seen {
	s := m.Serve("none")
	s.Kill() // which leaves the socket behind
	if _, err := os.Lstat(m.Paths().Socket()); err != nil {
		t.Fatalf("no socket was left: %v", err)
	}
	allow(m)
	m.Hook(m.Touch("1", "marker")).Allowed(t)
	person := m.Sayso("status").Both()
	m.Serve("none").Kill() // and a server starts where one died
	lives(t, m, "requested resolved redeemed")
	return seen{"", person}
}

// elsewhere makes the hook use a server at an address, with a token of the
// machine's own.
func elsewhere(m *machine.Machine, url string) {
	m.Write(filepath.Join(m.Home, "token"), m.Must("token", "create", "--kind", "agent", "--name", "claude-code"))
	m.Env = append(m.Env, "SAYSO_SERVER="+url, "SAYSO_TOKEN_FILE="+filepath.Join(m.Home, "token"))
}

func serverElsewhere(t *testing.T, m *machine.Machine) seen {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	if err := l.Close(); err != nil { // now nobody listens there
		t.Fatal(err)
	}
	elsewhere(m, url)
	told := m.Hook(m.Touch("1", "marker")).Denied(t)
	return seen{told, m.Sayso("status").Both()}
}

func tokenMissing(t *testing.T, m *machine.Machine) seen {
	s := m.Serve("127.0.0.1:0")
	elsewhere(m, "http://"+s.Addr)
	if err := os.Remove(filepath.Join(m.Home, "token")); err != nil {
		t.Fatal(err)
	}
	told := m.Hook(m.Touch("1", "marker")).Denied(t)
	m.Write(filepath.Join(m.Home, "token"), "sayso_agent_unknown\n")
	if unknown := m.Hook(m.Touch("1", "marker")).Denied(t); strings.Contains(unknown, "sayso_agent") {
		t.Errorf("the agent is told of a token: %s", unknown)
	}
	return seen{told, m.Sayso("status").Both()}
}

func versionSkew(t *testing.T, m *machine.Machine) seen {
	elsewhere(m, "")
	var told, person string
	m.Broker(nil, func(_ context.Context, b *broker.Broker) {
		s, err := server.New(func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.Gate(a), b.Inbox(a) }, &server.Options{Authenticate: m.Authenticate, Version: "v0.9.0"})
		if err != nil {
			t.Fatal(err)
		}
		h := httptest.NewServer(s)
		defer h.Close()
		m.Env = append(m.Env, "SAYSO_SERVER="+h.URL)
		told = m.Hook(m.Touch("1", "marker")).Denied(t)
		person = m.Sayso("status").Both()
	})
	return seen{told, person}
}
