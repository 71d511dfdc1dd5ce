package server

import (
	"fmt"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
)

// login changes a code into a token. There is an end to wrong codes,
// for each machine that sends them.
func (s *Server) login(x *exchange) (any, error) {
	var in wire.Login
	if err := x.read(&in); err != nil {
		return nil, err
	}
	from := s.guard.clientAddr(x.r)
	if s.loginLimiter.isExceeded(from, time.Now()) {
		return nil, sayso.ErrTooMany
	}
	if in.Code == "" || len(in.Code) > 256 {
		return nil, wire.ErrUnauthenticated
	}
	secret, err := s.o.Login(signIn(in.Code, x.r))
	if err != nil || secret == "" {
		s.loginLimiter.add(from, time.Now())
		s.log.WarnContext(x.ctx(), "login refused", "from", from)
		return nil, wire.ErrUnauthenticated
	}
	return &wire.Token{Token: secret}, nil
}

func (s *Server) logout(x *exchange) (any, error) {
	var in wire.Nothing
	if err := x.read(&in); err != nil {
		return nil, err
	}
	return nil, s.o.Logout(x.caller.token)
}

func (s *Server) listTokens(x *exchange) (any, error) {
	list, err := s.o.Tokens.List(x.ctx())
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = []TokenInfo{}
	}
	return &wire.Tokens{Tokens: list}, nil
}

func (s *Server) createToken(x *exchange) (any, error) {
	var in wire.NewToken
	if err := x.read(&in); err != nil {
		return nil, err
	}
	if kinds[in.Kind] == 0 {
		return nil, fmt.Errorf("%w: kind must be agent, tool, person, admin or viewer", sayso.ErrInvalid)
	}
	if in.Name == "" || slices.Contains(in.Approvers, "") {
		return nil, fmt.Errorf("%w: name and approvers must not be empty", sayso.ErrInvalid)
	}
	if _, err := wire.ParseFor(in.For); err != nil {
		return nil, err
	}
	secret, made, err := s.o.Tokens.Create(x.ctx(), in)
	if err != nil {
		return nil, err
	}
	return &wire.MadeToken{Token: secret, Info: made}, nil
}

func (s *Server) revokeToken(x *exchange) (any, error) {
	return nil, s.o.Tokens.Revoke(x.ctx(), x.values[0])
}

func (s *Server) policyInfo(*exchange) (any, error) {
	info := s.o.Policy()
	if info.Files == nil {
		info.Files = []string{}
	}
	return &info, nil
}
