package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

// place is where the gate of this machine is. `sayso init` writes it into the
// arguments of the hook: a project's settings can set variables for the hooks
// of its host, and must not move the gate.
type place struct {
	state, config, runtime string
	server, tokenFile      string
}

// invocation is what the arguments say.
type invocation struct {
	host   Host
	strict bool
	place  place
	pinned bool
}

// usage is what a person is told.
const usage = `usage: sayso-hook HOST [--strict] [--state DIR --config DIR --runtime DIR [--server URL] [--token-file FILE]]

An agent starts it on every call, and sayso init writes it into the agent's
settings. It reads the call on standard input. HOST is one of
%s.
`

// asksHow reports whether a person started the hook, and not a host.
func (env *Env) asksHow() bool {
	if len(env.Args) > 0 {
		return env.Args[0] == "--help" || env.Args[0] == "-h"
	}
	f, ok := env.Stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// flags reads the arguments: the host, --strict, and where the gate is. A mode
// that loosens is no flag here: one process lives for one call, so its end
// could not be kept.
func flags(args []string) (in invocation, err error) {
	found := false
	if len(args) > 0 {
		in.host, found = Find(args[0])
	}
	if !found {
		return in, fmt.Errorf("%w: no host is called %q; type: sayso-hook HOST, which is one of %s", sayso.ErrUnavailable, args, names())
	}
	values := map[string]*string{
		"--state": &in.place.state, "--config": &in.place.config, "--runtime": &in.place.runtime,
		"--server": &in.place.server, "--token-file": &in.place.tokenFile,
	}
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		switch into := values[rest[0]]; {
		case rest[0] == "--strict":
			in.strict = true
		case rest[0] == "--approve-all":
			return in, fmt.Errorf("%w: a hook cannot approve everything; type: sayso mode approve_all --for 30m", sayso.ErrUnavailable)
		case into == nil:
			return in, fmt.Errorf("%w: the hook knows no %q; type: sayso init %s", sayso.ErrUnavailable, rest[0], in.host.Name)
		case len(rest) < 2 || rest[1] == "":
			return in, fmt.Errorf("%w: %s has no value; type: sayso init %s", sayso.ErrUnavailable, rest[0], in.host.Name)
		default:
			*into, rest = rest[1], rest[1:]
		}
	}
	return in, in.check()
}

// check refuses half a place.
func (in *invocation) check() error {
	folders := []string{in.place.state, in.place.config, in.place.runtime}
	in.pinned = strings.Join(folders, "") != ""
	if !in.pinned {
		if in.place.server != "" || in.place.tokenFile != "" {
			return fmt.Errorf("%w: --server and --token-file go with --state, --config and --runtime; type: sayso init %s", sayso.ErrUnavailable, in.host.Name)
		}
		return nil
	}
	if slices.ContainsFunc(folders, func(dir string) bool { return !filepath.IsAbs(dir) }) {
		return fmt.Errorf("%w: --state, --config and --runtime are three absolute folders; type: sayso init %s", sayso.ErrUnavailable, in.host.Name)
	}
	return nil
}

// settle puts the place from the arguments over what the environment says. Of
// the environment only what moves nothing is left.
func (in *invocation) settle(env *Env) {
	if !in.pinned {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(env.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "XDG_") || name == "HOME" ||
			name == "SAYSO_HOME" || name == "SAYSO_SERVER" || name == "SAYSO_TOKEN_FILE"
	})
	if in.place.server != "" {
		kept = append(kept, "SAYSO_SERVER="+in.place.server)
	}
	if in.place.tokenFile != "" {
		kept = append(kept, "SAYSO_TOKEN_FILE="+in.place.tokenFile)
	}
	env.Environ = kept
	env.paths = &home.Paths{State: in.place.state, Config: in.place.config, Runtime: in.place.runtime}
}

// find says where everything lies.
func (env *Env) find() (home.Paths, error) {
	if env.paths != nil {
		return *env.paths, nil
	}
	return home.Find(lookup(env.Environ))
}
