package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// minReadTime is how long it takes at least to read a question and to answer it.
// What comes faster by way of a client was a program's: those that run without a
// person decline at once, and their hooks accept.
const minReadTime = time.Second

// Elicitable is the request that a call of this requester opened or took up, where
// policy lets the requester's client put it to the person who uses it, with all
// that may be shown of it. It waits until the call is in the log. [sayso.ErrNotAllowed]
// says that people must answer elsewhere.
func (b *Broker) Elicitable(ctx context.Context, by sayso.Actor, session, callID string) (r sayso.Request, full sayso.RequestedFull, err error) {
	stream, err := b.waitForKey(ctx, sayso.CallKey(by.Principal, session, callID))
	if err != nil {
		return r, full, err
	}
	r, err = (&gate{b: b, actor: by}).ownRequest(ctx, sayso.StreamID(stream))
	if err == nil && (!r.State.Open() || !r.Life.Elicit || by.Owner == "") {
		err = fmt.Errorf("request %s: %w: it is not answered by way of a client", r.ID.Short(), sayso.ErrNotAllowed)
	}
	if err != nil {
		return r, full, err
	}
	full, err = b.clientInbox(by).Content(ctx, r.ID)
	return r, full, err
}

// waitForKey waits until a key is taken, and returns the stream that holds it.
func (b *Broker) waitForKey(ctx context.Context, key string) (string, error) {
	for {
		head, err := b.log.Head(ctx)
		if err != nil {
			return "", err
		}
		stream, err := b.log.Lookup(ctx, key)
		if err == nil || !errors.Is(err, sayso.ErrNotFound) {
			return stream, err
		}
		if _, err := b.log.WaitSince(ctx, head.Seq); err != nil {
			return "", err
		}
	}
}

// Elicited records what the person who uses a requester's client said there, so
// long after being asked. What policy does not let be answered there, and what
// came too fast for a person, is recorded as an answer that was not taken.
func (b *Broker) Elicited(ctx context.Context, by sayso.Actor, r sayso.Request, effect sayso.Effect, note string, took time.Duration) (sayso.Decision, error) {
	in := b.clientInbox(by)
	a := sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: effect, Note: note}
	if _, err := (&gate{b: b, actor: by}).ownRequest(ctx, r.ID); err != nil {
		return sayso.Decision{}, err
	}
	if took < minReadTime {
		now, err := b.load(ctx, r.ID)
		if err != nil {
			return sayso.Decision{}, err
		}
		return sayso.Decision{}, in.refuse(ctx, &now, a, "too-fast", sayso.ErrNotAllowed)
	}
	return in.Answer(ctx, r.ID, a)
}

// clientInbox is the inbox of the person who uses a requester's client, there.
func (b *Broker) clientInbox(by sayso.Actor) inbox {
	return inbox{b: b, actor: sayso.Actor{Principal: by.Owner, Kind: sayso.PrincipalPerson, Channel: sayso.ChannelElicitation}}
}
