package sayso_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// Paths are compared component by component, never as texts.
func TestBeneath(t *testing.T) {
	for _, c := range []struct {
		root, path string
		want       bool
	}{
		{"/home/ada/app", "/home/ada/app", true},
		{"/home/ada/app", "/home/ada/app/src/main.go", true},
		{"/home/ada/app", "/home/ada/apple", false},
		{"/home/ada/app", "/home/ada/ap", false},
		{"/home/ada/app", "/home/ada", false},
		{"/home/ada/app", "/home/ada/App/x", false},
		{"/", "/etc/passwd", true},
		{"/", "/", true},
		{"", "/etc/passwd", false},
		{"/home", "", false},
		{"", "", false},
	} {
		if got := sayso.Beneath(c.root, c.path); got != c.want {
			t.Errorf("%q lies beneath %q: %v, want %v", c.path, c.root, got, c.want)
		}
	}
}

func TestFacts_operand(t *testing.T) {
	f := sayso.Facts{Operands: []sayso.PathFact{{Arg: "path", Resolved: "/a"}, {Arg: "to", Resolved: "/b"}}}
	if o, ok := f.Operand("to"); !ok || o.Resolved != "/b" {
		t.Errorf("got %+v, %v", o, ok)
	}
	if o, ok := f.Operand("from"); ok || o.Resolved != "" {
		t.Errorf("a fact that nobody gathered is %+v, %v", o, ok)
	}
}

// What was gathered for one policy and for another is compared where both say
// something, and a path that was looked up must have been looked up again.
func TestFacts_unmoved(t *testing.T) {
	place := func(path, to string) sayso.PathFact { return sayso.PathFact{Arg: "command", Path: path, Resolved: to} }
	none := sayso.Facts{Workspace: "/a", Cwd: "/a", Words: []sayso.PathFact{place("/a/x", "/a/x")}}
	one := sayso.Facts{
		Policy: "v1", Workspace: "/a", Cwd: "/a", Roots: []sayso.RootFact{{Root: "n", Resolved: "/a/n"}},
		Operands: []sayso.PathFact{place("/a/x", "/a/x"), place("/a/y", "/a/y")},
	}
	change := func(f sayso.Facts, do func(*sayso.Facts)) sayso.Facts { do(&f); return f }
	for name, c := range map[string]struct {
		now, before sayso.Facts
		want        bool
	}{
		"the policy begins to name folders": {one, none, true},
		"and a word leads elsewhere":        {one, change(none, func(f *sayso.Facts) { f.Words = []sayso.PathFact{place("/a/x", "/b/x")} }), false},
		"and a word has a second reading":   {change(one, func(f *sayso.Facts) { f.Operands = append([]sayso.PathFact{place("/a/x", "/c")}, f.Operands...) }), none, false},
		"it names another folder": {one, change(one, func(f *sayso.Facts) {
			f.Policy, f.Roots = "v2", []sayso.RootFact{{Root: "m", Resolved: "/a/m"}}
		}), true},
		"it names the same folder, which is another": {one, change(one, func(f *sayso.Facts) {
			f.Policy, f.Roots = "v2", []sayso.RootFact{{Root: "n", Resolved: "/a/m"}}
		}), false},
		"it names none any more, and a path was not looked up": {none, one, false},
		"it begins to, and a word was not looked up":           {change(one, func(f *sayso.Facts) { f.Operands = nil }), none, false},
		"it names none any more":                               {change(none, func(f *sayso.Facts) { f.Words = one.Operands }), one, true},
		"not all can be told":                                  {change(one, func(f *sayso.Facts) { f.Truncated = true }), none, false},
		"another directory":                                    {change(one, func(f *sayso.Facts) { f.Cwd = "/b" }), none, false},
		"another project":                                      {change(one, func(f *sayso.Facts) { f.Workspace = "/b" }), none, false},
		"a script was changed":                                 {change(one, func(f *sayso.Facts) { f.Files = []sayso.FileFact{{Path: "/a/x"}} }), none, false},
		"a folder that is read holds a secret":                 {none, change(none, func(f *sayso.Facts) { f.Trees = []sayso.TreeFact{{Path: "/a/.", Secrets: []string{".env"}}} }), false},
		"secrets are there":                                    {change(one, func(f *sayso.Facts) { f.Secrets = []string{".env"} }), none, false},
		"our folders are others":                               {change(one, func(f *sayso.Facts) { f.State = []string{"/s"} }), none, false},
		"one policy, and a folder is another":                  {one, change(one, func(f *sayso.Facts) { f.Roots = nil }), false},
	} {
		if got := c.now.Unmoved(c.before); got != c.want {
			t.Errorf("%s: unmoved is %v, want %v", name, got, c.want)
		}
	}
}

// Requesters and approvers are different kinds, and no kind is both.
func TestPrincipalKind(t *testing.T) {
	for _, c := range []struct {
		kind                        sayso.PrincipalKind
		asks, answers, looks, known bool
	}{
		{sayso.PrincipalAgent, true, false, false, true},
		{sayso.PrincipalTool, true, false, false, true},
		{sayso.PrincipalPerson, false, true, true, true},
		{sayso.PrincipalAdmin, false, true, true, true},
		{sayso.PrincipalViewer, false, false, true, true},
		{sayso.PrincipalBroker, false, false, false, true},
		{"", false, false, false, false},
		{"Person", false, false, false, false},
		{"root", false, false, false, false},
	} {
		got := [4]bool{c.kind.Asks(), c.kind.Answers(), c.kind.Looks(), c.kind.Known()}
		if want := [4]bool{c.asks, c.answers, c.looks, c.known}; got != want {
			t.Errorf("%q asks, answers, looks, is known: got %v, want %v", c.kind, got, want)
		}
	}
}

func TestFacts_Equal(t *testing.T) {
	whole := func() sayso.Facts {
		return sayso.Facts{
			Workspace: "/a", Cwd: "/a/b", State: []string{"/s"}, Operands: []sayso.PathFact{{Arg: "path", Path: "x", Resolved: "/a/x", Links: 1}},
			Files: []sayso.FileFact{{Path: "/a/x", Digest: sayso.HashOf("1")}},
		}
	}
	if !whole().Equal(whole()) || !(sayso.Facts{}).Equal(sayso.Facts{State: []string{}, Operands: []sayso.PathFact{}}) {
		t.Error("equal facts are not")
	}
	for name, change := range map[string]func(*sayso.Facts){
		"workspace": func(f *sayso.Facts) { f.Workspace = "/b" },
		"cwd":       func(f *sayso.Facts) { f.Cwd = "" },
		"state":     func(f *sayso.Facts) { f.State = nil },
		"operand":   func(f *sayso.Facts) { f.Operands[0].Resolved = "/b/x" },
		"links":     func(f *sayso.Facts) { f.Operands[0].Links = 2 },
		"file":      func(f *sayso.Facts) { f.Files[0].Digest = sayso.HashOf("2") },
		"truncated": func(f *sayso.Facts) { f.Truncated = true },
	} {
		other := whole()
		change(&other)
		if whole().Equal(other) {
			t.Errorf("%s makes no difference", name)
		}
	}
}
