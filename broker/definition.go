package broker

import (
	"context"
	"fmt"
	"sync"

	"github.com/sayso-dev/sayso"
)

// pinCache remembers the definitions as they were read last.
type pinCache struct {
	mu   sync.Mutex // guards pins
	pins sayso.Pins
}

// Pins are the definitions of MCP servers that are trusted, and those that came
// in the place of one and are in quarantine.
func (b *Broker) Pins(ctx context.Context) (sayso.Pins, error) {
	b.pins.mu.Lock()
	defer b.pins.mu.Unlock()
	p := b.pins.pins
	events, err := b.log.Stream(ctx, sayso.DefinitionStream, p.Len)
	if err != nil {
		return p, fmt.Errorf("reading the definitions of tools: %w", err)
	}
	for i := range events {
		if err := p.Apply(&events[i]); err != nil {
			return p, err
		}
	}
	b.pins.pins = p
	return p, nil
}

// Meet compares what a server presents with what is trusted under its name, and
// says of each whether it is. What nothing is known of is trusted from then on;
// what is another than the trusted one is put into quarantine, and stays there
// until a person accepts it. Both are on the record before Meet returns.
func (b *Broker) Meet(ctx context.Context, by sayso.Actor, server string, seen []sayso.Definition) ([]bool, error) {
	if !by.Kind.Asks() || server == "" {
		return nil, fmt.Errorf("the definitions of %q: %w", server, sayso.ErrNotAllowed)
	}
	for range maxAttempts {
		pins, err := b.Pins(ctx)
		if err != nil {
			return nil, err
		}
		trusted, err := b.checkDefinitions(ctx, by, server, &pins, seen)
		if !isConflict(err) {
			return trusted, err
		}
	}
	return nil, errContention
}

// checkDefinitions judges all that a server presents, and records it in one append.
func (b *Broker) checkDefinitions(ctx context.Context, by sayso.Actor, server string, pins *sayso.Pins, seen []sayso.Definition) ([]bool, error) {
	check := definitionCheck{by: by, server: server, pins: pins, batch: newBatch(b.o.Now()), presented: map[string]sayso.Digest{}, totals: pins.Met(server)}
	check.tools = len(pins.Of(server))
	trusted := make([]bool, len(seen))
	for i := range seen {
		var err error
		if trusted[i], err = check.check(&seen[i]); err != nil {
			return nil, err
		}
	}
	if len(check.batch.Events) == 0 {
		return trusted, nil
	}
	_, err := b.append(ctx, check.batch)
	return trusted, err
}

// AcceptDefinition records that a person trusts the definition in quarantine
// that they were shown. Another one, that came meanwhile, is not accepted.
func (b *Broker) AcceptDefinition(ctx context.Context, by sayso.Actor, server, tool string, shown sayso.Digest) error {
	return b.settleDefinition(ctx, by, server, tool, shown, false)
}

// KeepDefinition records that a person was shown the definition in quarantine, and goes on
// trusting the one from before. The other is in quarantine again once the server comes with it.
func (b *Broker) KeepDefinition(ctx context.Context, by sayso.Actor, server, tool string, shown sayso.Digest) error {
	return b.settleDefinition(ctx, by, server, tool, shown, true)
}

// settleDefinition records what a person trusts who was shown the definition in quarantine.
func (b *Broker) settleDefinition(ctx context.Context, by sayso.Actor, server, tool string, shown sayso.Digest, keep bool) error {
	if !by.Kind.Answers() || by.Channel == ChannelAgentProcess {
		return fmt.Errorf("accepting or keeping the definition of a tool takes a person: %w", sayso.ErrNotAllowed)
	}
	for range maxAttempts {
		pins, err := b.Pins(ctx)
		if err != nil {
			return err
		}
		pin := pins.Of(server)[tool]
		switch {
		case !keep && pin.Trusted == shown && !shown.IsZero():
			return nil
		case pin.Quarantined.IsZero():
			return fmt.Errorf("%s of %s: %w: no other definition waits", tool, server, sayso.ErrNotFound)
		case pin.Quarantined != shown:
			return fmt.Errorf("%s of %s: %w: the server came with yet another definition", tool, server, sayso.ErrMismatch)
		}
		text, p := pin.Other, sayso.DefinitionSeen{Server: server, Tool: tool, Digest: shown, Was: pin.Trusted}
		if keep {
			text, p.Digest = pin.Text, pin.Trusted
		}
		batch := newBatch(b.o.Now())
		if err := batch.addDefinition(&pins, sayso.EventDefinitionAccepted, by, p, text); err != nil {
			return err
		}
		if _, err = b.append(ctx, batch); !isConflict(err) {
			return err
		}
	}
	return errContention
}

// addDefinition adds an event about a definition.
func (b *batch) addDefinition(pins *sayso.Pins, t sayso.EventType, by sayso.Actor, p sayso.DefinitionSeen, definition sayso.Args) error {
	free, err := newContent(nil, sayso.DefinitionFull{Definition: definition}, nil)
	if err != nil {
		return err
	}
	b.add(sayso.DefinitionStream, pins.Len, t, eventSubject{}, by, p, free)
	return nil
}
