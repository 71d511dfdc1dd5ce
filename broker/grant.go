package broker

import (
	"context"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// grant reads a grant.
func (b *Broker) grant(ctx context.Context, stream string) (sayso.Grant, error) {
	events, err := b.log.Stream(ctx, stream, 0)
	if err != nil {
		return sayso.Grant{}, fmt.Errorf("reading %s: %w", stream, err)
	}
	return sayso.FoldGrant(events)
}

// remember adds the grant that an answer with scope session asks for. A command
// whose files cannot be told from its text is remembered for one use.
func (in inbox) remember(batch *batch, r *sayso.Request, a sayso.Answer, version string) error {
	uses := a.Uses
	if !r.Life.CanPin {
		uses = 1
	}
	text, err := content(sayso.GrantShown{
		Label: "this exact call",
		Key:   sayso.GrantKey(sayso.CoverCall, r.Digest, r.Life.Pins, version),
	}, nil, nil)
	if err != nil {
		return err
	}
	batch.add(sayso.GrantStream(newID(batch.at.Wall)), 0, sayso.EventGrantCreated, aboutRequest(r), in.actor,
		sayso.GrantCreated{
			Request: r.ID, Cover: sayso.CoverCall, Host: r.Host, Tool: r.Tool, Server: r.Server,
			Policy: version, ExpiresNS: int64(a.For), Uses: uses,
		}, text)
	return nil
}

// ended says why a grant may not be used any more; empty if it may.
func (b *Broker) ended(ctx context.Context, g *sayso.Grant) (why string, err error) {
	now, recorded, err := b.clock(ctx)
	if err != nil {
		return "", err
	}
	if why, ok := g.Live(now, recorded); !ok {
		return why, nil
	}
	if g.Policy != b.policy.Version() {
		return "policy changed", nil
	}
	return "", nil
}

// Grants implements sayso.Inbox.
func (in inbox) Grants(ctx context.Context, session string, all bool) ([]sayso.Grant, error) {
	if !in.actor.Kind.Looks() {
		return nil, fmt.Errorf("grants: %w", sayso.ErrNotAllowed)
	}
	streams, err := in.log.Grants(ctx, sayso.Digest{}, session, all)
	if err != nil {
		return nil, fmt.Errorf("looking for grants: %w", err)
	}
	sessions := sight{in: in}
	grants := []sayso.Grant{}
	for _, stream := range streams {
		g, err := in.grant(ctx, stream)
		if err == nil && g.Ended == "" {
			g.Ended, err = in.ended(ctx, &g)
		}
		if err != nil {
			return nil, err
		}
		if see, err := sessions.see(ctx, g.SessionID); err != nil {
			return nil, err
		} else if see && (all || g.Ended == "") {
			grants = append(grants, g)
		}
	}
	return grants, nil
}

// Revoke implements sayso.Inbox.
func (in inbox) Revoke(ctx context.Context, id sayso.ID) error {
	for range tries {
		g, err := in.grant(ctx, sayso.GrantStream(id))
		if err != nil {
			return err
		}
		if err := in.mayAnswer(ctx, g.SessionID); err != nil {
			return err
		}
		if g.Ended != "" {
			return nil
		}
		batch := newBatch(in.o.Now())
		batch.add(sayso.GrantStream(id), g.Len, sayso.EventGrantRevoked, about{session: g.SessionID}, in.actor, sayso.Closed{Reason: "revoked"}, nil)
		if _, err = in.append(ctx, batch); !isConflict(err) {
			return err
		}
	}
	return errStorm
}
