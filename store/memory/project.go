package memory

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
)

// requests are the rows of all requests, and ways to find them.
type requests struct {
	rows      []*sayso.Row // oldest first
	byStream  map[string]*sayso.Row
	byID      map[sayso.ID]*sayso.Row
	bySession map[string][]*sayso.Row // by the time they were made
	open      map[string]*sayso.Row   // by stream
}

func newRequests() requests {
	return requests{
		byStream: map[string]*sayso.Row{}, byID: map[sayso.ID]*sayso.Row{},
		bySession: map[string][]*sayso.Row{}, open: map[string]*sayso.Row{},
	}
}

// grant is what is kept of one grant.
type grant struct {
	stream  string
	session string
	key     sayso.Digest // zero once erased
	first   sayso.Seq
	ended   bool
}

// grants are all grants, the oldest first.
type grants struct {
	all      []*grant
	byStream map[string]*grant
	byKey    map[sayso.Digest][]*grant
}

// project works out what e changes in the rows and grants.
func (s *store) project(p *placed, e *sayso.Event) error {
	switch {
	case strings.HasPrefix(e.Stream, "request/"):
		return s.projectRequest(p, e)
	case strings.HasPrefix(e.Stream, "grant/"):
		return s.projectGrant(p, e)
	}
	return nil
}

func (s *store) projectRequest(p *placed, e *sayso.Event) error {
	w, ok := p.requests[e.Stream]
	if !ok {
		if old := s.requests.byStream[e.Stream]; old != nil {
			w = new(*old)
			p.requests[e.Stream] = w
		}
	}
	if w != nil {
		return w.Apply(e)
	}
	if e.Type != sayso.EventRequested {
		return nil
	}
	row, err := sayso.RowOf(e)
	if err == nil {
		p.requests[e.Stream] = &row
	}
	return err
}

func (s *store) projectGrant(p *placed, e *sayso.Event) error {
	switch e.Type {
	case sayso.EventGrantCreated:
		g, err := sayso.FoldGrant([]sayso.Event{*e})
		if err != nil {
			return err
		}
		p.grants[e.Stream] = &grant{stream: e.Stream, session: e.SessionID, key: g.Key, first: e.Seq}
	case sayso.EventGrantRevoked, sayso.EventGrantEnded:
		g, ok := p.grants[e.Stream]
		if !ok {
			old := s.grants.byStream[e.Stream]
			if old == nil {
				return nil
			}
			g = new(*old)
			p.grants[e.Stream] = g
		}
		g.ended = true
	}
	return nil
}

func (s *store) forgetGrant(stream string) {
	g := s.grants.byStream[stream]
	if g == nil {
		return
	}
	s.grants.byKey[g.key] = slices.DeleteFunc(s.grants.byKey[g.key], func(o *grant) bool { return o == g })
	if len(s.grants.byKey[g.key]) == 0 {
		delete(s.grants.byKey, g.key)
	}
	g.key = sayso.Digest{}
}

// holds reports whether anything is there that must be absent.
func (s *store) holds(a sayso.Absent) bool {
	for _, w := range s.requests.bySession[a.Session] {
		if !a.Digest.IsZero() && w.Digest == a.Digest && !w.Spent {
			return true
		}
	}
	for _, g := range s.grants.all {
		if a.Grants && g.session == a.Session && !g.ended {
			return true
		}
	}
	return false
}

// keep puts the rows and grants that a batch changed in place of the old ones.
func (s *store) keep(p *placed) {
	var fresh []*sayso.Row
	for stream, w := range p.requests {
		if old := s.requests.byStream[stream]; old != nil {
			*old = *w
			w = old
		} else {
			s.requests.byStream[stream] = w
			s.requests.byID[w.ID] = w
			fresh = append(fresh, w)
		}
		if w.State.Open() {
			s.requests.open[stream] = w
		} else {
			delete(s.requests.open, stream)
		}
	}
	slices.SortFunc(fresh, oldest)
	for _, w := range fresh {
		s.requests.add(w)
	}
	s.keepGrants(p)
}

// add puts a new row where it belongs by age.
func (r *requests) add(w *sayso.Row) {
	r.rows = append(r.rows, w)
	of := r.bySession[w.Session]
	r.bySession[w.Session] = slices.Insert(of, made(of, w.Created.Wall.Add(1)), w)
}

// made is the index of the first row that was made at or after a time.
func made(rows []*sayso.Row, since time.Time) int {
	return sort.Search(len(rows), func(i int) bool { return !rows[i].Created.Wall.Before(since) })
}

func (s *store) keepGrants(p *placed) {
	var fresh []*grant
	for stream, g := range p.grants {
		if old := s.grants.byStream[stream]; old != nil {
			*old = *g
		} else {
			s.grants.byStream[stream] = g
			fresh = append(fresh, g)
		}
	}
	slices.SortFunc(fresh, earliest)
	s.grants.all = append(s.grants.all, fresh...)
	for _, g := range fresh {
		s.grants.byKey[g.key] = append(s.grants.byKey[g.key], g)
	}
}

func oldest(a, b *sayso.Row) int { return cmp.Compare(a.First, b.First) }

// Open returns the events of open requests; see [sayso.Log].
func (l *Log) Open(ctx context.Context, session string, limit int) ([][]sayso.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	var rows []*sayso.Row
	for _, w := range l.requests.open {
		if session == "" || w.Session == session {
			rows = append(rows, w)
		}
	}
	slices.SortFunc(rows, oldest)
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	out := make([][]sayso.Event, len(rows))
	for i, w := range rows {
		out[i] = l.stream(sayso.RequestStream(w.ID), 0)
	}
	return out, nil
}

// Rows returns the rows that q selects; see [sayso.Log].
func (l *Log) Rows(ctx context.Context, q sayso.RowQuery) ([]sayso.Row, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	var out []sayso.Row
	for i := range l.requests.rows {
		if !q.Oldest {
			i = len(l.requests.rows) - 1 - i
		}
		if w := l.requests.rows[i]; selects(&q, w) {
			out = append(out, *w)
		}
		if len(out) == limit {
			break
		}
	}
	return out, nil
}

// selects reports whether q asks for w.
func selects(q *sayso.RowQuery, w *sayso.Row) bool {
	switch {
	case q.Session != "" && q.Session != w.Session,
		len(q.Sessions) > 0 && !slices.Contains(q.Sessions, w.Session),
		q.Group != "" && q.Group != w.Group,
		q.CallID != "" && q.CallID != w.CallID,
		!q.Digest.IsZero() && q.Digest != w.Digest,
		q.Tool != "" && q.Tool != w.Tool,
		q.Host != "" && q.Host != w.Host,
		len(q.States) > 0 && !slices.Contains(q.States, w.State),
		q.Asked && !w.Asked,
		q.Unspent && w.Spent,
		!q.Since.IsZero() && w.Created.Wall.Before(q.Since),
		!q.Until.IsZero() && !w.Created.Wall.Before(q.Until),
		q.Before > 0 && w.First >= q.Before:
		return false
	}
	return true
}

// Count counts the open requests of a session and those that it asked people
// about; see [sayso.Log].
func (l *Log) Count(ctx context.Context, session string, since time.Time) (open, asked int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return 0, 0, err
	}
	for _, w := range l.requests.open {
		if w.Session == session {
			open++
		}
	}
	of := l.requests.bySession[session]
	for _, w := range of[made(of, since):] {
		if w.Asked {
			asked++
		}
	}
	return open, asked, nil
}

// Find returns the ids of requests that a person may have meant; see
// [sayso.Log].
func (l *Log) Find(ctx context.Context, typed string, limit int) ([]sayso.ID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil || typed == "" {
		return nil, err
	}
	var out []sayso.ID
	for _, w := range l.requests.rows {
		if strings.HasPrefix(string(w.ID), typed) || w.ID.Matches(typed) {
			out = append(out, w.ID)
		}
		if limit > 0 && len(out) == limit {
			break
		}
	}
	return out, nil
}

// Grants returns the streams of grants; see [sayso.Log].
func (l *Log) Grants(ctx context.Context, keys []sayso.Digest, session string, all bool) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	var out []string
	for _, g := range l.grants.among(keys) {
		if (session == "" || session == g.session) && (all || !g.ended) {
			out = append(out, g.stream)
		}
	}
	return out, nil
}

// among are the grants that have one of the keys, or all if none is given, the
// oldest first.
func (s *grants) among(keys []sayso.Digest) []*grant {
	if len(keys) == 0 {
		return s.all
	}
	var found []*grant
	seen := make(map[sayso.Digest]bool, len(keys))
	for _, k := range keys {
		if !k.IsZero() && !seen[k] {
			seen[k] = true
			found = append(found, s.byKey[k]...)
		}
	}
	slices.SortFunc(found, earliest)
	return found
}

func earliest(a, b *grant) int { return cmp.Compare(a.first, b.first) }
