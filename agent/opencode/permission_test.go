package opencode_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/opencode"
)

// recorded is what the server of 1.18.33 sent.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/server/1.18.33", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func none(string) bool { return false }

func TestPermission(t *testing.T) {
	told, err := opencode.ParseTold(recorded(t, "permission.asked"))
	if err != nil || told.Asked == nil {
		t.Fatalf("%+v, %v", told, err)
	}
	p, err := opencode.ParsePermission(told.Asked)
	if err != nil || p.Kind != "bash" || p.ID != "per_203af2ad7001vHHyjithnR2rtl" || p.Tool.Call != "toolu_01" {
		t.Fatalf("%+v, %v", p, err)
	}
	at := opencode.At{Directory: "/home/dev/app", Root: p.Session, Agent: "build", Registered: func(string) bool { return true }}
	c, err := p.Call(recorded(t, "message"), at)
	if err != nil || c.Tool != "bash" || string(c.Args) != `{"command":"touch marker"}` ||
		c.CallID != "toolu_01" || c.Session != p.Session || c.Caller != "opencode/main" || c.Cwd != "/home/dev/app" {
		t.Errorf("read %+v, %v", c, err)
	}
	at.Root = "ses_above"
	if c, err := p.Call(recorded(t, "message"), at); err != nil || c.Session != "ses_above" || c.Run != p.Session || c.Caller != "opencode/build" {
		t.Errorf("of an agent: %+v, %v", c, err)
	}
	for name, text := range map[string]string{
		"another call":   strings.Replace(string(recorded(t, "message")), "toolu_01", "toolu_02", 1),
		"no input":       strings.Replace(string(recorded(t, "message")), `"input": {`, `"inputs": {`, 1),
		"a member twice": strings.Replace(string(recorded(t, "message")), `"command"`, `"command": "ls", "command"`, 1),
		"half":           string(recorded(t, "message")[:200]),
		"nothing":        "",
	} {
		if c, err := p.Call([]byte(text), at); err == nil {
			t.Errorf("%s: read %+v", name, c)
		}
	}
	at.Servers, at.Registered = []string{"ba", "bash"}, none
	if c, err := p.Call([]byte(strings.Replace(string(recorded(t, "message")), `"bash"`, `"bash_x"`, 1)), at); err != nil || c.Server != "bash" {
		t.Errorf("of a server: %+v, %v", c, err)
	}
}

// One that names no call is asked about by its own name: the host asks whether to
// go on with an agent that repeats itself.
func TestPermission_withoutACall(t *testing.T) {
	p, err := opencode.ParsePermission([]byte(`{"id":"per_1","sessionID":"ses_1","permission":"doom_loop","patterns":["bash"],"metadata":{"tool":"bash","input":{}},"always":["bash"]}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Call(nil, opencode.At{Directory: "/w", Root: "ses_1", Registered: none})
	if err != nil || c.Tool != "permission-doom_loop" || c.CallID != "per_1" || c.Known().Bookkeeping {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestParsePermission_refuses(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{}`, `{"id":"per_1"}`, `{"id":"per_1","sessionID":"ses_1"}`,
		`{"id":"per_1","id":"per_2","sessionID":"ses_1","permission":"bash"}`,
		`{"ID":"per_1","sessionID":"ses_1","permission":"bash"}`,
		`{"id":"per_1","sessionID":"ses_1","permission":"bash","tool":{"messageID":"msg_1"}}`,
	} {
		if p, err := opencode.ParsePermission([]byte(text)); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: read %+v, %v", text, p, err)
		}
	}
}

func TestParseTold(t *testing.T) {
	for name, want := range map[string]opencode.Told{
		"permission.replied":   {Replied: "per_203af2ad7001vHHyjithnR2rtl", Reply: "once"},
		"message.part.updated": {Ended: "toolu_01", Session: "ses_1111111111111111111111root"},
		"server.connected":     {},
	} {
		got, err := opencode.ParseTold(recorded(t, name))
		if err != nil || got.Asked != nil || got.Replied != want.Replied || got.Reply != want.Reply || got.Ended != want.Ended || got.Session != want.Session || got.Failed {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	failed := strings.Replace(string(recorded(t, "message.part.updated")), `"status": "completed"`, `"status": "error"`, 1)
	if got, err := opencode.ParseTold([]byte(failed)); err != nil || got.Ended != "toolu_01" || !got.Failed {
		t.Errorf("a call that failed: %+v, %v", got, err)
	}
	if text, failure, err := opencode.Answer(recorded(t, "answer")); text != "done" || failure != "" || err != nil {
		t.Errorf("the answer is %q, %q, %v", text, failure, err)
	}
	if _, failure, _ := opencode.Answer([]byte(`{"info":{"error":{"name":"APIError","data":{"message":"no key"}}},"parts":[]}`)); failure != "APIError: no key" {
		t.Errorf("what went wrong is %q", failure)
	}
}

// A yes is for this once, and a no has words.
func TestPermissionReply(t *testing.T) {
	yes := sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed}
	edited := yes
	edited.Args = sayso.Args(`{}`)
	no := sayso.Decision{State: sayso.StateDenied, Source: sayso.SourcePerson, By: []sayso.Actor{{Principal: "ana"}}, Note: "use make"}
	for _, tt := range []struct {
		name, want string
		d          sayso.Decision
		err        error
	}{
		{"allow", `{"reply":"once"}`, yes, nil},
		{"deny", `"reply":"reject"`, no, nil},
		{"the zero decision", `"reply":"reject"`, sayso.Decision{}, nil},
		{"an allow with an error", `"reply":"reject"`, yes, sayso.ErrUnavailable},
		{"an edit, which cannot be handed over", `"reply":"reject"`, edited, nil},
		{"an allow in another state", `"reply":"reject"`, sayso.Decision{Effect: sayso.Allow}, nil},
	} {
		got := string(opencode.PermissionReply(tt.d, tt.err))
		if !strings.Contains(got, tt.want) || strings.Contains(got, "reject") && !strings.Contains(got, `"message":"`) || strings.Contains(got, "always") {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	if got := string(opencode.PermissionReply(no, nil)); !strings.Contains(got, "use make") {
		t.Errorf("the note is lost: %s", got)
	}
}

func TestUnasked(t *testing.T) {
	ask := opencode.Rule{Permission: "*", Pattern: "*", Action: "ask"}
	allow := opencode.Rule{Permission: "bash", Pattern: "git *", Action: "allow"}
	folder := opencode.Rule{Permission: "external_directory", Pattern: "/tmp/*", Action: "allow"}
	for _, tt := range []struct {
		rules []opencode.Rule
		want  []string
	}{
		{[]opencode.Rule{allow, ask, folder}, nil},
		{[]opencode.Rule{ask, allow}, []string{"bash"}},
		{[]opencode.Rule{ask, {Permission: "*", Pattern: "*", Action: "allow"}}, []string{"*"}},
		{[]opencode.Rule{ask, {Permission: "bash", Pattern: "rm *", Action: "deny"}}, nil},
		{[]opencode.Rule{allow, {Permission: "bash", Pattern: "*", Action: "ask"}}, []string{"bash"}},
	} {
		if got := opencode.Unasked(tt.rules); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.rules, got, tt.want)
		}
	}
}
