package sayso

import "slices"

// Facts are what policy must know of the machine where the call would run,
// gathered there. They are as trustworthy as the enforcement point. A fact
// that is missing or cut short asks; it never allows.
type Facts struct {
	// Policy is the version of the policy whose folders they say the places of;
	// empty if they were gathered for none.
	Policy string `json:"policy,omitempty"`
	// Workspace is the resolved root of the project; empty when unknown.
	Workspace string `json:"workspace,omitempty"`
	// Cwd is the resolved working directory of the call; empty when unknown.
	Cwd string `json:"cwd,omitempty"`
	// State lists the resolved folders that hold our own database, tokens and
	// configuration.
	State []string `json:"state,omitempty"`
	// Roots are where the folders are that the policy names.
	Roots []RootFact `json:"roots,omitempty"`
	// Operands are the paths that the call names. Those of a command are there
	// if the policy names roots, from every folder that the command may run in, and
	// always where a word leads to, or a glob stands for, a file that steers others
	// or holds secrets.
	Operands []PathFact `json:"operands,omitempty"`
	// Words are where the words of a command lead, where the policy names no roots
	// and does not need to know. They are for those who look back at the call with
	// another policy; nothing is decided by them.
	Words []PathFact `json:"words,omitempty"`
	// Files are the contents of workspace files that a command names.
	Files []FileFact `json:"files,omitempty"`
	// Secrets are the files, known by their names to hold keys, passwords or tokens,
	// that lie in a folder that is searched, however deep, and that the search does not
	// leave out. In what version control, package managers and builds keep for
	// themselves they are not looked for.
	Secrets []string `json:"secrets,omitempty"`
	// Trees are the folders that a command reads with all that is beneath them; of a
	// search those of which there was too much to look at.
	Trees []TreeFact `json:"trees,omitempty"`
	// Truncated says that there was more than could be gathered.
	Truncated bool `json:"truncated,omitempty"`
}

// FactsWanted is what facts are to be about: the folders that a policy names.
type FactsWanted struct {
	Policy string   `json:"policy"` // its version
	Roots  []string `json:"roots"`  // as it writes them
}

// Equal reports whether both say the same: that a call would still mean on
// this machine what it meant when the others were gathered. What nothing is
// decided by is not compared.
func (f Facts) Equal(o Facts) bool {
	return f.Workspace == o.Workspace && f.Cwd == o.Cwd && f.Truncated == o.Truncated && slices.Equal(f.State, o.State) && sameTrees(f.Trees, o.Trees) &&
		slices.Equal(f.Roots, o.Roots) && slices.Equal(f.Operands, o.Operands) && slices.Equal(f.Files, o.Files) && slices.Equal(f.Secrets, o.Secrets)
}

// Unmoved reports whether a call still means on this machine what it meant when
// other facts were gathered. For one policy that is [Facts.Equal]. Facts for
// different policies say where different folders are, so those that only one of
// them names are left aside; a path that was looked up before must have been
// looked up again. Of facts that were cut short that cannot be told.
func (f Facts) Unmoved(before Facts) bool {
	if f.Policy == before.Policy {
		return f.Equal(before)
	}
	return !f.Truncated && f.Workspace == before.Workspace && f.Cwd == before.Cwd && slices.Equal(f.State, before.State) &&
		slices.Equal(f.Files, before.Files) && slices.Equal(f.Secrets, before.Secrets) && sameTrees(f.Trees, before.Trees) &&
		rootsAgree(f.Roots, before.Roots) && f.leadsAs(before)
}

// rootsAgree reports whether the folders that both name lead to the same places.
func rootsAgree(a, b []RootFact) bool {
	for _, root := range a {
		other := slices.IndexFunc(b, func(r RootFact) bool { return r.Root == root.Root })
		if other >= 0 && b[other] != root {
			return false
		}
	}
	return true
}

// leadsAs reports whether all paths lead where they led. Where a policy names no
// folders, those of a command are among the words.
func (f Facts) leadsAs(before Facts) bool {
	now, then := f.byPath(), before.byPath()
	for path, places := range then {
		if !slices.Equal(now[path], places) {
			return false
		}
	}
	return true
}

// byPath are the places that each path of the call was found to lead to.
func (f Facts) byPath() map[[2]string][]PathFact {
	out := make(map[[2]string][]PathFact, len(f.Operands)+len(f.Words))
	for _, list := range [...][]PathFact{f.Operands, f.Words} {
		for _, o := range list {
			path := [2]string{o.Arg, o.Path}
			out[path] = append(out[path], o)
		}
	}
	return out
}

// ForNoPolicy are the facts without what is only true of the folders that some
// policy names: as they would be had they been gathered for none.
func (f Facts) ForNoPolicy() Facts {
	f.Policy, f.Roots = "", nil
	return f
}

// PathState is what was found at a path.
type PathState string

// The path states.
const (
	PathFile    PathState = "file"
	PathDir     PathState = "dir"
	PathMissing PathState = "missing" // its parent was resolved
	PathSpecial PathState = "special" // a device, a socket, a FIFO
	PathUnknown PathState = "unknown" // could not be resolved
)

// PathFact is where one path operand leads.
type PathFact struct {
	Arg      string    `json:"arg"`      // the argument it came from
	Path     string    `json:"path"`     // as given; of a command, behind the folder it is relative to
	Resolved string    `json:"resolved"` // absolute, links followed; empty when unknown
	State    PathState `json:"state"`
	Links    int       `json:"links,omitempty"` // names the file has
	// Digest is of the content of a file that the call would change, so that a
	// yes to the change that was shown is not one to another. It is none for
	// files that are not changed, are too large, or cannot be read.
	Digest Digest `json:"digest,omitzero"`
}

// TreeFact is what lies beneath a folder that a command reads as a whole.
type TreeFact struct {
	Path string `json:"path"` // as the command names it, behind the folder it is relative to
	// Untracked says that only those were looked for that git would take in: that it
	// neither has under version control nor is told to ignore.
	Untracked bool `json:"untracked,omitempty"`
	// Secrets are the files, known by their names to hold keys, passwords or tokens,
	// from there on. In what version control, package managers and builds keep for
	// themselves they are not looked for.
	Secrets []string `json:"secrets,omitempty"`
	// Cut says that there was too much to look at: then it is not known what is there.
	Cut bool `json:"cut,omitempty"`
}

func sameTrees(a, b []TreeFact) bool {
	return slices.EqualFunc(a, b, func(x, y TreeFact) bool {
		return x.Path == y.Path && x.Untracked == y.Untracked && x.Cut == y.Cut && slices.Equal(x.Secrets, y.Secrets)
	})
}

// RootFact is where a folder that the policy names leads on this machine.
type RootFact struct {
	Root     string `json:"root"`     // as the policy names it
	Resolved string `json:"resolved"` // absolute, links followed; empty when unknown
}

// FileFact pins the content of a file that a command may run.
type FileFact struct {
	Path   string `json:"path"`
	Digest Digest `json:"digest"`
}

// Operand returns the fact about the path in the named argument.
func (f Facts) Operand(arg string) (PathFact, bool) {
	for _, o := range f.Operands {
		if o.Arg == arg {
			return o, true
		}
	}
	return PathFact{}, false
}

// Beneath reports whether the clean absolute path lies in root or is it,
// component by component.
func Beneath(root, path string) bool {
	if root == "" || path == "" {
		return false
	}
	if root == "/" || path == root {
		return true
	}
	return len(path) > len(root) && path[:len(root)] == root && path[len(root)] == '/'
}
