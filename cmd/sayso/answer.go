package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
)

// shortestDigest is how many hexadecimal digits of a digest stand for all of
// it: 48 bits cannot be hit by chance, and the request is named beside them.
const shortestDigest = 12

// named reports whether typed names a digest: all of it, or at least its first
// twelve digits, with or without sha256: before them.
func named(d sayso.Digest, typed string) error {
	digits := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(typed)), "sha256:")
	switch {
	case len(digits) < shortestDigest:
		return fmt.Errorf("%w: the digest needs at least its first %d digits", sayso.ErrInvalid, shortestDigest)
	case d.IsZero() || !strings.HasPrefix(strings.TrimPrefix(d.String(), "sha256:"), digits):
		return fmt.Errorf("%w: this request is about another call than the one you were shown", sayso.ErrMismatch)
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
		return errors.Join(a.decision(decided.Decision), no{})
	case errors.Is(err, sayso.ErrExpired):
		return errors.Join(a.decision(sayso.Decision{Request: r.ID, State: sayso.StateExpired}), no{})
	case errors.Is(err, sayso.ErrWithdrawn):
		return errors.Join(a.decision(sayso.Decision{Request: r.ID, State: sayso.StateWithdrawn}), no{})
	case errors.Is(err, sayso.ErrMismatch):
		return hint(err, "sayso show %s", r.ShortID)
	case err != nil:
		return err
	}
	return a.decision(d)
}

// decision prints a decision.
func (a *app) decision(d sayso.Decision) error {
	if a.json {
		return a.printJSON(d)
	}
	a.print("%s", standing(d))
	return nil
}

// standing is a decision in a line.
func standing(d sayso.Decision) string {
	id := d.Request.Short()
	switch d.State {
	case sayso.StateAllowed:
		return id + " allowed by " + safe(d.Who())
	case sayso.StateDenied:
		if d.Note != "" {
			return id + " denied by " + safe(d.Who()) + ": " + safe(d.Note)
		}
		return id + " denied by " + safe(d.Who())
	case sayso.StateExpired:
		return id + " expired before anybody answered"
	case sayso.StateWithdrawn:
		return id + " was withdrawn before anybody answered"
	}
	return id + " recorded; more answers are required"
}
