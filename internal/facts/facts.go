// Package facts gathers, on the machine where a call would run, what policy
// must know and cannot see: where the paths of a call lead, what the root of
// the project is, and which bytes a command would run.
//
// What is found is only ever a reason to be stricter. What cannot be found is
// left out or marked, and policy asks; see [sayso.Facts].
//
// A call costs a few system calls for each path that it names, and a command that
// reads whole folders a look through them, of bounded length. Nothing is gathered for
// the calls that name none.
package facts

import (
	"context"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Options say what the enforcement point knows. The zero Options are usable.
type Options struct {
	// Workspace is the root of the project, if the host says so. It is better
	// than what is found from the call's working directory, which an agent may
	// be able to choose.
	Workspace string
	// State lists the folders of our own database, tokens, socket and
	// configuration.
	State []string
	// Home is the person's folder. It is never taken for a project, although
	// it may be under version control.
	Home string
	// HostHome is the folder that the host puts for a tilde, the HOME of its
	// environment, if that may be another: a project's settings may have set it.
	HostHome string
	// Roots are the folders that the policy names: from the root, or from the
	// workspace.
	Roots []string
	// Policy is the version of that policy, if it is known.
	Policy string
	// FS is where paths are resolved; nil for this machine's.
	FS path.FS
}

// Gather returns the facts about a call. It does not fail: what could not be
// found out is missing from the facts, or unknown in them.
func Gather(ctx context.Context, c sayso.Call, o Options) sayso.Facts {
	if o.FS == nil {
		o.FS = path.OS{}
	}
	g := gatherer{ctx: ctx, call: c, fs: o.FS, homes: []string{o.Home, o.HostHome}, rooted: len(o.Roots) > 0}
	g.facts.Workspace = g.workspace(o)
	for _, dir := range o.State {
		if r, err := path.Resolve(o.FS, c.Cwd, dir); err == nil {
			dir = r.Path // else the name itself is guarded
		}
		g.facts.State = append(g.facts.State, dir)
	}
	if r, err := g.folder(c.Cwd); err == nil {
		g.facts.Cwd = r.Path
	}
	if g.rooted {
		g.facts.Policy = o.Policy
	}
	g.roots(o)
	tool := c.Known()
	if tool.Primary != "" {
		g.primary(tool)
	}
	return g.facts
}

type gatherer struct {
	ctx   context.Context
	call  sayso.Call
	fs    path.FS
	homes []string // what a tilde may stand for; some may be empty
	facts sayso.Facts

	known map[string]resolved // folders that were resolved: the same one is asked for again and again

	rooted bool            // the policy names folders
	base   string          // what they are relative to: the project, also where it is none
	globs  int             // that were looked at
	seen   map[string]bool // places of a command that were looked up
	apart  bool            // they are kept for those who look back

	begins    bool // a command of the line may make a repository
	unsettled bool // a command of the line may change what git ignores

	walked, beneath int // folders that were looked through, and names in them
	ignoreWork      int // what it took to know which of those are ignored
	indexWork       int // and which git has

	trackedIn map[string]trackedFiles // by the roots of repositories
}

// resolved is what came of resolving a folder.
type resolved struct {
	path.Result
	err error
}

// folder resolves a folder that has an absolute name, once.
func (g *gatherer) folder(dir string) (path.Result, error) {
	r, ok := g.known[dir]
	if !ok {
		r.Result, r.err = path.Resolve(g.fs, "", dir)
		if g.known == nil {
			g.known = map[string]resolved{}
		}
		g.known[dir] = r
	}
	return r.Result, r.err
}

// roots finds the folders that the policy names, from the root or from the
// workspace. One that cannot be found is left out.
func (g *gatherer) roots(o Options) {
	for _, root := range o.Roots {
		if root == "" || root[0] != '/' && g.base == "" {
			continue
		}
		r, err := path.Resolve(g.fs, g.base, root)
		if err != nil || r.State == path.File || r.State == path.Special {
			continue
		}
		g.facts.Roots = append(g.facts.Roots, sayso.RootFact{Root: root, Resolved: r.Path})
	}
}

// workspace returns the resolved root of the project, empty when there is
// none that would be safe to name.
func (g *gatherer) workspace(o Options) string {
	from := o.Workspace
	if from == "" {
		from = g.call.Cwd
	}
	at, err := g.folder(from)
	if err != nil || at.State != path.Dir && at.State != path.Missing {
		return ""
	}
	home := o.Home
	if r, err := g.folder(home); err == nil {
		home = r.Path
	}
	if o.Workspace == "" {
		at.Path = g.repository(at.Path, home)
	}
	g.base = at.Path
	if host, err := g.folder(o.HostHome); err == nil && sayso.Beneath(at.Path, host.Path) {
		return ""
	}
	if at.Path == "/" || sayso.Beneath(at.Path, home) {
		return "" // what the person keeps is no project
	}
	return at.Path
}

// repository returns the nearest folder from dir upwards that holds .git, or
// dir. It does not look in the person's folder or in the root.
func (g *gatherer) repository(dir, home string) string {
	for at := dir; at != "/" && at != "" && at != home; at = at[:strings.LastIndexByte(at, '/')] {
		if _, err := g.fs.Lstat(at + "/.git"); err == nil {
			return at
		}
	}
	return dir
}

// primary gathers what there is to know of the argument that rules match on.
func (g *gatherer) primary(tool sayso.Tool) {
	var args map[string]any
	if jcs.UnmarshalLenient(g.call.Args, &args) != nil {
		g.facts.Truncated = true
		return
	}
	value, given := args[tool.Primary]
	text, isText := value.(string)
	if given && !isText {
		g.facts.Truncated = true
		return
	}
	switch {
	case tool.Patch && given:
		g.patch(tool.Primary, text)
	case tool.Operand == sayso.OperandPath && given:
		g.operand(tool.Primary, text)
		g.search(tool, args)
		g.changed()
	case tool.Operand == sayso.OperandPath && tool.Optional && g.call.Cwd != "":
		g.operand(tool.Primary, ".")
		g.search(tool, args)
	case tool.Kind == sayso.KindShell && given:
		g.command(text)
		g.places(tool.Primary, text)
	}
}

// operand adds where a path leads, for everybody who may read it: the kernel,
// and a host that tidies it before it opens it.
func (g *gatherer) operand(arg, text string) {
	g.reading(arg, text, text)
	for _, other := range g.hostReadings(text) {
		g.reading(arg, text, other)
	}
}

// reading adds where one reading of a path leads. A program that cleans the
// path before it opens it, as many do, removes a dot-dot together with the link
// before it and ends elsewhere than the kernel would: then both places are
// named.
func (g *gatherer) reading(arg, given, text string) {
	if text != "" && text[0] != '/' && g.call.Cwd == "" {
		g.facts.Truncated = true
		return
	}
	first := g.fact(arg, text)
	g.name(first, given)
	if !strings.Contains(text, "..") || first.Resolved == "" {
		return
	}
	abs := text
	if text[0] != '/' {
		abs = g.call.Cwd + "/" + text
	}
	g.name(g.fact(arg, clean(abs)), given)
}

// name adds a place, unless it is there already.
func (g *gatherer) name(f sayso.PathFact, given string) {
	f.Path = given
	for _, o := range g.facts.Operands {
		if o.Arg == f.Arg && o.Resolved == f.Resolved {
			return
		}
	}
	g.facts.Operands = append(g.facts.Operands, f)
}

func (g *gatherer) fact(arg, text string) sayso.PathFact {
	r, err := path.Resolve(g.fs, g.call.Cwd, text)
	if err != nil {
		return sayso.PathFact{Arg: arg, Path: text, State: sayso.PathUnknown}
	}
	return sayso.PathFact{Arg: arg, Path: text, Resolved: r.Path, State: sayso.PathState(r.State), Links: r.Links}
}

// clean removes dots and dot-dots from the text of an absolute path.
func clean(abs string) string {
	var out []string
	for name := range strings.SplitSeq(abs, "/") {
		switch {
		case name == "" || name == ".":
		case name != "..":
			out = append(out, name)
		case len(out) > 0:
			out = out[:len(out)-1]
		}
	}
	return "/" + strings.Join(out, "/")
}
