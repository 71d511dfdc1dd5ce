package policy

import (
	stdpath "path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// idleRoots are the findings about paths of sandbox.paths that lie in another one
// which says the same: without them that one speaks, and nothing changes. A path
// that rules on commands name is needed for its name.
func (l *linter) idleRoots() []Finding {
	var out []Finding
	for _, t := range l.p.tiers {
		for _, part := range t.File.every() {
			if part.paths == nil {
				continue
			}
			for i, root := range part.paths.rules.Roots {
				outer, ok := l.outer(part.paths.rules.Roots, i)
				if !ok || !alikeRoots(root, outer) || t.File.namesRoot(root.Name) {
					continue
				}
				same := l.sameWithoutRoot(t, part, root, outer)
				if same == 0 {
					continue
				}
				by := rootPattern(t, outer)
				out = append(out, Finding{
					Kind: FindingShadowed, Pattern: rootPattern(t, root), By: &by, Same: same,
					What: "it lies in " + outer.Name + ", which says the same; only where it is a link does it say anything else", Write: "remove it",
				})
			}
		}
	}
	return out
}

// rootPattern is what a finding says of a path.
func rootPattern(t Tiered, root sayso.PathRoot) Pattern {
	return Pattern{Says: root.Write, Text: "sandbox.paths." + root.Name, Tier: t.Tier, Project: t.Workspace, File: t.File.Name, Line: root.Line}
}

// outer is the nearest path that another one lies in, as they are written.
func (l *linter) outer(roots []sayso.PathRoot, i int) (outer sayso.PathRoot, ok bool) {
	at := l.machine.place(roots[i])
	for k, other := range roots {
		folder := l.machine.place(other)
		if k == i || !sayso.Beneath(folder, at) || folder == at && k > i || anchored(other) != anchored(roots[i]) {
			continue
		}
		if !ok || len(folder) > len(l.machine.place(outer)) {
			outer, ok = other, true
		}
	}
	return outer, ok
}

// place is the folder of a path on the sample machine.
func (s sampleMachine) place(root sayso.PathRoot) string {
	at := atHomeOf(root.Root, s.home)
	if at[0] != '/' {
		at = s.workspace + "/" + at
	}
	return stdpath.Clean(at)
}

// anchored reports whether a path is written from the root or from home. One that
// is and one that is not lie in each other in some workspaces alone.
func anchored(root sayso.PathRoot) bool { return root.Root[0] == '/' || root.Root[0] == '~' }

// alikeRoots reports whether two paths permit the same.
func alikeRoots(a, b sayso.PathRoot) bool {
	return a.Read == b.Read && a.ReadSaid == b.ReadSaid && a.Write == b.Write && a.WriteSaid == b.WriteSaid && slices.Equal(a.Suffixes, b.Suffixes)
}

// namesRoot reports whether rules on commands name a path.
func (f *File) namesRoot(name string) bool {
	for _, part := range f.every() {
		if part.shell == nil {
			continue
		}
		for _, rule := range part.shell.rules.Rules {
			if slices.Contains(rule.Paths, name) {
				return true
			}
		}
	}
	return false
}

// sameWithoutRoot returns how many calls come out the same without a path, those aimed at it
// and at the one around it among them; 0 if one does not.
func (l *linter) sameWithoutRoot(t Tiered, part *part, root, outer sayso.PathRoot) int {
	tiers := slices.Clone(l.p.tiers)
	for i := range tiers {
		if tiers[i].Tier == t.Tier && tiers[i].Workspace == t.Workspace {
			tiers[i].File = t.File.withoutRoot(part.paths.position(), root.Name)
		}
	}
	after := l.p.changed(tiers)
	if after == nil {
		return 0
	}
	s := l.machine
	if part.folder != "" {
		s.workspace = stdpath.Clean(atHomeOf(part.folder, s.home))
	} else if t.Workspace != "" {
		s.workspace = t.Workspace
	}
	calls := append(slices.Clip(l.calls), s.rootSamples(root, outer)...)
	for _, a := range calls {
		if withoutReason(outcomeOf(a.judge(l.p))) != withoutReason(outcomeOf(a.judge(after))) {
			return 0
		}
	}
	return len(calls)
}

// withoutReason is an outcome without its reason, which names the path.
func withoutReason(o outcome) outcome {
	o.reason = ""
	return o
}

// rootSamples are calls to all kinds of places in a path and around it.
func (s sampleMachine) rootSamples(root, outer sayso.PathRoot) []*sampleCall {
	var out []*sampleCall
	end := strings.Join(append(slices.Clone(root.Suffixes), ".txt")[:1], "")
	for _, folder := range []string{s.place(root), s.place(outer)} {
		for _, tool := range []string{"file-read", "file-write", "file-edit", "file-delete", "file-list", "file-search"} {
			for _, name := range []string{"", "/a" + end, "/a.odd", "/deep/b" + end, "/.git/config", "/.env"} {
				for _, state := range []sayso.PathState{sayso.PathFile, sayso.PathDir, sayso.PathMissing} {
					out = append(out, s.sampleCall(sayso.Call{Tool: tool}, map[string]any{"path": folder + name}, state))
				}
			}
		}
		for _, command := range []string{"cat ", "rm ", "touch ", "echo x > ", "cp a.txt ", "cat < "} {
			for _, name := range []string{"/a" + end, "/a.odd", "/deep/b" + end} {
				out = append(out, s.sampleCall(sayso.Call{Tool: "bash"}, map[string]any{"command": command + folder + name}, sayso.PathFile))
			}
		}
	}
	return out
}
