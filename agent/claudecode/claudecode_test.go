package claudecode_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/agenttest"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/jcs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestTable fails on a tool's field that the binary offers and nobody has
// thought about.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("testdata/tools-2.1.330.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct {
		Name    string   `json:"name"`
		Fields  []string `json:"fields"`
		Offered bool     `json:"offered"`
	}
	if err := jcs.UnmarshalLenient(text, &tools); err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, tool := range tools {
		name := tool.Name
		known := sayso.Call{Host: claudecode.Host, Tool: name}.Known()
		if known.OwnScreen {
			continue // no opinion, whatever they send
		}
		if known.Name == name {
			if known.Kind != sayso.KindOther {
				t.Errorf("%s is not in the table and is of kind %s", name, known.Kind)
			}
			continue // not in the table: asked about, whatever they send
		}
		listed++
		for _, field := range tool.Fields {
			if !claudecode.Listed(name, field) {
				t.Errorf("%s has a field %q that is not listed", name, field)
			}
		}
	}
	if listed < 18 {
		t.Errorf("only %d tools of the binary are in the table", listed)
	}
}

// TestPayloads reads every payload that was recorded from the real binary.
func TestPayloads(t *testing.T) {
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			h, err := claudecode.Parse(text)
			if strings.HasPrefix(name, "PostToolBatch") {
				if !errors.Is(err, sayso.ErrInvalid) {
					t.Errorf("got %v for an event that the gate is not installed for", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Event == claudecode.PreToolUse {
				if _, err := h.Call.Digest(); err != nil {
					t.Error(err)
				}
			}
			agenttest.Golden(t, filepath.Join("testdata", "read", name+".json"), read(h), *update)
		})
	}
}

// read is what is kept of what a hook was told.
func read(h claudecode.Hook) any {
	tool, server := h.Call.CanonicalName()
	return struct {
		Event     claudecode.Event
		Mode      string
		OwnScreen bool
		Call      sayso.Call
		Tool      string
		Server    string
		Kind      sayso.Kind
		Said      map[string]sayso.Args
		Outcome   sayso.Outcome
	}{h.Event, h.Mode, h.OwnScreen, h.Call, tool, server, h.Call.EffectiveKind(), h.Said, h.Outcome}
}

const bash = `{"session_id":"s1","cwd":"/home/dev/app","permission_mode":"default","hook_event_name":"PreToolUse",` +
	`"tool_name":"Bash","tool_input":{"command":"git push","description":"Push","timeout":5},"tool_use_id":"toolu_01"}`

var adapter = agenttest.Adapter{
	Parse:    func(text []byte) (agent.Hook, error) { return claudecode.Parse(text) },
	Deny:     claudecode.Deny,
	Sample:   bash,
	Required: []string{"session_id", "hook_event_name", "tool_name", "tool_input", "tool_use_id"},
	Allowed:  `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
	Edited:   `"updatedInput":{"command":"git status","timeout":5,"description":"Push"}`,
	Denied:   `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"`,
	Exit:     2,
}

func TestAdapter(t *testing.T) { agenttest.Run(t, adapter) }

func FuzzParse(f *testing.F) { adapter.Fuzz(f) }

func TestParse_refuses(t *testing.T) {
	for name, text := range map[string]string{
		"another event":              strings.Replace(bash, `PreToolUse`, `UserPromptSubmit`, 1),
		"an event in another case":   strings.Replace(bash, `PreToolUse`, `pretooluse`, 1),
		"a control character in cwd": strings.Replace(bash, `/home/dev/app`, `/home\u0007`, 1),
	} {
		if h, err := claudecode.Parse([]byte(text)); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: read %+v, %v", name, h, err)
		}
	}
}

func TestNoOpinion(t *testing.T) {
	if a := claudecode.NoOpinion(); a.Exit != 0 || len(a.Stdout) != 0 || a.Stderr != "" {
		t.Errorf("no opinion is %+v", a)
	}
}

// Of the tools in the table, the host tells after a call the arguments that it
// asked about before, so that a difference means that somebody changed them.
func TestPayloads_argumentsStay(t *testing.T) {
	compared := 0
	before, _ := filepath.Glob("testdata/payloads/*/PreToolUse.*.json")
	for _, file := range before {
		pre, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := claudecode.Parse(pre)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"PostToolUse.", "PostToolUseFailure."} {
			post, err := os.ReadFile(strings.Replace(file, "PreToolUse.", event, 1))
			if err != nil {
				continue
			}
			ran, err := claudecode.Parse(post)
			if err != nil {
				t.Fatal(err)
			}
			if len(ran.Outcome.Args) == 0 {
				continue
			}
			compared++
			a, _ := asked.Call.Digest()
			b, _ := sayso.Call{Host: asked.Call.Host, Tool: asked.Call.Tool, Server: asked.Call.Server, Args: ran.Outcome.Args,
				Cwd: asked.Call.Cwd, Session: asked.Call.Session}.Digest()
			if a != b {
				t.Errorf("%s: asked with %s, ran with %s", filepath.Base(file), asked.Call.Args, ran.Outcome.Args)
			}
		}
	}
	if compared < 15 {
		t.Errorf("only %d calls were compared", compared)
	}
}
