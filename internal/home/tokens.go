package home

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/filelock"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Token is what is known of a token. The token itself is shown once, when it
// is made; only its hash is kept.
type Token struct {
	ID        string              `json:"id"`
	Name      string              `json:"name"` // the principal
	Kind      sayso.PrincipalKind `json:"kind"`
	Owner     string              `json:"owner,omitempty"`     // of the sessions that it starts
	Approvers []string            `json:"approvers,omitempty"` // who else answers for them
	Created   time.Time           `json:"created"`
	Expires   time.Time           `json:"expires,omitzero"` // zero for never
	Origin    string              `json:"origin,omitempty"` // of the page that it was made for; empty for other programs
	Device    string              `json:"device,omitempty"` // in which that page is
	Hash      sayso.Digest        `json:"hash"`
}

// Actor is who presents the token, through a channel. That of a page is always
// the web.
func (t Token) Actor(channel string) sayso.Actor {
	if t.Origin != "" {
		channel = "web"
	}
	return sayso.Actor{Principal: t.Name, Kind: t.Kind, Channel: channel, Owner: t.Owner, Approvers: t.Approvers, Origin: t.Origin}
}

// expired reports whether the token is at its end.
func (t Token) expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Tokens is the list of tokens of one home. It may be used from many
// goroutines and many processes.
type Tokens struct {
	path string

	mu     sync.Mutex // guards what was read last
	stamp  Stamp
	list   []Token
	marked map[string]time.Time // when the use of a token was last noted
}

// Tokens opens the list of tokens. A list that does not exist is empty.
func (p Paths) Tokens() *Tokens { return &Tokens{path: p.TokenList()} }

// Create makes a token and returns it with what is known of it. Name and Kind
// must be set; ID, Created and Hash are made here.
func (t *Tokens) Create(now time.Time, want Token) (secret string, made Token, err error) {
	if !want.Kind.Known() || want.Kind == sayso.PrincipalBroker {
		return "", Token{}, fmt.Errorf("%w: a token is of kind agent, tool, person, admin or viewer, not %q", sayso.ErrInvalid, want.Kind)
	}
	if err := checkName(want.Name); err != nil {
		return "", Token{}, err
	}
	secret = "sayso_" + string(want.Kind) + "_" + rand.Text()
	want.ID = strings.ToLower(rand.Text()[:8])
	want.Created, want.Hash = now.UTC().Truncate(time.Second), hash(secret)
	err = t.change(now, func(list []Token) ([]Token, error) { return append(list, want), nil })
	if err != nil {
		return "", Token{}, err
	}
	return secret, want, nil
}

// checkName keeps names to what can stand in a log, a list and a file name.
func checkName(name string) error {
	ok := name != "" && len(name) <= 64 && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return r == ' ' || r == '/' || r == '\\' || !unicode.IsPrint(r) || r > 0x24f
	})
	if !ok {
		return fmt.Errorf("%w: a name has up to 64 letters, digits and signs, no blanks and no slashes", sayso.ErrInvalid)
	}
	return nil
}

// hash is what is kept of a token. Tokens are random, so that a plain hash
// says nothing about them.
func hash(secret string) sayso.Digest { return sha256.Sum256([]byte(secret)) }

// List returns all tokens, the oldest first.
func (t *Tokens) List() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, err := t.readLocked()
	return slices.Clone(list), err
}

// Revoke ends the token with this id, or all with this name or of this device,
// and returns what was ended.
func (t *Tokens) Revoke(which string) ([]Token, error) {
	var ended []Token
	err := t.change(time.Time{}, func(list []Token) ([]Token, error) {
		ended = nil
		kept := slices.DeleteFunc(list, func(k Token) bool {
			gone := k.ID == which || k.Name == which || which != "" && k.Device == which
			if gone {
				ended = append(ended, k)
			}
			return gone
		})
		if len(ended) == 0 {
			return nil, fmt.Errorf("%w: no token has the id, the name or the device %q", sayso.ErrNotFound, which)
		}
		return kept, nil
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

// Authenticate returns what is known of a token that is valid at now. Any
// other token is [sayso.ErrNotAllowed]; the error does not repeat it.
func (t *Tokens) Authenticate(secret string, now time.Time) (Token, error) {
	list, err := t.List()
	if err != nil {
		return Token{}, fmt.Errorf("%w: tokens: %w", sayso.ErrUnavailable, err)
	}
	want := hash(secret)
	var found Token
	for _, k := range list { // all of them, so that the time tells nothing
		if subtle.ConstantTimeCompare(k.Hash[:], want[:]) == 1 {
			found = k
		}
	}
	switch {
	case found.ID == "":
		return Token{}, fmt.Errorf("%w: the token is unknown or was revoked", sayso.ErrNotAllowed)
	case found.expired(now):
		return Token{}, fmt.Errorf("%w: the token expired", sayso.ErrNotAllowed)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.markLocked(found.ID, now)
	return found, nil
}

// readLocked returns the list, from memory if the file is still the same. t.mu
// must be held.
func (t *Tokens) readLocked() ([]Token, error) {
	now := StampOf(t.path)
	if t.stamp.Same(now) {
		return t.list, nil
	}
	list, err := readTokens(t.path)
	if err != nil {
		return nil, err
	}
	t.list, t.stamp = list, now
	return list, nil
}

func readTokens(path string) ([]Token, error) {
	text, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct {
		Tokens []Token `json:"tokens"`
	}
	if err := jcs.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file.Tokens, nil
}

// change replaces the list by what edit makes of it, alone among all
// processes. Tokens that had expired at now are dropped; the zero time keeps
// them.
func (t *Tokens) change(now time.Time, edit func([]Token) ([]Token, error)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	alone, err := filelock.Wait(t.path+".lock", filelock.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = alone.Close() }() // nothing was written to it
	list, err := readTokens(t.path)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(k Token) bool { return k.expired(now) })
	if list, err = edit(list); err != nil {
		return err
	}
	text, err := jcs.MarshalIndent(map[string]any{"tokens": list})
	if err != nil {
		return err
	}
	t.stamp = Stamp{} // read anew
	if err := Write(t.path, append(text, '\n')); err != nil {
		return err
	}
	t.forgetLocked(list)
	return nil
}
