package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/boot"
	"github.com/sayso-dev/sayso/internal/garbage"
	"github.com/sayso-dev/sayso/internal/oauth"
)

// defaultMCPListen is where mcp listens if its file does not say.
const defaultMCPListen = "127.0.0.1:7118"

// mcpListen stands in front of servers for clients that come over HTTP, until ctx
// ends.
func (a *app) mcpListen(ctx context.Context, o mcpOptions, args []string) error {
	file, err := a.mcpServers(o, args)
	if err != nil {
		return err
	}
	at := file.listen
	if o.listen != "" {
		at = o.listen
	}
	if at == "" {
		at = defaultMCPListen
	}
	if err := checkLoopback(at); err != nil {
		return err
	}
	base, closing, err := a.behind(ctx, o.workspace)
	base.Elicits = nil // who sits at a client with a token need not be who this runs for
	if err != nil {
		return err
	}
	front, err := a.front(base, file.servers)
	if err != nil {
		return errors.Join(err, closing())
	}
	garbage.Tune(ctx)
	err = a.mcpServe(ctx, front, file.servers, at)
	return errors.Join(err, closing())
}

// mcpServers are the servers that a file names, or the one of the command line.
func (a *app) mcpServers(o mcpOptions, args []string) (*mcpFile, error) {
	if len(args) == 0 {
		name := o.config
		if name == "" {
			name = filepath.Join(a.paths.Config, "mcp.yaml")
		}
		return readMCPFile(name, a.getenv, a.environ)
	}
	if o.config != "" {
		return nil, usage(errors.New("the servers are those of a file, or the one of a command, and not both"), "sayso mcp --listen "+defaultMCPListen+" --config "+asTyped(o.config))
	}
	if o.name == "" {
		var err error
		if o.name, err = gateway.NameOf(args); err != nil {
			return nil, usage(err, "sayso mcp --listen "+defaultMCPListen+" --name NAME -- COMMAND ARGS...")
		}
	}
	if err := checkServerName(o.name); err != nil {
		return nil, err
	}
	if _, err := gateway.Identity(args); err != nil {
		return nil, hint(err, "sayso mcp --listen ADDRESS --name NAME -- COMMAND ARGS...; is the command installed?")
	}
	return &mcpFile{servers: []mcpUpstream{{name: o.name, args: args}}}, nil
}

// checkLoopback refuses addresses that others reach: a token, and what calls say,
// could be read along.
func checkLoopback(at string) error {
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		return usage(fmt.Errorf("the address to listen on is %s: %w", asTyped(at), err), "sayso mcp --listen "+defaultMCPListen)
	}
	if _, ok := address.Loopback(host); !ok {
		return usage(fmt.Errorf("%w: others reach %s, and clients of other machines are not served", sayso.ErrNotAllowed, asTyped(at)), "sayso mcp --listen "+defaultMCPListen)
	}
	return nil
}

// front is what stands in front of servers.
func (a *app) front(base gateway.Options, servers []mcpUpstream) (*gateway.Handler, error) {
	var behind []gateway.Upstream
	for _, s := range servers {
		o := base
		o.Name, o.Session = s.name, serverSession(s.name)
		u := gateway.Upstream{
			Options: o, Args: s.args, Env: s.env, Stderr: a.err,
			URL: s.url, Header: s.header, PassAuthorization: s.passes, Owners: s.tokens,
		}
		if s.login {
			to, err := a.logins().To(s.url)
			if err != nil {
				return nil, err
			}
			u.Login = to
			if there, err := to.There(); err == nil && !there {
				a.note("nobody is logged in for %s yet; type: %s", s.name, oauth.Command(s.url))
			}
		}
		behind = append(behind, u)
	}
	tokens := a.paths.Tokens()
	return gateway.NewHandler(gateway.HandlerOptions{Authenticate: func(secret string) (string, error) {
		t, err := tokens.Authenticate(secret, a.now())
		if err == nil && !t.Kind.Asks() {
			err = fmt.Errorf("%w: a client of a tool has a token of kind agent", sayso.ErrNotAllowed)
		}
		return t.Name, err
	}}, behind...)
}

// mcpServe serves until ctx ends.
func (a *app) mcpServe(ctx context.Context, front *gateway.Handler, servers []mcpUpstream, at string) error {
	network := "tcp"
	if a, err := netip.ParseAddrPort(at); err == nil && a.Addr().Is4() {
		network = "tcp4"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, network, at)
	if err != nil {
		return errors.Join(hint(err, "sayso mcp --listen 127.0.0.1:0"), front.Close(context.WithoutCancel(ctx)))
	}
	for _, s := range servers {
		a.note("%s is at http://%s/%s/mcp", s.name, l.Addr(), s.name)
	}
	err = front.Serve(ctx, l)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, front.Close(ctx))
}

// serverSession is what the sessions of calls to a server are called by that come
// over HTTP: the same until the machine is started anew, so that what was asked is
// taken up.
func serverSession(name string) string {
	id, _, _ := boot.Now() // without, the name is all there is
	sum := sayso.HashOf("sayso/mcp server/1", []byte(id), []byte(name))
	return fmt.Sprintf("mcp-%.64s-%s", name, hex.EncodeToString(sum[:4]))
}
