package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/oauth"
	"github.com/sayso-dev/sayso/redact"
)

func (a *app) initMCPCommand() *cobra.Command {
	var o initOptions
	names := strings.Join(install.ClientNames(), ", ")
	c := &cobra.Command{
		Use: "mcp CLIENT [SERVER...]", Short: "puts the MCP servers of a client behind the gate, or takes them out",
		Long: `Rewrites a client's list of MCP servers so that each is started by sayso mcp, after
showing what changes, and keeps a copy of what was there. Names, variables and
everything else in the file stay as they are, so rules hold. A server over HTTP
whose entry has headers that say who asks is reached by sayso mcp --url: its
address and its headers become variables of the same entry, as they are written.
To one without the client may log in; behind the gate you do, once, by sayso mcp
login URL, which is said of each. With --undo the client starts and reaches its
servers itself again; later edits are kept, and nothing but the file is needed.
The clients are: ` + names + `.`,
		Example:   "  sayso init mcp claude-code\n  sayso init mcp codex files --dry-run",
		ValidArgs: install.ClientNames(),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && slices.Contains(install.ClientNames(), args[0]) {
				return nil
			}
			return usage(errors.New("init mcp takes the name of a client, and knows "+names), "sayso init mcp claude-code; for any other client, write into its list: sayso mcp --name NAME -- COMMAND ARGS...")
		},
		RunE: func(c *cobra.Command, args []string) error {
			client, _ := install.FindClient(args[0])
			return a.initMCP(c.Context(), client, args[1:], o)
		},
	}
	c.Flags().StringVar(&o.scope, "scope", "user", "whose list: user, project, or local (Claude Code)")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "show what would change and stop")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.undo, "undo", false, "have the client start its servers itself again")
	return c
}

func (a *app) initMCP(ctx context.Context, client install.Client, names []string, o initOptions) error {
	if err := a.noAgent("changing the wiring"); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	all := client.Lists(a.getenv, dir)
	lists, err := client.Of(all, install.Scope(o.scope))
	if err != nil {
		return usage(err, "sayso init mcp "+client.Name+" --scope "+string(client.Scopes[0]))
	}
	if any, err := a.findServers(client, lists, all, names); err != nil || !any {
		return err
	}
	edit := func(l install.List, text []byte) ([]byte, error) { return l.Take(text, names) }
	if !o.undo {
		program, err := a.ownProgram()
		if err != nil {
			return err
		}
		g := install.Gateway{Program: program, Place: a.placeArgs()}
		edit = func(l install.List, text []byte) ([]byte, error) { return l.Put(text, g, names) }
		a.note("a server is then started by: %s", strings.Join(slices.Concat([]string{program, "mcp --name NAME"}, g.Place, []string{"-- COMMAND"}), " "))
		a.warnOf(client, o)
	}
	changed := false
	for _, l := range lists {
		done, err := a.editList(ctx, l, edit, o)
		if err != nil {
			return err
		}
		changed = changed || done
	}
	if !changed || o.undo {
		return nil
	}
	return a.wiredServers(client)
}

// findServers refuses names that no list has, and says where it was looked, and where of all
// lists there are some. It reports whether there are servers at all.
func (a *app) findServers(client install.Client, lists, all []install.List, names []string) (bool, error) {
	var known, paths []string
	for _, l := range lists {
		paths = append(paths, l.Path)
		_, servers, err := readList(l)
		if err != nil {
			return false, hint(fmt.Errorf("%s: %w", l.Path, err), "mend the file by hand, then run the command again")
		}
		for _, s := range servers {
			known = append(known, s.Name)
		}
	}
	there := "there are: " + printable(strings.Join(known, ", "))
	if len(known) == 0 {
		there = "there are none"
		a.note("%s has no MCP servers in %s%s", client.Title, strings.Join(slices.Compact(paths), " or "), otherScopes(client, lists, all))
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return false, usage(fmt.Errorf("%w: no server is called %s; %s", sayso.ErrNotFound, quote(name), there), "sayso init mcp "+client.Name+" --dry-run")
		}
	}
	return len(known) > 0, nil
}

// otherScopes says which lists have servers where those that were looked at have none.
func otherScopes(client install.Client, lists, all []install.List) (text string) {
	for _, l := range all {
		looked := slices.ContainsFunc(lists, func(o install.List) bool { return o.Scope == l.Scope })
		if _, servers, err := readList(l); err == nil && len(servers) > 0 && !looked {
			text += fmt.Sprintf("; %s has %d: sayso init mcp %s --scope %s", l.Path, len(servers), client.Name, l.Scope)
		}
	}
	if text == "" && len(client.Scopes) > 1 {
		text = ", nor in those of other scopes"
	}
	return text
}

func readList(l install.List) (text []byte, servers []install.Server, err error) {
	if text, err = install.Read(l.Path); err != nil {
		return nil, nil, err
	}
	servers, err = l.Servers(text)
	return text, servers, err
}

// editList shows what becomes of each server of a list, asks, and writes.
func (a *app) editList(ctx context.Context, l install.List, edit func(install.List, []byte) ([]byte, error), o initOptions) (done bool, err error) {
	old, before, err := readList(l)
	if err != nil || len(before) == 0 {
		return false, err
	}
	text, err := edit(l, old)
	if err != nil {
		return false, hint(fmt.Errorf("%s: %w", l.Path, err), "mend the file by hand, then run the command again")
	}
	after, err := l.Servers(text)
	if err != nil {
		return false, err
	}
	shown, err := a.leads(install.Place{Scope: l.Scope, Path: l.Path})
	if err != nil {
		return false, err
	}
	a.print("%s", shown)
	var rows [][]string
	for i, s := range after {
		rows = append(rows, []string{"  " + printable(s.Name), a.becomes(before[i], s, o)})
	}
	if err := table(a.out, rows); err != nil {
		return false, err
	}
	known := a.namesakes(l)
	for _, s := range after {
		if !s.Gated || o.undo {
			continue
		}
		if why := clash(s, "this list", known); why != "" {
			a.note("warning: %s", printable(why))
		}
	}
	if string(old) == string(text) {
		a.print("nothing to change")
		return false, nil
	}
	return a.write(ctx, l.Path, old, text, o)
}

// leads is a path as it is shown, with where it leads if it is a link. One of a project
// that leads out of it is refused.
func (a *app) leads(p install.Place) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	real, err := install.Real(p, dir)
	switch {
	case err != nil:
		return "", hint(err, "put a file in the place of the link, or edit by hand the file that it leads to")
	case real != p.Path:
		return printable(p.Path) + ", which leads to " + printable(real), nil
	}
	return printable(p.Path), nil
}

// becomes says what becomes of a server.
func (a *app) becomes(before, after install.Server, o initOptions) string {
	if after.Gated {
		if why := a.elsewhere(after); why != "" {
			return "NOT KNOWN to go through this gate: it " + printable(redact.Scrub(why))
		}
	}
	switch {
	case !before.Gated && after.Gated && before.Open:
		return "goes through the gate from now on, as " + printable(after.Known) + ": " + starts(after) + "; if it wants a login: " + a.loginFor(before.URL)
	case !before.Gated && after.Gated:
		return "goes through the gate from now on, as " + printable(after.Known) + ": " + starts(after)
	case before.Gated && !after.Gated:
		return "goes round the gate from now on: " + starts(after)
	case o.undo && after.Gated && after.URL != "" && !after.Brought():
		return "goes through the gate still: its entry is not one that sayso init mcp wrote; edit it by hand"
	case after.Gated && after.Known == "":
		return "goes through the gate, where policies know it by the name of its program; give it one: --name " + install.RuleName(after.Name)
	case after.Gated && after.Known != install.RuleName(after.Name):
		return "goes through the gate, where policies know it as " + printable(after.Known)
	case after.Gated:
		return "goes through the gate"
	case o.undo:
		return "is as it was"
	case after.Odd != "":
		return "NOT GATED, and left as it is: " + after.Odd
	case after.Left != "":
		return "NOT GATED, and left as it is: " + after.Left
	}
	return "NOT GATED: it was not named"
}

// loginFor is what to type to log in to a server, or that somebody did.
func (a *app) loginFor(address string) string {
	if to, err := a.logins().To(address); err == nil {
		if there, err := to.There(); err == nil && there {
			return "you are logged in"
		}
	}
	return printable(oauth.Command(address))
}

// starts is the command of a server, or where it is, safe for the eye.
func starts(s install.Server) string {
	if len(s.Command) == 0 {
		return "the server at " + hostIn(s.URL)
	}
	return printable(redact.Scrub(strings.Join(s.Command, " ")))
}

// hostIn is the part of an address that is shown: in the rest a secret may stand.
func hostIn(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "an address"
	}
	return printable(u.Scheme + "://" + u.Host)
}

// warnOf says what a person should know before they agree.
func (a *app) warnOf(client install.Client, o initOptions) {
	if !client.Run {
		a.note("warning: %s was never run with this gate; where it has its list is what its documentation says", client.Title)
	}
	if o.scope == string(install.ScopeProject) {
		a.note("warning: this list is shared with everybody who works here, and names programs and folders of this machine")
	}
}

// wiredServers makes the tokens that the gateway and the person need, and says
// what is next.
func (a *app) wiredServers(client install.Client) error {
	for _, actor := range []sayso.Actor{home.OwnActor(sayso.PrincipalAgent, sayso.HostMCP, "mcp"), a.person(), a.admin()} {
		if err := a.paths.Mint(a.now(), actor); err != nil {
			return fmt.Errorf("the list is written, but the token is not: %w", err)
		}
	}
	a.note("next: start %s again, since it reads its list when it starts, and in another terminal `sayso watch`", client.Title)
	return nil
}

// ownProgram is where this program is.
func (a *app) ownProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	if filepath.Base(self) == "sayso" {
		return self, nil
	}
	found, err := exec.LookPath("sayso")
	if err != nil {
		return "", hint(fmt.Errorf("this program is called %s, and there is no sayso in PATH", filepath.Base(self)), "make install")
	}
	return filepath.Abs(found)
}
