package broker

import (
	"context"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// PolicyAccepted records that a person accepted the policy file of a project,
// by the digest of its bytes, or took it back, with none. Agents and tools
// cannot.
func (b *Broker) PolicyAccepted(ctx context.Context, by sayso.Actor, p sayso.PolicyLoaded) error {
	if by.Kind != sayso.PrincipalPerson && by.Kind != sayso.PrincipalAdmin || by.Channel == ChannelAgentProcess {
		return fmt.Errorf("accepting the policy of a project takes a person: %w", sayso.ErrNotAllowed)
	}
	batch := newBatch(b.o.Now())
	batch.add(sayso.BrokerStream, sayso.AnyLength, sayso.EventPolicyAccepted, eventSubject{}, by, p, nil)
	_, err := b.append(ctx, batch)
	return err
}
