package policy

import (
	"cmp"
	"maps"
	stdpath "path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/patch"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// floorRemoves is said of a patch that takes files away: it goes by the name of
// a tool that edits, and rules for that one are no yes to this.
var floorRemoves = sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "a patch that removes", Remember: sayso.RememberExact,
	Reason: "the patch deletes or moves a file"}

// patched takes the paths out of a patch. It is judged like a call that names
// them all: what is said against one is said against it, and what allows it must
// be said of each.
func (s *subject) patched(args []byte) {
	if s.state != argGiven {
		s.more = patchesIn(args)
		return
	}
	s.whole = s.arg
	files, err := patch.Parse(s.arg)
	if err != nil {
		s.arg, s.more, s.state = "", patch.Named(s.arg), argBad
		return
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Names()...)
		s.removes = s.removes || f.Do == patch.Delete || f.To != ""
	}
	s.arg, s.more = names[0], names[1:]
}

// patchesIn are the paths that patches may name that stand among the arguments
// under some other name.
func patchesIn(args []byte) []string {
	var all map[string]any
	if jcs.Unmarshal(args, &all) != nil {
		return nil
	}
	var names []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if text, ok := all[key].(string); ok {
			names = append(names, patch.Named(text)...)
		}
	}
	return names
}

// spelled looks at how the paths of the call are written: bad says that no system
// call would take one, odd why one may be read otherwise.
func (s *subject) spelled() (bad bool, odd string) {
	bad, odd = badPath(s.arg), oddPath(s.arg)
	for _, name := range s.more {
		bad = bad || badPath(name)
		odd = cmp.Or(odd, oddPath(name))
	}
	return bad, odd
}

// eachWritten yields the paths of the call as they are written, made absolute
// without looking at the disk.
func (s *subject) eachWritten(yield func(string) bool) {
	if s.arg != "" && !yield(s.written()) {
		return
	}
	for _, name := range s.more {
		if !strings.HasPrefix(name, "/") {
			name = s.call.Cwd + "/" + name
		}
		if !yield(stdpath.Clean(name)) {
			return
		}
	}
}

// inPatch puts what is said of a patch at the patch: it is of one of its files, or
// of all, and no other part of the text says so alone.
func (s *subject) inPatch(v *sayso.Verdict) {
	if !s.tool.Patch {
		return
	}
	span := [2]int{0, len(s.whole)}
	v.Span = span
	for i := range v.Matches {
		v.Matches[i].Span = span
	}
}

// text is the argument as it stands in the call.
func (s *subject) text() string {
	if s.tool.Patch {
		return s.whole
	}
	return s.arg
}
