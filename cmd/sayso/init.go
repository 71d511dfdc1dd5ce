package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/present"
)

// initOptions are the flags of init.
type initOptions struct {
	scope          string
	dry, yes, undo bool
	wall           bool // the host's own rule too
	prompts        bool
	hook           string
	programs       map[string]*string // of the hosts, where they were named
	warn           warnings           // what is told when the changes were shown, before the question
}

func (a *app) initCommand() *cobra.Command {
	o := initOptions{programs: map[string]*string{}}
	c := &cobra.Command{
		Use: "init HOST", GroupID: "wire", Short: "puts the gate into an agent's settings, or takes it out",
		Long: `Puts sayso's hook into the settings of an agent, after showing what changes, and
keeps a copy of what was there. Everything else in the file stays as it is.
With --undo it takes out what it put in, keeps later edits, and needs nothing
but the settings file. The agents are: ` + strings.Join(install.Names(), ", ") + `.`,
		ValidArgs: install.Names(),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(install.Names(), args[0]) {
				return nil
			}
			return usage(errors.New("init takes the name of an agent, and knows "+strings.Join(install.Names(), ", ")), "sayso init claude-code")
		},
		RunE: func(c *cobra.Command, args []string) error {
			h, _ := install.Find(args[0])
			return a.init(c.Context(), h, o)
		},
	}
	c.Flags().StringVar(&o.scope, "scope", "user", "whose settings: user, project or local")
	c.Flags().BoolVar(&o.dry, "dry-run", false, "show what would change and stop")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.undo, "undo", false, "take the hook out")
	c.Flags().BoolVar(&o.wall, "second-wall", false, "a rule of the agent's own too, by which it asks where the hook is gone; with --undo, take that out too")
	c.Flags().BoolVar(&o.prompts, "permission-request", false, "claude-code: be asked in the place of its prompt alone, which is no gate")
	programFlags(c.Flags(), o.programs)
	c.Flags().StringVar(&o.hook, "hook", "", "the sayso-hook program (default: beside sayso)")
	c.AddCommand(a.initMCPCommand())
	return c
}

// programFlags adds a flag for the program of each host.
func programFlags(flags *pflag.FlagSet, into map[string]*string) {
	for _, h := range install.Hosts() {
		if h.Program == "" {
			into[h.Name] = new(string)
			continue
		}
		into[h.Name] = flags.String(h.Program, "", "the "+h.Program+" program (default: the one in PATH)")
	}
}

func (a *app) init(ctx context.Context, h install.Host, o initOptions) error {
	if err := a.noAgent("changing the wiring"); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	places := h.Places(a.getenv, dir)
	path, err := h.Place(places, install.Scope(o.scope))
	if err != nil {
		return usage(err, "sayso init "+h.Name+" --scope "+string(h.Scopes[0]))
	}
	if o.wall && h.Wall == nil {
		return usage(errors.New("there is no second wall for "+h.Title+" that init can put; docs/hosts.md says what you can do by hand"), "sayso init "+h.Name)
	}
	if _, err := a.leads(install.Place{Scope: install.Scope(o.scope), Path: path}); err != nil {
		return err
	}
	if o.undo {
		return a.undoInit(ctx, h, path, o)
	}
	if o.prompts && h.Name != claudecode.Host {
		return usage(errors.New("--permission-request is for claude-code; codex has it installed beside its other hooks"), "sayso init "+h.Name)
	}
	program, err := a.hookProgram(o.hook)
	if err != nil {
		return err
	}
	if err := a.willDo(ctx, h, *o.programs[h.Name]); err != nil {
		return err
	}
	old, err := install.Read(path)
	if err != nil {
		return err
	}
	text, err := h.Put(old, install.Hook{Program: program, Place: a.place(), Prompts: o.prompts})
	if err != nil {
		return hint(fmt.Errorf("%s: %w", path, err), "mend the file by hand, then run the command again")
	}
	if o.wall {
		if text, err = a.putWall(ctx, h, path, text, o); err != nil {
			return err
		}
	}
	o.warn = a.initWarnings(h, places, program, o)
	done, err := a.replace(ctx, path, old, text, o)
	if err != nil || !done {
		return err
	}
	if err := a.mint(h); err != nil {
		return err
	}
	a.tellDoubt(h, dir, install.Place{Scope: install.Scope(o.scope), Path: path})
	return nil
}

// initWarnings are what somebody should know before the hook is put in.
func (a *app) initWarnings(h install.Host, places []install.Place, program string, o initOptions) (w warnings) {
	for _, p := range places {
		a.survey(h, p, &w)
	}
	if o.scope == string(install.ScopeProject) {
		w.add("this file is shared with everybody who works here, and names %s on this machine", program)
	}
	if o.prompts {
		w.add("this is no gate: Claude Code asks you as well, at the same time, and what it prompts nobody for comes to nobody; without --permission-request every call is gated")
	}
	return w
}

// tellDoubt says what keeps the host from starting the hook that was put into a
// place.
func (a *app) tellDoubt(h install.Host, dir string, p install.Place) {
	if d := h.InTheWay(a.getenv, dir, p); d != nil {
		a.note("NOT GATED YET: %s", printable(d.Why))
		a.note("type: %s", printable(d.Type))
	}
}

// warnings are what a person should know before they agree.
type warnings []string

func (w *warnings) add(format string, args ...any) {
	*w = append(*w, fmt.Sprintf(format, visible(args)...))
}

func (w warnings) tell(a *app) {
	for _, text := range w {
		a.note("warning: %s", text)
	}
}

// place says where the gate is, for the hook's arguments: the host's variables
// must not move it.
func (a *app) place() []string {
	args := []string{"--state", a.paths.State, "--config", a.paths.Config, "--runtime", a.paths.Runtime}
	if a.settings.Server != "" {
		args = append(args, "--server", a.settings.Server)
	}
	if a.settings.TokenFile != "" {
		args = append(args, "--token-file", a.settings.TokenFile)
	}
	return args
}

// mint makes the tokens of the host and of the person.
func (a *app) mint(h install.Host) error {
	for _, actor := range []sayso.Actor{
		home.OwnActor(sayso.PrincipalAgent, h.Hook(), "hook"), a.person(), a.admin(),
	} {
		if err := a.paths.Mint(a.now(), actor); err != nil {
			return fmt.Errorf("the hook is in place, but its token is not: %w", err)
		}
	}
	a.note("next: start %s, and in another terminal `sayso watch`; %s", cmp.Or(h.Program, h.Title), h.Proof())
	return nil
}

func (a *app) undoInit(ctx context.Context, h install.Host, path string, o initOptions) error {
	old, err := install.Read(path)
	if err != nil {
		return err
	}
	text, err := h.Take(old)
	if err != nil {
		return hint(fmt.Errorf("%s: %w", path, err), "take the entries that name sayso-hook out of the file by hand")
	}
	if h.Wall != nil {
		if text, err = a.takeWall(ctx, h, path, text, o); err != nil {
			return err
		}
	}
	_, err = a.replace(ctx, path, old, text, o)
	return err
}

// replace shows what changes, asks, and writes. done is false if nothing was
// written although something would have changed.
func (a *app) replace(ctx context.Context, path string, old, text []byte, o initOptions) (done bool, err error) {
	if bytes.Equal(old, text) {
		a.print("%s: nothing to change", path)
		o.warn.tell(a)
		return !o.dry, nil
	}
	change := present.Diff(path, string(old), string(text))
	for _, line := range present.Frame(change.Content, 1<<16, "", "") {
		a.print("%s", line)
	}
	a.note("%s: %s", path, linesOf(change))
	o.warn.tell(a)
	return a.write(ctx, path, old, text, o)
}

// linesOf is how many lines a change adds and takes away: what was printed of it may be
// longer than a screen.
func linesOf(change sayso.Presentation) string {
	some := func(name string) int { n, _ := strconv.Atoi(change.Metadata[name]); return n }
	return fmt.Sprintf("%s added, %s removed", count(some("added"), "line"), count(some("removed"), "line"))
}

// write asks, and writes what was shown.
func (a *app) write(ctx context.Context, path string, old, text []byte, o initOptions) (done bool, err error) {
	shown, err := a.leads(install.Place{Path: path}) // with where it leads, whosever it is
	if err != nil {
		return false, err
	}
	if o.dry {
		a.note("nothing was written: %s", shown)
		return false, nil
	}
	if !o.yes {
		if err := a.agree(ctx, "write this to "+shown+"?"); err != nil {
			return false, err
		}
	}
	if gone, err := install.RemoveOwn(path, old, text); gone || err != nil {
		if err == nil {
			a.print("deleted %s: nothing else was in it", path)
		}
		return err == nil, err
	}
	backup, err := install.Replace(path, old, text, a.now())
	if err != nil {
		return false, err
	}
	a.print("wrote %s", shown)
	if backup != "" {
		a.print("what was there before: %s", backup)
	}
	return true, nil
}

// hookProgram finds sayso-hook: where it was said to be, beside this program,
// or in the PATH.
func (a *app) hookProgram(said string) (string, error) {
	if said == "" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		said = filepath.Join(filepath.Dir(self), "sayso-hook")
		if _, err := os.Stat(said); err != nil {
			if found, err := exec.LookPath("sayso-hook"); err == nil {
				said = found
			}
		}
	}
	path, err := filepath.Abs(said)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(path)
	if err != nil || st.IsDir() || st.Mode()&0o111 == 0 {
		return "", hint(fmt.Errorf("there is no program %s", path), "install sayso-hook beside sayso (make install), or name it: --hook PATH")
	}
	return path, nil
}

// willDo refuses a release of a host in which the gate would not hold.
func (a *app) willDo(ctx context.Context, h install.Host, program string) error {
	if h.Program == "" {
		a.note("warning: %s was never run with this gate; what is known of its hooks is what its documentation says", h.Title)
		return nil
	}
	if program == "" {
		found, err := exec.LookPath(h.Program)
		if err != nil {
			a.note("warning: there is no %s in PATH, so its version is not proved; the gate holds from %s on", h.Program, h.Oldest)
			return nil
		}
		program = found
	}
	version, err := install.Version(ctx, program)
	if err != nil {
		return hint(err, "name the program: sayso init %s --%s PATH", h.Name, h.Program)
	}
	return hint(h.Fits(version), "%s", h.Update)
}

// survey says what the host's own rules mean beside ours.
func (a *app) survey(h install.Host, p install.Place, w *warnings) {
	text, err := install.Read(p.Path)
	if err != nil || len(text) == 0 {
		return
	}
	s, err := h.Survey(text)
	if err != nil {
		w.add("%s cannot be read: %v", p.Path, err)
		return
	}
	for _, r := range s.Rules {
		a.tellRule(p, r, w)
	}
	if s.DisableAllHooks {
		w.add("%s sets disableAllHooks: no hook runs, so nothing is gated", p.Path)
	}
	if s.ManagedOnly {
		w.add("%s sets allowManagedHooksOnly: only the machine's own hooks run", p.Path)
	}
	for _, other := range s.OtherHooks {
		w.add("another hook answers too: %s (%s); the strictest answer wins, edits are a race", other, p.Path)
	}
}

func (a *app) tellRule(p install.Place, r install.Rule, w *warnings) {
	where := filepath.Base(p.Path) + " " + r.List + " " + quote(r.Text)
	switch {
	case r.Pattern != "":
		a.note("%s can be taken over into the policy: pattern %s, %s", where, quote(r.Pattern), r.List)
	default:
		a.note("%s stays with the host: %s", where, r.Why)
	}
	if r.List == "ask" {
		w.add("%s: you will be asked twice, by sayso and by the host", where)
	}
}
