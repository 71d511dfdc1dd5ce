package tool_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// sandbox is the configuration that most of these tests work in.
//
//	work/                the working directory
//	  notes/             rw, asks before writes; .txt and .log
//	  notes/private/     ro
//	  output/            rw, asks nothing
//	  src/               ro, asks before reads
//	outside/             none of it
func sandbox(t testing.TB) (work string, f *tool.Files) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work = filepath.Join(home, "work")
	for name, text := range map[string]string{
		"work/notes/log.txt": "one\ntwo\nthree\n", "work/notes/sub/deep.txt": "deep\n", "work/notes/private/diary.txt": "dear diary\n",
		"work/output/out.bin": "a\x00b", "work/output/text": "text\n", "work/src/main.go": "package main\n", "outside/canary.txt": "canary\n",
	} {
		write(t, home, name, text)
	}
	f, err = tool.OpenFiles(work, sayso.PathRules{Roots: []sayso.PathRoot{
		{Name: "notes", Root: "./notes", Read: sayso.Allow, Write: sayso.Ask, Suffixes: []string{".txt", ".log"}},
		{Name: "private", Root: "notes/private", Read: sayso.Allow},
		{Name: "output", Root: filepath.Join(work, "output"), Read: sayso.Allow, Write: sayso.Allow},
		{Name: "src", Root: "src", Read: sayso.Ask},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return work, f
}

func link(t testing.TB, target, dir, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestFiles_bare: without a gate the tools work, in their folders.
func TestFiles_bare(t *testing.T) {
	work, f := sandbox(t)
	for _, tt := range []struct {
		tool string
		args obj
		text string
		file string // that is looked at afterwards
		want string
	}{
		{tool.ReadFile, obj{"path": "notes/log.txt"}, "one\ntwo\nthree\n", "", ""},
		{tool.ReadFile, obj{"path": "notes/log.txt", "offset": 2}, "two\nthree\n", "", ""},
		{tool.ReadFile, obj{"path": "notes/log.txt", "offset": 2, "limit": 1}, "two\n", "", ""},
		{tool.ReadFile, obj{"path": "notes/log.txt", "limit": 1}, "one\n", "", ""},
		{tool.ReadFile, obj{"path": work + "/notes/sub/../log.txt"}, "one\ntwo\nthree\n", "", ""},
		{tool.ReadFile, obj{"path": "notes/private/diary.txt"}, "dear diary\n", "", ""},
		{tool.ListFiles, obj{"path": "notes"}, "log.txt\nprivate/\nsub/\n", "", ""},
		{tool.WriteFile, obj{"path": "notes/log.txt", "content": "new"}, "3 bytes are in notes:log.txt", "notes/log.txt", "new"},
		{tool.WriteFile, obj{"path": "notes/log.txt", "content": ""}, "0 bytes are in notes:log.txt", "notes/log.txt", ""},
		{tool.WriteFile, obj{"path": "notes/a/b/c.log", "content": "x"}, "1 bytes are in notes:a/b/c.log", "notes/a/b/c.log", "x"},
		{tool.WriteFile, obj{"path": "output/text", "content": "longer than before"}, "18 bytes are in output:text", "output/text", "longer than before"},
		{tool.EditFile, obj{"path": "output/text", "old_string": "longer", "new_string": "shorter"}, "19 bytes are in output:text", "output/text", "shorter than before"},
		{tool.EditFile, obj{"path": "output/text", "old_string": "e", "new_string": "", "replace_all": true}, "15 bytes are in output:text", "output/text", "shortr than bfor"[:15]},
		{tool.MoveFile, obj{"from": "notes/a/b/c.log", "to": "output/c"}, "notes:a/b/c.log is now output:c", "output/c", "x"},
		{tool.DeleteFile, obj{"path": "output/c"}, "output:c is deleted", "output/c", "-"},
	} {
		r, err := f.Call(t.Context(), calls(t, tt.tool, tt.args))
		if err != nil || tt.text != "" && tt.tool != tool.EditFile && r.Text != tt.text {
			t.Errorf("%s %v: got %q, %v", tt.tool, tt.args, r.Text, err)
		}
		if tt.file != "" && tt.tool != tool.EditFile && reads(t, work, tt.file) != tt.want {
			t.Errorf("%s %v: %s holds %q", tt.tool, tt.args, tt.file, reads(t, work, tt.file))
		}
	}
	if got := reads(t, work, "output/text"); got != "shortr than bfor" {
		t.Errorf("after the edits output/text holds %q", got)
	}
	if got := reads(t, work, "notes/a/b/c.log"); got != "-" {
		t.Errorf("what was moved is still there: %q", got)
	}
}

// TestFS2_refused: what is refused whatever anybody says, and why.
func TestFS2_refused(t *testing.T) {
	work, f := sandbox(t)
	outside := filepath.Join(work, "../outside")
	link(t, outside, work, "notes/out")
	link(t, "../../outside/canary.txt", work, "notes/far.txt")
	link(t, "../../outside/new.txt", work, "notes/dangling.txt")
	link(t, "loop.txt", work, "notes/loop.txt")
	link(t, "log.txt", work, "notes/alias.txt")
	link(t, "private", work, "notes/p")
	link(t, "../output/text", work, "notes/text.txt")
	if err := syscall.Mkfifo(filepath.Join(work, "notes/pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(path string) sayso.Call { return calls(t, tool.ReadFile, obj{"path": path}) }
	write := func(path string) sayso.Call { return calls(t, tool.WriteFile, obj{"path": path, "content": "x"}) }
	for _, tt := range []struct {
		call sayso.Call
		says string
	}{
		{read(""), "path is empty"},
		{read("notes/\x00.txt"), "NUL"},
		{read("notes/" + strings.Repeat("a", 256) + ".txt"), "too long"},
		{read(strings.Repeat("a/", 2500)), "too long"},
		{read("/etc/passwd"), "outside of notes"},
		{read("log.txt"), "outside of notes"},
		{read("../outside/canary.txt"), "outside of notes"},
		{read("notes/../../outside/canary.txt"), "outside of notes"},
		{read("notes/out/canary.txt"), "outside of notes"},
		{read("notes/far.txt"), "outside of notes"},
		{read("notes/out/../log.txt"), "outside of notes"}, // links before dot-dot
		{write("notes/dangling.txt"), "outside of notes"},
		{read("notes/loop.txt"), "too many links"},
		{read("notes/log.txt/x"), "used as a folder"},
		{read("notes/nowhere/../log.txt"), "does not exist"},
		{read("notes/pipe.txt"), "a pipe"},
		{write("notes/pipe.txt"), "a pipe"},
		{read("/dev/null"), "a device"},
		{read("/proc/self/environ"), "/proc"},
		{read("/proc/1/stat"), "outside of notes"},
		{read("/proc/self/root" + work + "/notes/log.txt"), "/proc"},
		{read("notes/missing.txt"), "no such file"},
		{read("notes"), "it is a folder"},
		{write("notes/sub"), "it is a folder"},
		{read("notes/data.bin"), "end in .txt, .log"},
		{write("notes/log.txt.sh"), "end in .txt, .log"},
		{read("notes/text.txt"), ""},        // the ending is that of the final name, and output wants none
		{read("notes2/log.txt"), "outside"}, // components, never prefixes
		{write("notes/private/diary.txt"), "private may not be changed"},
		{write("notes/p/diary.txt"), "private may not be changed"}, // the most specific root
		{write("src/main.go"), "src may not be changed"},
		{calls(t, tool.DeleteFile, obj{"path": "notes/private/diary.txt"}), "may not be changed"},
		{calls(t, tool.DeleteFile, obj{"path": "notes/alias.txt"}), "it is a link"},
		{calls(t, tool.DeleteFile, obj{"path": "notes/."}), "no name of a file"},
		{calls(t, tool.DeleteFile, obj{"path": "notes/sub/"}), "no name of a file"},
		{calls(t, tool.DeleteFile, obj{"path": "notes/sub"}), "it is a folder"},
		{calls(t, tool.DeleteFile, obj{"path": "notes/missing.txt"}), "no such file"},
		{calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": "notes/alias.txt"}), "it is a link"},
		{calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": "notes/sub/deep.txt"}), "something of that name"},
		{calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": "notes/private/log.txt"}), "may not be changed"},
		{calls(t, tool.MoveFile, obj{"from": "notes/private/diary.txt", "to": "notes/diary.txt"}), "may not be changed"},
		{calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": "notes/log.sh"}), "end in"},
		{calls(t, tool.MoveFile, obj{"from": "notes/log.txt", "to": "../outside/log.txt"}), "outside of notes"},
		{calls(t, tool.ListFiles, obj{"path": "notes/out"}), "outside of notes"},
		{calls(t, tool.ListFiles, obj{}), "outside of notes"},
		{calls(t, tool.ListFiles, obj{"path": "notes/missing"}), "no such folder"},
		{calls(t, tool.ListFiles, obj{"path": ""}), "path is empty"},
		{calls(t, tool.EditFile, obj{"path": "notes/log.txt", "old_string": "four", "new_string": "x"}), "is not in"},
		{calls(t, tool.EditFile, obj{"path": "notes/log.txt", "old_string": "o", "new_string": "x"}), "is 2 times in"},
		{calls(t, tool.EditFile, obj{"path": "notes/log.txt", "old_string": "", "new_string": "x"}), "must be some text"},
		{calls(t, tool.EditFile, obj{"path": "notes/private/diary.txt", "old_string": "dear", "new_string": "x"}), "may not be changed"},
		{calls(t, tool.WriteFile, obj{"path": "notes/x.txt"}), "content is missing"},
		{calls(t, tool.WriteFile, obj{"path": "notes/x.txt", "content": "x", "mode": 7}), "arguments"},
		{calls(t, tool.ReadFile, obj{"Path": "notes/log.txt"}), "arguments"},
		{calls(t, tool.ReadFile, obj{"path": "notes/log.txt", "offset": -1}), "not negative"},
		{calls(t, tool.ReadFile, obj{"path": "output/out.bin"}), "a binary file of 3 bytes"},
		{calls(t, "chmod_file", obj{}), "there is no tool"},
		{sayso.Call{Tool: tool.ReadFile, Args: sayso.Args(`{"path":"notes/log.txt","path":"/etc/passwd"}`)}, "duplicate key"},
		{sayso.Call{Tool: tool.ReadFile, Args: sayso.Args(`{"path":"notes/log.txt"}`), Cwd: outside}, "another directory"},
	} {
		g := &fake{}
		for name, set := range map[string]tool.Set{"bare": f, "guarded": tool.Wrap(g, f, nil)} {
			r, err := set.Call(t.Context(), tt.call)
			if !has(err, tt.says) {
				t.Errorf("%s, %s: got %q, %v; want %q", tt.call.Args, name, r.Text, err, tt.says)
			}
		}
		if tt.says != "" && len(g.admitted) > 0 && tt.says != "a binary file of 3 bytes" {
			t.Errorf("%s: it was asked about", tt.call.Args)
		}
	}
	if got := reads(t, outside, "canary.txt"); got != "canary\n" {
		t.Errorf("the canary holds %q", got)
	}
	if got := reads(t, outside, "new.txt"); got != "-" {
		t.Errorf("outside there is %q", got)
	}
}

// TestFiles_asks: what the tools ask, what is remembered of it, and what is
// shown.
func TestFiles_asks(t *testing.T) {
	work, f := sandbox(t)
	link(t, "sub/../log.txt", work, "notes/alias.txt")
	link(t, "log.txt", work, "notes/raw")
	for _, tt := range []struct {
		tool    string
		args    obj
		title   string // empty for no need to ask
		payload string
		ignores []string
		shows   sayso.PresentationType
		content string
	}{
		{tool.ReadFile, obj{"path": "notes/log.txt"}, "", "", nil, "", ""},
		{tool.ReadFile, obj{"path": "src/main.go"}, "Read from src:main.go", `{"path":"main.go","sandbox":"src"}`, []string{"limit", "offset"}, "", ""},
		{tool.ListFiles, obj{"path": "src"}, "List src:.", `{"path":".","sandbox":"src"}`, nil, "", ""},
		{tool.WriteFile, obj{"path": "notes/log.txt", "content": "one\n2\nthree\n"}, "Write to notes:log.txt", `{"path":"log.txt","sandbox":"notes"}`, []string{"content"}, sayso.PresentDiff, "-two\n+2\n"},
		{tool.WriteFile, obj{"path": "notes/alias.txt", "content": ""}, "Write to notes:log.txt", `{"path":"log.txt","sandbox":"notes"}`, []string{"content"}, sayso.PresentDiff, "-one\n"},
		{tool.WriteFile, obj{"path": "notes/./sub//new.txt", "content": "hello"}, "Write to notes:sub/new.txt", `{"path":"sub/new.txt","sandbox":"notes"}`, []string{"content"}, sayso.PresentFileContent, "hello"},
		{tool.WriteFile, obj{"path": "output/x", "content": ""}, "", "", nil, "", ""},
		{tool.EditFile, obj{"path": "notes/log.txt", "old_string": "two", "new_string": "2"}, "Edit notes:log.txt", `{"path":"log.txt","sandbox":"notes"}`, []string{"new_string", "old_string", "replace_all"}, sayso.PresentDiff, "-two\n+2\n"},
		{tool.DeleteFile, obj{"path": "notes/log.txt"}, "Delete notes:log.txt", `{"path":"log.txt","sandbox":"notes"}`, nil, sayso.PresentFileContent, "one\ntwo\n"},
		{tool.MoveFile, obj{"from": "notes/log.txt", "to": "output/log"}, "Move notes:log.txt to output:log", "", nil, sayso.PresentFileContent, "one\ntwo\n"},
	} {
		a, err := f.Ask(t.Context(), calls(t, tt.tool, tt.args))
		if err != nil || (a == nil) != (tt.title == "") {
			t.Errorf("%s %v: asks %+v, %v", tt.tool, tt.args, a, err)
			continue
		}
		if a == nil {
			continue
		}
		if !a.Required || a.Description != tt.title || string(a.Payload) != tt.payload {
			t.Errorf("%s %v: asks %+v", tt.tool, tt.args, a.ToolAsk)
		}
		if diff := cmp.Diff(tt.ignores, a.Ignores); diff != "" {
			t.Errorf("%s %v: ignores (-want +got):\n%s", tt.tool, tt.args, diff)
		}
		if tt.shows == "" {
			continue
		}
		p, err := a.Present(t.Context())
		if err != nil || p.Type != tt.shows || !strings.Contains(p.Content, tt.content) {
			t.Errorf("%s %v: shows %+v, %v", tt.tool, tt.args, p, err)
		}
	}
}

// TestFS3_controlFiles: changes to control files and to files with another name
// ask although the folder is free, also where nothing exists yet; with nobody to
// ask they are refused. Reading is free.
func TestFS3_controlFiles(t *testing.T) {
	work, f := sandbox(t)
	write(t, work, "output/.git/config", "[core]\n")
	if err := os.Link(filepath.Join(work, "../outside/canary.txt"), filepath.Join(work, "output/twin")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []sayso.Call{
		calls(t, tool.WriteFile, obj{"path": "output/.git/config", "content": "x"}),
		calls(t, tool.WriteFile, obj{"path": "output/.GIT/hooks/pre-commit", "content": "x"}),
		calls(t, tool.WriteFile, obj{"path": "output/.vscode/tasks.json", "content": "x"}),
		calls(t, tool.WriteFile, obj{"path": "output/.mcp.json", "content": "x"}),
		calls(t, tool.DeleteFile, obj{"path": "output/.git/config"}),
		calls(t, tool.MoveFile, obj{"from": "output/text", "to": "output/.envrc"}),
		calls(t, tool.WriteFile, obj{"path": "output/twin", "content": "x"}),
		calls(t, tool.EditFile, obj{"path": "output/twin", "old_string": "canary", "new_string": "x"}),
	} {
		if a, err := f.Ask(t.Context(), c); err != nil || a == nil || !a.Required {
			t.Errorf("%s %s: asks %+v, %v", c.Tool, c.Args, a, err)
		}
		if _, err := f.Call(t.Context(), c); !errors.Is(err, sayso.ErrNotAllowed) || !has(err, "put a gate before the tools") {
			t.Errorf("%s %s: bare: %v", c.Tool, c.Args, err)
		}
	}
	for _, name := range []string{"output/.git/config", "output/twin"} {
		if _, err := f.Call(t.Context(), calls(t, tool.ReadFile, obj{"path": name})); err != nil {
			t.Errorf("reading %s: %v", name, err)
		}
	}
	if got := reads(t, work, "../outside/canary.txt"); got != "canary\n" {
		t.Errorf("the canary holds %q", got)
	}
	b := saysotest.New(t, saysotest.ApproveAll())
	w := tool.Wrap(b.Gate(), f, &tool.Terms{Call: sayso.Call{Session: "s"}})
	if _, err := w.Call(t.Context(), calls(t, tool.WriteFile, obj{"path": "output/.git/config", "content": "x"})); err != nil || reads(t, work, "output/.git/config") != "x" {
		t.Errorf("with a person's yes: %v", err)
	}
}

// TestFS1_facts: policy is told of what was opened, not of names.
func TestFS1_facts(t *testing.T) {
	work, f := sandbox(t)
	link(t, "sub", work, "notes/s")
	g := &fake{}
	w := tool.Wrap(g, f, nil)
	for _, args := range []obj{
		{"path": "notes/s/deep.txt", "content": "x"}, {"path": "notes/s/new/leaf.txt", "content": "x"},
	} {
		if _, err := w.Call(t.Context(), calls(t, tool.WriteFile, args)); err != nil {
			t.Fatal(err)
		}
	}
	want := []sayso.PathFact{
		{Arg: "path", Path: "notes/s/deep.txt", Resolved: work + "/notes/sub/deep.txt", State: sayso.PathFile, Links: 1, Digest: sha256.Sum256([]byte("deep\n"))},
		{Arg: "path", Path: "notes/s/new/leaf.txt", Resolved: work + "/notes/sub/new/leaf.txt", State: sayso.PathMissing},
	}
	for i, a := range g.admitted {
		if diff := cmp.Diff(want[i:i+1], a.Facts.Operands); diff != "" {
			t.Errorf("operands (-want +got):\n%s", diff)
		}
		if a.Facts.Cwd != work || a.Call.Cwd != work {
			t.Errorf("in %q, which is %q", a.Call.Cwd, a.Facts.Cwd)
		}
	}
}

// TestOpenFiles: rules that cannot hold are errors that say what to do.
func TestOpenFiles(t *testing.T) {
	work, _ := sandbox(t)
	link(t, "notes", work, "n")
	for says, roots := range map[string][]sayso.PathRoot{
		"is not there; make it": {{Name: "a", Root: "nowhere"}},
		"has no path":           {{Name: "a"}},
		"keep one of them":      {{Name: "a", Root: "notes"}, {Name: "b", Root: "n"}},
		"two of that name":      {{Name: "a", Root: "notes"}, {Name: "a", Root: "src"}},
		"not a directory":       {{Name: "a", Root: "notes/log.txt"}},
		"whose files are none":  {{Name: "a", Root: "/proc"}},
	} {
		if says == "whose files are none" && !onLinux {
			continue
		}
		if _, err := tool.OpenFiles(work, sayso.PathRules{Roots: roots}); !has(err, says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	if _, err := tool.OpenFiles(filepath.Join(work, "nowhere"), sayso.PathRules{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestFiles_implied: without rules the working directory is the one folder, in
// which reading is free and changing asks.
func TestFiles_implied(t *testing.T) {
	work, _ := sandbox(t)
	f, err := tool.OpenFiles(work, sayso.PathRules{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if a, err := f.Ask(t.Context(), calls(t, tool.ReadFile, obj{"path": "src/main.go"})); a != nil || err != nil {
		t.Errorf("reading asks %+v, %v", a, err)
	}
	if a, err := f.Ask(t.Context(), calls(t, tool.WriteFile, obj{"path": "src/main.go", "content": ""})); err != nil || a == nil || a.Description != "Write to src/main.go" {
		t.Errorf("writing asks %+v, %v", a, err)
	}
	if r, err := f.Call(t.Context(), sayso.Call{Tool: tool.ListFiles, Args: sayso.Args("{}")}); err != nil || r.Text != "notes/\noutput/\nsrc/\n" {
		t.Errorf("listed %q, %v", r.Text, err)
	}
	if _, err := f.Call(t.Context(), calls(t, tool.ReadFile, obj{"path": "../outside/canary.txt"})); !has(err, "outside of "+work) {
		t.Errorf("got %v", err)
	}
}
