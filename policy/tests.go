package policy

import (
	stdpath "path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// Tests is a file of tests that loads: calls, and what a policy has to say of
// them. It is read by [ParseTests] and held against a policy by [Policy.Test].
type Tests struct {
	Name  string // what the file was called when it was parsed
	Cases []Case

	machine Machine
}

// Case is one call and what is expected of it.
type Case struct {
	Name      string // empty if the file gives it none
	Line      int    // where the call stands, from 1
	Column    int    // from 1
	Call      sayso.Call
	Workspace string // the project that the call is of
	Want      Want
}

// Want is what has to come out. What is zero may be anything, but for the
// effect.
type Want struct {
	Effect sayso.Effect   `json:"effect"`
	Rule   string         `json:"rule,omitempty"`
	Cause  sayso.Cause    `json:"cause,omitempty"`
	Danger []sayso.Danger `json:"danger,omitzero"` // all of them in any order; nil for any, empty for none
}

// Where the calls of tests run if their file says nothing else.
const (
	testHome    = "/home/you"
	testProject = "project" // in the home
)

// ParseTests reads a file of tests. The name is for messages. On mistakes it
// returns no Tests, and [Errors].
func ParseTests(name string, text []byte) (*Tests, error) {
	r := &reader{file: name, about: "a file of tests", source: text}
	t := &testReader{reader: r, tests: &Tests{Name: name}}
	if doc := r.document(text); doc != nil {
		t.file(doc)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return t.tests, nil
}

// testReader reads a file of tests.
type testReader struct {
	*reader
	tests   *Tests
	context testContext           // what holds for calls that say nothing else
	places  map[string]*yaml.Node // what the file says is there, by name
}

// testContext is what a call may leave to its case, and a case to its file.
type testContext struct {
	workspace, cwd, host, session, server string

	said map[string]*yaml.Node // by the case itself
}

func (t *testReader) file(doc *yaml.Node) {
	var home, workspace, files, cases *yaml.Node
	keep := func(into **yaml.Node) field { return func(_, n *yaml.Node) { *into = n } }
	t.context = testContext{said: map[string]*yaml.Node{}}
	t.versioned(doc, map[string]field{
		"home": keep(&home), "workspace": keep(&workspace), "files": keep(&files), "cases": keep(&cases),
		"host":    func(_, n *yaml.Node) { t.context.host, _ = t.text(n, "host") },
		"session": func(_, n *yaml.Node) { t.context.session, _ = t.text(n, "session") },
	}, nil)
	t.tests.machine = Machine{Home: testHome}
	if home != nil {
		t.tests.machine.Home = t.folder(home, "home", "")
	}
	t.context.workspace = t.tests.machine.Home + "/" + testProject
	if workspace != nil {
		t.context.workspace = t.folder(workspace, "workspace", "")
	}
	t.tests.machine.State = []string{t.tests.machine.Home + "/.local/state/sayso", t.tests.machine.Home + "/.config/sayso"}
	if doc.Kind != yaml.MappingNode || len(t.errs) > 0 {
		return // what follows would be mistakes of these mistakes
	}
	if files != nil {
		t.files(files)
	}
	if cases == nil || cases.Kind == yaml.SequenceNode && len(cases.Content) == 0 {
		t.fail(doc, CodeCase, `write for example cases: [{call: {bash: git status}, expect: allow}]`, "there is no case, so nothing would be tested")
		return
	}
	for _, item := range t.items(cases, "cases") {
		t.testCase(item)
	}
	t.folders(doc)
}

// folder reads the name of a folder: from the root, from home with ~/, or, if
// there is a base, from there. Empty after a mistake.
func (t *testReader) folder(n *yaml.Node, what, base string) string {
	text, ok := t.text(n, what)
	if !ok {
		return ""
	}
	name, ok := t.name(text, base)
	if !ok {
		t.fail(n, CodePath, "write it from the root, as in /srv/app, or from home, as in ~/app", "%s cannot be %s", what, quoted(text))
		return ""
	}
	return name
}

// name is the absolute name that a text stands for.
func (t *testReader) name(text, base string) (name string, ok bool) {
	switch home := t.tests.machine.Home; {
	case text[0] == '/':
		name = text
	case text == "~" || strings.HasPrefix(text, "~/"):
		name = home + text[1:]
	case text[0] == '~' || base == "":
		return "", false
	default:
		name = base + "/" + text
	}
	return stdpath.Clean(name), true
}

var (
	testCauses  = []string{string(sayso.CauseRule), string(sayso.CauseDefault), string(sayso.CauseBuiltin), string(sayso.CauseNotUnderstood)}
	testDangers = []string{
		string(sayso.DangerOutside), string(sayso.DangerDelete), string(sayso.DangerNetwork), string(sayso.DangerPrivilege),
		string(sayso.DangerDynamic), string(sayso.DangerInterpreter), string(sayso.DangerRule),
	}
)

// testCase reads a case, which is as many as it has calls.
func (t *testReader) testCase(n *yaml.Node) {
	before := len(t.errs)
	var c Case
	var call, expect *yaml.Node
	context := t.context
	context.said = map[string]*yaml.Node{}
	var cwd *yaml.Node
	// said is a key that says of the calls what they may say themselves.
	said := func(into *string) field {
		return func(key, n *yaml.Node) {
			*into, _ = t.text(n, key.Value)
			context.said[key.Value] = key
		}
	}
	ok := t.mapping(n, "a case", map[string]field{
		"name": func(_, n *yaml.Node) { c.Name, _ = t.text(n, "name") },
		"call": func(_, n *yaml.Node) { call = n },
		"expect": func(_, n *yaml.Node) {
			word, _ := t.word(n, "expect", "ask", "deny", "allow")
			expect, c.Want.Effect = n, effects[word]
		},
		"rule": func(_, n *yaml.Node) { c.Want.Rule, _ = t.text(n, "rule") },
		"cause": func(_, n *yaml.Node) {
			word, _ := t.word(n, "cause", testCauses...)
			c.Want.Cause = sayso.Cause(word)
		},
		"danger":    func(_, n *yaml.Node) { c.Want.Danger = t.dangers(n) },
		"workspace": func(_, n *yaml.Node) { context.workspace = t.folder(n, "workspace", t.context.workspace) },
		"cwd":       func(key, n *yaml.Node) { cwd, context.said["cwd"] = n, key },
		"host":      said(&context.host), "session": said(&context.session), "server": said(&context.server),
	}, nil)
	switch {
	case !ok || len(t.errs) > before:
		return
	case call == nil || expect == nil:
		t.fail(n, CodeCase, "write for example {call: {bash: git status}, expect: allow}", "a case has a call and what is expected of it")
		return
	}
	context.cwd = context.workspace
	if cwd != nil {
		context.cwd = t.folder(cwd, "cwd", context.workspace)
	}
	calls := list(call)
	if len(calls) == 0 {
		t.fail(call, CodeCall, "write for example call: {bash: git status}", "the case has no call, so it would test nothing")
	}
	for _, item := range calls {
		one := c
		one.Workspace, one.Line, one.Column = context.workspace, item.Line, item.Column
		if one.Call, ok = t.call(item, context); ok {
			t.tests.Cases = append(t.tests.Cases, one)
		}
	}
}

// dangers reads what is expected to be dangerous; none is an empty list.
func (t *testReader) dangers(n *yaml.Node) []sayso.Danger {
	out := []sayso.Danger{}
	for _, item := range t.items(n, "danger") {
		word, _ := t.word(item, "danger", testDangers...)
		out = append(out, sayso.Danger(word))
	}
	return out
}
