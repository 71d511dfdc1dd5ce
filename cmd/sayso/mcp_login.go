package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/oauth"
)

// howLogin is what to type to log in.
const howLogin = "sayso mcp login https://HOST/PATH"

// loginOptions are the flags of mcp login.
type loginOptions struct {
	scopes, id, secret string
	port               int
	wait               time.Duration
	noBrowser          bool
}

func (a *app) mcpLoginCommand() *cobra.Command {
	var o loginOptions
	c := &cobra.Command{
		Use: "login URL", Short: "logs you in to an MCP server over HTTP, for sayso mcp --url", Args: oneAddress,
		Long: `Logs you in to an MCP server that wants to know who asks (OAuth): the browser is
opened at the page where you log in, and comes back to this machine. What the
server gives is kept in the state folder, for you alone; sayso mcp --url, and a
server of sayso mcp --listen with authorization: login, go with it, and renew it.

Most servers take sayso as it is. For one that does not, make a client at the
service yourself, with the redirect http://127.0.0.1:PORT/callback, and give
--client-id and --port; its secret, if it has one, stands in the environment.`,
		Example: `  sayso mcp login https://mcp.linear.app/mcp
  sayso mcp login https://api.example.com/mcp --client-id abc --client-secret env:CLIENT_SECRET --port 7119`,
		RunE: func(c *cobra.Command, args []string) error { return a.mcpLogin(c.Context(), args[0], o) },
	}
	c.Flags().StringVar(&o.scopes, "scope", "", "scopes to ask for beside those that the server wants, with spaces between")
	c.Flags().StringVar(&o.id, "client-id", "", "the client that you made at the service")
	c.Flags().StringVar(&o.secret, "client-secret", "", "env:VARIABLE, which holds its secret")
	c.Flags().IntVar(&o.port, "port", 0, "of this machine, that the browser comes back to (default: any that is free)")
	durationFlag(c.Flags(), &o.wait, "wait", 5*time.Minute, "how long to wait for the browser")
	c.Flags().BoolVar(&o.noBrowser, "no-browser", false, "print the address, and open no browser")
	return c
}

func (a *app) mcpLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout URL", Short: "forgets a login to an MCP server", Args: oneAddress,
		Long: `Deletes what a login gave, and gives it back to the server where that takes it.
What is on its way goes on; the next request goes without.`,
		RunE: func(c *cobra.Command, args []string) error { return a.mcpLogout(c.Context(), args[0]) },
	}
}

func oneAddress(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage(errors.New("the address of one server is wanted; sayso status lists the logins"), howLogin)
	}
	return nil
}

// logins are the logins of this gate.
func (a *app) logins() *oauth.Logins { return oauth.Open(a.paths.Logins(), a.now, nil) }

// loginAddress is an address that was typed, or stands in a variable.
func (a *app) loginAddress(text string) (string, error) {
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		value, err := a.variable(name)
		if err != nil {
			return "", err
		}
		text = value
	}
	if err := gateway.CheckURL(text); err != nil {
		return "", usage(err, howLogin)
	}
	return text, nil
}

func (a *app) mcpLogin(ctx context.Context, text string, o loginOptions) error {
	if err := a.noAgent("logging in to a server"); err != nil {
		return err
	}
	at, err := a.loginAddress(text)
	if err != nil {
		return err
	}
	attempt := oauth.Attempt{URL: at, Scopes: strings.Fields(o.scopes), ClientID: o.id, Port: o.port, Wait: o.wait, Begin: a.showsPage(o)}
	if attempt.ClientSecret, err = a.clientSecret(o); err != nil {
		return err
	}
	if o.wait <= 0 || o.port < 0 || o.port > 65535 {
		return usage(fmt.Errorf("%w: --wait is a time, and --port a port of this machine", sayso.ErrInvalid), howLogin)
	}
	if err := a.paths.Make(); err != nil {
		return err
	}
	s, err := a.logins().Login(ctx, attempt)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(s)
	}
	a.print("logged in to %s: %s", printable(s.URL), loginStands(s, a.now()))
	return nil
}

// clientSecret is the secret of a client that a person made.
func (a *app) clientSecret(o loginOptions) (string, error) {
	name, ok := strings.CutPrefix(o.secret, "env:")
	switch {
	case o.secret == "":
		return "", nil
	case o.id == "":
		return "", usage(fmt.Errorf("%w: --client-secret is that of a client, and there is no --client-id", sayso.ErrInvalid), howLogin+" --client-id ID --client-secret env:VARIABLE")
	case !ok:
		return "", usage(fmt.Errorf("%w: --client-secret names a variable of the environment that holds it; on a command line others would read it", sayso.ErrInvalid), "--client-secret env:VARIABLE")
	}
	return a.variable(name)
}

// showsPage sends a person to the page where they log in.
func (a *app) showsPage(o loginOptions) func(context.Context, oauth.Page) error {
	return func(ctx context.Context, p oauth.Page) error {
		a.note("logging in to %s at %s%s", printable(p.Resource), printable(p.Issuer), wanting(p.Scopes))
		if to, by := hostname(p.Resource), hostname(p.Issuer); to != by {
			a.note("what %s gives is sent to %s: go on only if that is the server that you mean", printable(by), printable(to))
		}
		a.note("open this page in a browser on this machine, within %s:", span(o.wait))
		fmt.Fprintf(a.err, "%s\n", printable(p.Address))
		if !o.noBrowser && a.opens(ctx, p.Address) {
			a.note("the browser should open it by itself")
		}
		return nil
	}
}

func hostname(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Hostname()
}

func wanting(scopes []string) string {
	if len(scopes) == 0 {
		return ""
	}
	return ", for " + printable(strings.Join(scopes, " "))
}

// opens has the browser of the desktop open a page. Where there is no desktop, what
// would open it might take the terminal.
func (a *app) opens(ctx context.Context, page string) bool {
	program := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		program = "open"
	case a.getenv("DISPLAY") == "" && a.getenv("WAYLAND_DISPLAY") == "":
		return false
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, page)
	if cmd.Start() != nil {
		return false
	}
	go func() { _ = cmd.Wait() }() // the person has the address, whatever becomes of it
	return true
}

func (a *app) mcpLogout(ctx context.Context, text string) error {
	if err := a.noAgent("logging out of a server"); err != nil {
		return err
	}
	at, err := a.loginAddress(text)
	if err != nil {
		return err
	}
	back, err := a.logins().Logout(ctx, at)
	if err != nil {
		return hint(err, "sayso status lists the logins")
	}
	shown, _ := oauth.Shown(at)
	if a.json {
		return a.printJSON(map[string]any{"url": shown, "given_back": back})
	}
	a.print("logged out of %s", printable(shown))
	if !back {
		a.note("the server was not told, or did not take it: end the access there too, in the settings of your account")
	}
	return nil
}

// loginStands says how a login stands.
func loginStands(s oauth.Status, now time.Time) string {
	switch {
	case s.Ended != "":
		return "needs a login (" + s.Ended + "): " + s.Command
	case s.Renewing:
		return "logged in, and renewed by itself"
	case s.Expires == nil:
		return "logged in, until the server ends it"
	}
	return "logged in for " + span(s.Expires.Sub(now)) + " more, and not renewed by itself"
}

// ofLogin has requests to a server go with the login to it. Where the person says in
// a header who asks, that holds.
func (a *app) ofLogin(r *gateway.Remote) {
	to, err := a.logins().To(r.URL)
	if err != nil {
		return // it is no address to which anybody logs in
	}
	if r.Header.Get("Authorization") == "" {
		r.Login = to
		return
	}
	if there, err := to.There(); err == nil && there {
		a.note("requests go with the header Authorization that is given, and not with the login to %s", hostOf(r.URL))
	}
}
