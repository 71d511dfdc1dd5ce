package server

import (
	"context"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/present/highlight"
)

func (s *Server) explain(ctx context.Context, c *caller, in *wire.Explain) (any, error) {
	if s.o.LookBack == nil {
		return nil, sayso.ErrNotFound
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	out, err := s.o.LookBack.Explain(ctx, c.actor, *in)
	if err != nil {
		return nil, err
	}
	return &out, nil
}

func (s *Server) replay(ctx context.Context, c *caller, in *wire.Replay) (any, error) {
	if s.o.LookBack == nil {
		return nil, sayso.ErrNotFound
	}
	back, err := in.Back()
	if err != nil {
		return nil, err
	}
	release, err := s.operations.acquire(ctx, c.actor.Principal)
	if err != nil {
		return nil, err
	}
	defer release()
	out, err := s.o.LookBack.Replay(ctx, c.actor, in.Policy, time.Now().Add(-back))
	if err != nil {
		return nil, err
	}
	return &out, nil
}

func (s *Server) getPolicyFiles(x *exchange) (any, error) {
	return withoutParams(x, &wire.Nothing{}, s.policyFiles)
}

func (s *Server) policyFiles(_ context.Context, _ *caller, _ *wire.Nothing) (any, error) {
	if s.o.LookBack == nil {
		return nil, sayso.ErrNotFound
	}
	out, err := s.o.LookBack.Files()
	if err != nil {
		return nil, err
	}
	for i := range out.Files {
		out.Files[i].Tokens = highlight.Code(out.Files[i].Text, "yaml")
	}
	return &out, nil
}
