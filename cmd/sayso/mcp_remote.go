package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/garbage"
)

// howRemote is what to type for a server over HTTP.
const howRemote = "sayso mcp --name NAME --url https://HOST/PATH --header 'Authorization=Bearer env:VARIABLE'"

// mcpRemote stands in front of one server that speaks HTTP, for a client on standard
// input and output.
func (a *app) mcpRemote(ctx context.Context, o mcpOptions, args []string) error {
	switch {
	case o.listens:
		return usage(errors.New("with --listen, servers over HTTP stand in a file"), "sayso mcp --listen "+defaultMCPListen+" --config FILE; docs/mcp.md says what the file holds")
	case o.url == "":
		return usage(errors.New("--header and --plain-http are about a server over HTTP, and there is no --url"), howRemote)
	case len(args) > 0:
		return usage(errors.New("the server is a command, or has an address, and not both"), howRemote)
	}
	remote, err := a.remote(o)
	if err != nil {
		return err
	}
	if o.name == "" {
		if o.name = hostOf(remote.URL); o.name == "" {
			return usage(errors.New("the address of this server says no name that can be shown"), "--name NAME")
		}
	}
	if err := checkServerName(o.name); err != nil {
		return err
	}
	a.ofLogin(&remote)
	relay, closing, err := a.relay(ctx, o)
	if err != nil {
		return err
	}
	garbage.Tune(ctx)
	end, err := remote.Serve(ctx, relay, a.in, a.out)
	if err = errors.Join(err, closing()); err != nil {
		return err
	}
	return mirror(end)
}

// remote is the server that the flags say.
func (a *app) remote(o mcpOptions) (gateway.Remote, error) {
	r := gateway.Remote{URL: o.url, Header: http.Header{}, Plain: o.plain, Signals: handedOn()}
	if name, ok := strings.CutPrefix(o.url, "env:"); ok {
		value, err := a.variable(name)
		if err != nil {
			return r, err
		}
		r.URL = value
	}
	check := r.URL
	at, err := url.Parse(check)
	plain := err == nil && at.Scheme == "http"
	if plain && o.plain {
		at.Scheme = "https" // all else is as it must be
		check = at.String()
	}
	if err := gateway.CheckURL(check); err != nil {
		how := howRemote
		if plain && !o.plain {
			how = "the address with https, or --plain-http where nobody else is on the way"
		}
		return r, usage(err, how)
	}
	for _, text := range o.headers {
		name, value, err := a.headerOf(text)
		if err != nil {
			return r, err
		}
		if r.Header.Get(name) != "" {
			return r, usage(fmt.Errorf("%w: --header %s stands twice", sayso.ErrInvalid, name), howRemote)
		}
		r.Header.Set(name, value)
	}
	return r, nil
}

// headerFlag is how a header is given: its value, or what stands behind a word as
// Bearer, is in the environment.
var headerFlag = regexp.MustCompile(`^([^=: ]+)=(?:([A-Za-z][A-Za-z0-9-]{0,15}) )?env:(.*)$`)

// headerOf is a header with its value. What is wrong with one is told without it: it
// may hold a secret.
func (a *app) headerOf(text string) (name, value string, err error) {
	m := headerFlag.FindStringSubmatch(text)
	if m == nil {
		return "", "", usage(fmt.Errorf("%w: a --header names a variable of the environment that holds its value; on a command line others would read it", sayso.ErrInvalid),
			"--header NAME=env:VARIABLE, or --header 'NAME=Bearer env:VARIABLE'")
	}
	if !address.Settable(m[1]) {
		return "", "", usage(fmt.Errorf("%w: %s is no header that can be set here", sayso.ErrInvalid, asTyped(m[1])), howRemote)
	}
	if value, err = a.variable(m[3]); err != nil {
		return "", "", err
	}
	if m[2] != "" {
		value = m[2] + " " + value
	}
	return http.CanonicalHeaderKey(m[1]), value, nil
}

// variable is the value of a variable of the environment that is to be sent.
func (a *app) variable(name string) (string, error) {
	if !variableName.MatchString(name) {
		return "", usage(fmt.Errorf("%w: behind env: stands the name of a variable of the environment", sayso.ErrInvalid), "--header NAME=env:VARIABLE")
	}
	value := strings.TrimSpace(a.getenv(name))
	if value == "" {
		return "", usage(fmt.Errorf("%w: %s is not set in the environment", sayso.ErrInvalid, name), "export "+name+"=…, or set it where the client has the variables of this server")
	}
	if reference.MatchString(value) {
		a.note("warning: %s holds a ${…} that nobody put a value in the place of; is that variable set where the client runs?", name)
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return "", usage(fmt.Errorf("%w: %s holds control characters, which no header and no address has", sayso.ErrInvalid, name), "export "+name+"=…")
	}
	return value, nil
}

// hostOf is the host of an address, as a name of a server; empty if it is none. A port
// that is not the scheme's own belongs to it: on one machine stand many servers.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	name := u.Hostname()
	if port := u.Port(); port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		name += "-" + port
	}
	if !serverName.MatchString(name) {
		return ""
	}
	return name
}
