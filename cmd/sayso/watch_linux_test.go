package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/agentproc"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
)

// pane is a program in a real terminal, that of tmux.
type pane struct {
	t      *testing.T
	socket string
	tmux   string
}

// newPane starts a shell line in a terminal of 80 columns and 24 rows.
func newPane(t *testing.T, env []string, line string) *pane {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("there is no tmux here; type: sudo apt-get install tmux")
	}
	p := &pane{t, filepath.Join(t.TempDir(), "tmux"), tmux}
	cmd := exec.Command(tmux, "-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", line)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command(tmux, "-S", p.socket, "kill-server").Run() }) // it may have ended with its program
	return p
}

func (p *pane) do(args ...string) string {
	p.t.Helper()
	out, err := exec.Command(p.tmux, append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Errorf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// press presses keys one by one, by the names that tmux has for them.
func (p *pane) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do("send-keys", key)
	}
}

func (p *pane) screen() string {
	p.t.Helper()
	return p.do("capture-pane", "-p")
}

// until waits until the screen is as wanted.
func (p *pane) until(what string, wanted func(screen string) bool) {
	p.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); <-look.C {
		if wanted(p.screen()) {
			return
		}
	}
	p.t.Fatalf("never on the screen: %s\n%s", what, p.screen())
}

func (p *pane) shows(texts ...string) {
	p.t.Helper()
	p.until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// live waits until the prompt takes answers.
func (p *pane) live(key string) {
	p.t.Helper()
	p.shows("» " + key)
}

// watchedHome has calls wait in a home, and says what becomes of them.
type watchedHome struct {
	t      *testing.T
	paths  home.Paths
	engine *local.Engine
	opened chan sayso.Request
	asked  int
}

func newWatchedHome(t *testing.T) *watchedHome {
	t.Helper()
	w := &watchedHome{t: t, paths: homeIn(t.TempDir()), opened: make(chan sayso.Request, 1)}
	var err error
	w.engine, err = local.OpenEngine(t.Context(), w.paths, local.Options{Opened: func(r sayso.Request) { w.opened <- r }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.engine.Close() })
	return w
}

// homeIn is a home that is all in one folder of another, whose name is short: a
// socket lies in it.
func homeIn(folder string) home.Paths {
	h := filepath.Join(folder, "h")
	return home.Paths{State: h, Config: h, Runtime: h, Home: h}
}

func (w *watchedHome) ask(command string) sayso.Request {
	w.t.Helper()
	w.asked++
	call := sayso.Call{Tool: "bash", Args: argsOf(w.t, command), Session: "s1", Cwd: "/tmp", CallID: fmt.Sprint("c", w.asked)}
	go func() { // ends with the test
		_, _ = w.engine.Gate(home.OwnActor(sayso.PrincipalAgent, "test", "embedded")).Admit(w.t.Context(), sayso.Admission{Call: call, CanEdit: true})
	}()
	return <-w.opened
}

// inbox is that of another approver.
func (w *watchedHome) inbox() sayso.Inbox {
	return w.engine.Inbox(sayso.Actor{Principal: "ann", Kind: sayso.PrincipalAdmin, Channel: "page"})
}

func (w *watchedHome) state(r sayso.Request) sayso.Request {
	w.t.Helper()
	now, err := w.inbox().Request(w.t.Context(), string(r.ID))
	if err != nil {
		w.t.Fatal(err)
	}
	return now
}

// TestWatch_inATerminal is a person at a real terminal: keys from before the
// program ran, another window size, another person who is first, a server that
// is killed, an editor.
func TestWatch_inATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs; type: go test ./cmd/sayso -run TestWatch_inATerminal")
	}
	sayso_, err := exec.LookPath("sayso")
	if err != nil {
		t.Fatal(err)
	}
	w := newWatchedHome(t)
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/make/make -n/' \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=xterm", "LC_ALL=C.UTF-8", "SAYSO_HOME=" + w.paths.State, "SAYSO_NOTICE=off", "EDITOR=" + editor}
	serving := exec.Command(sayso_, "serve", "--listen", "none")
	serving.Env = env
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serving.Wait() }()
	t.Cleanup(func() { _ = serving.Process.Kill() })
	for !local.Answers(t.Context(), w.paths.Socket()) {
		select {
		case err := <-ended:
			t.Fatalf("the server never came up: %v", err)
		default:
		}
	}

	one := w.ask("make one")
	p := newPane(t, env, "read -r line; exec "+sayso_+" watch")
	p.press("y", "Escape", "Enter", "y", "y") // ahead of the program
	p.shows("1 waiting", "make one", one.ShortID, "server ")
	p.live("[y] allow once")
	if now := w.state(one); !now.State.Open() {
		t.Fatalf("what was typed ahead made it %s", now.State)
	}
	p.do("resize-window", "-x", "120", "-y", "40")
	p.shows(" │ ", "make one")
	p.do("resize-window", "-x", "50", "-y", "20")
	p.shows("This window is 50×20")
	p.do("resize-window", "-x", "80", "-y", "24")
	p.live("[y] allow once")
	p.press("y")
	p.shows("ENDED", one.ShortID+" allowed by")

	two := w.ask("make two")
	p.shows("make two")
	p.press("j")
	p.live("[y] allow once")
	if _, err := w.inbox().Answer(t.Context(), two.ID, sayso.Answer{Effect: sayso.Deny, Digest: two.Digest, Content: two.Content}); err != nil {
		t.Fatal(err)
	}
	p.shows("ENDED", two.ShortID+" denied by ann")

	three := w.ask("make three")
	p.press("j")
	p.live("[y] allow once")
	if err := serving.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.shows("Connected again") // it goes on without the server
	p.live("[y] allow once")
	p.press("e")
	p.shows("you changed:", "make -n three", "[y] allow it with these changes")
	p.live("[y] allow it")
	p.press("y")
	p.shows(three.ShortID + " allowed by")
	if now := w.state(three); now.State != sayso.StateAllowed || now.Decision == nil || now.Decision.Digest == three.Digest {
		t.Errorf("it is %s: %+v", now.State, now.Decision)
	}
	p.press("q")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for exec.CommandContext(ctx, p.tmux, "-S", p.socket, "has-session").Run() == nil { // the session ends with its program
	}
}

// TestWatch_signals has another program end the screen: it leaves, and leaves the
// terminal as it was.
func TestWatch_signals(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs; type: go test ./cmd/sayso -run TestWatch_signals")
	}
	sayso_, err := exec.LookPath("sayso")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=xterm", "LC_ALL=C.UTF-8", "SAYSO_HOME=" + filepath.Join(t.TempDir(), "home"), "SAYSO_NOTICE=off"}
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			p := newPane(t, env, "sh -c 'echo $$ >"+file+"; exec "+sayso_+" watch'; echo left with $?; stty -a; read -r line")
			p.shows("Nothing waits")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var pid int
			if _, err := fmt.Sscan(string(text), &pid); err != nil {
				t.Fatal(err)
			}
			if err := unix.Kill(pid, signal); err != nil {
				t.Fatal(err)
			}
			p.shows("left with 0", " icanon ", " echo ")
		})
	}
}

// TestWatch_printsLinesWhereThereIsNoScreen has everything but a screen, or
// nobody who may answer.
func TestWatch_printsLinesWhereThereIsNoScreen(t *testing.T) {
	for name, change := range map[string]func(a *app, env map[string]string) (plain bool){
		"asked for":    func(*app, map[string]string) bool { return true },
		"dumb":         func(_ *app, env map[string]string) bool { env["TERM"] = "dumb"; return false },
		"unknown":      func(_ *app, env map[string]string) bool { delete(env, "TERM"); return false },
		"JSON":         func(a *app, _ map[string]string) bool { a.json = true; return false },
		"not to write": func(a *app, _ map[string]string) bool { a.out = new(bytes.Buffer); return false },
		"not to read":  func(a *app, _ map[string]string) bool { a.in = strings.NewReader(""); return false },
		"under an agent": func(a *app, _ map[string]string) bool {
			a.agent = func() (agentproc.Agent, bool) { return agentproc.Agent{Name: "claude"}, true }
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			screen, err := atTerminal(t, nil, func(ctx context.Context, a *app) error {
				a.paths = homeIn(t.TempDir())
				if err := unix.IoctlSetWinsize(int(a.in.(*os.File).Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 80, Row: 24}); err != nil {
					return err
				}
				env := map[string]string{"TERM": "xterm"}
				a.getenv = func(name string) string { return env[name] }
				plain := change(a, env)
				ctx, stop := context.WithCancel(ctx)
				defer stop()
				a.err = seeing{a.err, func(text string) {
					if strings.Contains(text, "watching the database") {
						stop()
					}
				}}
				return a.watch(ctx, plain)
			})
			if err != nil || !strings.Contains(screen, "watching the database") || strings.Contains(screen, "\x1b[?1049h") {
				t.Errorf("%v:\n%q", err, screen)
			}
		})
	}
}
