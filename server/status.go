package server

import (
	"cmp"
	"context"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/internal/wire"
)

func (s *Server) getStatus(x *exchange) (any, error) {
	return withoutParams(x, &wire.Nothing{}, s.status)
}

// status tells a principal of the gate, and of the calls that it may see.
func (s *Server) status(ctx context.Context, c *caller, _ *wire.Nothing) (any, error) {
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	now := time.Now().UTC()
	out := status.Report{Version: s.o.Version, At: now}
	if s.o.Machine != nil {
		out.Machine = s.o.Machine()
	}
	if out.Open, err = status.Waiting(ctx, c.inbox, now); err != nil {
		return nil, err
	}
	if out.Prompts, err = status.Recent(ctx, c.inbox, now); err != nil {
		return nil, err
	}
	mode, err := c.inbox.Mode(ctx, "")
	if err != nil {
		return nil, err
	}
	out.Mode, out.ModeLeftS = cmp.Or(mode.Mode, sayso.ModeInteractive), mode.Left.Seconds()
	return &out, nil
}
