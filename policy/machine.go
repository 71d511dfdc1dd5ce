package policy

import (
	"cmp"
	"io/fs"
	stdpath "path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso/inspect/path"
)

// Machine is where the calls of a file of tests would run: no machine that
// there is, so that they come out alike everywhere. All that is on it is what
// the file names, and it is the file system that paths are resolved on.
type Machine struct {
	Home      string   // the person's folder
	Workspace string   // the project of the call
	State     []string // the folders where sayso keeps its state
	Roots     []string // the folders that the policy names

	files map[string]string // what is where; see the constants
}

// Bare is a machine with the folder of a person, that of a project, and nothing
// in them. Without their names they are those of a file of tests.
func Bare(home, workspace string) Machine {
	home = cmp.Or(home, testHome)
	m := Machine{Home: home, Workspace: cmp.Or(workspace, stdpath.Join(home, testProject)), files: map[string]string{}}
	for _, dir := range [...]string{m.Home, m.Workspace} {
		for ; dir != "/" && dir != "."; dir = stdpath.Dir(dir) {
			m.files[dir] = isDir
		}
	}
	return m
}

// What is on a machine. A link has its target behind.
const (
	isFile = "file"
	isDir  = "dir"
	isLink = "-> "
)

// Lstat describes a name.
func (m Machine) Lstat(name string) (path.Info, error) {
	switch what := m.files[name]; {
	case what == isDir || name == "/":
		return path.Info{Mode: fs.ModeDir}, nil
	case what == isFile:
		return path.Info{Links: 1}, nil
	case what != "":
		return path.Info{Mode: fs.ModeSymlink, Links: 1}, nil
	}
	return path.Info{}, fs.ErrNotExist
}

// Readlink returns the target of a link.
func (m Machine) Readlink(name string) (string, error) {
	if target, ok := strings.CutPrefix(m.files[name], isLink); ok {
		return target, nil
	}
	return "", fs.ErrInvalid
}

// Names returns up to n names in a folder.
func (m Machine) Names(dir string, n int) ([]string, error) {
	var names []string
	for name := range m.files {
		if stdpath.Dir(name) == dir && name != "/" && len(names) < n {
			names = append(names, stdpath.Base(name))
		}
	}
	return names, nil
}

// files reads what is on the machine.
func (t *testReader) files(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		t.fail(n, CodeType, "write for example files: {docs/a.md: file, data: dir, out: {link: /etc}}", "files must be a mapping of names to what is there, not %s", kindOf(n))
		return
	}
	t.tests.machine.files, t.places = map[string]string{}, map[string]*yaml.Node{}
	t.reader.names(n, "the name of a file", func(key, value *yaml.Node) {
		name, ok := t.name(key.Value, t.context.workspace)
		if !ok {
			t.fail(key, CodePath, "write it from the workspace, from the root or from home", "%s is not the name of a file", quoted(key.Value))
			return
		}
		if t.places[name] != nil {
			t.fail(key, CodeDuplicateKey, "keep one of them", "%s is here for the second time", name)
			return
		}
		t.places[name] = key
		t.tests.machine.files[name] = t.fileThere(value)
	})
}

// fileThere reads what is in one place.
func (t *testReader) fileThere(n *yaml.Node) string {
	if n.Kind != yaml.MappingNode {
		word, _ := t.word(n, "a file", isFile, isDir)
		return word
	}
	target := ""
	ok := t.mapping(n, "a file", map[string]field{
		"link": func(_, n *yaml.Node) { target, _ = t.text(n, "link") },
	}, nil)
	if ok && target == "" {
		t.fail(n, CodePath, "write {link: TARGET}", "the link leads nowhere")
	}
	return isLink + target
}

// folders puts the folders on the machine that the cases and files are in.
func (t *testReader) folders(doc *yaml.Node) {
	m := &t.tests.machine
	if m.files == nil {
		m.files = map[string]string{}
	}
	for name, key := range t.places {
		if link := t.inFolders(stdpath.Dir(name), key); link != "" {
			t.fail(key, CodePath, "name the place where the link leads", "%s is said to be a link, and what is behind it is elsewhere", link)
		}
	}
	t.inFolders(m.Home, doc)
	for _, c := range t.tests.Cases {
		at := &yaml.Node{Line: c.Line, Column: c.Column}
		t.inFolders(c.Workspace, at)
		if strings.HasPrefix(c.Call.Cwd, "/") {
			t.inFolders(stdpath.Clean(c.Call.Cwd), at)
		}
	}
}

// inFolders puts a folder on the machine, and those that it is in. It stops at a
// link, which it returns: what lies behind is where that leads.
func (t *testReader) inFolders(name string, n *yaml.Node) (link string) {
	m := &t.tests.machine
	for ; name != "/"; name = stdpath.Dir(name) {
		switch m.files[name] {
		case "":
			m.files[name] = isDir
		case isDir:
		case isFile:
			t.fail(n, CodePath, "make it a dir", "%s is said to be a file, and something is in it", name)
			m.files[name] = isDir // said once
		default:
			return name
		}
	}
	return ""
}
