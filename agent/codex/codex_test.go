package codex_test

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
	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/internal/jcs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPayloads reads every payload that was recorded from the real binary. Of
// all tools that the host names, none is unknown to the table but those that are
// asked about on purpose.
func TestPayloads(t *testing.T) {
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	asked := map[string]bool{"list_mcp_resources": true, "read_mcp_resource": true, "mcp__p_p__deploy": true}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			h, err := codex.Parse(text)
			if name == "Stop" {
				if !errors.Is(err, sayso.ErrInvalid) {
					t.Errorf("got %v for an event that the gate is not installed for", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Told().Moment == agent.Before {
				if d, err := h.Call.Digest(); err != nil || d.IsZero() {
					t.Errorf("digest %v, %v", d, err)
				}
				known := h.Call.Known()
				if known.Args == nil && !known.OwnScreen && !asked[h.Call.Tool] {
					t.Errorf("%s is in no table", h.Call.Tool)
				}
			}
			agenttest.Golden(t, filepath.Join("testdata", "read", name+".json"), read(h), *update)
		})
	}
}

// read is what is kept of what a hook was told.
func read(h codex.Hook) any {
	tool, server := h.Call.CanonicalName()
	return struct {
		Event   codex.Event
		Call    sayso.Call
		Tool    string
		Server  string
		Kind    sayso.Kind
		Outcome sayso.Outcome
	}{h.Event, h.Call, tool, server, h.Call.EffectiveKind(), h.Outcome}
}

const bash = `{"session_id":"s1","turn_id":"t1","transcript_path":null,"cwd":"/home/dev/app","hook_event_name":"PreToolUse","model":"m",` +
	`"permission_mode":"default","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"call_1"}`

// permission is the same as Codex asks whether it may leave its sandbox.
var permission = strings.NewReplacer(`PreToolUse`, `PermissionRequest`, `,"tool_use_id":"call_1"`, ``).Replace(bash)

var adapter = agenttest.Adapter{
	Parse:    func(text []byte) (agent.Hook, error) { return codex.Parse(text) },
	Sample:   bash,
	Required: []string{"session_id", "hook_event_name", "tool_name", "tool_input", "tool_use_id"},
}

func TestAdapter(t *testing.T) { agenttest.Parses(t, adapter) }

func FuzzParse(f *testing.F) { adapter.Fuzz(f, permission) }

func TestParse_refuses(t *testing.T) {
	for name, text := range map[string]string{
		"a permission for no tool":   strings.Replace(permission, `"tool_name":"Bash",`, ``, 1),
		"another event":              strings.Replace(bash, `PreToolUse`, `UserPromptSubmit`, 1),
		"an event in another case":   strings.Replace(bash, `PreToolUse`, `pretooluse`, 1),
		"a control character in cwd": strings.Replace(bash, `/home/dev/app`, `/home\u0007`, 1),
	} {
		if h, err := codex.Parse([]byte(text)); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: read %+v, %v", name, h, err)
		}
	}
}

// A patch of one file is shown as the change to the file on disk.
func TestPresent_patch(t *testing.T) {
	fact := sayso.PathFact{Arg: "command", Path: "a.txt", Resolved: "/w/a.txt", State: sayso.PathFile}
	for name, tt := range map[string]struct {
		patch string
		state sayso.PathState
		kind  sayso.PresentationType
		want  []string
	}{
		"an update":       {"*** Update File: a.txt\n@@\n-two\n+TWO\n", sayso.PathFile, sayso.PresentDiff, []string{" one\n-two\n+TWO\n three"}},
		"an overwrite":    {"*** Add File: a.txt\n+four\n", sayso.PathFile, sayso.PresentDiff, []string{"-one\n", "+four\n"}},
		"a new file":      {"*** Add File: a.txt\n+four\n", sayso.PathMissing, sayso.PresentFileContent, []string{"four\n", "a new file"}},
		"a deletion":      {"*** Delete File: a.txt\n", sayso.PathFile, sayso.PresentDiff, []string{"-one\n-two\n-three\n", "the file is deleted"}},
		"nothing like it": {"*** Update File: a.txt\n@@\n-five\n+FIVE\n", sayso.PathFile, sayso.PresentDiff, []string{"-five", "not in the file as it is now"}},
		"several":         {"*** Delete File: a.txt\n*** Delete File: b.txt\n", sayso.PathFile, sayso.PresentText, []string{"*** Delete File: b.txt", "not compared"}},
		"no patch":        {"*** Delete a.txt\n", sayso.PathFile, sayso.PresentText, []string{"*** Delete a.txt", "no patch that can be read"}},
	} {
		args, err := jcs.Marshal(map[string]string{"command": "*** Begin Patch\n" + tt.patch + "*** End Patch\n"})
		if err != nil {
			t.Fatal(err)
		}
		fact.State = tt.state
		p := codex.Present(sayso.Call{Host: codex.Host, Tool: "apply_patch", Args: args, Cwd: "/w"}, sayso.Facts{Operands: []sayso.PathFact{fact}},
			func(sayso.PathFact) (string, error) { return "one\ntwo\nthree\n", nil })
		for _, w := range tt.want {
			if p.Type != tt.kind || !strings.Contains(p.Content+p.Metadata["note"], w) {
				t.Errorf("%s: %+v; want %s with %q", name, p, tt.kind, w)
			}
		}
	}
}

func TestReply(t *testing.T) {
	before, err := codex.Parse([]byte(bash))
	if err != nil {
		t.Fatal(err)
	}
	ask, err := codex.Parse([]byte(permission))
	if err != nil {
		t.Fatal(err)
	}
	id := sayso.NewID(sayso.Moment{}.Wall, [16]byte{1})
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Request: id}
	edited := yes
	edited.Args = sayso.Args(`{"command":"git push --dry-run"}`)
	edited.By = []sayso.Actor{{Principal: "ana"}}
	no := sayso.Decision{State: sayso.StateDenied, Request: id, Source: sayso.SourcePerson, By: []sayso.Actor{{Principal: "ana"}}, Note: "use make deploy"}
	denied := "Denied by ana (ticket " + id.Short() + "): use make deploy"
	for _, tt := range []struct {
		name   string
		h      codex.Hook
		d      sayso.Decision
		err    error
		exit   int
		stdout string
	}{
		{"allow", before, yes, nil, 0, ``},
		{"edit", before, edited, nil, 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"git push --dry-run"},` +
			`"additionalContext":"Allowed by ana with edited arguments (ticket ` + id.Short() + `)"}}`},
		{"deny", before, no, nil, 2, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + denied + `"}}`},
		{"permit", ask, yes, nil, 0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`},
		{"do not permit", ask, no, nil, 2, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"` + denied + `"}}}`},
		{"permit what was edited", ask, edited, nil, 2, `deny`},
		{"the zero decision", before, sayso.Decision{}, nil, 2, `deny`},
		{"the zero decision on a permission", ask, sayso.Decision{}, nil, 2, `deny`},
		{"an allow with an error", before, yes, sayso.ErrUnavailable, 2, `deny`},
		{"an allow in another state", ask, sayso.Decision{Effect: sayso.Allow}, nil, 2, `deny`},
		{"pending", before, sayso.Decision{}, &sayso.PendingError{Ticket: id}, 2, `Not decided yet, ticket`},
		{"expired", ask, sayso.Decision{Request: id}, sayso.ErrExpired, 2, `Expired`},
	} {
		a := tt.h.Reply(tt.d, tt.err)
		said := string(a.Stdout)
		if a.Exit != tt.exit || (tt.exit == 0 || strings.HasPrefix(tt.stdout, "{")) && said != tt.stdout || !strings.Contains(said, tt.stdout) {
			t.Errorf("%s: exit %d, %s; want %d, %s", tt.name, a.Exit, said, tt.exit, tt.stdout)
		}
		if (a.Exit == 2) != (strings.TrimSpace(a.Stderr) != "") {
			t.Errorf("%s: exit %d with %q on standard error", tt.name, a.Exit, a.Stderr)
		}
	}
	// With status 2 and no words the tool would run.
	if a := codex.Deny(""); a.Exit != 2 || a.Stderr == "" || len(a.Stdout) > 0 {
		t.Errorf("a denial without a reason is %+v", a)
	}
	if a := codex.Deny(strings.Repeat("é", 20000)); len([]rune(a.Stderr)) > 9100 || !strings.HasSuffix(a.Stderr, "more characters]") {
		t.Errorf("a long reason ends in %q", a.Stderr[len(a.Stderr)-40:])
	}
}
