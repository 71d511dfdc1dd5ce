package claudecode_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

type obj = map[string]any

// hookFor is what a hook is told of a call.
func hookFor(t testing.TB, tool string, args obj) claudecode.Hook {
	t.Helper()
	text, err := jcs.Marshal(obj{
		"session_id": "s1", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": args, "tool_use_id": "toolu_1",
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := claudecode.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// one are facts about one path.
func one(arg, resolved string, state sayso.PathState) sayso.Facts {
	return sayso.Facts{Cwd: "/w", Operands: []sayso.PathFact{{Arg: arg, Path: resolved, Resolved: resolved, State: state}}}
}

// holds is a disk with one file.
func holds(text string) present.Content {
	return func(sayso.PathFact) (string, error) { return text, nil }
}

// untouched is a disk that nobody may read.
func untouched(t *testing.T) present.Content {
	return func(o sayso.PathFact) (string, error) {
		t.Errorf("%s was read", o.Resolved)
		return "", nil
	}
}

func TestPresent_files(t *testing.T) {
	const at = "/w/a.go"
	file := one("file_path", at, sayso.PathFile)
	missing := one("file_path", at, sayso.PathMissing)
	fails := func(sayso.PathFact) (string, error) { return "", errors.New("permission denied") }
	for _, tt := range []struct {
		name, tool string
		args       obj
		facts      sayso.Facts
		content    present.Content
		want       sayso.Presentation
	}{
		{"write over a file", "Write", obj{"file_path": at, "content": "a\nB\n"}, file, holds("a\nb\n"),
			present.Diff(at, "a\nb\n", "a\nB\n")},
		{"write what is there", "Write", obj{"file_path": at, "content": "a\n"}, file, holds("a\n"), present.Diff(at, "a\n", "a\n")},
		{"write a new file", "Write", obj{"file_path": at, "content": "a\n"}, missing, untouched(t),
			present.Noted(present.File(at, "a\n"), "a new file")},
		{"write what cannot be read", "Write", obj{"file_path": at, "content": "a\n"}, file, fails,
			present.Noted(present.File(at, "a\n"), "not compared with the file on disk: permission denied")},
		{"write over a picture", "Write", obj{"file_path": at, "content": "a\n"}, file, holds("\x89PNG\r\n\x1a\n\x00\x00"),
			present.Diff(at, "\x89PNG\r\n\x1a\n\x00\x00", "a\n")},
		{"write a folder", "Write", obj{"file_path": at, "content": "a\n"}, one("file_path", at, sayso.PathDir), untouched(t),
			present.Noted(present.File(at, "a\n"), "not compared with the file on disk: there is a folder of this name")},
		{"write keys", "Write", obj{"file_path": "/w/.env", "content": "a\n"}, one("file_path", "/w/.env", sayso.PathFile), untouched(t),
			present.Noted(present.File("/w/.env", "a\n"), "not compared with the file on disk: by its name it holds secrets, so it is not read")},
		{"write nobody knows where", "Write", obj{"file_path": at, "content": "a\n"}, sayso.Facts{}, untouched(t),
			present.Noted(present.File(at, "a\n"), "not compared with the file on disk: it is not known where its path leads")},
		{"write here or there", "Write", obj{"file_path": at, "content": "a\n"},
			sayso.Facts{Operands: append(file.Operands, missing.Operands...)}, untouched(t),
			present.Noted(present.File(at, "a\n"), "not compared with the file on disk: its path can be read in 2 ways, which lead to different places")},
		{"edit", "Edit", obj{"file_path": at, "old_string": "b", "new_string": "B"}, file, holds("a\nb\n"),
			present.Diff(at, "a\nb\n", "a\nB\n")},
		{"edit everywhere", "Edit", obj{"file_path": at, "old_string": "b", "new_string": "B", "replace_all": true}, file, holds("b\na\nb\n"),
			present.Diff(at, "b\na\nb\n", "B\na\nB\n")},
		{"edit one of many", "Edit", obj{"file_path": at, "old_string": "b", "new_string": "B"}, file, holds("b\nb\n"),
			present.Noted(present.Diff(at, "b", "B"), "the text to replace stands in 2 places, and one is to be replaced; this is the edit alone")},
		{"edit what is not there", "Edit", obj{"file_path": at, "old_string": "x", "new_string": "B"}, file, holds("b\n"),
			present.Noted(present.Diff(at, "x", "B"), "the text to replace is not in the file as it is now; this is the edit alone")},
		{"edit no file", "Edit", obj{"file_path": at, "old_string": "x", "new_string": "B"}, missing, untouched(t),
			present.Noted(present.Diff(at, "x", "B"), "there is no such file")},
		{"edit into being", "Edit", obj{"file_path": at, "old_string": "", "new_string": "B\n"}, missing, untouched(t),
			present.Noted(present.File(at, "B\n"), "a new file")},
		{"edit nothing in a file", "Edit", obj{"file_path": at, "old_string": "", "new_string": "B\n"}, file, holds("a\n"),
			present.Noted(present.Diff(at, "", "B\n"), "no text to replace is named, and the file is not empty; this is the edit alone")},
		{"edit with other line breaks", "Edit", obj{"file_path": at, "old_string": "b\nc", "new_string": "B\nc"}, file, holds("a\r\nb\r\nc\r\n"),
			present.Diff(at, "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n")},
		{"edit what cannot be read", "Edit", obj{"file_path": at, "old_string": "b", "new_string": "B"}, file, fails,
			present.Noted(present.Diff(at, "b", "B"), "not compared with the file on disk: permission denied")},
		{"many edits, and no facts", "MultiEdit", obj{"file_path": at, "edits": []obj{{"old_string": "a", "new_string": "A"}, {"old_string": "b", "new_string": "B"}}},
			sayso.Facts{}, untouched(t), present.Noted(present.Diff(at, "a\nb\n", "A\nB\n"), "not compared with the file on disk: it is not known where its path leads")},
		{"many edits", "MultiEdit", obj{"file_path": at, "edits": []obj{{"old_string": "a", "new_string": "b"}, {"old_string": "b\nc", "new_string": "B"}}},
			file, holds("a\nc\n"), present.Diff(at, "a\nc\n", "B\n")},
		{"a number for a text", "Write", obj{"file_path": at, "content": 7}, file, untouched(t), present.Structured([]byte(`{"content":7,"file_path":"/w/a.go"}`))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, hookFor(t, tt.tool, tt.args).Present(tt.facts, tt.content)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPresent_notebooks(t *testing.T) {
	const at = "/w/b.ipynb"
	book := `{"cells":[{"id":"a1","cell_type":"code","source":["x = 1\n","y"]},{"id":"a2","source":"z"},{"source":[7]}],"nbformat":4}`
	for _, tt := range []struct {
		name    string
		args    obj
		content string
		kind    sayso.PresentationType
		want    string
		note    string
	}{
		{"replace", obj{"cell_id": "a1", "new_source": "x = 2\ny"}, book, sayso.PresentDiff, "@@ -1,2 +1,2 @@\n-x = 1\n+x = 2\n y\n", ""},
		{"by place", obj{"cell_id": "cell-1", "new_source": "Z"}, book, sayso.PresentDiff, "-z\n", ""},
		{"insert", obj{"cell_id": "a1", "new_source": "new\n", "edit_mode": "insert"}, book, sayso.PresentDiff, "@@ -0,0 +1 @@\n+new\n", "a new cell behind this one"},
		{"delete", obj{"cell_id": "a2", "new_source": "", "edit_mode": "delete"}, book, sayso.PresentDiff, "-z\n", "the cell is deleted"},
		{"no such cell", obj{"cell_id": "a9", "new_source": "q"}, book, sayso.PresentFileContent, "q", "not compared with the notebook on disk: it has no cell of this name"},
		{"no text", obj{"cell_id": "cell-2", "new_source": "q"}, book, sayso.PresentFileContent, "q", "not compared with the notebook on disk: its source is no text"},
		{"no notebook", obj{"cell_id": "a1", "new_source": "q"}, "not JSON", sayso.PresentFileContent, "q", "not compared with the notebook on disk: it cannot be read as a notebook"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.args["notebook_path"] = at
			got := hookFor(t, "NotebookEdit", tt.args).Present(one("notebook_path", at, sayso.PathFile), holds(tt.content))
			if got.Type != tt.kind || !strings.Contains(got.Content, tt.want) || got.Metadata["note"] != tt.note || got.Metadata["path"] != at {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestPresent_others(t *testing.T) {
	for _, tt := range []struct {
		tool string
		args obj
		want sayso.Presentation
	}{
		{"Bash", obj{"command": "echo hi", "description": "Say hi"}, present.Command("echo hi", "/w", sayso.Mark{From: 0, To: 4, Kind: sayso.MarkProgram})},
		{"PowerShell", obj{"command": "dir"}, sayso.Presentation{Type: "command", Content: "dir", Language: "powershell", Metadata: map[string]string{"cwd": "/w"}}},
		{"WebFetch", obj{"url": "https://Example.org:8443/a/../b?c=d", "prompt": "what"}, present.Structured(
			[]byte(`{"scheme":"https","host":"example.org","port":8443,"path":"/b","query":"c=d"}`))},
		{"WebFetch", obj{"url": "http://localhost/", "prompt": "what"}, present.Noted(present.Structured(
			[]byte(`{"scheme":"http","host":"localhost","port":80,"path":"/"}`)), "it is, or may be, on this machine or network")},
		{"WebFetch", obj{"url": "https://good.org@bad.org/", "prompt": "what"}, present.Noted(present.Structured(
			[]byte(`{"scheme":"https","host":"bad.org","port":443,"path":"/"}`)), "programs may disagree about this address: it holds user information")},
		{"mcp__lab__deploy", obj{"env": "prod"}, present.Structured([]byte(`{"env":"prod"}`))},
		{"Read", obj{"file_path": "/w/a"}, present.Structured([]byte(`{"file_path":"/w/a"}`))},
	} {
		got := hookFor(t, tt.tool, tt.args).Present(one("file_path", "/w/a", sayso.PathFile), untouched(t))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.tool, tt.args, diff)
		}
	}
}

// A tool of a server that calls itself Write is not Claude Code's.
func TestPresent_serversAreNotTheHost(t *testing.T) {
	h := hookFor(t, "Write", obj{"file_path": "/w/a", "content": "x"})
	h.Call.Server = "evil"
	if got := h.Present(one("file_path", "/w/a", sayso.PathFile), untouched(t)); got.Type != sayso.PresentStructured {
		t.Errorf("got %+v", got)
	}
}

// Every call that was recorded from the real binary can be presented.
func TestPresent_payloads(t *testing.T) {
	const dir = "testdata/payloads/2.1.330"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		text, err := os.ReadFile(dir + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		h, err := claudecode.Parse(text)
		if err != nil || h.Event != claudecode.PreToolUse {
			continue
		}
		n++
		if p := h.Present(sayso.Facts{}, untouched(t)); p.Content == "" {
			t.Errorf("%s: nothing is shown: %+v", e.Name(), p)
		}
	}
	if n < 25 {
		t.Errorf("%d calls", n)
	}
}

// FuzzPresent: whatever the file and the edit, a difference is a difference of
// the file: applied to it, it makes the edit.
func FuzzPresent(f *testing.F) {
	f.Add("a\nb\n", "b", "c", false)
	f.Add("a\r\nb\r\n", "a\nb", "c", true)
	f.Add("", "", "new", false)
	f.Add("x\x00y", "x", "\x1b[2J", false)
	f.Fuzz(func(t *testing.T, text, old, changed string, all bool) {
		for _, s := range []*string{&old, &changed} {
			*s = strings.ToValidUTF8(*s, "?")
		}
		h := hookFor(t, "Edit", obj{"file_path": "/w/a", "old_string": old, "new_string": changed, "replace_all": all})
		p := h.Present(one("file_path", "/w/a", sayso.PathFile), holds(text))
		if p.Type != sayso.PresentDiff || p.Metadata["note"] != "" {
			return
		}
		after, err := present.Apply(p.Content, text)
		if err != nil {
			t.Fatalf("%v:\n%s", err, p.Content)
		}
		want := strings.ReplaceAll(text, old, changed)
		if strings.Contains(text, old) && old != "" && after != want {
			t.Fatalf("%q becomes %q, want %q", text, after, want)
		}
	})
}

func ExampleHook_Present() {
	h, err := claudecode.Parse([]byte(`{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Edit","tool_use_id":"t",
		"tool_input":{"file_path":"/w/greeting.txt","old_string":"hello","new_string":"good day"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	facts := sayso.Facts{Operands: []sayso.PathFact{{Arg: "file_path", Resolved: "/w/greeting.txt", State: sayso.PathFile}}}
	p := h.Present(facts, func(sayso.PathFact) (string, error) { return "hello\n", nil })
	fmt.Print(p.Content)
	// Output:
	// --- a/w/greeting.txt
	// +++ b/w/greeting.txt
	// @@ -1 +1 @@
	// -hello
	// +good day
}
