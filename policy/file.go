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

	text      []byte
	fallback  *sayso.Match // nil when the file has no default
	deadline  *sayso.Deadline
	mode      sayso.Mode
	redaction Redaction
	rules     []*rule
}

// Rules is how many rules the file has.
func (f *File) Rules() int { return len(f.rules) }

// Redaction is what a policy adds to what is hidden and cut before anything is
// shown. The zero Redaction adds nothing.
type Redaction struct {
	Names     []string // key names to hide besides the known ones
	MaxString int      // bytes of a text in a preview; 0 when the policy does not say
	MaxItems  int      // items of a list in a preview; 0 when the policy does not say
}

// later are the keys of a file that are known and not yet understood.
var later = map[string]string{
	"servers":             "which servers are trusted",
	"workspaces":          "rules of single projects",
	"shell":               "rules on the commands of a shell line",
	"delegate":            "what a lower tier may decide",
	"os_sandbox_fallback": "confinement by the system",
	"presets":             "ready-made rules",
}

// Parse reads one policy file. The name is for messages. On mistakes it
// returns no File, and [Errors].
func Parse(name string, text []byte) (*File, error) {
	r := &reader{file: name}
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
	versioned := false
	ok := r.mapping(doc, "a policy", map[string]field{
		"version":            func(_, n *yaml.Node) { versioned = true; r.version(n) },
		"default":            func(_, n *yaml.Node) { f.readDefault(r, n) },
		"deadline":           func(_, n *yaml.Node) { f.readDeadline(r, n) },
		"mode":               func(_, n *yaml.Node) { f.readMode(r, n) },
		"redaction":          func(_, n *yaml.Node) { f.readRedaction(r, n) },
		"rules":              func(_, n *yaml.Node) { f.readRules(r, n) },
		"sandbox":            func(k, n *yaml.Node) { r.sandbox(k, n) },
		"require_os_sandbox": func(k, n *yaml.Node) { r.osSandbox(k, n) },
	}, later)
	if ok && !versioned {
		r.fail(doc, CodeVersion, "write version: 1 in the first line", "the policy does not say which version of the format it is in")
	}
}

func (r *reader) version(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Value != "1" {
		r.fail(n, CodeVersion, "write version: 1", "this program reads version 1 of the format, not %s", kindOf(n))
	}
}

func (f *File) readDefault(r *reader, n *yaml.Node) {
	word, ok := r.word(n, "default", "ask", "deny", "allow")
	if !ok {
		return
	}
	var e sayso.Effect
	if e.UnmarshalText([]byte(word)) != nil {
		return // it is one of the three
	}
	f.fallback = &sayso.Match{
		Effect: e, Cause: sayso.CauseDefault, Rule: "default: " + word, File: f.Name, Line: n.Line,
		Reason: "no rule speaks about this call, and the default of the policy is to " + word,
	}
}

func (f *File) readDeadline(r *reader, n *yaml.Node) {
	d := sayso.Deadline{After: time.Hour}
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

func (f *File) readRedaction(r *reader, n *yaml.Node) {
	r.mapping(n, "redaction", map[string]field{
		"names": func(_, n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				r.fail(n, CodeType, "write [ ] around the names", "names must be a list, not %s", kindOf(n))
				return
			}
			for _, item := range n.Content {
				if name, ok := r.text(item, "a name"); ok {
					f.redaction.Names = append(f.redaction.Names, name)
				}
			}
		},
		"max_string": func(_, n *yaml.Node) { f.redaction.MaxString, _ = r.number(n, "max_string", 1_000_000) },
		"max_items":  func(_, n *yaml.Node) { f.redaction.MaxItems, _ = r.number(n, "max_items", 100_000) },
	}, nil)
}

// sandbox knows one key; the others come with the tools that can hold to them.
func (r *reader) sandbox(key, n *yaml.Node) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		r.key(key, n, "a policy", nil, map[string]string{"sandbox": "where tools may read and write"})
		return
	}
	r.mapping(n, "sandbox", map[string]field{
		"require_os_sandbox": func(k, n *yaml.Node) { r.osSandbox(k, n) },
	}, map[string]string{
		"paths":               "where tools may read and write",
		"network":             "where commands may connect to",
		"os_sandbox_fallback": "what to do without confinement by the system",
	})
}

// osSandbox refuses to start rather than to promise confinement that nothing
// here can give.
func (r *reader) osSandbox(key, n *yaml.Node) {
	if on, ok := r.boolean(n, key.Value); ok && on {
		r.fail(key, CodeOSSandbox, "remove it to run without confinement by the system",
			"%s: this version cannot confine what it allows to run, so it refuses to start with a policy that requires it", key.Value)
	}
}

func (f *File) readRules(r *reader, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, CodeType, "write each rule as - allow: …, - ask: … or - deny: …", "rules must be a list, not %s", kindOf(n))
		return
	}
	for _, item := range n.Content {
		if rule := r.rule(item); rule != nil {
			f.rules = append(f.rules, rule)
		}
	}
}
