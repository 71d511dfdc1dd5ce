package broker

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// maxClientCandidates is how many of the newest requests of its session are looked at for the one
// by which an agent asked for what it has its editor do.
const maxClientCandidates = 64

// clientMethods are the methods of the Agent Client Protocol by which an agent has its
// editor do something, and the kind of call by which it asks for that.
var clientMethods = map[string]string{"fs/write_text_file": "edit", "fs/read_text_file": "read", "terminal/create": "execute"}

// clientMethodKind is of which kind the call is by which an agent asks for each.
var clientMethodKind = map[string]sayso.Kind{"fs/write_text_file": sayso.KindEdit, "fs/read_text_file": sayso.KindRead, "terminal/create": sayso.KindShell}

// isClientMethod reports whether the call is one that an agent has its editor do. The
// protocol does not say for which call of its own it does so, so the two are one only if
// all that would happen is the same: the session, the file and all of its text, or the
// line and the folder. What the agent showed of the call in more than one way is nothing
// that would happen.
func (w *waiter) isClientMethod() bool {
	return w.a.Call.Host == sayso.HostACP && clientMethods[w.a.Call.Tool] != ""
}

// clientMethodArgs are the arguments by which each may be told what to do, all of them.
// Another could say where or how it happens, so that a call with one is nothing that was
// allowed earlier.
var clientMethodArgs = map[string][]string{"fs/write_text_file": {"path", "content"}, "fs/read_text_file": {"path", "line", "limit"}, "terminal/create": {"command"}}

// isSameInEditor reports whether what came through an editor is what was allowed earlier:
// where the agent asked its editor for permission or, before that, at the agent's own
// hook.
func isSameInEditor(r *sayso.Request, earlier, later sayso.Call) bool {
	first, ok := parseShown(earlier)
	if !ok || first.contradictsItself() {
		return false
	}
	second, ok := parseShown(later)
	if !ok || second.contradictsItself() {
		return false
	}
	if earlier.Host != sayso.HostACP {
		return r.Life.Asker.Principal == earlier.Host && later.Session == sayso.HostACP+"-"+earlier.Session && earlier.Cwd == later.Cwd &&
			earlier.Run == later.Run && hostKinds[later.Tool][earlier.Known().Kind] && second.contains(&first) && second.addsOnlyText(&first, later)
	}
	if clientMethods[later.Tool] != earlier.Tool || earlier.Session != later.Session || !first.showsOnly(&second, earlier.Cwd, later.Tool) {
		return false
	}
	for name := range second.args {
		if !slices.Contains(clientMethodArgs[later.Tool], name) {
			return false
		}
	}
	switch later.Tool {
	case "fs/write_text_file":
		return first.writes(second.textArg("content"), r.Life.Linked)
	case "fs/read_text_file":
		return first.textArg("path") != ""
	}
	return first.textArg("command") != "" && earlier.Cwd == later.Cwd
}

// hostKinds says which kinds of a host's tools a kind of call in the protocol may be.
var hostKinds = map[string]map[sayso.Kind]bool{
	"execute": {sayso.KindShell: true},
	"read":    {sayso.KindRead: true},
	"edit":    {sayso.KindWrite: true, sayso.KindEdit: true},
	"delete":  {sayso.KindDelete: true},
	"fetch":   {sayso.KindFetch: true},
}

// shownCall are the arguments of a call, and what an agent shows beside them.
type shownCall struct {
	args  map[string]jsontext.Value
	extra struct {
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

func parseShown(c sayso.Call) (s shownCall, ok bool) {
	if jcs.Unmarshal(c.Args, &s.args) != nil {
		return s, false
	}
	if beside, there := s.args["acp"]; there && jcs.Unmarshal(beside, &s.extra) != nil {
		return s, false
	}
	return s, true
}

// contradictsItself reports whether an agent showed two things of one call that differ.
func (s *shownCall) contradictsItself() bool {
	return s.extra.Announced != nil || s.extra.Input != nil || s.extra.Path != nil
}

// pathArgs are the names that agents have for the path of a file.
var pathArgs = []string{"path", "filePath", "filepath", "file_path", "fileName", "abs_path", "absolute_path", "notebook_path"}

// diffArgs are the words by which agents say how the text of a file comes to be that they
// show as a whole.
var diffArgs = []string{"diff", "oldString", "newString", "replaceAll"}

// showsOnly reports whether nothing was shown but what the method is told, and words about
// it. What else an agent showed may have said where or how it happens, and that was
// allowed with it.
func (s *shownCall) showsOnly(params *shownCall, cwd, method string) bool {
	file := params.textArg("path")
	for name, value := range s.args {
		switch {
		case name == "description":
		case slices.Contains(pathArgs, name):
			if !isSameFile(cwd, s.textArg(name), file) {
				return false
			}
		case name == "acp":
			if method != "fs/write_text_file" || !s.extraIsOnlyOf(cwd, file) {
				return false
			}
		case method == "fs/write_text_file" && slices.Contains(diffArgs, name) && len(s.extra.Changes) == 1:
		case !equalJSON(value, params.args[name]):
			return false
		}
	}
	return true
}

// extraIsOnlyOf reports whether what an agent shows beside a call is of one file alone.
func (s *shownCall) extraIsOnlyOf(cwd, file string) bool {
	for _, l := range s.extra.Locations {
		if !isSameFile(cwd, l.Path, file) {
			return false
		}
	}
	for _, c := range s.extra.Changes {
		if !isSameFile(cwd, c.Path, file) {
			return false
		}
	}
	return len(s.extra.Changes) < 2
}

// contains reports whether all that another call is given stands here as well, but for words
// about it.
func (s *shownCall) contains(other *shownCall) bool {
	n := 0
	for name, value := range other.args {
		if name == "description" {
			continue
		}
		if !equalJSON(value, s.args[name]) {
			return false
		}
		n++
	}
	return n > 0
}

// addsOnlyText reports whether an agent shows nothing more of a call than it told its hook,
// but for words about it: the same path by other names, and what an edit comes to.
func (s *shownCall) addsOnlyText(hooked *shownCall, c sayso.Call) bool {
	file := ""
	for _, name := range pathArgs {
		if text := hooked.textArg(name); text != "" {
			file = text
			break
		}
	}
	same := func(name string) bool {
		return file != "" && (name == file || joinFolder(c.Cwd, name) == joinFolder(c.Cwd, file))
	}
	for name := range s.args {
		_, told := hooked.args[name]
		switch {
		case told || name == "description" || name == "diff" && c.Tool == "edit":
		case slices.Contains(pathArgs, name):
			if !same(s.textArg(name)) {
				return false
			}
		case name == "acp":
			if c.Tool != "edit" || !s.extraIsOnlyOf(c.Cwd, joinFolder(c.Cwd, file)) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// equalJSON reports whether two values are one, in whatever way they are written.
func equalJSON(a, b jsontext.Value) bool {
	one, err := jcs.Canonicalize(a)
	two, wrong := jcs.Canonicalize(b)
	return err == nil && wrong == nil && string(one) == string(two)
}

// writes reports whether what was shown of a file is to have it hold a text. A change that
// was shown behind a hook nobody saw: then only the text that the hook was told counts.
func (s *shownCall) writes(text string, unseen bool) bool {
	if len(s.extra.Changes) == 1 && !unseen {
		return s.extra.Changes[0].New == text
	}
	content, ok := s.args["content"]
	return ok && content.Kind() == '"' && s.textArg("path") != "" && s.textArg("content") == text
}

// textArg is an argument that is a text; empty if it is none.
func (s *shownCall) textArg(name string) (text string) {
	if value := s.args[name]; value.Kind() != '"' || jcs.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// isSameFile reports whether an absolute path is the one that was named in a folder. Where one
// of them goes up again, only the file system knows where it leads.
func isSameFile(cwd, named, name string) bool {
	return joinFolder(cwd, named) == name && strings.HasPrefix(name, "/") && path.Clean(name) == name
}

// joinFolder is a path that was named in a folder.
func joinFolder(cwd, named string) string {
	if named != "" && !strings.HasPrefix(named, "/") {
		return cwd + "/" + named
	}
	return named
}

// resolvesAsBefore reports whether the path of what the editor is to do, or the folder of
// what it is to run, leads where it led when it was asked about or, where that is not
// known, where it says: through no link below the folder of the session.
func resolvesAsBefore(earlier sayso.Facts, later sayso.Call, now sayso.Facts) bool {
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
