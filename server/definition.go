package server

import (
	"context"
	"maps"
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/present"
)

// Pins is what is known of MCP servers that run behind the gateway. Errors are
// those of package sayso.
type Pins interface {
	// Pins returns the definitions that are trusted, and those in quarantine.
	Pins(ctx context.Context) (sayso.Pins, error)
	// AcceptDefinition trusts the definition in quarantine that a person was shown.
	AcceptDefinition(ctx context.Context, by sayso.Actor, server, tool string, shown sayso.Digest) error
	// KeepDefinition goes on trusting the one from before it.
	KeepDefinition(ctx context.Context, by sayso.Actor, server, tool string, shown sayso.Digest) error
}

func (s *Server) getDefinitions(x *exchange) (any, error) {
	return withoutParams(x, &wire.Nothing{}, s.definitions)
}

func (s *Server) postAccept(x *exchange) (any, error) {
	var in wire.AcceptBody
	if err := x.read(&in); err != nil {
		return nil, err
	}
	return s.accept(x.ctx(), x.caller, &in)
}

func (s *Server) postKeep(x *exchange) (any, error) {
	var in wire.AcceptBody
	if err := x.read(&in); err != nil {
		return nil, err
	}
	return s.keep(x.ctx(), x.caller, &in)
}

func (s *Server) definitions(ctx context.Context, c *caller, _ *wire.Nothing) (any, error) {
	if s.o.Pins == nil {
		return nil, sayso.ErrNotFound
	}
	pins, err := s.o.Pins.Pins(ctx)
	if err != nil {
		return nil, err
	}
	changed, others := []wire.Definition{}, []wire.Definition{}
	for _, server := range pins.Servers() {
		known, alike := pins.Of(server), pins.Alike(server)
		for _, tool := range slices.Sorted(maps.Keys(known)) {
			if d := definitionOf(server, tool, known[tool], alike[tool]); d.State == wire.DefinitionChanged {
				s.served.add(c, definitionKey(server, tool, d.Changed))
				changed = append(changed, d)
			} else {
				others = append(others, d)
			}
		}
	}
	return &wire.Definitions{Definitions: append(changed, others...)}, nil
}

// definitionOf is what is shown of one definition, which may look like another.
func definitionOf(server, tool string, pin sayso.Pin, like string) wire.Definition {
	d := wire.Definition{
		Server: server, Tool: tool, State: wire.DefinitionTrusted, LooksLike: like, Digest: pin.Trusted,
		TrustedBy: pin.By.Principal, At: pin.At.Wall, Changed: pin.Quarantined,
	}
	if like != "" {
		d.State = wire.DefinitionLeftOut
	}
	if !pin.Quarantined.IsZero() {
		shown, kinds := present.Redefined(pin)
		d.State, d.Shown, d.Warnings = wire.DefinitionChanged, &shown, kinds
	}
	return d
}

func (s *Server) accept(ctx context.Context, c *caller, in *wire.AcceptBody) (any, error) {
	if err := s.wasShown(c, in); err != nil {
		return nil, err
	}
	return nil, s.o.Pins.AcceptDefinition(ctx, c.actor, in.Server, in.Tool, in.Digest)
}

func (s *Server) keep(ctx context.Context, c *caller, in *wire.AcceptBody) (any, error) {
	if err := s.wasShown(c, in); err != nil {
		return nil, err
	}
	return nil, s.o.Pins.KeepDefinition(ctx, c.actor, in.Server, in.Tool, in.Digest)
}

// wasShown refuses a page that was not shown the definition that it speaks of.
func (s *Server) wasShown(c *caller, in *wire.AcceptBody) error {
	if s.o.Pins == nil {
		return sayso.ErrNotFound
	}
	if !s.served.hasServed(c, definitionKey(in.Server, in.Tool, in.Digest)) {
		return wire.ErrContentWanted
	}
	return nil
}

// definitionKey is the name of a definition among what pages were shown: that of one
// server, beside what is trusted of it, and of no other that says the same.
func definitionKey(server, tool string, d sayso.Digest) sayso.ID {
	return sayso.ID(sayso.HashOf("sayso/definition shown/1", []byte(server), []byte(tool), d[:]).String())
}
