package broker

import (
	"context"
	"fmt"
	"sync"

	"github.com/sayso-dev/sayso"
)

// pinned remembers the definitions as they were read last.
type pinned struct {
	mu    sync.Mutex // guards known
	known sayso.Pins
}

// Pins are the definitions of MCP servers that are trusted, and those that came
// in the place of one and are in quarantine.
func (b *Broker) Pins(ctx context.Context) (sayso.Pins, error) {
	b.pinned.mu.Lock()
	defer b.pinned.mu.Unlock()
	p := b.pinned.known
	events, err := b.log.Stream(ctx, sayso.DefinitionStream, p.Len)
	if err != nil {
		return p, fmt.Errorf("reading the definitions of tools: %w", err)
	}
	for i := range events {
		if err := p.Apply(&events[i]); err != nil {
			return p, err
		}
	}
	b.pinned.known = p
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
	for range tries {
		pins, err := b.Pins(ctx)
		if err != nil {
			return nil, err
		}
		trusted, err := b.meet(ctx, by, server, &pins, seen)
		if !isConflict(err) {
			return trusted, err
		}
	}
	return nil, errStorm
}

// meet judges all that a server presents, and records it in one append.
func (b *Broker) meet(ctx context.Context, by sayso.Actor, server string, pins *sayso.Pins, seen []sayso.Definition) ([]bool, error) {
	m := meeting{by: by, server: server, pins: pins, batch: newBatch(b.o.Now()), said: map[string]sayso.Digest{}, had: pins.Met(server)}
	m.tools = len(pins.Of(server))
	trusted := make([]bool, len(seen))
	for i := range seen {
		var err error
		if trusted[i], err = m.meets(&seen[i]); err != nil {
			return nil, err
		}
	}
	if len(m.batch.Events) == 0 {
		return trusted, nil
	}
	_, err := b.append(ctx, m.batch)
	return trusted, err
}

// AcceptDefinition records that a person trusts the definition in quarantine
// that they were shown. Another one, that came meanwhile, is not accepted.
func (b *Broker) AcceptDefinition(ctx context.Context, by sayso.Actor, server, tool string, shown sayso.Digest) error {
	if !by.Kind.Answers() || by.Channel == ChannelAgentProcess {
		return fmt.Errorf("accepting the definition of a tool takes a person: %w", sayso.ErrNotAllowed)
	}
	for range tries {
		pins, err := b.Pins(ctx)
		if err != nil {
			return err
		}
		pin := pins.Of(server)[tool]
		switch {
		case pin.Trusted == shown && !shown.IsZero():
			return nil
		case pin.Quarantined.IsZero():
			return fmt.Errorf("%s of %s: %w: no other definition waits", tool, server, sayso.ErrNotFound)
		case pin.Quarantined != shown:
			return fmt.Errorf("%s of %s: %w: the server came with yet another definition", tool, server, sayso.ErrMismatch)
		}
		batch := newBatch(b.o.Now())
		p := sayso.DefinitionSeen{Server: server, Tool: tool, Digest: shown, Was: pin.Trusted}
		if err := batch.define(&pins, sayso.EventDefinitionAccepted, by, p, pin.Other); err != nil {
			return err
		}
		if _, err = b.append(ctx, batch); !isConflict(err) {
			return err
		}
	}
	return errStorm
}

// define adds an event about a definition.
func (b *batch) define(pins *sayso.Pins, t sayso.EventType, by sayso.Actor, p sayso.DefinitionSeen, definition sayso.Args) error {
	free, err := content(nil, sayso.DefinitionFull{Definition: definition}, nil)
	if err != nil {
		return err
	}
	b.add(sayso.DefinitionStream, pins.Len, t, about{}, by, p, free)
	return nil
}
