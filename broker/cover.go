package broker

import (
	"context"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/cover"
)

// What is looked at to say what a cover would have covered: so many of the
// newest calls, for so long. It is done when a person looks at one request, and
// never while a call waits for it.
const (
	maxCoverCalls = 100
	coverTimeout  = 50 * time.Millisecond
	minCoverCalls = 10 // that are looked at however long it takes
)

// countCovered fills in what the covers of a request would have covered of the newest
// other calls that this person may see, and how many of those a person denied.
// What came while the request waits counts: it is what they have just answered.
func (in inbox) countCovered(ctx context.Context, r *sayso.Request) error {
	if !r.State.Open() || !in.actor.Kind.Answers() || len(r.Covers) == 0 {
		return nil
	}
	asked, err := r.Asked()
	if err != nil {
		return nil // the content was erased, and with it what there is to compare
	}
	counter := newCoverCounter(r, &asked)
	ends := time.Now().Add(coverTimeout)
	rows, err := in.b.log.Rows(ctx, sayso.RowQuery{Limit: maxCoverCalls + 1})
	if err != nil {
		return err
	}
	vis := visibility{in: in}
	for _, row := range rows {
		if row.ID == r.ID || counter.looked == maxCoverCalls {
			continue
		}
		if counter.looked >= minCoverCalls && time.Now().After(ends) {
			break
		}
		see, err := vis.seesRequest(ctx, row.Session, row.Asker)
		if err != nil {
			return err
		}
		if !see {
			continue
		}
		if err := counter.add(ctx, &vis, &row); err != nil {
			return err
		}
	}
	r.Covers = counter.result()
	return nil
}

// coverCounter counts what the covers of one request would have covered.
type coverCounter struct {
	offers []sayso.CoverOffer
	keys   []sayso.Digest // what a grant of each would match on, in no session
	tool   string
	server string
	kind   sayso.Kind
	looked int
}

func newCoverCounter(r *sayso.Request, asked *sayso.RequestedPrivate) *coverCounter {
	s := &coverCounter{offers: slices.Clone(r.Covers), tool: r.Tool, server: r.Server, kind: r.Kind}
	s.keys = make([]sayso.Digest, len(s.offers))
	for _, way := range cover.Ways(sessionlessSubject(r, asked), sayso.RememberAny) {
		if i := slices.Index(s.offers, way.Offer); i >= 0 {
			s.keys[i] = way.Key("")
		}
	}
	return s
}

// sessionlessSubject is a call as covers see it, as if it had been made in no session, so
// that calls of several can be compared.
func sessionlessSubject(r *sayso.Request, asked *sayso.RequestedPrivate) *cover.Subject {
	c := asked.Call
	c.Session = ""
	s := &cover.Subject{Call: c, Facts: asked.Facts, Payload: asked.Payload, Ignores: r.Ignores, Danger: r.Danger}
	s.Digest, _ = c.Digest() // it had one when it was asked
	s.Pins, _ = cover.Pins(asked.Facts)
	return s
}

// add counts one call. Calls of other tools and kinds need not be read.
func (s *coverCounter) add(ctx context.Context, vis *visibility, row *sayso.Row) error {
	alike := !row.Digest.IsZero() && (row.Kind == s.kind || row.Tool == s.tool && row.Server == s.server)
	if !alike && !mayBeStaged(row) {
		s.looked++
		return nil
	}
	r, see, err := vis.read(ctx, candidate{id: row.ID, session: row.Session, asker: row.Asker, last: row.Last})
	if err == nil && see && r.Staged() {
		return nil // of no agent at work
	}
	s.looked++
	if !alike {
		return ctx.Err()
	}
	if err != nil && see && ctx.Err() == nil {
		return nil // of one that cannot be read nothing is known
	}
	if err != nil || !see || isDeniedByRule(&r) {
		return err
	}
	asked, err := r.Asked()
	if err != nil {
		return nil // erased
	}
	reach := sayso.RememberAny
	if r.Cause == sayso.CauseBuiltin || r.Cause == sayso.CauseNotUnderstood {
		reach = sayso.RememberExact
	}
	denied := r.State == sayso.StateDenied && r.Decision.Source == sayso.SourcePerson
	was := sessionlessSubject(&r, &asked)
	for _, way := range cover.Covering(was, reach) {
		for i := range s.offers {
			if s.keys[i] != way.Key("") {
				continue
			}
			s.offers[i].WouldHaveCovered++
			if denied {
				s.offers[i].Denied++
			}
		}
	}
	return nil
}

// mayBeStaged reports whether a request can be one that the doctor had an agent try:
// what rules alone denied, and is here to be read.
func mayBeStaged(row *sayso.Row) bool {
	return row.State == sayso.StateDenied && row.Source == sayso.SourcePolicy && !row.Digest.IsZero()
}

// isDeniedByRule reports whether a call was denied by what no grant turns round.
func isDeniedByRule(r *sayso.Request) bool {
	return r.State == sayso.StateDenied && r.Decision.Source == sayso.SourcePolicy
}

// result are the offers with what was found.
func (s *coverCounter) result() []sayso.CoverOffer {
	for i := range s.offers {
		s.offers[i].LookedAt = s.looked
	}
	return s.offers
}
