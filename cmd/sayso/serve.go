package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/garbage"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/redact"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/web"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	strict, approveAll bool
	lasts              time.Duration
}

func (a *app) serveCommand() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use: "serve", GroupID: "gate", Short: "runs the server", Args: cobra.NoArgs,
		Long: `Serves the API on a socket of this machine and, unless --listen none, on a
loopback address. Without a server everything works all the same: hooks and
commands then open the database themselves.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), o) },
	}
	f := c.Flags()
	f.String("listen", "", "address to listen on besides the socket, or none (SAYSO_LISTEN)")
	f.String("public-url", "", "address under which people reach the server, behind TLS (SAYSO_PUBLIC_URL)")
	f.String("log-level", "", "debug, info, warn or error (SAYSO_LOG_LEVEL)")
	f.BoolVar(&o.strict, "strict", false, "deny whatever would be asked")
	f.BoolVar(&o.approveAll, "approve-all", false, "allow whatever would be asked; needs --for")
	durationFlag(f, &o.lasts, "for", 0, "how long --approve-all lasts")
	return c
}

func (a *app) serve(ctx context.Context, o serveOptions) error {
	if err := a.checkServe(o); err != nil {
		return err
	}
	if err := a.paths.Make(); err != nil {
		return err
	}
	lo := local.Options{Direct: true, Opened: a.tellOpened()}
	if o.strict {
		lo.Mode = sayso.ModeStrict
	}
	l, err := a.openWith(ctx, lo)
	if err != nil {
		return err
	}
	e, _ := l.Engine()
	err = a.serveEngine(ctx, e, o)
	return errors.Join(err, l.Close())
}

// checkServe refuses flags that would open the server too far.
func (a *app) checkServe(o serveOptions) error {
	if err := checkModes("serve", o.strict, o.approveAll, o.lasts); err != nil {
		return err
	}
	if o.approveAll {
		if err := a.noAgent("approving everything"); err != nil {
			return err
		}
	}
	if a.settings.Listen == "none" {
		return nil
	}
	name, _, err := net.SplitHostPort(a.settings.Listen)
	if err != nil {
		return usage(fmt.Errorf("the address to listen on is %q: %w", a.settings.Listen, err), "sayso serve --listen "+home.DefaultListen)
	}
	if _, ok := address.Loopback(name); !ok {
		return usage(fmt.Errorf("%w: this server speaks plain HTTP, and does so on loopback alone", sayso.ErrNotAllowed),
			"put a proxy with TLS before it: sayso serve --listen "+home.DefaultListen+" --public-url https://…")
	}
	return nil
}

// checkModes refuses flags for the mode that do not go together.
func checkModes(command string, strict, approveAll bool, lasts time.Duration) error {
	h := "sayso " + command + " --approve-all --for 30m"
	switch {
	case strict && approveAll:
		return usage(errors.New("--strict and --approve-all exclude each other"), "sayso "+command+" --help")
	case approveAll && lasts <= 0:
		return usage(errors.New("--approve-all must be given an end"), h)
	case !approveAll && lasts != 0:
		return usage(errors.New("--for belongs to --approve-all"), h)
	}
	return nil
}

func (a *app) serveEngine(ctx context.Context, e *local.Engine, o serveOptions) error {
	srv, err := a.server(e)
	if err != nil {
		return err
	}
	listeners, err := a.listen(ctx)
	if err != nil {
		return err
	}
	if err := a.tellAddress(listeners); err != nil {
		return err
	}
	defer func() { _ = os.Remove(a.paths.Address()) }() // one that stays names a server that does not answer
	if o.approveAll {
		if err := e.Inbox(a.admin()).SetMode(ctx, "", sayso.ModeApproveAll, o.lasts); err != nil {
			return err
		}
		a.note("warning: whatever would be asked is allowed for %s", o.lasts)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	garbage.Tune(ctx)
	swept := make(chan error, 1)
	go func() { // ends with ctx
		err := e.Run(ctx)
		if err != nil {
			cancel()
		}
		swept <- err
	}()
	for _, l := range listeners {
		a.note("listening on %s", l.Addr())
	}
	err = srv.Serve(ctx, listeners...)
	cancel()
	return errors.Join(err, <-swept)
}

// server makes the server over an engine.
func (a *app) server(e *local.Engine) (*server.Server, error) {
	tokens := a.paths.Tokens()
	logger := slog.New(redact.LogHandler(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: a.level()})))
	e.Policy.Tell(func(wrong error) {
		if wrong != nil {
			logger.Error("the policy has a mistake, and the old one stands; type sayso policy check", "mistake", firstMistake(wrong))
			return
		}
		logger.Info("the policy loads again")
	})
	return server.New(e.Door, &server.Options{
		Authenticate: func(secret string) (sayso.Actor, error) {
			t, err := tokens.Authenticate(secret, a.now())
			return t.Actor(""), err
		},
		Login: func(code, origin string) (string, error) {
			secret, _, err := a.paths.Login(a.now(), code, origin)
			return secret, err
		},
		Logout: func(secret string) error { return logout(tokens, secret, a.now()) },
		Tokens: tokenDesk{tokens, a.now},
		Policy: func() server.PolicyInfo {
			return server.PolicyInfo{Version: e.Policy.Version(), Files: e.Policy.Files()}
		},
		LookBack:  e.LookBack(),
		PublicURL: a.settings.PublicURL,
		Page:      web.Handler(),
		Logger:    logger,
		Version:   versionOf(),
	})
}

func (a *app) level() slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(a.settings.LogLevel)); err != nil {
		return slog.LevelInfo // settings know the four words only
	}
	return l
}

// listen opens the socket and, if it was asked for, the address.
func (a *app) listen(ctx context.Context) ([]net.Listener, error) {
	socket, err := a.listenSocket(ctx)
	if err != nil {
		return nil, err
	}
	if a.settings.Listen == "none" {
		return []net.Listener{socket}, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.settings.Listen)
	if err != nil {
		return nil, errors.Join(hint(err, "sayso serve --listen 127.0.0.1:0, or --listen none"), socket.Close())
	}
	return []net.Listener{socket, l}, nil
}

// listenSocket opens the socket, in a folder that is closed to others. What a
// server that died left there is taken away; a server that lives is not.
func (a *app) listenSocket(ctx context.Context) (net.Listener, error) {
	path := a.paths.Socket()
	if err := home.MakeSocketFolder(path); err != nil {
		return nil, err
	}
	if local.Answers(ctx, path) {
		return nil, hint(fmt.Errorf("%w: a server runs already, on %s", sayso.ErrConflict, path), "sayso status")
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
