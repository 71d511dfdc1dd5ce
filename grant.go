package sayso

import (
	"fmt"
	"time"
)

// GrantIdle is how long a grant lasts that nobody uses.
const GrantIdle = 24 * time.Hour

// Grant is a remembered yes. The zero Grant covers nothing.
type Grant struct {
	ID        ID         `json:"id"`
	ShortID   string     `json:"short_id"`
	SessionID string     `json:"session_id"`
	Request   ID         `json:"request"` // that it was given for
	By        Actor      `json:"by"`
	Cover     Cover      `json:"cover"`
	Label     string     `json:"label"`
	Pattern   string     `json:"pattern,omitempty"` // empty for the exact call
	Host      string     `json:"host"`
	Tool      string     `json:"tool"`
	Server    string     `json:"server"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"` // null for the end of the session
	LastUsed  *time.Time `json:"last_used"`
	Uses      int        `json:"uses"` // so far
	MaxUses   int        `json:"max_uses,omitzero"`
	Ended     string     `json:"ended,omitempty"` // why; empty while it lives

	Key        Digest        `json:"-"` // what it matches
	Policy     string        `json:"-"` // version of the policy it was given under
	Definition string        `json:"-"` // digest of the tool's definition then
	Len        int           `json:"-"` // events in its stream
	created    Moment        //
	used       Moment        // or created
	expires    time.Duration // after created; zero for none
}

// FoldGrant turns the events of a grant's stream into the grant.
func FoldGrant(events []Event) (Grant, error) {
	var g Grant
	for i := range events {
		if err := g.Apply(&events[i]); err != nil {
			return Grant{}, err
		}
	}
	if g.ID == "" {
		return Grant{}, fmt.Errorf("%w: no such grant", ErrNotFound)
	}
	return g, nil
}

// Apply adds the next event of the stream to what g is. On error g is unchanged.
func (g *Grant) Apply(e *Event) error {
	next := *g
	if err := next.apply(e); err != nil {
		return fmt.Errorf("event %d (%s) of %s: %w", e.Seq, e.Type, e.Stream, err)
	}
	next.Len++
	*g = next
	return nil
}

func (g *Grant) apply(e *Event) error {
	if e.Pos != g.Len+1 || (e.Type == EventGrantCreated) != (g.ID == "") {
		return fmt.Errorf("%w: cannot follow %d events", ErrConflict, g.Len)
	}
	switch e.Type {
	case EventGrantCreated:
		return g.create(e)
	case EventGrantUsed:
		if g.Ended != "" || (g.MaxUses > 0 && g.Uses >= g.MaxUses) {
			return fmt.Errorf("%w: the grant has ended", ErrConflict)
		}
		g.Uses++
		g.used, g.LastUsed = e.At, new(truncate(e.At.Wall))
	case EventGrantRevoked, EventGrantEnded:
		p, err := readPayload[Closed](e)
		if err != nil {
			return err
		}
		g.Ended = p.Reason
		if e.Type == EventGrantRevoked || g.Ended == "" {
			g.Ended = "revoked"
		}
	}
	return nil
}

func (g *Grant) create(e *Event) error {
	p, s, err := read[GrantCreated, GrantShown](e)
	if err != nil {
		return err
	}
	id := StreamID(e.Stream)
	*g = Grant{
		ID: id, ShortID: id.Short(), SessionID: e.SessionID, Request: p.Request, By: e.Actor, Cover: p.Cover,
		Label: s.Label, Pattern: s.Pattern, Host: p.Host, Tool: p.Tool, Server: p.Server, CreatedAt: truncate(e.At.Wall), MaxUses: p.Uses,
		Key: s.Key, Policy: p.Policy, Definition: p.Definition, created: e.At, used: e.At, expires: nanoseconds(p.ExpiresNS),
	}
	if p.ExpiresNS > 0 {
		g.ExpiresAt = new(truncate(e.At.Wall.Add(g.expires)))
	}
	return nil
}

// Live reports whether the grant may still be used, or why it has ended. A
// doubtful clock has ended it.
func (g *Grant) Live(now, recorded Moment) (ended string, ok bool) {
	if g.ID == "" {
		return "unknown", false
	}
	if g.Ended != "" {
		return g.Ended, false
	}
	if g.MaxUses > 0 && g.Uses >= g.MaxUses {
		return "used up", false
	}
	if idle, doubtful := Elapsed(g.used, now, recorded); doubtful || idle > GrantIdle {
		return "idle", false
	}
	if age, doubtful := Elapsed(g.created, now, recorded); doubtful || (g.expires > 0 && age >= g.expires) {
		return "expired", false
	}
	return "", true
}
