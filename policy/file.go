package policy

import (
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// File is one policy file that loads.
type File struct {
	// Name is what the file was called when it was parsed.
	Name string
	// Warnings are things that are probably not meant.
	Warnings []Warning

	text         []byte
	fallback     *sayso.Match // nil when the file has no default
	deadline     *sayso.Deadline
	mode         sayso.Mode
	noApproveAll bool // nobody may set that mode
	redaction    Redaction
	servers      map[string]bool // whose annotations are trusted
	delegates    []*matcher
	delegated    position // where the file delegates
	notices      []Notice
	noticed      position // where the file says who is told
	part
	parts []*part // what holds in single projects alone
}

// position is where something stands in a file.
type position struct{ line, column int }

func at(n *yaml.Node) position { return position{n.Line, n.Column} }

// part is what a file says everywhere, or in one project.
type part struct {
	folder string // as written; empty for everywhere
	position
	rules []*rule
	shell *shellPart // nil when there is none
	paths *pathPart  // nil when there is none
}

// count is how many rules a part has.
func (p *part) count() int {
	n := len(p.rules)
	if p.shell != nil {
		n += len(p.shell.rules.Rules)
	}
	return n
}

// every returns the parts of a file, the one that holds everywhere first.
func (f *File) every() []*part { return append([]*part{&f.part}, f.parts...) }

// Rules is how many rules the file has.
func (f *File) Rules() int {
	n := 0
	for _, p := range f.every() {
		n += p.count()
	}
	return n
}

// Redaction is what a policy adds to what is hidden and cut before anything is
// shown. The zero Redaction adds nothing.
type Redaction struct {
	Names     []string // key names to hide besides the known ones
	MaxString int      // bytes of a text in a preview; 0 when the policy does not say
	MaxItems  int      // items of a list in a preview; 0 when the policy does not say
}

// reservedKeys are the keys of a file that are known and not yet understood.
var reservedKeys = map[string]string{
	"os_sandbox_fallback": "confinement by the system",
	"presets":             "ready-made rules",
}

// Parse reads one policy file. The name is for messages. On mistakes it
// returns no File, and [Errors].
func Parse(name string, text []byte) (*File, error) {
	r := &reader{file: name, about: "a policy", source: text}
	f := &File{Name: name, text: text}
	if doc := r.document(text); doc != nil {
		f.read(r, doc)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	f.Warnings = r.warnings
	return f, nil
}

func (f *File) read(r *reader, doc *yaml.Node) {
	fields := map[string]field{
		"default":            func(_, n *yaml.Node) { f.readDefault(r, n) },
		"deadline":           func(_, n *yaml.Node) { f.readDeadline(r, n) },
		"mode":               func(_, n *yaml.Node) { f.readMode(r, n) },
		"approve_all":        func(k, n *yaml.Node) { f.readApproveAll(r, k, n) },
		"redaction":          func(_, n *yaml.Node) { f.readRedaction(r, n) },
		"servers":            func(_, n *yaml.Node) { f.readServers(r, n) },
		"delegate":           func(k, n *yaml.Node) { f.readDelegates(r, k, n) },
		"workspaces":         func(_, n *yaml.Node) { f.readWorkspaces(r, n) },
		"notices":            func(k, n *yaml.Node) { f.readNotices(r, k, n) },
		"require_os_sandbox": func(k, n *yaml.Node) { r.osSandbox(k, n) },
	}
	f.part.fields(r, f, fields)
	r.versioned(doc, fields, reservedKeys)
	r.settle()
}

// fields adds the keys that a part of a file may have.
func (p *part) fields(r *reader, f *File, fields map[string]field) {
	fields["rules"] = func(_, n *yaml.Node) { p.readRules(r, f, n) }
	fields["shell"] = func(k, n *yaml.Node) { p.shell = r.shell(f, p, k, n) }
	fields["sandbox"] = func(k, n *yaml.Node) { p.paths = r.sandbox(f, k, n) }
}

func (f *File) readWorkspaces(r *reader, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, CodeType, "write the folder of each project with its rules", "workspaces must be a mapping of folders to rules, not %s", kindOf(n))
		return
	}
	r.names(n, "a folder", func(key, value *yaml.Node) {
		p := &part{folder: key.Value, position: at(key)}
		if what, write := badFolder(key.Value); what != "" {
			r.fail(key, CodePath, write, "%s: %s", quoted(key.Value), what)
		}
		fields := map[string]field{}
		p.fields(r, f, fields)
		r.mapping(value, "a workspace", fields, nil)
		f.parts = append(f.parts, p)
	})
}

// badFolder says what is wrong with the folder of a project.
func badFolder(name string) (what, write string) {
	if name != "~" && name[0] != '/' && (len(name) < 2 || name[:2] != "~/") {
		return "a project is named by its folder", "write it from the root or from home, as in ~/src/app"
	}
	return badRoot(name)
}

func (f *File) readDefault(r *reader, n *yaml.Node) {
	word, ok := r.word(n, "default", "ask", "deny", "allow")
	if !ok {
		return
	}
	f.fallback = &sayso.Match{
		Effect: effects[word], Cause: sayso.CauseDefault, Rule: "default: " + word, File: f.Name, Line: n.Line,
		Reason: "no rule speaks about this call, and the default of the policy is to " + word,
	}
}

var effects = map[string]sayso.Effect{"ask": sayso.Ask, "deny": sayso.Deny, "allow": sayso.Allow}

func (f *File) readDeadline(r *reader, n *yaml.Node) {
	d := sayso.Deadline{After: time.Hour}
	if n.Kind == yaml.ScalarNode {
		r.fail(n, CodeType, "write deadline: {after: "+inDuration(n.Value)+"}", "deadline must be a mapping of keys to values, not %s", kindOf(n))
		return
	}
	r.mapping(n, "deadline", map[string]field{
		"after": func(_, n *yaml.Node) {
			if n.Value == "none" && n.ShortTag() == "!!str" {
				d.After = 0
			} else if after, ok := r.duration(n, "after"); ok {
				d.After = after
			}
		},
		"then": func(_, n *yaml.Node) {
			word, _ := r.word(n, "then", "expire", "deny")
			d.Deny = word == "deny"
		},
	}, nil)
	f.deadline = &d
}

func (f *File) readMode(r *reader, n *yaml.Node) {
	if n.Value == string(sayso.ModeApproveAll) {
		r.fail(n, CodeModeEnd, "write interactive or strict", "approve_all must have an end, so no file can set it; type sayso mode approve_all --for 30m")
		return
	}
	word, _ := r.word(n, "mode", string(sayso.ModeInteractive), string(sayso.ModeStrict))
	f.mode = sayso.Mode(word)
}

// readApproveAll reads whether anybody may set the mode of that name.
func (f *File) readApproveAll(r *reader, key, n *yaml.Node) {
	if may, ok := r.boolean(n, key.Value); ok {
		f.noApproveAll = !may
	}
}

func (f *File) readRedaction(r *reader, n *yaml.Node) {
	r.mapping(n, "redaction", map[string]field{
		"names":      func(_, n *yaml.Node) { f.redaction.Names = r.texts(n, "names", "a name") },
		"max_string": func(_, n *yaml.Node) { f.redaction.MaxString, _ = r.number(n, "max_string", 1_000_000) },
		"max_items":  func(_, n *yaml.Node) { f.redaction.MaxItems, _ = r.number(n, "max_items", 100_000) },
	}, nil)
}

// osSandbox refuses to start rather than to promise confinement that nothing
// here can give.
func (r *reader) osSandbox(key, n *yaml.Node) {
	if on, ok := r.boolean(n, key.Value); ok && on {
		r.fail(key, CodeOSSandbox, "remove it to run without confinement by the system",
			"%s: this version cannot confine what it allows to run, so it refuses to start with a policy that requires it", key.Value)
	}
}

func (p *part) readRules(r *reader, f *File, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, CodeType, "write each rule as - allow: …, - ask: … or - deny: …", "rules must be a list, not %s", kindOf(n))
		return
	}
	for _, item := range n.Content {
		if rule := r.rule(f, item); rule != nil {
			p.rules = append(p.rules, rule)
		}
	}
}

// readServers reads whose words about their own tools count for something.
func (f *File) readServers(r *reader, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, CodeType, "write for example servers: {github: {trust: [annotations]}}", "servers must be a mapping of names to what is trusted, not %s", kindOf(n))
		return
	}
	r.names(n, "the name of a server", func(key, value *yaml.Node) {
		r.mapping(value, "a server", map[string]field{
			"trust": func(_, n *yaml.Node) {
				for _, item := range r.items(n, "trust") {
					if word, _ := r.word(item, "trust", "annotations"); word != "" {
						f.trust(key.Value)
					}
				}
			},
		}, nil)
	})
}

func (f *File) trust(server string) {
	if f.servers == nil {
		f.servers = make(map[string]bool)
	}
	f.servers[server] = true
}

// readDelegates reads the patterns for which a lower tier's allow silences an
// ask of the organisation.
func (f *File) readDelegates(r *reader, key, n *yaml.Node) {
	f.delegated = at(key)
	items := list(n)
	if len(items) == 0 {
		r.fail(n, CodePattern, `write for example delegate: ["bash:make*"]`, "delegate has no pattern, so it hands nothing over")
	}
	for _, item := range items {
		if text, ok := r.text(item, "a pattern"); ok {
			m := r.pattern(sayso.Allow, item, text)
			m.position = at(item)
			f.delegates = append(f.delegates, &m)
		}
	}
}
