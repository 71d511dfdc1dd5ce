package broker_test

import (
	"errors"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/memory"
)

// TestPolicyAccepted: only a person accepts the policy of a project, and it is
// in the log.
func TestPolicyAccepted(t *testing.T) {
	log := memory.New(nil)
	b, err := broker.New(log, &rules{version: "v1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	accepted := sayso.PolicyLoaded{Policy: "sha256:x", Files: []string{"/a/.sayso/policy.yaml"}}
	under := dev
	under.Channel = broker.ChannelAgentProcess
	for _, who := range []sayso.Actor{agent, program, viewer, under} {
		if err := b.PolicyAccepted(t.Context(), who, accepted); !errors.Is(err, sayso.ErrNotAllowed) {
			t.Errorf("%s by %s: %v", who.Principal, who.Channel, err)
		}
	}
	if err := b.PolicyAccepted(t.Context(), dev, accepted); err != nil {
		t.Fatal(err)
	}
	events, err := log.Stream(t.Context(), sayso.BrokerStream, 0)
	if err != nil || len(events) != 1 || events[0].Type != sayso.EventPolicyAccepted || events[0].Actor.Principal != "dev" {
		t.Errorf("%v, %v", events, err)
	}
}
