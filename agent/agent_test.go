package agent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
)

// The words of the table are those of the host's own tools. What a server's tool
// calls by the same name may change what runs.
func TestFill(t *testing.T) {
	input := sayso.Args(`{"description":"Push","command":"git push"}`)
	own, server := sayso.Call{Tool: "Bash"}, sayso.Call{Tool: "Bash", Server: "lab"}
	said, err := agent.Fill(&own, "tool_input", input, []string{"description"})
	if err != nil || string(own.Args) != `{"command":"git push"}` || own.Said["description"] != "Push" || string(said["description"]) != `"Push"` {
		t.Errorf("a tool of the host's own: %+v, %v, %v", own, said, err)
	}
	said, err = agent.Fill(&server, "tool_input", input, []string{"description"})
	if err != nil || string(server.Args) != string(input) || server.Said != nil || said != nil {
		t.Errorf("a tool of a server: %+v, %v, %v", server, said, err)
	}
	for _, text := range []string{``, `null`, `[]`, `"git push"`, `{"a":1,"a":2}`} {
		var c sayso.Call
		_, err := agent.Fill(&c, "toolArgs", sayso.Args(text), nil)
		if !errors.Is(err, sayso.ErrInvalid) || !strings.Contains(err.Error(), "toolArgs") || c.Args != nil {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

func TestOutput(t *testing.T) {
	if !agent.Output(nil).IsZero() || !agent.Output([]byte{}).IsZero() {
		t.Error("nothing has a digest")
	}
	if a, b := agent.Output([]byte("a")), agent.Output([]byte("b")); a.IsZero() || a == b {
		t.Errorf("%s and %s", a, b)
	}
}

// An allow that cannot be written is a denial, and a denial whose JSON cannot be
// written still denies.
func TestReply_cannotBeWritten(t *testing.T) {
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}
	broken := func(sayso.Args, string) any { return func() {} }
	deny := func(reason string) agent.Answer {
		return agent.Deny(reason, func(string) any { return func() {} })
	}
	if a := agent.Reply(yes, nil, nil, broken, deny); a.Exit != 2 || a.Stderr == "" || a.Stdout != nil {
		t.Errorf("answers %+v", a)
	}
}
