package broker

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// errandLooks is how many of the newest requests of its session are looked at for the one
// by which an agent asked for what it has its editor do.
const errandLooks = 64

// errands are the methods of the Agent Client Protocol by which an agent has its editor do
// something, and the kind of call by which it asks for that.
var errands = map[string]string{"fs/write_text_file": "edit", "fs/read_text_file": "read", "terminal/create": "execute"}

// errandKind is of which kind the call is by which an agent asks for each.
var errandKind = map[string]sayso.Kind{"fs/write_text_file": sayso.KindEdit, "fs/read_text_file": sayso.KindRead, "terminal/create": sayso.KindShell}

// errand reports whether the call is one that an agent has its editor do. The protocol
// does not say for which call of its own it does so, so the two are one only if all that
// would happen is the same: the session, the file and all of its text, or the line and the
// folder. What the agent showed of the call in more than one way is nothing that would
// happen.
func (w *waiter) errand() bool {
	return w.a.Call.Host == sayso.HostACP && errands[w.a.Call.Tool] != ""
}

// sameInEditor reports whether what came through an editor is what was allowed earlier:
// where the agent asked its editor for permission or, before that, at the agent's own
// hook.
func sameInEditor(r *sayso.Request, earlier, later sayso.Call) bool {
	first, ok := readShown(earlier)
	if !ok || first.twoWays() {
		return false
	}
	second, ok := readShown(later)
	if !ok || second.twoWays() {
		return false
	}
	if earlier.Host != sayso.HostACP {
		return r.Life.Asker.Principal == earlier.Host && later.Session == sayso.HostACP+"-"+earlier.Session && earlier.Cwd == later.Cwd &&
			earlier.Run == later.Run && sameKind[later.Tool][earlier.Known().Kind] && second.holds(first)
	}
	if errands[later.Tool] != earlier.Tool || earlier.Session != later.Session {
		return false
	}
	switch later.Tool {
	case "fs/write_text_file":
		return first.writes(earlier.Cwd, second.text("path"), second.text("content"))
	case "fs/read_text_file":
		return sameFile(earlier.Cwd, first.text("path"), second.text("path"))
	}
	return first.text("command") != "" && first.text("command") == second.text("command") && earlier.Cwd == later.Cwd
}

// sameKind says which kinds of a host's tools a kind of call in the protocol may be.
var sameKind = map[string]map[sayso.Kind]bool{
	"execute": {sayso.KindShell: true},
	"read":    {sayso.KindRead: true},
	"edit":    {sayso.KindWrite: true, sayso.KindEdit: true},
	"delete":  {sayso.KindDelete: true},
	"fetch":   {sayso.KindFetch: true},
}

// display are the arguments of a call, and what an agent shows beside them.
type display struct {
	args   map[string]jsontext.Value
	beside struct {
		Announced jsontext.Value `json:"announced"`
		Input     jsontext.Value `json:"input"`
		Locations jsontext.Value `json:"locations"`
		Changes   []struct {
			Path string `json:"path"`
			New  string `json:"new"`
		} `json:"changes"`
	}
}

func readShown(c sayso.Call) (s display, ok bool) {
	if jcs.Unmarshal(c.Args, &s.args) != nil {
		return s, false
	}
	if beside, there := s.args["acp"]; there && jcs.UnmarshalLenient(beside, &s.beside) != nil {
		return s, false
	}
	return s, true
}

// twoWays reports whether an agent showed two things of one call that differ.
func (s *display) twoWays() bool { return s.beside.Announced != nil || s.beside.Input != nil }

// holds reports whether all that another call is given stands here as well, but for words
// about it.
func (s *display) holds(other display) bool {
	n := 0
	for name, value := range other.args {
		if name == "description" {
			continue
		}
		here, ok := s.args[name]
		if !ok {
			return false
		}
		a, err := jcs.Canonicalize(value)
		b, wrong := jcs.Canonicalize(here)
		if err != nil || wrong != nil || string(a) != string(b) {
			return false
		}
		n++
	}
	return n > 0
}

// writes reports whether what was shown is to have one file hold a text, and no other
// change.
func (s *display) writes(cwd, name, text string) bool {
	if given := s.text("path"); given != "" && !sameFile(cwd, given, name) {
		return false
	}
	switch list := s.beside.Changes; len(list) {
	case 0:
		content, ok := s.args["content"]
		return s.text("path") != "" && ok && content.Kind() == '"' && s.text("content") == text
	case 1:
		return sameFile(cwd, list[0].Path, name) && list[0].New == text
	}
	return false
}

// text is an argument that is a text; empty if it is none.
func (s *display) text(name string) (text string) {
	if value := s.args[name]; value.Kind() != '"' || jcs.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// sameFile reports whether an absolute path is the one that was named in a folder. Where one
// of them goes up again, only the file system knows where it leads.
func sameFile(cwd, named, name string) bool {
	if named != "" && !strings.HasPrefix(named, "/") {
		named = cwd + "/" + named
	}
	return named == name && strings.HasPrefix(name, "/") && path.Clean(name) == name
}

// leadsAsBefore reports whether the path of what the editor is to do leads where it led
// when it was asked about or, where that is not known, where it says: through no link
// below the folder of the session.
func leadsAsBefore(earlier sayso.Facts, later sayso.Call, now sayso.Facts) bool {
	if later.Known().Operand != sayso.OperandPath {
		return true
	}
	before, after := pathFacts(earlier), pathFacts(now)
	if len(before) > 0 {
		return slices.EqualFunc(before, after, func(a, b sayso.PathFact) bool { return a.Resolved == b.Resolved })
	}
	if len(after) != 1 || after[0].Resolved == "" {
		return false
	}
	below, ok := strings.CutPrefix(after[0].Path, later.Cwd+"/")
	if !ok || now.Cwd == "" {
		return after[0].Resolved == after[0].Path
	}
	return after[0].Resolved == now.Cwd+"/"+below
}

func pathFacts(f sayso.Facts) (all []sayso.PathFact) {
	for _, o := range f.Operands {
		if o.Arg == "path" {
			all = append(all, o)
		}
	}
	return all
}
