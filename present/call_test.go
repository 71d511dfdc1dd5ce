package present_test

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// What is shown of a call whose caller says nothing of how: a command with its
// parts marked, an address in its parts, and nothing more than the arguments of
// all others.
func TestCall(t *testing.T) {
	for _, tc := range []struct {
		call sayso.Call
		want sayso.PresentationType
		in   string
	}{
		{sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"git push"}`), Cwd: "/ws"}, sayso.PresentCommand, "git push"},
		{sayso.Call{Tool: "Bash", Host: "claude-code", Args: sayso.Args(`{"command":"ls"}`)}, sayso.PresentCommand, "ls"},
		{sayso.Call{Tool: "web-fetch", Args: sayso.Args(`{"url":"http://127.0.0.1:8080/x?y=1"}`)}, sayso.PresentStructured, `"host": "127.0.0.1"`},
		{sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":7}`)}, "", ""},
		{sayso.Call{Tool: "bash", Args: sayso.Args(`{}`)}, "", ""},
		{sayso.Call{Tool: "bash", Server: "github", Args: sayso.Args(`{"command":"ls"}`)}, "", ""},
		{sayso.Call{Tool: "file-write", Args: sayso.Args(`{"path":"a","content":"b"}`)}, "", ""},
		{sayso.Call{Tool: "deploy", Args: sayso.Args(`{"to":"prod"}`)}, "", ""},
	} {
		p, ok := present.Call(tc.call)
		if ok != (tc.want != "") || p.Type != tc.want || !strings.Contains(p.Content, tc.in) {
			t.Errorf("%s %s: shows %v %+v", tc.call.Tool, tc.call.Args, ok, p)
		}
	}
	p, _ := present.Call(sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"sudo ls"}`), Cwd: "/ws"})
	if len(p.Marks) < 2 || p.Metadata["cwd"] != "/ws" {
		t.Errorf("shows %+v", p)
	}
}
