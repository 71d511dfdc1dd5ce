package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso/saysotest"
)

func TestServer(t *testing.T) {
	dir := t.TempDir()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	b := saysotest.New(t)
	b.Approve("notes/read")
	b.Deny("notes/write", "write it yourself")
	b.Approve(`notes/write:*"a.txt"*`)
	ours, theirs := mcp.NewInMemoryTransports()
	ss, err := newServer(b.Gate(), folder).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ss.Wait() }()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	for _, c := range []struct {
		tool string
		args note
		want string
		fail bool
	}{
		{"write", note{"a.txt", "one"}, "written", false},
		{"read", note{"a.txt", ""}, "one", false},
		{"write", note{"b.txt", "two"}, "write it yourself", true},
		{"read", note{"../a.txt", ""}, "invalid", true},
	} {
		r, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Fatal(err)
		}
		if text := r.Content[0].(*mcp.TextContent).Text; r.IsError != c.fail || !strings.Contains(text, c.want) {
			t.Errorf("%s %+v: %q", c.tool, c.args, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "b.txt")); err == nil {
		t.Error("what was denied was written")
	}
}
