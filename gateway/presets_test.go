package gateway_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/policy"
)

// What comes of a call of a tool that no rule names, under no policy and under
// each that is ready-made: a server that says of its tool that it only reads
// changes nothing.
func TestPresets(t *testing.T) {
	want := map[string]string{
		"": "Not decided yet", "developer": "Not decided yet", "careful": "Not decided yet", "readonly": "Not decided yet", "ci": "Denied by",
	}
	names := append(policy.Presets(), "")
	if len(names) != len(want) {
		t.Fatalf("the presets are %q", names)
	}
	for _, name := range names {
		t.Run("preset "+name, func(t *testing.T) {
			rules := presetPolicy(t, name)
			w := open(t, nil)
			w.stop()
			b, err := broker.New(w.log, rules, &broker.Options{Mode: rules.Mode})
			if err != nil {
				t.Fatal(err)
			}
			_ = w.broker.Close()
			w.broker = b
			w.start(func(o *gateway.Options) { o.Impatience = time.Millisecond })
			w.lists(echoTool)
			w.client.send(echo("1", "a"))
			if text := w.refused(w.client.gets(), "1"); !strings.HasPrefix(text, want[name]) {
				t.Error(text)
			}
		})
	}
}

func presetPolicy(t *testing.T, name string) *policy.Policy {
	t.Helper()
	text, ok := []byte("version: 1\n"), true
	if name != "" {
		text, ok = policy.Preset(name)
	}
	if !ok {
		t.Fatalf("there is no %s", name)
	}
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
		f, err := policy.Parse("policy.yaml", []byte(tt.policy))
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: f})
		if err != nil {
			t.Fatal(err)
		}
		gate := &judging{policy: p}
		var got sayso.Verdict
		gate.judged = func(v sayso.Verdict) { got = v }
		w := open(t, nil)
		w.stop()
		w.start(func(o *gateway.Options) { o.Gate = gate })
		w.lists(echoTool)
		w.client.send(echo("1", "a"))
		w.refused(w.client.gets(), "1")
		if got.Effect != tt.want {
			t.Errorf("%s: %s", tt.policy, got.Effect)
		}
	}
}

// judging is a gate that denies, and tells what its policy says.
type judging struct {
	sayso.Gate
	policy sayso.Policy
	judged func(sayso.Verdict)
}

func (g *judging) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	g.judged(g.policy.Judge(ctx, a.Call, a.Facts))
	return sayso.Decision{}, nil
}

func (g *judging) End(context.Context, string) error { return nil }
