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

// does are the arguments by which each may be told what to do, all of them. Another could
// say where or how it happens, so that a call with one is nothing that was allowed earlier.
var does = map[string][]string{"fs/write_text_file": {"path", "content"}, "fs/read_text_file": {"path", "line", "limit"}, "terminal/create": {"command"}}

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
			earlier.Run == later.Run && sameKind[later.Tool][earlier.Known().Kind] && second.holds(&first) && second.addsWords(&first, later)
	}
	if errands[later.Tool] != earlier.Tool || earlier.Session != later.Session || !first.showsOnly(&second, earlier.Cwd, later.Tool) {
		return false
	}
	for name := range second.args {
		if !slices.Contains(does[later.Tool], name) {
			return false
		}
	}
	switch later.Tool {
	case "fs/write_text_file":
		return first.writes(second.text("content"), r.Life.Linked)
	case "fs/read_text_file":
		return first.text("path") != ""
	}
	return first.text("command") != "" && earlier.Cwd == later.Cwd
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
		Path      jsontext.Value `json:"path"`
		Title     string         `json:"title"`
		Locations []struct {
			Path string `json:"path"`
		} `json:"locations"`
		Changes []struct {
			Path string  `json:"path"`
			Old  *string `json:"old"`
			New  string  `json:"new"`
		} `json:"changes"`
	}
}

func readShown(c sayso.Call) (s display, ok bool) {
	if jcs.Unmarshal(c.Args, &s.args) != nil {
		return s, false
	}
	if beside, there := s.args["acp"]; there && jcs.Unmarshal(beside, &s.beside) != nil {
		return s, false
	}
	return s, true
}

// twoWays reports whether an agent showed two things of one call that differ.
func (s *display) twoWays() bool {
	return s.beside.Announced != nil || s.beside.Input != nil || s.beside.Path != nil
}

// paths are the names that agents have for the path of a file.
var paths = []string{"path", "filePath", "filepath", "file_path", "fileName", "abs_path", "absolute_path", "notebook_path"}

// editing are the words by which agents say how the text of a file comes to be that they
// show as a whole.
var editing = []string{"diff", "oldString", "newString", "replaceAll"}

// showsOnly reports whether nothing was shown but what an errand is told, and words about
// it. What else an agent showed may have said where or how it happens, and that was
// allowed with it.
func (s *display) showsOnly(errand *display, cwd, method string) bool {
	file := errand.text("path")
	for name, value := range s.args {
		switch {
		case name == "description":
		case slices.Contains(paths, name):
			if !sameFile(cwd, s.text(name), file) {
				return false
			}
		case name == "acp":
			if method != "fs/write_text_file" || !s.besideOf(cwd, file) {
				return false
			}
		case method == "fs/write_text_file" && slices.Contains(editing, name) && len(s.beside.Changes) == 1:
		case !equal(value, errand.args[name]):
			return false
		}
	}
	return true
}

// besideOf reports whether what an agent shows beside a call is of one file alone.
func (s *display) besideOf(cwd, file string) bool {
	for _, l := range s.beside.Locations {
		if !sameFile(cwd, l.Path, file) {
			return false
		}
	}
	for _, c := range s.beside.Changes {
		if !sameFile(cwd, c.Path, file) {
			return false
		}
	}
	return len(s.beside.Changes) < 2
}

// holds reports whether all that another call is given stands here as well, but for words
// about it.
func (s *display) holds(other *display) bool {
	n := 0
	for name, value := range other.args {
		if name == "description" {
			continue
		}
		if !equal(value, s.args[name]) {
			return false
		}
		n++
	}
	return n > 0
}

// addsWords reports whether an agent shows nothing more of a call than it told its hook,
// but for words about it: the same path by other names, and what an edit comes to.
func (s *display) addsWords(hooked *display, c sayso.Call) bool {
	file := ""
	for _, name := range paths {
		if text := hooked.text(name); text != "" {
			file = text
			break
		}
	}
	same := func(name string) bool {
		return file != "" && (name == file || inFolder(c.Cwd, name) == inFolder(c.Cwd, file))
	}
	for name := range s.args {
		_, told := hooked.args[name]
		switch {
		case told || name == "description" || name == "diff" && c.Tool == "edit":
		case slices.Contains(paths, name):
			if !same(s.text(name)) {
				return false
			}
		case name == "acp":
			if c.Tool != "edit" || !s.besideOf(c.Cwd, inFolder(c.Cwd, file)) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// equal reports whether two values are one, in whatever way they are written.
func equal(a, b jsontext.Value) bool {
	one, err := jcs.Canonicalize(a)
	two, wrong := jcs.Canonicalize(b)
	return err == nil && wrong == nil && string(one) == string(two)
}

// writes reports whether what was shown of a file is to have it hold a text. A change that
// was shown behind a hook nobody saw: then only the text that the hook was told counts.
func (s *display) writes(text string, unseen bool) bool {
	if len(s.beside.Changes) == 1 && !unseen {
		return s.beside.Changes[0].New == text
	}
	content, ok := s.args["content"]
	return ok && content.Kind() == '"' && s.text("path") != "" && s.text("content") == text
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
	return inFolder(cwd, named) == name && strings.HasPrefix(name, "/") && path.Clean(name) == name
}

// inFolder is a path that was named in a folder.
func inFolder(cwd, named string) string {
	if named != "" && !strings.HasPrefix(named, "/") {
		return cwd + "/" + named
	}
	return named
}

// leadsAsBefore reports whether the path of what the editor is to do, or the folder of what
// it is to run, leads where it led
// when it was asked about or, where that is not known, where it says: through no link
// below the folder of the session.
func leadsAsBefore(earlier sayso.Facts, later sayso.Call, now sayso.Facts) bool {
	if later.Known().Operand != sayso.OperandPath {
		return earlier.Cwd == now.Cwd // of a command it is its folder
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
