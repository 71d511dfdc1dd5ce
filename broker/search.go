package broker

import (
	"context"
	"fmt"
	"iter"

	"github.com/sayso-dev/sayso"
)

// candidate is a request that the log found, before anybody looked whose it is.
type candidate struct {
	id             sayso.ID
	session, asker string
	last           sayso.Seq     // of its newest event
	events         []sayso.Event // nil if they are not read yet
	row            *sayso.Row    // nil if the log did not find it by one
}

// unread is what is known of a request that cannot be read: enough to list it,
// and nothing that could be answered.
func (c *candidate) unread(why error) sayso.Request {
	row := c.row
	if row == nil {
		row = &sayso.Row{ID: c.id, Session: c.session, Asker: c.asker, State: sayso.StateOpen, First: c.last, Last: c.last}
	}
	return row.Unread(why)
}

// visibleRequests yields the selected requests that this reader may see, as they are now.
// The log does not know who may see what, so it is asked for more until the
// reader has enough: the requests of one session never hide those of another.
func (in inbox) visibleRequests(ctx context.Context, q sayso.RowQuery, want int) iter.Seq2[sayso.Request, error] {
	return func(yield func(sayso.Request, error) bool) {
		vis, listed := visibility{in: in}, map[sayso.ID]bool{}
		for q.Limit = want; ; q.Limit *= 4 {
			candidates, err := in.candidates(ctx, q)
			if err != nil {
				yield(sayso.Request{}, err)
				return
			}
			page, err := vis.readPage(ctx, candidates, listed)
			if err != nil {
				yield(sayso.Request{}, err)
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if len(candidates) < q.Limit {
				return
			}
		}
	}
}

// readPage reads those of the candidates that are not listed yet and that the reader
// may see. The clock is read after them: see [Broker.clock].
func (s *visibility) readPage(ctx context.Context, candidates []candidate, listed map[sayso.ID]bool) ([]sayso.Request, error) {
	var page []sayso.Request
	for _, c := range candidates {
		if listed[c.id] {
			continue
		}
		listed[c.id] = true
		r, see, err := s.read(ctx, c)
		switch {
		case err == nil:
		case !see || ctx.Err() != nil:
			return nil, err
		default:
			r = c.unread(err) // and takes no other from the list
		}
		if see {
			page = append(page, r)
		}
	}
	now, recorded, err := s.in.b.clock(ctx)
	for i := range page {
		page[i] = page[i].At(now, recorded)
	}
	return page, err
}

// read reads a candidate if the reader may see it, which it also says of one that
// cannot be read.
func (s *visibility) read(ctx context.Context, c candidate) (r sayso.Request, see bool, err error) {
	if see, err = s.seesRequest(ctx, c.session, c.asker); err != nil || !see {
		return r, false, err
	}
	if known, ok := s.in.b.requests.get(c.id); ok && known.Life.Last == c.last {
		return *known, true, nil
	}
	if c.events == nil {
		r, err = s.in.b.load(ctx, c.id)
	} else {
		r, err = sayso.Fold(c.events)
	}
	if err == nil {
		s.in.b.requests.put(new(r))
	}
	return r, true, err
}

// candidates are the first q.Limit requests that q selects.
func (in inbox) candidates(ctx context.Context, q sayso.RowQuery) ([]candidate, error) {
	q.Oldest = q.Oldest || onlyOpen(q)
	rows, err := in.b.log.Rows(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("searching requests: %w", err)
	}
	if onlyOpen(q) && in.mostlyUnknown(rows) {
		if found, err := in.openCandidates(ctx, q); err == nil || ctx.Err() != nil {
			return found, err
		} // one that cannot be read is found out one by one
	}
	found := make([]candidate, len(rows))
	for i := range rows {
		row := &rows[i]
		found[i] = candidate{id: row.ID, session: row.Session, asker: row.Asker, last: row.Last, row: row}
	}
	return found, nil
}

// mostlyUnknown reports whether so many of these requests are not known as they are
// now that it pays to read them all at once.
func (in inbox) mostlyUnknown(rows []sayso.Row) bool {
	n := 0
	for _, row := range rows {
		if r, known := in.b.requests.get(row.ID); !known || r.Life.Last != row.Last {
			n++
		}
	}
	return n > 4
}

func (in inbox) openCandidates(ctx context.Context, q sayso.RowQuery) ([]candidate, error) {
	streams, err := in.b.log.Open(ctx, q.Session, q.Limit)
	if err != nil {
		return nil, fmt.Errorf("listing open requests: %w", err)
	}
	found := make([]candidate, len(streams))
	for i, events := range streams {
		e := &events[0]
		found[i] = candidate{id: e.RequestID, session: e.SessionID, asker: e.Actor.Principal, events: events, last: events[len(events)-1].Seq}
	}
	return found, nil
}
