package broker

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/cover"
)

// grantCache remembers grants as they were when they were read last, by stream: one
// that is used often has many events. What it remembers may be old: who uses a
// grant expects its stream to be as long as it was.
type grantCache struct {
	mu       sync.Mutex // guards what follows
	known    map[string]sayso.Grant
	hadGrant map[string]bool // sessions that have had one
}

// maxCachedGrants bounds what is remembered.
const maxCachedGrants = 4096

func (g *grantCache) get(stream string) sayso.Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[stream]
}

func (g *grantCache) put(stream string, grant sayso.Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || len(g.known) >= maxCachedGrants {
		g.known = map[string]sayso.Grant{}
	}
	if grant.Len > g.known[stream].Len {
		g.known[stream] = grant
	}
}

// hasHadGrant reports whether a session is known to have had a grant.
func (g *grantCache) hasHadGrant(session string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hadGrant[session]
}

// noteGrant remembers that a session has had a grant.
func (g *grantCache) noteGrant(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hadGrant == nil || len(g.hadGrant) >= maxCachedGrants {
		g.hadGrant = map[string]bool{}
	}
	g.hadGrant[session] = true
}

// grant reads what was appended to a grant since it was read last. What was
// erased since may still be in it: it is for the engine and not to be shown.
func (b *Broker) grant(ctx context.Context, stream string) (sayso.Grant, error) {
	g := b.grants.get(stream)
	events, err := b.log.Stream(ctx, stream, g.Len)
	if err != nil {
		return sayso.Grant{}, fmt.Errorf("reading %s: %w", stream, err)
	}
	for i := range events {
		if err := g.Apply(&events[i]); err != nil {
			return sayso.Grant{}, err
		}
	}
	if g.ID == "" {
		return sayso.Grant{}, fmt.Errorf("%w: no such grant", sayso.ErrNotFound)
	}
	b.grants.put(stream, g)
	b.grants.noteGrant(g.SessionID)
	return g, nil
}

// readWholeGrant reads all of a grant, so that what was erased is not in it.
func (b *Broker) readWholeGrant(ctx context.Context, stream string) (sayso.Grant, error) {
	events, err := b.log.Stream(ctx, stream, 0)
	if err != nil {
		return sayso.Grant{}, fmt.Errorf("reading %s: %w", stream, err)
	}
	return sayso.FoldGrant(events)
}

// findGrant finds a grant that covers the call and still lives, the narrowest
// there is, with one question to the log.
func (w *waiter) findGrant(ctx context.Context, j *judgment) (*sayso.Grant, error) {
	var keys []sayso.Digest
	for _, way := range cover.Covering(w.subject(j), j.reach) {
		keys = append(keys, way.Key(j.verdict.Policy))
	}
	if len(keys) == 0 {
		return nil, nil
	}
	streams, err := w.b.log.Grants(ctx, keys, "", false)
	if err != nil {
		return nil, fmt.Errorf("looking for grants: %w", err)
	}
	var found *sayso.Grant
	narrowest := len(keys)
	for _, stream := range streams {
		g, err := w.b.grant(ctx, stream)
		if err != nil {
			return nil, err
		}
		now, recorded, err := w.b.clock(ctx)
		if err != nil {
			return nil, err
		}
		at := slices.Index(keys, g.Key)
		if _, ok := g.Live(now, recorded); ok && g.SessionID == w.a.Call.Session && at >= 0 && at < narrowest {
			found, narrowest = &g, at
		}
	}
	return found, nil
}

// findRedefined finds the grants of this session for the call's tool under another
// definition. They have ended, whatever the definition becomes later.
func (w *waiter) findRedefined(ctx context.Context, j *judgment) error {
	c := w.a.Call
	if c.DefinitionDigest == "" {
		return nil
	}
	streams, err := w.b.log.Grants(ctx, nil, c.Session, false)
	if err != nil {
		return fmt.Errorf("looking for grants: %w", err)
	}
	tool, server := c.CanonicalName()
	j.endedGrants = nil
	for _, stream := range streams {
		g, err := w.b.grant(ctx, stream)
		if err != nil {
			return err
		}
		if g.Ended == "" && g.Tool == tool && g.Server == server && g.Definition != "" && g.Definition != c.DefinitionDigest {
			j.endedGrants = append(j.endedGrants, g)
		}
	}
	return nil
}

// endGrant adds that a grant has ended, and why.
func (b *batch) endGrant(g *sayso.Grant, why string) {
	b.add(sayso.GrantStream(g.ID), g.Len, sayso.EventGrantEnded, eventSubject{session: g.SessionID}, sayso.BrokerActor, sayso.Closed{Reason: why}, nil)
}

// addGrant adds the grant that an answer with scope session asks for. A command
// whose files cannot be told from its text, and a change of a file that cannot
// be read, are remembered for one use, where the cover is bound to those files.
func (in inbox) addGrant(batch *batch, r *sayso.Request, a sayso.Answer, now *currentJudgment) error {
	way, err := in.chosenWay(r, a, now)
	if err != nil {
		return err
	}
	uses := a.Uses
	if bound := way.Offer.Cover == sayso.CoverCall || way.Offer.Cover == sayso.CoverFingerprint; way.Once || bound && !r.Life.CanPin {
		uses = 1
	}
	version := now.verdict.Policy
	text, err := newContent(sayso.GrantShown{Label: way.Offer.Label, Pattern: way.Offer.Pattern, Key: way.Key(version)}, nil, nil)
	if err != nil {
		return err
	}
	batch.add(sayso.GrantStream(newID(batch.at.Wall)), 0, sayso.EventGrantCreated, requestSubject(r), in.actor,
		sayso.GrantCreated{
			Request: r.ID, Cover: way.Offer.Cover, Host: r.Host, Tool: r.Tool, Server: r.Server, Policy: version,
			Definition: now.asked.Call.DefinitionDigest, ExpiresNS: int64(a.For), Uses: uses,
		}, text)
	return nil
}

// whyGrantEnded says why a grant may not be used any more; empty if it may.
func (b *Broker) whyGrantEnded(ctx context.Context, g *sayso.Grant) (why string, err error) {
	now, recorded, err := b.clock(ctx)
	if err != nil {
		return "", err
	}
	if why, ok := g.Live(now, recorded); !ok {
		return why, nil
	}
	if b.o.Ready() == nil && g.Policy != b.policy.Version() {
		return "policy changed", nil
	}
	return "", nil
}

// Grants implements sayso.Inbox.
func (in inbox) Grants(ctx context.Context, session string, all bool) ([]sayso.Grant, error) {
	if !in.actor.Kind.Looks() {
		return nil, fmt.Errorf("grants: %w", sayso.ErrNotAllowed)
	}
	streams, err := in.b.log.Grants(ctx, nil, session, all)
	if err != nil {
		return nil, fmt.Errorf("looking for grants: %w", err)
	}
	sessions := visibility{in: in}
	grants := []sayso.Grant{}
	for _, stream := range streams {
		g, err := in.b.readWholeGrant(ctx, stream)
		if err == nil && g.Ended == "" {
			g.Ended, err = in.b.whyGrantEnded(ctx, &g)
		}
		if err != nil {
			return nil, err
		}
		if see, err := sessions.seesSession(ctx, g.SessionID); err != nil {
			return nil, err
		} else if see && (all || g.Ended == "") {
			grants = append(grants, g)
		}
	}
	return grants, nil
}

// Revoke implements sayso.Inbox.
func (in inbox) Revoke(ctx context.Context, id sayso.ID) error {
	for range maxAttempts {
		g, err := in.b.grant(ctx, sayso.GrantStream(id))
		if err != nil {
			return err
		}
		if err := in.mayAnswer(ctx, g.SessionID); err != nil {
			return err
		}
		if g.Ended != "" {
			return nil
		}
		batch := newBatch(in.b.o.Now())
		batch.add(sayso.GrantStream(id), g.Len, sayso.EventGrantRevoked, eventSubject{session: g.SessionID}, in.actor, sayso.Closed{Reason: "revoked"}, nil)
		if _, err = in.b.append(ctx, batch); !isConflict(err) {
			return err
		}
	}
	return errContention
}
