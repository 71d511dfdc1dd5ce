package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/garbage"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/outbox"
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
		Long: `Serves the API on a socket of this machine and, unless --listen none, the page
and the API on a loopback address. Without a server everything works all the
same: hooks and commands then open the database themselves.

Other machines, and phones, reach it by TLS alone: with a certificate of its own,
whose files are read again when they change, or behind a proxy that is named.

  sayso serve --listen 0.0.0.0:7117 --public-url https://box.lan:7117 \
    --tls-cert box.pem --tls-key box-key.pem
  sayso serve --public-url https://sayso.example.org --proxy 127.0.0.1`,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), o) },
	}
	f := c.Flags()
	f.String("listen", "", "address to listen on besides the socket, or none (SAYSO_LISTEN)")
	f.String("public-url", "", "address under which people reach the server, behind TLS (SAYSO_PUBLIC_URL)")
	f.String("tls-cert", "", "file of its own certificate for that address (SAYSO_TLS_CERT)")
	f.String("tls-key", "", "file of the key of that certificate (SAYSO_TLS_KEY)")
	f.String("proxy", "", "address or network of a proxy with TLS, several by commas (SAYSO_PROXY)")
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
	return a.checkAddress()
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
	logger := slog.New(redact.LogHandler(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: a.level()})))
	out, err := a.outbox(e, logger)
	if err != nil {
		return err
	}
	srv, err := a.server(e, out, logger)
	if err != nil {
		return hint(err, "sayso serve --help")
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
	sent := make(chan struct{})
	go func() { defer close(sent); out.Run(ctx) }() // ends with ctx
	for _, l := range listeners {
		a.note("listening on %s", l.Addr())
	}
	a.notePage(listeners)
	err = srv.Serve(ctx, listeners...)
	cancel()
	<-sent
	return errors.Join(err, <-swept)
}

// server makes the server over an engine.
func (a *app) server(e *local.Engine, out *outbox.Outbox, logger *slog.Logger) (*server.Server, error) {
	tokens := a.paths.Tokens()
	proxies, err := a.proxies()
	if err != nil {
		return nil, err
	}
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
		Login: func(in server.SignIn) (string, error) {
			secret, _, err := a.paths.Login(a.now(), in.Code, in.Origin, in.Device)
			return secret, err
		},
		Logout: func(secret string) error { return logout(tokens, secret, a.now()) },
		Tokens: tokenDesk{tokens, a.now},
		Policy: func() server.PolicyInfo {
			return server.PolicyInfo{Version: e.Policy.Version(), Files: e.Policy.Files()}
		},
		Machine:   func() server.Machine { return a.standing(e) },
		LookBack:  e.LookBack(),
		Notices:   noticeDesk{out},
		Pins:      e,
		PublicURL: a.settings.PublicURL,
		Proxies:   proxies,
		Page:      web.Handler(),
		Logger:    logger,
		Commits:   e.Log.TellCommits,
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
