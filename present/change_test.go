package present_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

func TestChange(t *testing.T) {
	holds := func(text string) present.Content {
		return func(sayso.PathFact) (string, error) { return text, nil }
	}
	fails := func(sayso.PathFact) (string, error) { return "", errors.New("it is too large") }
	leads := func(state sayso.PathState) sayso.Facts {
		return sayso.Facts{Operands: []sayso.PathFact{{Arg: "path", Path: "a.txt", Resolved: "/ws/a.txt", State: state}}}
	}
	file, missing := leads(sayso.PathFile), leads(sayso.PathMissing)
	for _, tt := range []struct {
		name, tool, args string
		facts            sayso.Facts
		content          present.Content
		want             sayso.Presentation
	}{
		{"write", "write_file", `{"path":"a.txt","content":"b\n"}`, file, holds("a\n"), present.Diff("a.txt", "a\n", "b\n")},
		{"write by the canonical name", "file-write", `{"path":"a.txt","content":"b\n"}`, file, holds("a\n"), present.Diff("a.txt", "a\n", "b\n")},
		{"write a new file", "write_file", `{"path":"a.txt","content":"b\n"}`, missing, nil, present.Noted(present.File("a.txt", "b\n"), "a new file")},
		{"write what is too large", "write_file", `{"path":"a.txt","content":"b\n"}`, file, fails,
			present.Noted(present.File("a.txt", "b\n"), "not compared with the file on disk: it is too large")},
		{"edit", "edit_file", `{"path":"a.txt","old_string":"a","new_string":"b"}`, file, holds("x\na\n"), present.Diff("a.txt", "x\na\n", "x\nb\n")},
		{"edit everywhere", "edit_file", `{"path":"a.txt","old_string":"a","new_string":"b","replace_all":true}`, file, holds("a\na\n"),
			present.Diff("a.txt", "a\na\n", "b\nb\n")},
		{"edit without a path known", "edit_file", `{"path":"a.txt","old_string":"a","new_string":"b"}`, sayso.Facts{}, nil,
			present.Noted(present.Diff("a.txt", "a", "b"), "not compared with the file on disk: it is not known where its path leads")},
		// Our own tools take a text as it stands.
		{"edit with other line breaks", "edit_file", `{"path":"a.txt","old_string":"a\nb","new_string":"c"}`, file, holds("a\r\nb\r\n"),
			present.Noted(present.Diff("a.txt", "a\nb", "c"), "the text to replace is not in the file as it is now; this is the edit alone")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := present.Change(sayso.Call{Tool: tt.tool, Args: sayso.Args(tt.args)}, tt.facts, tt.content)
			if diff := cmp.Diff(tt.want, got); diff != "" || !ok {
				t.Errorf("%v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

// Of what is no change of our own tools nothing is shown, so that nothing in its
// arguments is left out.
func TestChange_none(t *testing.T) {
	unread := func(sayso.PathFact) (string, error) {
		t.Error("the file was read")
		return "", nil
	}
	f := sayso.Facts{Operands: []sayso.PathFact{{Arg: "path", Path: "a", Resolved: "/ws/a", State: sayso.PathFile}}}
	for name, c := range map[string]sayso.Call{
		"a tool of a server": {Server: "evil", Tool: "write_file", Args: sayso.Args(`{"path":"a","content":"b"}`)},
		"of another host":    {Host: "codex", Tool: "write_file", Args: sayso.Args(`{"path":"a","content":"b"}`)},
		"one argument more":  {Tool: "write_file", Args: sayso.Args(`{"path":"a","content":"b","mode":511}`)},
		"no content":         {Tool: "write_file", Args: sayso.Args(`{"path":"a"}`)},
		"no text":            {Tool: "edit_file", Args: sayso.Args(`{"path":"a","old_string":7,"new_string":"b"}`)},
		"no path":            {Tool: "edit_file", Args: sayso.Args(`{"old_string":"a","new_string":"b"}`)},
		"a read":             {Tool: "read_file", Args: sayso.Args(`{"path":"a"}`)},
	} {
		if p, ok := present.Change(c, f, unread); ok {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
