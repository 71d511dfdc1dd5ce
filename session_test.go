package sayso_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

// session folds events of one session, given by type and payload.
func session(t *testing.T, at sayso.Moment, told ...any) sayso.Session {
	t.Helper()
	var events []sayso.Event
	for _, p := range told {
		kind := sayso.EventSessionEnded
		switch p.(type) {
		case sayso.SessionStarted:
			kind = sayso.EventSessionStarted
		case sayso.SessionPolicy:
			kind = sayso.EventSessionPolicy
		case sayso.ModeChanged:
			kind = sayso.EventModeChanged
		case sayso.PolicyLoaded:
			kind = sayso.EventPolicyLoaded
		}
		events = append(events, happened(t, "session/s1", len(events)+1, kind, at, p))
	}
	s, err := sayso.FoldSession("s1", events)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSession_modeAt(t *testing.T) {
	set := func(m sayso.Mode, d time.Duration) sayso.ModeChanged {
		return sayso.ModeChanged{Mode: m, ForNS: int64(d)}
	}
	later := func(d time.Duration) sayso.Moment { return when(d, "a", d) }
	for _, c := range []struct {
		name string
		told []any
		now  sayso.Moment
		want sayso.Mode
		left time.Duration
	}{
		{"none set", nil, later(0), "", 0},
		{"strict without an end", []any{set(sayso.ModeStrict, 0)}, later(decade), sayso.ModeStrict, 0},
		{"approve_all without an end is not in force", []any{set(sayso.ModeApproveAll, 0)}, later(0), "", 0},
		{"approve_all with a negative end neither", []any{set(sayso.ModeApproveAll, -time.Hour)}, later(0), "", 0},
		{"approve_all", []any{set(sayso.ModeApproveAll, 30*time.Minute)}, later(10 * time.Minute), sayso.ModeApproveAll, 20 * time.Minute},
		{"approve_all at its end", []any{set(sayso.ModeApproveAll, 30*time.Minute)}, later(30 * time.Minute), "", 0},
		{"approve_all, the clock a decade back", []any{set(sayso.ModeApproveAll, 30*time.Minute)}, when(-decade, "a", 31*time.Minute), "", 0},
		{"approve_all after a boot", []any{set(sayso.ModeApproveAll, 30*time.Minute)}, when(10*time.Minute, "b", 0), sayso.ModeApproveAll, 20 * time.Minute},
		{"approve_all after a boot, the clock in doubt", []any{set(sayso.ModeApproveAll, 30*time.Minute)}, when(-time.Minute, "b", 0), "", 0},
		{"strict with an end", []any{set(sayso.ModeStrict, time.Hour)}, later(time.Minute), sayso.ModeStrict, 59 * time.Minute},
		{"strict at its end", []any{set(sayso.ModeStrict, time.Hour)}, later(time.Hour), "", 0},
		{"strict, the clock in doubt", []any{set(sayso.ModeStrict, time.Hour)}, when(-time.Minute, "b", 0), sayso.ModeStrict, 0},
		{"a switch changes no mode", []any{set(sayso.ModeStrict, time.Hour), sayso.ModeChanged{Switch: sayso.SwitchOff, ForNS: int64(time.Minute)}},
			later(2 * time.Minute), sayso.ModeStrict, 58 * time.Minute},
		{"the last one counts", []any{set(sayso.ModeStrict, 0), set(sayso.ModeInteractive, 0)}, later(0), sayso.ModeInteractive, 0},
	} {
		s := session(t, later(0), c.told...)
		if got, left := s.ModeAt(c.now, later(0)); got != c.want || left != c.left {
			t.Errorf("%s: got %q for %v, want %q for %v", c.name, got, left, c.want, c.left)
		}
	}
}

func TestSession_loaded(t *testing.T) {
	at := when(0, "a", 0)
	if s := session(t, at, sayso.ModeChanged{Mode: sayso.ModeStrict}); s.Loaded != "" {
		t.Errorf("%q is loaded, and nothing was", s.Loaded)
	}
	s := session(t, at, sayso.PolicyLoaded{Policy: "v1"}, sayso.PolicyLoaded{Policy: "v2"}, sayso.ModeChanged{Mode: sayso.ModeStrict})
	if s.Loaded != "v2" || s.Mode != sayso.ModeStrict || s.Len != 3 {
		t.Errorf("got %+v", s)
	}
}

func TestSession_policy(t *testing.T) {
	s := session(t, when(0, "a", 0), sayso.SessionPolicy{Policies: map[string]sayso.Effect{
		"old": allow,
	}}, sayso.SessionPolicy{Policies: map[string]sayso.Effect{
		"bash": ask, "file-edit": allow, "Write": deny, "file-write": allow, "files/read": allow, "files/write": deny,
		"mcp__files__search": ask, "files/search": allow, "search": deny,
	}})
	call := func(host, server, tool string) sayso.Call { return sayso.Call{Host: host, Server: server, Tool: tool} }
	for _, c := range []struct {
		name  string
		call  sayso.Call
		want  sayso.Effect
		found bool
	}{
		{"the canonical name", call("", "", "bash"), ask, true},
		{"the host's name of it", call("claude-code", "", "Bash"), ask, true},
		{"another tool of the same canonical name", call("claude-code", "", "NotebookEdit"), allow, true},
		{"both names, the stricter", call("claude-code", "", "Write"), deny, true},
		{"our own tool", call("", "", "edit_file"), allow, true},
		{"server and tool", call("", "files", "read"), allow, true},
		{"server and tool in the host's spelling", call("claude-code", "", "mcp__files__read"), allow, true},
		{"both spellings, the stricter", call("claude-code", "", "mcp__files__search"), ask, true},
		{"a server's tool called as one of ours is not ours", call("", "evil", "bash"), deny, false},
		{"the same in the host's spelling", call("claude-code", "", "mcp__evil__bash"), deny, false},
		{"another server's tool", call("", "other", "read"), deny, false},
		{"a name in another case", call("", "", "Bash"), deny, false},
		{"a policy that was replaced", call("", "", "old"), deny, false},
	} {
		if got, found := s.Policy(c.call); got != c.want || found != c.found {
			t.Errorf("%s: got %s, %v, want %s, %v", c.name, got, found, c.want, c.found)
		}
	}
	if got := s.Policies; len(got) != 9 {
		t.Errorf("the tools are %v", got)
	}
}

func TestSession_whoMay(t *testing.T) {
	s := session(t, when(0, "a", 0), sayso.SessionStarted{Owner: "ada", Approvers: []string{"bob", "vic"}, Host: "claude-code"})
	nobodys := session(t, when(0, "a", 0), sayso.PolicyLoaded{})
	for _, c := range []struct {
		actor          sayso.Actor
		answer, look   bool
		nobody, noLook bool // of a session that nobody owns
	}{
		{sayso.Actor{Principal: "root", Kind: sayso.PrincipalAdmin}, true, true, true, true},
		{sayso.Actor{Principal: "ada", Kind: sayso.PrincipalPerson}, true, true, false, false},
		{sayso.Actor{Principal: "bob", Kind: sayso.PrincipalPerson}, true, true, false, false},
		{sayso.Actor{Principal: "eve", Kind: sayso.PrincipalPerson}, false, false, false, false},
		{sayso.Actor{Principal: "", Kind: sayso.PrincipalPerson}, false, false, false, false},
		{sayso.Actor{Principal: "*", Kind: sayso.PrincipalPerson}, false, false, false, false},
		{sayso.Actor{Principal: "vic", Kind: sayso.PrincipalViewer}, false, true, false, false},
		{sayso.Actor{Principal: "eve", Kind: sayso.PrincipalViewer}, false, false, false, false},
		{sayso.Actor{Principal: "eve", Kind: sayso.PrincipalViewer, Approvers: []string{"*"}}, false, true, false, true},
		// An agent that is called as a person is no person, even as its owner.
		{sayso.Actor{Principal: "ada", Kind: sayso.PrincipalAgent, Owner: "ada", Approvers: []string{"*"}}, false, false, false, false},
		{sayso.Actor{Principal: "bob", Kind: sayso.PrincipalTool}, false, false, false, false},
		{sayso.Actor{Principal: "ada", Kind: sayso.PrincipalBroker}, false, false, false, false},
		{sayso.Actor{Principal: "ada", Kind: "boss"}, false, false, false, false},
		{sayso.Actor{Principal: "ada"}, false, false, false, false},
	} {
		got := []bool{s.MayAnswer(c.actor), s.MayLook(c.actor), nobodys.MayAnswer(c.actor), nobodys.MayLook(c.actor)}
		if diff := cmp.Diff([]bool{c.answer, c.look, c.nobody, c.noLook}, got); diff != "" {
			t.Errorf("%+v: answers, looks, and the same where nobody owns (-want +got):\n%s", c.actor, diff)
		}
	}
}

// Whoever started a session first owns it: a second start cannot take it over.
func TestSession_ownerStays(t *testing.T) {
	s := session(t, when(0, "a", 0),
		sayso.SessionStarted{Owner: "ada", Host: "claude-code"}, sayso.Closed{},
		sayso.SessionStarted{Owner: "eve", Approvers: []string{"eve"}, Host: "codex"})
	if s.Owner != "ada" || len(s.Approvers) != 0 || s.Ended || s.Host != "codex" || s.Len != 3 {
		t.Errorf("got %+v", s)
	}
}

// An unreadable event leaves the session as it was, and is an error.
func TestSession_refuses(t *testing.T) {
	s := session(t, when(0, "a", 0), sayso.SessionPolicy{Policies: map[string]sayso.Effect{"bash": ask}})
	before := s.Len
	for _, payload := range []string{`{"policies":{"bash":"yes"}}`, `{"policies":{"bash":"allow","bash":"deny"}}`, `{`} {
		e := sayso.Event{Stream: "session/s1", Type: sayso.EventSessionPolicy, Payload: sayso.Args(payload)}
		if err := s.Apply(&e); err == nil {
			t.Errorf("%s was taken", payload)
		}
	}
	if got, _ := s.Policy(sayso.Call{Tool: "bash"}); got != ask || s.Len != before {
		t.Errorf("the policy for bash became %s, the length %d", got, s.Len)
	}
}
