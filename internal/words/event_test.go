package words

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

func TestStory(t *testing.T) {
	const id = sayso.ID("01m7wyf0nnpx5134avv40bmx4g3chvqgbe04")
	root := sayso.Actor{Principal: "root", Channel: "terminal"}
	tells := Teller{}
	for _, c := range []struct {
		kind    sayso.EventType
		payload string
		want    string
	}{
		{sayso.EventAnswered, `{"effect":"allow","scope":"once"}`, "approval.answered allow once by root (terminal)"},
		{sayso.EventAnswered, `{"effect":"allow","scope":"once","edited":"sha256:` + strings.Repeat("0a", 32) + `","args":{"command":"ls"}}`,
			"approval.answered allow once, edited, by root (terminal)"},
		{sayso.EventResolved, `{"effect":"allow","source":"mode","mode":"approve_all","by":[]}`, "approval.resolved allow by the approve_all mode"},
		{sayso.EventParked, `{"cause":"left"}`, "approval.parked - its connection ended"},
		{sayso.EventParked, `{"cause":"lost"}`, "approval.parked - the server or the hook that waited for its answer has ended"},
		{sayso.EventPolicyLoaded, `{"policy":"sha256:` + strings.Repeat("0a", 32) + `","files":["/etc/a.yaml","/b.yaml"]}`,
			"policy.loaded /etc/a.yaml, /b.yaml (" + strings.Repeat("0a", 6) + ")"},
		{sayso.EventModeChanged, `{"mode":"approve_all","for_ns":1800000000000}`, "mode.changed approve_all for 30m by root"},
		{sayso.EventModeChanged, `{"mode":"","switch":"locked"}`, "mode.changed locked by root"},
		{sayso.EventPolicyLoaded, `{"policy":"p1","files":[]}`, "policy.loaded built-ins alone (p1)"},
		{sayso.EventPolicyAccepted, `{"policy":"sha256:` + strings.Repeat("0a", 32) + `","files":["/p/.sayso/policy.yaml"]}`,
			"policy.accepted /p/.sayso/policy.yaml (" + strings.Repeat("0a", 6) + ") by root"},
		{sayso.EventPolicyAccepted, `{"policy":"","files":["/p/.sayso/policy.yaml"]}`, "policy.accepted taken back: /p/.sayso/policy.yaml by root"},
		{sayso.EventSessionPolicy, `{"policies":{"web-fetch":"deny","bash":"allow","x\u001b[1m":"ask"}}`,
			`session.policy s1 bash=allow web-fetch=deny x\x1b[1m=ask by root`},
		{sayso.EventSessionPolicy, `{"policies":{}}`, "session.policy s1 none by root"},
		{sayso.EventContentErased, `{"requests":["` + string(id) + `"],"why":"asked to"}`, "content.erased 1 request by root - asked to"},
		{sayso.EventContentErased, `{"requests":["` + string(id) + `","` + string(id) + `"],"why":""}`, "content.erased 2 requests by root"},
		{sayso.EventGrantCreated, `{"tool":"bash"}`, "grant.created " + id.Short() + " bash by root"},
		{sayso.EventGrantRevoked, `{"reason":"revoked"}`, "grant.revoked " + id.Short() + " bash by root"},
	} {
		e := sayso.Event{Type: c.kind, Actor: root, Payload: sayso.Args(c.payload)}
		if c.kind == sayso.EventSessionPolicy {
			e.SessionID = "s1"
		}
		if strings.HasPrefix(string(c.kind), "grant.") {
			e.Stream = sayso.GrantStream(id)
		}
		if got := tells.Story(e); got != c.want {
			t.Errorf("%s %s:\n got %q\nwant %q", c.kind, c.payload, got, c.want)
		}
	}
}
