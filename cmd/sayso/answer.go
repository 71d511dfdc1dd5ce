package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// shortestDigest is how many hexadecimal digits of a digest stand for all of
// it: 48 bits cannot be hit by chance, and the request is named beside them.
const shortestDigest = 12

// named reports whether typed names a digest: all of it, or at least its first
// twelve digits, with or without sha256: before them.
func named(d sayso.Digest, typed string) error {
	if err := longEnough(typed); err != nil {
		return err
	}
	if d.IsZero() || !strings.HasPrefix(strings.TrimPrefix(d.String(), "sha256:"), digits(typed)) {
		return fmt.Errorf("%w: this request is about another call than the one you were shown", sayso.ErrMismatch)
	}
	return nil
}

// digits are those of a digest as it was typed.
func digits(typed string) string {
	return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(typed)), "sha256:")
}

// longEnough refuses the beginning of a digest that says too little.
func longEnough(typed string) error {
	if len(digits(typed)) < shortestDigest {
		return fmt.Errorf("%w: the digest needs at least its first %d digits", sayso.ErrInvalid, shortestDigest)
	}
	return nil
}

// record gives an answer and prints the decision that stands.
func (a *app) record(ctx context.Context, in sayso.Inbox, r sayso.Request, answer sayso.Answer) error {
	answer.Digest, answer.Content = r.Digest, r.Content
	d, err := in.Answer(ctx, r.ID, answer)
	var decided *sayso.DecidedError
	switch {
	case errors.As(err, &decided):
		return errors.Join(a.decision(decided.Decision, words.TooLate(r, decided.Decision)), no{})
	case errors.Is(err, sayso.ErrExpired):
		return a.closed(r, sayso.StateExpired)
	case errors.Is(err, sayso.ErrWithdrawn):
		return a.closed(r, sayso.StateWithdrawn)
	case errors.Is(err, sayso.ErrMismatch):
		return hint(err, "sayso show %s", r.ShortID)
	case err != nil:
		return err
	}
	text := words.Standing(d)
	switch {
	case !r.State.Open(): // the same answer again
		text = words.Already(r, d)
	case d.State != sayso.StateAllowed:
	case answer.Args != nil:
		text += ", with your changes"
	case answer.Scope == sayso.ScopeSession:
		text += remembered(ctx, in, r)
	}
	return a.decision(d, text)
}

// remembered names the grant that an answer made.
func remembered(ctx context.Context, in sayso.Inbox, r sayso.Request) string {
	list, err := in.Grants(ctx, r.SessionID, false)
	if err != nil {
		return "" // the answer stands, whatever can be said of it
	}
	for _, g := range list {
		if g.Request == r.ID {
			return fmt.Sprintf(", and remembered for this session: %s (%s)%s", safe(g.Label), g.ShortID, twins(ctx, in, r))
		}
	}
	return ""
}

// twins says how many of the same call wait, which were asked before the answer
// was remembered.
func twins(ctx context.Context, in sayso.Inbox, r sayso.Request) string {
	list, err := in.Requests(ctx, sayso.RowQuery{Session: r.SessionID, States: sayso.OpenStates()})
	if err != nil {
		return ""
	}
	n := 0
	for _, other := range list {
		if other.ID != r.ID && other.Digest == r.Digest {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 like it still waits"
	}
	return fmt.Sprintf("; %d like it still wait", n)
}

// closed prints that nobody can answer any more.
func (a *app) closed(r sayso.Request, s sayso.State) error {
	d := sayso.Decision{Request: r.ID, State: s}
	return errors.Join(a.decision(d, words.TooLate(r, d)), no{})
}

// decision prints a decision, or what is said of it.
func (a *app) decision(d sayso.Decision, text string) error {
	if a.json {
		return a.printJSON(d)
	}
	a.print("%s", text)
	return nil
}
