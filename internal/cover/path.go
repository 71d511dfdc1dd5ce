package cover

import (
	stdpath "path"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/inspect/path"
)

// maxAbove is how many folders above a file may have been remembered.
const maxAbove = 32

// paths are the covers of a tool that works on a file: the folder, the tool and
// the kind, these two in the workspace alone.
func (s *Subject) paths() []covered {
	at, ok := s.operand()
	if !ok {
		return nil
	}
	dir := at.Resolved
	if at.State != sayso.PathDir {
		dir = stdpath.Dir(dir)
	}
	inside := sayso.Beneath(s.Facts.Workspace, at.Resolved)
	var out []covered
	for range maxAbove {
		if dir == "/" || dir == "." || inside && !sayso.Beneath(s.Facts.Workspace, dir) {
			break
		}
		out = append(out, s.folder(dir, len(out) > 0))
		dir = stdpath.Dir(dir)
	}
	if !inside {
		return out
	}
	tool, kind := s.of(sayso.CoverTool), s.ofKind()
	tool.Place, kind.Place = s.Facts.Workspace, s.Facts.Workspace
	tool.label, tool.pattern = "any "+s.name()+within(tool.Place), s.name()+":**"
	kind.label, kind.pattern = "any call of kind "+kind.Parts[0]+within(kind.Place), "kind: "+kind.Parts[0]
	return append(out, tool, kind)
}

// folder covers the files in a folder and below.
func (s *Subject) folder(dir string, above bool) covered {
	c := s.of(sayso.CoverDirectory)
	c.Parts, c.above = []string{dir}, above
	shown := dir
	if rest, ok := strings.CutPrefix(dir, s.Facts.Workspace+"/"); ok && s.Facts.Workspace != "" {
		shown = rest
	}
	c.label, c.pattern = s.name()+" of anything in "+dir+" and below", s.name()+":"+shown+"/**"
	return c
}

// operand is where the path of the call leads. ok is false unless it leads to
// one place, which is known, is no device, and is neither guarded nor known by
// another name as well.
func (s *Subject) operand() (at sayso.PathFact, ok bool) {
	if _, ok := s.primary(); !ok || s.Facts.Truncated {
		return at, false
	}
	found := 0
	for _, o := range s.Facts.Operands {
		if o.Arg == s.Call.Known().Primary {
			at, found = o, found+1
		}
	}
	known := at.State == sayso.PathFile || at.State == sayso.PathDir || at.State == sayso.PathMissing
	clean := strings.HasPrefix(at.Resolved, "/") && stdpath.Clean(at.Resolved) == at.Resolved
	if found != 1 || !known || !clean || path.Credential(at.Resolved) {
		return at, false
	}
	changes := !s.Call.EffectiveKind().ReadOnly()
	return at, !changes || !path.Control(at.Resolved) && (at.Links <= 1 || at.State == sayso.PathDir)
}

// addresses are the covers of a tool that gets pages: the host, the tool and the
// kind. None leads to this machine or network.
func (s *Subject) addresses() []covered {
	text, ok := s.primary()
	if !ok {
		return nil
	}
	u := address.Parse(text)
	if u.Odd != "" || u.Local {
		return nil
	}
	u.Path, u.Query, u.HasQuery = "/", "", false
	origin := strings.TrimSuffix(u.String(), "/")
	host, tool, kind := s.of(sayso.CoverHost), s.of(sayso.CoverTool), s.ofKind()
	host.Parts = []string{origin}
	host.label, host.pattern = s.name()+" of anything at "+origin, s.name()+":"+origin+"/*"
	tool.label, tool.pattern = "any "+s.name()+" that does not lead to this network", s.name()
	kind.label, kind.pattern = "any call of kind "+kind.Parts[0]+" that does not lead to this network", "kind: "+kind.Parts[0]
	return []covered{host, tool, kind}
}
