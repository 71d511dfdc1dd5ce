package main

import (
	"context"
	"time"

	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/server"
)

// tokenDesk serves the list of tokens to the server's admins.
type tokenDesk struct {
	tokens *home.Tokens
	now    func() time.Time
}

var _ server.Tokens = tokenDesk{}

// List implements server.Tokens.
func (d tokenDesk) List(context.Context) ([]server.TokenInfo, error) {
	list, err := d.tokens.List()
	infos := make([]server.TokenInfo, 0, len(list))
	for _, t := range list {
		info := tokenInfo(t)
		if used := d.tokens.Used(t.ID).UTC(); !used.IsZero() {
			info.Used = &used
		}
		infos = append(infos, info)
	}
	return infos, err
}

// Create implements server.Tokens.
func (d tokenDesk) Create(_ context.Context, want server.NewToken) (string, server.TokenInfo, error) {
	t := home.Token{Name: want.Name, Kind: want.Kind, Owner: want.Owner, Approvers: want.Approvers}
	life, err := wire.ParseFor(want.For)
	if err != nil {
		return "", server.TokenInfo{}, err
	}
	if life > 0 {
		t.Expires = d.now().Add(life).UTC().Truncate(time.Second)
	}
	secret, made, err := d.tokens.Create(d.now(), t)
	return secret, tokenInfo(made), err
}

// Revoke implements server.Tokens.
func (d tokenDesk) Revoke(_ context.Context, id string) error {
	_, err := d.tokens.Revoke(id)
	return err
}

func tokenInfo(t home.Token) server.TokenInfo {
	info := server.TokenInfo{ID: t.ID, Name: t.Name, Kind: t.Kind, Owner: t.Owner, Approvers: t.Approvers, Created: t.Created, Device: t.Device}
	if !t.Expires.IsZero() {
		info.Expires = &t.Expires
	}
	return info
}

// logout ends the token that somebody shows.
func logout(tokens *home.Tokens, secret string, now time.Time) error {
	t, err := tokens.Authenticate(secret, now)
	if err != nil {
		return err
	}
	_, err = tokens.Revoke(t.ID)
	return err
}
