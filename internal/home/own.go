package home

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
)

// OwnActor is who one of our own programs acts for on this machine: the
// person, or an agent that belongs to them.
func OwnActor(kind sayso.PrincipalKind, name, channel string) sayso.Actor {
	a := sayso.Actor{Principal: name, Kind: kind, Channel: channel}
	if kind.Asks() {
		a.Owner = Person()
	}
	return a
}

// ownFile names the file for the token of an actor of ours.
func ownFile(a sayso.Actor) string {
	if a.Kind.Asks() {
		return string(a.Kind) + "-" + a.Principal
	}
	return string(a.Kind)
}

// Mint makes the token for one of our own programs and keeps it in a file of
// its own. A token that is already there and valid is left as it is.
func (p Paths) Mint(now time.Time, a sayso.Actor) error {
	if err := errors.Join(p.Make(), MakeFolder(p.tokenFolder())); err != nil {
		return err
	}
	tokens := p.Tokens()
	if secret, err := p.OwnToken(a); err == nil {
		if _, err := tokens.Authenticate(secret, now); err == nil {
			return nil
		}
	}
	secret, _, err := tokens.Create(now, Token{Name: a.Principal, Kind: a.Kind, Owner: a.Owner, Approvers: a.Approvers})
	if err != nil {
		return err
	}
	return Write(p.TokenFile(ownFile(a)), []byte(secret+"\n"))
}

// OwnToken returns the token that Mint made for an actor.
func (p Paths) OwnToken(a sayso.Actor) (string, error) { return ReadToken(p.TokenFile(ownFile(a))) }

// ReadToken reads a token from a file that must be closed to others.
func ReadToken(path string) (string, error) {
	text, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: no token in %s", sayso.ErrNotFound, path)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}
