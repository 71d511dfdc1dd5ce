package antigravity_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/agenttest"
	"github.com/sayso-dev/sayso/agent/antigravity"
)

var update = flag.Bool("update", false, "write the golden files anew")

var adapter = agenttest.Adapter{
	Parse: func(text []byte) (agent.Hook, error) { return antigravity.Parse(text) },
	Deny:  antigravity.Deny,
	Sample: `{"conversationId":"c1","workspacePaths":["/w"],"stepIdx":2,` +
		`"toolCall":{"name":"run_command","args":{"CommandLine":"git push"}}}`,
	Required: []string{"conversationId", "toolCall"},
	Allowed:  `{"decision":"allow"}`,
	Edited:   `"decision":"deny"`,
	Denied:   `{"decision":"deny","reason":"`,
}

func TestAdapter(t *testing.T) { agenttest.Run(t, adapter) }

func TestPayloads(t *testing.T) {
	adapter.Payloads(t, "testdata/payloads/documented", func(string) bool { return true }, *update)
}

// Where it is not certain in which directory a call is made, it is in none.
func TestParse_directory(t *testing.T) {
	for _, tt := range []struct{ roots, args, want string }{
		{`["/w"]`, `{}`, "/w"},
		{`["/w","/v"]`, `{}`, ""},
		{`["/w","/v"]`, `{"Cwd":"/v"}`, "/v"},
		{`["/w"]`, `{"Cwd":"sub"}`, ""},
		{`[]`, `{}`, ""},
	} {
		text := strings.NewReplacer(`["/w"]`, tt.roots, `{"CommandLine":"git push"}`, tt.args).Replace(adapter.Sample)
		h, err := antigravity.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if h.Call.Cwd != tt.want {
			t.Errorf("%s in %s is made in %q", tt.args, tt.roots, h.Call.Cwd)
		}
	}
}

// An edit that cannot be handed on is no allow.
func TestReply_edited(t *testing.T) {
	h, err := antigravity.Parse([]byte(adapter.Sample))
	if err != nil {
		t.Fatal(err)
	}
	if h.Told().CanEdit {
		t.Error("an edit is offered")
	}
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Args: sayso.Args(`{"CommandLine":"git status"}`)}
	if a := h.Reply(yes, nil); !strings.HasPrefix(string(a.Stdout), adapter.Denied) {
		t.Errorf("prints %s", a.Stdout)
	}
}
