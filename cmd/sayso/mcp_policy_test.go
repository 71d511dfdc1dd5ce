package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/store/memory"
)

// What the policy says of a call that comes by the gateway. The two meet here, and
// not beside the gateway, whose fuzz targets would else carry the policy with them.

// What comes of a call of a tool that no rule names, under no policy and under
// each that is ready-made: a server that says of its tool that it only reads
// changes nothing.
func TestPresets(t *testing.T) {
	want := map[string]string{
		"": "Not decided yet", "developer": "Not decided yet", "paranoid": "Not decided yet", "readonly": "Not decided yet", "ci": "Denied by",
	}
	names := append(policy.Presets(), "")
	if len(names) != len(want) {
		t.Fatalf("the presets are %q", names)
	}
	for _, name := range names {
		t.Run("preset "+name, func(t *testing.T) {
			t.Parallel()
			text, ok := []byte("version: 1\n"), true
			if name != "" {
				text, ok = policy.Preset(name)
			}
			if !ok {
				t.Fatalf("there is no %s", name)
			}
			rules := policyOf(t, text)
			b, err := broker.New(memory.New(nil), rules, &broker.Options{Mode: rules.Mode})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			asker := sayso.Actor{Principal: "mcp", Kind: sayso.PrincipalAgent, Channel: "mcp", Owner: "ada"}
			told, begins := refusedEcho(t, b.Gate(asker), b), want[name]
			if begins == "" || !strings.HasPrefix(told, begins) {
				t.Errorf("%s; want %q", told, begins)
			}
		})
	}
}

// Annotations loosen where policy trusts the server, and nowhere else.
func TestGW2_annotations(t *testing.T) {
	for _, tt := range []struct {
		policy string
		want   sayso.Effect
	}{
		{"version: 1\n", sayso.Ask}, // a rule that relies on them does not load without the trust
		{"version: 1\nservers: {srv: {trust: [annotations]}}\nrules:\n  - allow: {server: srv, annotations: {read_only: true}}\n", sayso.Allow},
		{"version: 1\nrules:\n  - allow: {server: srv}\n  - deny: {server: srv, annotations: {open_world: true}}\n", sayso.Deny}, // what it does not say is the worst
	} {
		gate := &judging{policy: policyOf(t, []byte(tt.policy))}
		refusedEcho(t, gate, anyPins{})
		if len(gate.verdicts) != 1 || gate.verdicts[0].Effect != tt.want {
			t.Errorf("%s: %v", tt.policy, gate.verdicts)
		}
	}
}

func policyOf(t *testing.T, text []byte) *policy.Policy {
	t.Helper()
	f, err := policy.Parse("policy.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: f})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// judging is a gate that denies, and keeps what its policy says.
type judging struct {
	sayso.Gate
	policy   sayso.Policy
	verdicts []sayso.Verdict
}

func (g *judging) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	g.verdicts = append(g.verdicts, g.policy.Judge(ctx, a.Call, a.Facts))
	return sayso.Decision{}, nil
}

func (g *judging) End(context.Context, string) error { return nil }

// anyPins trusts whatever definition comes.
type anyPins struct{}

func (anyPins) Pins(context.Context) (sayso.Pins, error) { return sayso.Pins{}, nil }

func (anyPins) Meet(_ context.Context, _ sayso.Actor, _ string, seen []sayso.Definition) ([]bool, error) {
	ok := make([]bool, len(seen))
	for i := range ok {
		ok[i] = true
	}
	return ok, nil
}

// refusedEcho has a client call a tool which, its server says, only reads, and
// returns what the client is told. The server must not hear of the call.
func refusedEcho(t *testing.T, gate sayso.Gate, pins gateway.Pins) string {
	t.Helper()
	ctx := t.Context()
	var toClient, toServer bytes.Buffer
	r, err := gateway.New(gateway.Options{
		Gate: gate, Pins: pins, Name: "srv", Session: "s", Cwd: "/", Impatience: time.Millisecond,
	}, &toClient, &toServer)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	const (
		list   = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}` + "\n"
		listed = `{"jsonrpc":"2.0","id":"list","result":{"tools":[{"name":"echo","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}` + "\n"
		call   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}` + "\n"
	)
	for _, step := range []struct {
		reads func(context.Context, io.Reader) error
		line  string
	}{{r.FromClient, list}, {r.FromServer, listed}, {r.FromClient, call}} {
		if err := step.reads(ctx, strings.NewReader(step.line)); err != nil {
			t.Fatalf("%s: %v", step.line, err)
		}
	}
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if toServer.String() != list {
		t.Fatalf("the server got %s", toServer.String())
	}
	var answer struct {
		ID     int
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	lines := strings.SplitAfter(toClient.String(), "\n")
	if len(lines) != 3 {
		t.Fatalf("the client got %q", lines)
	}
	if err := json.Unmarshal([]byte(lines[1]), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.ID != 1 || !answer.Result.IsError || len(answer.Result.Content) != 1 {
		t.Fatalf("no refusal: %s", lines[1])
	}
	return answer.Result.Content[0].Text
}
