package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/opencode"
	"github.com/sayso-dev/sayso/internal/child"
	driver "github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/local"
)

func (a *app) opencodeCommand() *cobra.Command {
	var d driven
	var hook string
	c := &cobra.Command{
		Use: "opencode [PROMPT] [-- ARGS...]", GroupID: "gate", Short: "drives opencode: each of its calls is put to the gate", Args: cobra.ArbitraryArgs,
		Long: `Starts a server of opencode that asks the gate before each call, says PROMPT to it,
and prints what it says. Without PROMPT it is read from the standard input; at a
terminal, opencode's own screen opens on that server instead.

Nothing needs to be installed for that. The server listens on this machine alone,
under a password made for this run, loads sayso's plugin, and its permissions ask for
everything: what the plugin did not let through is asked about again. It ends with
this command. What stands behind -- goes to opencode serve: --print-logs and
--log-level.`,
		Example: `  sayso opencode "run the tests and fix what fails"`,
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if d.prompt, d.args, err = drivenArgs(c, args); err != nil {
				return err
			}
			return a.driveOpencode(c.Context(), d, hook)
		},
	}
	c.Flags().StringVar(&d.program, "program", "", "the program of opencode; by default opencode in PATH")
	c.Flags().StringVar(&hook, "hook", "", "the sayso-hook program (default: beside sayso)")
	c.Flags().Duration("patience", 0, "how long a call waits for people (SAYSO_PATIENCE; without, until there is a decision)")
	return c
}

// opencodeLevels are what --log-level may say.
var opencodeLevels = []string{"DEBUG", "INFO", "WARN", "ERROR"}

// checkOpencode takes those arguments of opencode serve that change nothing about who
// is asked, and who can reach it.
func checkOpencode(args []string) error {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, level, given := strings.Cut(arg, "=")
		if name == "--log-level" {
			if !given && i+1 < len(args) {
				i++
				level, arg = args[i], name+" "+args[i]
			}
			if slices.Contains(opencodeLevels, level) {
				continue
			}
		}
		if arg != "--print-logs" {
			return usage(fmt.Errorf("opencode serve may not be told %s here: where it listens and what it loads is settled", arg),
				"sayso opencode \"PROMPT\" -- --print-logs --log-level DEBUG")
		}
	}
	return nil
}

func (a *app) driveOpencode(ctx context.Context, d driven, hook string) error {
	if err := checkOpencode(d.args); err != nil {
		return err
	}
	d.host, _ = install.Find(opencode.Host)
	if off := d.host.Off(a.getenv, ""); off != nil {
		return hint(fmt.Errorf("%w: %s", sayso.ErrNotAllowed, off.Why), "%s", off.Type)
	}
	if err := a.driveable(ctx, &d); err != nil {
		return err
	}
	var said <-chan string
	screen := a.drivenScreen()
	_, tty := a.terminal()
	own := d.prompt == "" && tty // opencode's own screen
	if !own {
		var err error
		if said, err = a.prompts(ctx, d, &screen); err != nil {
			return err
		}
	}
	s, err := a.serveOpencode(ctx, d, hook)
	if err != nil {
		return err
	}
	s.server.Screen = screen
	err = s.run(ctx, func(ctx context.Context) error {
		if own {
			return a.attachOpencode(ctx, d, s)
		}
		for text := range said {
			if err := s.server.Say(ctx, text); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return errors.Join(err, s.close(context.WithoutCancel(ctx)))
}

// opencodeServer is a server of opencode that runs for us.
type opencodeServer struct {
	server  *driver.Opencode
	process *child.Process
	dir     string // of this run: the plugin, and its word that it is loaded
	local   *local.Local
	tell    func(context.Context) (stop func()) // tells what becomes of the plugin's calls
	note    func(format string, args ...any)
}

// close ends the server and lets go of all that was made for it.
func (s *opencodeServer) close(ctx context.Context) error {
	if s.process != nil {
		s.process.Stop()
		s.process.Close()
	}
	s.server.Desk.Close(ctx, s.server.Session())
	return errors.Join(s.local.Close(), os.RemoveAll(s.dir))
}

// serveOpencode starts the server.
func (a *app) serveOpencode(ctx context.Context, d driven, hookProgram string) (_ *opencodeServer, err error) {
	program, err := a.hookProgram(hookProgram)
	if err != nil {
		return nil, err
	}
	s := &opencodeServer{note: a.note, server: &driver.Opencode{Password: rand.Text()}}
	if s.server.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	desk, l, err := a.deskAt(ctx, d.host.Name, s.server.Dir)
	if err != nil {
		return nil, err
	}
	s.server.Desk, s.local = desk, l
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	inbox, err := l.Inbox(ctx, home.OwnActor(sayso.PrincipalAgent, d.host.Name, "hook"))
	if err != nil {
		return nil, err
	}
	s.server.Allowed = allowedAt(inbox)
	s.tell = func(ctx context.Context) func() { return a.tellHook(ctx, l, d.host.Name, s.server.Session, true) }
	if s.dir, err = os.MkdirTemp("", "sayso-opencode-"); err != nil { // made with mode 0700
		return nil, err
	}
	env, err := a.opencodeEnv(s, program)
	if err != nil {
		return nil, err
	}
	args := append([]string{d.program, "serve", "--hostname", "127.0.0.1", "--port", "0"}, d.args...)
	if s.process, err = child.Start(child.Command{Args: args, Env: env, Stderr: a.err}); err != nil {
		return nil, fmt.Errorf("starting opencode: %w", err)
	}
	s.server.URL, err = s.listens(ctx)
	return s, err
}

// opencodeEnv is the environment of the server: it loads our plugin last, asks for
// everything, and wants a password.
func (a *app) opencodeEnv(s *opencodeServer, program string) ([]string, error) {
	plugin, err := install.PluginFile(s.dir, install.Hook{Program: program, Place: a.place()})
	if err != nil {
		return nil, err
	}
	config := map[string]jsontext.Value{}
	if given := a.getenv("OPENCODE_CONFIG_CONTENT"); given != "" {
		if err := jcs.Unmarshal([]byte(given), &config); err != nil {
			return nil, hint(fmt.Errorf("OPENCODE_CONFIG_CONTENT: %w", err), "unset OPENCODE_CONFIG_CONTENT")
		}
	}
	var plugins []jsontext.Value
	if given, ok := config["plugin"]; ok {
		if err := jcs.Unmarshal(given, &plugins); err != nil {
			return nil, hint(fmt.Errorf("OPENCODE_CONFIG_CONTENT: plugin: %w", err), "unset OPENCODE_CONFIG_CONTENT")
		}
	}
	ours, err := jcs.Marshal((&url.URL{Scheme: "file", Path: plugin}).String())
	if err != nil {
		return nil, err
	}
	if config["plugin"], err = jcs.Marshal(append(plugins, ours)); err != nil {
		return nil, err
	}
	text, err := jcs.Marshal(config)
	if err != nil {
		return nil, err
	}
	return append(os.Environ(),
		"OPENCODE_CONFIG_CONTENT="+string(text), `OPENCODE_PERMISSION={"*":"ask"}`,
		"OPENCODE_SERVER_USERNAME=opencode", "OPENCODE_SERVER_PASSWORD="+s.server.Password, "SAYSO_OPENCODE_GATED="+s.gated(), home.Driven+"=1"), nil
}

// gated is the file that the plugin makes once it is loaded.
func (s *opencodeServer) gated() string { return filepath.Join(s.dir, "gated") }

// listens waits for the server to say where it listens, and passes over what else
// it says.
func (s *opencodeServer) listens(ctx context.Context) (string, error) {
	found := make(chan string, 1)
	go func() { // ends with the server's output
		lines := bufio.NewScanner(s.process.Out)
		for lines.Scan() {
			if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
				select {
				case found <- strings.TrimSpace(at):
				default:
				}
			}
		}
		_, _ = io.Copy(io.Discard, s.process.Out) // a line that is too long stops nothing
	}()
	select {
	case at := <-found:
		u, err := url.Parse(at)
		if err != nil || u.Hostname() != "127.0.0.1" {
			return "", fmt.Errorf("%w: opencode listens on %s, and not on this machine alone", sayso.ErrUnavailable, printable(at))
		}
		return "http://" + u.Host, nil
	case <-s.process.Ended():
		return "", fmt.Errorf("%w: opencode ended before it listened", sayso.ErrUnavailable)
	case <-time.After(startTime):
		return "", fmt.Errorf("%w: opencode does not listen after %s", sayso.ErrUnavailable, startTime)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// startTime is how long opencode may take to listen, and to load our plugin: where
// it fetches something for plugins from a network that is not there, it takes
// minutes.
const startTime = 5 * time.Minute

// run answers what the server asks for while work is done with it, once it is
// known that each call is asked about.
func (s *opencodeServer) run(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	following := make(chan struct{}, 1)
	go func() { // ends with ctx
		_ = s.server.Follow(ctx, func() {
			select {
			case following <- struct{}{}:
			default:
			}
		})
	}()
	told := s.tell(ctx)
	go func() { // ends with ctx, or with the server
		select {
		case <-s.process.Ended():
			cancel(fmt.Errorf("%w: opencode ended", sayso.ErrUnavailable))
		case <-ctx.Done():
		}
	}()
	err := s.ready(ctx, following)
	if err == nil {
		err = work(ctx)
	}
	told()
	if cause := context.Cause(ctx); err != nil && cause != nil && ctx.Err() != nil {
		return cause
	}
	return err
}

// ready waits until the server's events are followed and our plugin is loaded. A
// server that runs without it is not used.
func (s *opencodeServer) ready(ctx context.Context, following <-chan struct{}) error {
	limit := time.NewTimer(startTime)
	defer limit.Stop()
	select {
	case <-following:
	case <-limit.C:
		return fmt.Errorf("%w: opencode's events cannot be followed", sayso.ErrUnavailable)
	case <-ctx.Done():
		return ctx.Err()
	}
	unasked, err := s.server.Unasked(ctx)
	if err != nil {
		return err
	}
	if len(unasked) > 0 {
		s.note("opencode's configuration allows %s without opencode's own question; sayso's plugin asks all the same", printable(strings.Join(unasked, ", ")))
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(s.gated()); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return hint(fmt.Errorf("%w: opencode did not load sayso's plugin, so nothing was said to it", sayso.ErrUnavailable), "sayso opencode \"PROMPT\" -- --print-logs")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// runs is the outcome of a call that was redeemed and did not end: what a server tells
// of both.
const runs = "unknown"

// allowedAt looks a call up that our plugin asked about.
func allowedAt(inbox sayso.Inbox) func(ctx context.Context, session, callID string) (bool, error) {
	return func(ctx context.Context, session, callID string) (bool, error) {
		found, err := inbox.Requests(ctx, sayso.RowQuery{Session: session, CallID: callID, Limit: 1})
		if errors.Is(err, sayso.ErrNotFound) || err == nil && len(found) == 0 {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		r := found[0]
		return r.Decision != nil && r.Decision.Allowed() && r.Outcome == runs, nil
	}
}

// attachOpencode opens opencode's own screen on the server.
func (a *app) attachOpencode(ctx context.Context, d driven, s *opencodeServer) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGQUIT) // the screen's own keys
	defer signal.Stop(stop)
	cmd := exec.CommandContext(ctx, d.program, "attach", s.server.URL, "--dir", s.server.Dir)
	cmd.Env = append(os.Environ(), "OPENCODE_SERVER_USERNAME=opencode", "OPENCODE_SERVER_PASSWORD="+s.server.Password)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out, a.err
	err := cmd.Run()
	var exited *exec.ExitError
	if errors.As(err, &exited) && exited.ExitCode() > 0 {
		return otherStatus(exited.ExitCode())
	}
	return err
}
