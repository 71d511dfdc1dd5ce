package opencode_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/agenttest"
	"github.com/sayso-dev/sayso/agent/opencode"
	"github.com/sayso-dev/sayso/present"
)

var adapter = agenttest.Adapter{
	Parse: func(text []byte) (agent.Hook, error) { return opencode.Parse(text) },
	Deny:  opencode.Deny,
	Sample: `{"event":"tool.execute.before","tool":"bash","callID":"toolu_1","args":{"command":"git push","description":"Push"},` +
		`"sessionID":"ses_1","rootID":"ses_1","agent":"build","directory":"/home/dev/app","servers":[],"registered":true}`,
	Required: []string{"event", "tool", "callID", "args", "sessionID", "rootID", "directory"},
	Allowed:  `{"decision":"allow"}`,
	Edited:   `"args":{"command":"git status","description":"Push"}`,
	Denied:   `{"decision":"deny","reason":"`,
	Exit:     2,
}

var update = flag.Bool("update", false, "write the golden files anew")

func TestPayloads(t *testing.T) {
	adapter.Payloads(t, "testdata/payloads/1.18.33", func(string) bool { return true }, *update)
}

func TestTools(t *testing.T) {
	adapter.Tools(t, opencode.Host, "testdata/tools-1.18.33.json", opencode.Said, map[string][]string{"bash": {"workdir"}})
}

func TestAdapter(t *testing.T) { agenttest.Run(t, adapter) }

// An edit is told the model with the result, and calls that we have no opinion on
// are told the plugin: silence would block them.
func TestReply(t *testing.T) {
	h, err := opencode.Parse([]byte(adapter.Sample))
	if err != nil {
		t.Fatal(err)
	}
	d := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, By: []sayso.Actor{{Principal: "ana"}}, Args: sayso.Args(`{"command":"git status"}`)}
	if got := string(h.Reply(d, nil).Stdout); !strings.Contains(got, `"note":"Allowed by ana with edited arguments`) {
		t.Errorf("an edit says %s", got)
	}
	if got := string(opencode.NoOpinion().Stdout); got != `{"decision":"none"}` {
		t.Errorf("no opinion says %s", got)
	}
}

// A tool whose arguments the host has read before it asks takes no others.
func TestReply_readBefore(t *testing.T) {
	for _, tool := range []string{"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"} {
		h, err := opencode.Parse([]byte(strings.Replace(adapter.Sample, `"tool":"bash"`, `"tool":"`+tool+`"`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		d := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}
		if a := h.Reply(d, nil); h.Told().CanEdit || string(a.Stdout) != adapter.Allowed {
			t.Errorf("%s: %s, can be edited: %t", tool, a.Stdout, h.Told().CanEdit)
		}
		if d.Args = sayso.Args(`{"uri":"x"}`); !strings.HasPrefix(string(h.Reply(d, nil).Stdout), adapter.Denied) {
			t.Errorf("%s ran unedited", tool)
		}
	}
}

// What an agent of the host's own does counts to the session that a person sees.
func TestParse_agents(t *testing.T) {
	text := strings.Replace(adapter.Sample, `"sessionID":"ses_1"`, `"sessionID":"ses_2"`, 1)
	text = strings.Replace(text, `"agent":"build"`, `"agent":"explore"`, 1)
	h, err := opencode.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if c := h.Call; c.Session != "ses_1" || c.Run != "ses_2" || c.Caller != "opencode/explore" {
		t.Errorf("read as %s of %s by %s", c.Run, c.Session, c.Caller)
	}
}

// A tool is of a server where only one can be meant. A name that could be two
// tools' is refused, or a rule about one would be about the other.
func TestParse_servers(t *testing.T) {
	for _, tt := range []struct {
		tool, servers string
		registered    string
		name, server  string // empty for refused
	}{
		{"lab_deploy", `["lab"]`, "false", "deploy", "lab"},
		{"my_lab_deploy", `["my lab","other"]`, "false", "deploy", "my lab"},
		{"lab_deploy", `[]`, "false", "lab_deploy", ""},
		{"lab_", `["lab"]`, "false", "lab_", ""},
		{"lab_deploy", `["lab"]`, "true", "", ""},
		{"apply_patch", `["apply"]`, "true", "", ""},
		{"apply_patch", `["lab"]`, "true", "file-edit", ""},
		{"a_b_c", `["a","a_b"]`, "false", "", ""},
		{"bash", `["lab"]`, "true", "bash", ""},
	} {
		text := strings.NewReplacer(`"bash"`, `"`+tt.tool+`"`, `"servers":[]`, `"servers":`+tt.servers, `"registered":true`, `"registered":`+tt.registered).Replace(adapter.Sample)
		h, err := opencode.Parse([]byte(text))
		switch {
		case tt.name == "" && err == nil:
			t.Errorf("%s among %s: read as %+v", tt.tool, tt.servers, h.Call)
		case tt.name == "":
		case err != nil:
			t.Errorf("%s among %s: %v", tt.tool, tt.servers, err)
		default:
			if name, server := h.Call.CanonicalName(); name != tt.name || server != tt.server {
				t.Errorf("%s among %s is %s of %q", tt.tool, tt.servers, name, server)
			}
		}
	}
}

func TestParse_after(t *testing.T) {
	after := strings.Replace(adapter.Sample, "before", "after", 1)
	h, err := opencode.Parse([]byte(strings.Replace(after, "{", `{"exit":3,"output":"hi\n","tookMS":1500,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	o := h.Told().Outcome
	if h.Told().Moment != agent.After || o.Session != "ses_1" || o.CallID != "toolu_1" || o.Failed || o.ExitStatus == nil || *o.ExitStatus != 3 ||
		o.Took.Seconds() != 1.5 || o.Output.IsZero() || string(o.Args) != `{"command":"git push"}` {
		t.Errorf("read %+v", o)
	}
	h, err = opencode.Parse([]byte(strings.Replace(after, "{", `{"error":"no such file",`, 1)))
	if err != nil || !h.Told().Outcome.Failed {
		t.Errorf("a call that failed: %+v, %v", h.Told().Outcome, err)
	}
	h, err = opencode.Parse([]byte(`{"event":"session.deleted","rootID":"ses_1"}`))
	if err != nil || h.Told().Moment != agent.End || h.Told().Session != "ses_1" {
		t.Errorf("a session that was deleted: %+v, %v", h, err)
	}
}

func TestPresent(t *testing.T) {
	facts := sayso.Facts{Operands: []sayso.PathFact{
		{Arg: "filePath", Path: "/w/a", Resolved: "/w/a", State: sayso.PathFile},
		{Arg: "patchText", Path: "/w/a", Resolved: "/w/a", State: sayso.PathFile},
	}}
	holds := func(sayso.PathFact) (string, error) { return "a\nb\n", nil }
	for _, tt := range []struct {
		tool, args string
		want       sayso.Presentation
	}{
		{"bash", `{"command":"echo hi"}`, present.Command("echo hi", "/w", present.Understood("echo hi")...)},
		{"write", `{"filePath":"a","content":"c\n"}`, present.Diff("a", "a\nb\n", "c\n")},
		{"edit", `{"filePath":"a","oldString":"b","newString":"B"}`, present.Diff("a", "a\nb\n", "a\nB\n")},
		{"apply_patch", `{"patchText":"*** Begin Patch\n*** Update File: /w/a\n@@\n-b\n+B\n*** End Patch\n"}`, present.Diff("/w/a", "a\nb\n", "a\nB\n")},
		{"webfetch", `{"url":"https://example.org/"}`, present.Address("https://example.org/")},
		{"edit", `{"filePath":"a","oldString":"b"}`, present.Structured([]byte(`{"filePath":"a","oldString":"b"}`))},
		{"skill", `{"name":"deploy"}`, present.Structured([]byte(`{"name":"deploy"}`))},
	} {
		call := sayso.Call{Host: opencode.Host, Tool: tt.tool, Cwd: "/w", Args: sayso.Args(tt.args)}
		if diff := cmp.Diff(tt.want, opencode.Present(call, facts, holds)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.tool, tt.args, diff)
		}
	}
}
