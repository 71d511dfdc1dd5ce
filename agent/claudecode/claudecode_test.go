package claudecode_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/jcs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestTable fails on a tool's field that the binary offers and nobody has
// thought about.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("testdata/tools-2.1.329.json")
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
			golden(t, filepath.Join("testdata", "read", name+".json"), h)
		})
	}
}

// golden compares what was read with what was read before.
func golden(t *testing.T, file string, h claudecode.Hook) {
	t.Helper()
	got, err := jcs.MarshalIndent(struct {
		Event     claudecode.Event
		Mode      string
		OwnScreen bool
		Call      sayso.Call
		Tool      string
		Server    string
		Kind      sayso.Kind
		Said      map[string]sayso.Args
		Outcome   sayso.Outcome
	}{h.Event, h.Mode, h.OwnScreen, h.Call, first(h.Call.CanonicalName()), second(h.Call.CanonicalName()),
		h.Call.EffectiveKind(), h.Said, h.Outcome})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Error(diff)
	}
}

func first(a, _ string) string  { return a }
func second(_, b string) string { return b }

const bash = `{"session_id":"s1","cwd":"/home/dev/app","permission_mode":"default","hook_event_name":"PreToolUse",` +
	`"tool_name":"Bash","tool_input":{"command":"git push","description":"Push","timeout":5},"tool_use_id":"toolu_01"}`

func TestParse_refuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                     ``,
		"half":                        bash[:len(bash)/2],
		"trailing data":               bash + `{}`,
		"a name twice":                strings.Replace(bash, `"tool_name":"Bash"`, `"tool_name":"Read","tool_name":"Bash"`, 1),
		"a name in another case":      strings.Replace(bash, `"tool_name":"Bash"`, `"Tool_Name":"Bash"`, 1),
		"a second in another case":    strings.Replace(bash, `"tool_name":"Bash"`, `"tool_name":"Read","Tool_name":"Bash"`, 1),
		"an argument twice":           strings.Replace(bash, `"command":"git push"`, `"command":"ls","command":"git push"`, 1),
		"arguments that are a text":   strings.Replace(bash, `{"command":"git push","description":"Push","timeout":5}`, `"git push"`, 1),
		"no arguments":                strings.Replace(bash, `"tool_input"`, `"tool_output"`, 1),
		"no session":                  strings.Replace(bash, `"session_id":"s1",`, ``, 1),
		"no id":                       strings.Replace(bash, `,"tool_use_id":"toolu_01"`, ``, 1),
		"another event":               strings.Replace(bash, `PreToolUse`, `UserPromptSubmit`, 1),
		"an event in another case":    strings.Replace(bash, `PreToolUse`, `pretooluse`, 1),
		"a number that is none":       strings.Replace(bash, `"timeout":5`, `"timeout":1e999`, 1),
		"a lone surrogate":            strings.Replace(bash, `git push`, `git \ud800`, 1),
		"a control character in cwd":  strings.Replace(bash, `/home/dev/app`, `/home\u0007`, 1),
		"a tool name of another type": strings.Replace(bash, `"tool_name":"Bash"`, `"tool_name":["Bash"]`, 1),
	} {
		if h, err := claudecode.Parse([]byte(text)); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: read %+v, %v", name, h, err)
		}
	}
}

// TestParse_wordsAreNoArguments: the model's words about a call are not part of
// what is judged, shown as the call, and digested.
func TestParse_wordsAreNoArguments(t *testing.T) {
	one, err := claudecode.Parse([]byte(bash))
	if err != nil {
		t.Fatal(err)
	}
	two, err := claudecode.Parse([]byte(strings.Replace(bash, `"description":"Push"`, `"description":"List files"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(one.Call.Args), `{"command":"git push","timeout":5}`; got != want {
		t.Errorf("arguments are %s, want %s", got, want)
	}
	if one.Call.Said["description"] != "Push" {
		t.Errorf("said %v", one.Call.Said)
	}
	a, _ := one.Call.Digest()
	b, _ := two.Call.Digest()
	if a != b || a.IsZero() {
		t.Error("the model's words changed the digest")
	}
}

func TestReply(t *testing.T) {
	h, err := claudecode.Parse([]byte(bash))
	if err != nil {
		t.Fatal(err)
	}
	id := sayso.NewID(sayso.Moment{}.Wall, [16]byte{1})
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Request: id}
	edited := yes
	edited.Args = sayso.Args(`{"command":"git push --dry-run","timeout":5}`)
	edited.By = []sayso.Actor{{Principal: "ana"}}
	no := sayso.Decision{State: sayso.StateDenied, Request: id, Source: sayso.SourcePerson, By: []sayso.Actor{{Principal: "ana"}}, Note: "use make deploy"}
	tests := []struct {
		name   string
		d      sayso.Decision
		err    error
		exit   int
		stdout string
	}{
		{"allow", yes, nil, 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`},
		{"edit", edited, nil, 0, `"updatedInput":{"command":"git push --dry-run","timeout":5,"description":"Push"}`},
		{"deny", no, nil, 2, `"permissionDecision":"deny","permissionDecisionReason":"Denied by ana (ticket ` + id.Short() + `): use make deploy"`},
		{"the zero decision", sayso.Decision{}, nil, 2, `"deny"`},
		{"an allow with an error", yes, sayso.ErrUnavailable, 2, `"deny"`},
		{"an allow in another state", sayso.Decision{Effect: sayso.Allow}, nil, 2, `"deny"`},
		{"pending", sayso.Decision{}, &sayso.PendingError{Ticket: id}, 2, `Not decided yet, ticket`},
		{"expired", sayso.Decision{Request: id}, sayso.ErrExpired, 2, `Expired`},
	}
	for _, tt := range tests {
		a := h.Reply(tt.d, tt.err)
		if a.Exit != tt.exit || !strings.Contains(string(a.Stdout), tt.stdout) {
			t.Errorf("%s: exit %d, %s", tt.name, a.Exit, a.Stdout)
		}
		if (a.Exit == 2) != (a.Stderr != "") {
			t.Errorf("%s: exit %d with %q on standard error", tt.name, a.Exit, a.Stderr)
		}
		if err := jcs.Check(a.Stdout); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if a := claudecode.NoOpinion(); a.Exit != 0 || len(a.Stdout) != 0 || a.Stderr != "" {
		t.Errorf("no opinion is %+v", a)
	}
	if a := claudecode.Deny(strings.Repeat("é", 20000)); len([]rune(a.Stderr)) > 9100 || !strings.HasSuffix(a.Stderr, "more characters]") {
		t.Errorf("a long reason ends in %q", a.Stderr[len(a.Stderr)-40:])
	}
}

// FuzzParse: never a panic; what is read has a digest, and does not depend on
// the order of the members.
func FuzzParse(f *testing.F) {
	f.Add([]byte(bash))
	files, _ := filepath.Glob("testdata/payloads/*/*.json")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := claudecode.Parse(text)
		if err != nil || h.Event != claudecode.PreToolUse {
			return
		}
		d, err := h.Call.Digest()
		if err != nil || d.IsZero() {
			t.Fatalf("read, and has no digest: %v", err)
		}
		canonical, err := jcs.Canonicalize(text)
		if err != nil {
			t.Fatalf("read, and is not strict JSON: %v", err)
		}
		again, err := claudecode.Parse(canonical)
		if err != nil {
			t.Fatalf("not read in canonical form: %v", err)
		}
		if e, _ := again.Call.Digest(); e != d {
			t.Fatal("another digest in canonical form")
		}
	})
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
