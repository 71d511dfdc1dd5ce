package sqlite

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Report is what [Log.Verify] found.
type Report struct {
	Events   int
	Segments int
	Erased   int // requests whose content was erased
	Head     sayso.Head
	Problems []Problem // the first ones; none if the log is as it was written
}

// Problem is one thing that is not as it was written.
type Problem struct {
	Seq  sayso.Seq // where; zero if it has no place
	Text string
}

func (p Problem) String() string {
	if p.Seq == 0 {
		return p.Text
	}
	return fmt.Sprintf("at %d: %s", p.Seq, p.Text)
}

// Err is nil if there are no problems, and else says what they are.
func (r Report) Err() error {
	var errs []error
	for _, p := range r.Problems {
		errs = append(errs, errors.New(p.String()))
	}
	return errors.Join(errs...)
}

// maxProblems bounds a report: one edit can break much.
const maxProblems = 100

// Verify reads the whole log, segments too, and reports whatever was edited,
// removed, inserted or put into another order behind our back: in the chain of
// events, in their content, which must match its commitment or have been erased
// with an event that says so, in the projections, which must be what the events
// make, in the keys, which must be those that the events took, and in the
// schema, which must be the one that the migrations make. A log that was cut at its end is found by a head that was kept
// elsewhere; kept may be nil.
//
// Problems are in the report; an error means that it could not be made.
func (l *Log) Verify(ctx context.Context, kept *sayso.Head) (Report, error) {
	if err := l.usable(ctx); err != nil {
		return Report{}, err
	}
	c, err := l.connect()
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = c.Close() }() // nothing was written
	keepWAL(c)
	if err := run(c, `BEGIN`, nil); err != nil {
		return Report{}, unavailable("verify", err)
	}
	v := &verifier{log: l, conn: c, kept: kept, missing: map[sayso.ID]sayso.Seq{}, erased: map[sayso.ID]bool{}}
	if err := run(c, makeNames, nil); err != nil {
		return Report{}, unavailable("verify", err)
	}
	if err := v.run(ctx); err != nil && !errors.Is(err, errTooManyProblems) {
		return v.Report, unavailable("verify", err)
	}
	return v.Report, nil
}

var errTooManyProblems = errors.New("there are more problems than anybody will read")

type verifier struct {
	Report
	log  *Log
	conn *sqlite.Conn
	kept *sayso.Head

	wrongSchema bool // the schema is not ours

	missing map[sayso.ID]sayso.Seq // requests with content that is not there, and the first place
	erased  map[sayso.ID]bool      // requests whose content an event says was erased
}

func (v *verifier) report(seq sayso.Seq, format string, args ...any) error {
	v.Problems = append(v.Problems, Problem{seq, fmt.Sprintf(format, args...)})
	if len(v.Problems) >= maxProblems {
		return errTooManyProblems
	}
	return nil
}

func (v *verifier) run(ctx context.Context) error {
	for _, check := range []func(context.Context) error{
		v.schema, v.segments, v.tail, v.erasures, v.keptHead, v.checkOrphans, v.archived, v.keys, v.projections,
	} {
		if err := check(ctx); err != nil {
			if v.wrongSchema && ctx.Err() == nil {
				return nil // it was said why nothing more can be read
			}
			return err
		}
	}
	return nil
}

// event checks the next event of the chain, and goes on behind one that is
// wrong.
func (v *verifier) event(ctx context.Context, e *sayso.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.Events++
	head, err := e.Verify(v.Head)
	if err != nil {
		head = sayso.Head{Seq: e.Seq, Hash: e.Hash, At: e.At}
		if err := v.report(e.Seq, "%v", err); err != nil {
			return err
		}
	}
	v.Head = head
	if v.kept != nil && e.Seq == v.kept.Seq && e.Hash != v.kept.Hash {
		if err := v.report(e.Seq, "the event is not the one whose hash was kept elsewhere"); err != nil {
			return err
		}
	}
	if e.Content == nil && !e.Commitment.IsZero() {
		if _, ok := v.missing[e.RequestID]; !ok {
			v.missing[e.RequestID] = e.Seq
		}
	}
	if e.Type == sayso.EventContentErased {
		v.recordErasure(e)
	}
	return v.recordKeys(e)
}

func (v *verifier) recordErasure(e *sayso.Event) {
	if e.RequestID != "" {
		v.erased[e.RequestID] = true
	}
	var p sayso.ContentErased
	if jcs.UnmarshalLenient(e.Payload, &p) != nil {
		return // then nothing was erased by it, and what is missing is found
	}
	for _, id := range p.Requests {
		v.erased[id] = true
	}
}

// segments checks the sealed part of the chain, and what the database still
// holds of it.
func (v *verifier) segments(ctx context.Context) error {
	all, err := segments(v.conn, 0)
	if err != nil {
		return err
	}
	for _, s := range all {
		v.Segments++
		if s.first.Seq != v.Head.Seq || s.first.Hash != v.Head.Hash {
			if err := v.report(s.first.Seq+1, "segment %d does not follow the one before it", s.number); err != nil {
				return err
			}
			v.Head = s.first
		}
		if err := v.segment(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) segment(ctx context.Context, s segment) error {
	staying, err := v.inDatabase(s)
	if err != nil {
		return err
	}
	err = v.log.fromSegment(v.conn, s.number, func(e sayso.Event) error {
		if hash, ok := staying[e.Seq]; ok && hash != e.Hash {
			if err := v.report(e.Seq, "the event differs between segment %d and the database", s.number); err != nil {
				return err
			}
		}
		delete(staying, e.Seq)
		return v.event(ctx, &e)
	}, `SELECT `+eventColumns+withContent+`ORDER BY e.seq`)
	if errors.Is(err, errTooManyProblems) || errors.Is(err, ctx.Err()) && err != nil {
		return err
	}
	if err != nil {
		if err := v.report(s.first.Seq+1, "segment %d cannot be read: %v", s.number, err); err != nil {
			return err
		}
		v.Head = s.last
		return nil
	}
	if v.Head.Seq != s.last.Seq || v.Head.Hash != s.last.Hash {
		if err := v.report(s.last.Seq, "segment %d does not end as it was sealed", s.number); err != nil {
			return err
		}
		v.Head = s.last
	}
	for seq := range staying {
		if err := v.report(seq, "the event is in the database and not in segment %d", s.number); err != nil {
			return err
		}
	}
	return nil
}

// inDatabase returns the hashes of events of a segment that are in the database
// too, each of which must be unchanged itself.
func (v *verifier) inDatabase(s segment) (map[sayso.Seq]sayso.Digest, error) {
	out := map[sayso.Seq]sayso.Digest{}
	err := run(v.conn, `SELECT `+eventColumns+withContent+`WHERE e.seq > ? AND e.seq <= ?`, func(st *sqlite.Stmt) error {
		e := scanEvent(st)
		out[e.Seq] = e.Hash
		if _, err := e.Verify(sayso.Head{Seq: e.Seq - 1, Hash: e.Prev}); err != nil {
			return v.report(e.Seq, "%v", err)
		}
		return nil
	}, int64(s.first.Seq), int64(s.last.Seq))
	return out, err
}

// tail checks the part of the chain that lies in the database alone.
func (v *verifier) tail(ctx context.Context) error {
	return run(v.conn, `SELECT `+eventColumns+withContent+`WHERE e.seq > ? ORDER BY e.seq`, func(st *sqlite.Stmt) error {
		e := scanEvent(st)
		return v.event(ctx, &e)
	}, int64(v.Head.Seq))
}

func (v *verifier) erasures(context.Context) error {
	v.Erased = len(v.erased)
	for id, seq := range v.missing {
		if v.erased[id] {
			continue
		}
		if err := v.report(seq, "content is missing and no %s says why", sayso.EventContentErased); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) keptHead(context.Context) error {
	if v.kept == nil || v.Head.Seq >= v.kept.Seq {
		return nil
	}
	return v.report(v.Head.Seq, "the log ends here and had %d events when its head was kept elsewhere", v.kept.Seq)
}

// checkOrphans finds rows that belong to no event.
func (v *verifier) checkOrphans(context.Context) error {
	for _, stray := range []struct{ query, text string }{
		{`SELECT seq FROM content c WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.seq = c.seq AND e.commitment NOTNULL)`,
			"there is content without an event that has any"},
		{`SELECT 0 FROM keys k WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.stream = k.stream)
			AND NOT EXISTS (SELECT 1 FROM archived a WHERE a.stream = k.stream)`,
			"a key belongs to a stream without events"},
		{`SELECT 0 FROM archived a WHERE NOT EXISTS (SELECT 1 FROM segments s WHERE s.number = a.segment)`,
			"a stream is said to lie in a segment that was never made"},
		{`SELECT 0 FROM erasing a WHERE NOT EXISTS (SELECT 1 FROM segments s WHERE s.number = a.segment)`,
			"content is said to be erased from a segment that was never made"},
		{`SELECT seq FROM events e WHERE pos > 1 AND NOT EXISTS (SELECT 1 FROM events f WHERE f.stream = e.stream AND f.pos = e.pos - 1)
			AND NOT EXISTS (SELECT 1 FROM archived a WHERE a.stream = e.stream AND a.length = e.pos - 1)`,
			"the stream has a gap before this event"},
	} {
		if err := run(v.conn, stray.query, func(st *sqlite.Stmt) error {
			return v.report(sayso.Seq(st.ColumnInt64(0)), "%s", stray.text)
		}); err != nil {
			return err
		}
	}
	return nil
}

// archived checks that each stream that was moved is where the database says.
func (v *verifier) archived(context.Context) error {
	all, err := segments(v.conn, 0)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := v.archivedIn(s); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) archivedIn(s segment) error {
	file, err := v.log.openSegment(s.number)
	if err != nil {
		return nil // found before
	}
	defer func() { _ = file.Close() }() // nothing was written
	gone := map[string]int{}            // streams of the segment that are not in the database
	err = run(file, `SELECT stream, max(pos), min(seq) FROM events GROUP BY stream`, func(st *sqlite.Stmt) error {
		stays, err := queryInt(v.conn, `SELECT EXISTS (SELECT 1 FROM events WHERE seq = ?)`, st.ColumnInt64(2))
		if stays == 0 {
			gone[st.ColumnText(0)] = st.ColumnInt(1)
		}
		return err
	})
	if err != nil {
		return v.report(s.last.Seq, "segment %d cannot be read: %v", s.number, err)
	}
	err = run(v.conn, `SELECT stream, length FROM archived WHERE segment = ?`, func(st *sqlite.Stmt) error {
		stream := st.ColumnText(0)
		if gone[stream] != st.ColumnInt(1) {
			return v.report(s.last.Seq, "stream %s is not in segment %d as it was moved there", stream, s.number)
		}
		delete(gone, stream)
		return nil
	}, s.number)
	if err != nil {
		return err
	}
	for stream := range gone {
		if err := v.report(s.first.Seq+1, "stream %s was removed and not archived", stream); err != nil {
			return err
		}
	}
	return nil
}

// projections makes the projections again, beside the real ones, and compares.
// It is left out when the chain is broken: then they cannot be right.
func (v *verifier) projections(ctx context.Context) error {
	if len(v.Problems) > 0 {
		return nil
	}
	if err := makeTempProjections(v.conn); err != nil {
		return err
	}
	if err := v.log.replay(ctx, v.conn); err != nil {
		return err
	}
	for _, table := range []string{"requests", "grants"} {
		for _, query := range []string{
			`SELECT first_seq FROM (SELECT * FROM main.%[1]s EXCEPT SELECT * FROM temp.%[1]s)`,
			`SELECT first_seq FROM (SELECT * FROM temp.%[1]s EXCEPT SELECT * FROM main.%[1]s)`,
		} {
			err := run(v.conn, fmt.Sprintf(query, table), func(st *sqlite.Stmt) error {
				return v.report(sayso.Seq(st.ColumnInt64(0)), "the row in %s is not what the log says, from which it can be made again: sayso log verify --rebuild", table)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
