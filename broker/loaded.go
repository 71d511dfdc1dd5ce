package broker

import (
	"context"

	"github.com/sayso-dev/sayso"
)

// sweepPolicy records which policy is in force, when that is not the one that
// was recorded last. A process looks into the log once for each version that it
// comes to have, so that two that go by different ones, as over an update, do
// not answer each other for ever; and the append expects what was read, so that
// of many that notice a change one records it.
func (b *Broker) sweepPolicy(ctx context.Context) error {
	loaded, ok := b.o.Loaded()
	b.mu.Lock()
	known := b.loggedPolicy
	b.mu.Unlock()
	if !ok || loaded.Policy == known {
		return nil
	}
	if err := b.recordPolicy(ctx, loaded); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loggedPolicy = loaded.Policy
	return nil
}

func (b *Broker) recordPolicy(ctx context.Context, loaded sayso.PolicyLoaded) error {
	for range maxAttempts {
		all, err := b.global(ctx)
		if err != nil || all.Loaded == loaded.Policy {
			return err
		}
		batch := newBatch(b.o.Now())
		batch.add(sayso.BrokerStream, all.Len, sayso.EventPolicyLoaded, eventSubject{}, sayso.BrokerActor, loaded, nil)
		if _, err := b.append(ctx, batch); !isConflict(err) {
			return err
		}
	}
	return errContention
}
