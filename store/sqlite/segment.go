package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// segment is a part of the log that was copied, whole and in order, into a
// read-only file of its own. Of what the database held of it, only streams
// remain that are still alive.
type segment struct {
	number int
	first  sayso.Head // before its first event
	last   sayso.Head // at its last one; without the moment
}

func (l *Log) segmentFolder() string { return filepath.Join(filepath.Dir(l.path), "segments") }

func (l *Log) segmentPath(number int) string {
	return filepath.Join(l.segmentFolder(), fmt.Sprintf("%04d.db", number))
}

// segments lists those that end behind a position, in their order.
func segments(c *sqlite.Conn, after sayso.Seq) (out []segment, err error) {
	err = run(c, `SELECT number, first_seq, first_prev, last_seq, last_hash FROM segments WHERE last_seq > ?
		ORDER BY number`, func(st *sqlite.Stmt) error {
		s := segment{
			number: st.ColumnInt(0), first: sayso.Head{Seq: sayso.Seq(st.ColumnInt64(1)) - 1},
			last: sayso.Head{Seq: sayso.Seq(st.ColumnInt64(3))},
		}
		st.ColumnBytes(2, s.first.Hash[:])
		st.ColumnBytes(4, s.last.Hash[:])
		out = append(out, s)
		return nil
	}, int64(after))
	return out, err
}

// boundary is the position of the last event that lies in a segment.
func boundary(c *sqlite.Conn) (sayso.Seq, error) {
	n, err := queryInt(c, `SELECT coalesce(max(last_seq), 0) FROM segments`)
	return sayso.Seq(n), err
}

// openSegment opens the file of a segment for reading.
func (l *Log) openSegment(number int) (*sqlite.Conn, error) {
	path := l.segmentPath(number)
	c, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return nil, fmt.Errorf("open segment %s; put the file back from a backup: %w", path, err)
	}
	c.SetBusyTimeout(l.opts.Busy)
	return c, nil
}

// fromSegment runs a query for events in the file of a segment. Content that is
// still to be erased there counts as erased.
func (l *Log) fromSegment(c *sqlite.Conn, number int, row func(sayso.Event) error, query string, args ...any) error {
	erasing := map[sayso.ID]bool{}
	err := run(c, `SELECT request FROM erasing WHERE segment = ?`, func(st *sqlite.Stmt) error {
		erasing[sayso.ID(st.ColumnText(0))] = true
		return nil
	}, number)
	if err != nil {
		return err
	}
	file, err := l.openSegment(number)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written
	return run(file, query, func(st *sqlite.Stmt) error {
		e := scanEvent(st)
		if erasing[e.RequestID] {
			e.Content, e.Salt = nil, nil
		}
		return row(e)
	}, args...)
}

// archivedStream returns the events of a stream that lie in segments alone.
func (l *Log) archivedStream(c *sqlite.Conn, stream string, after int) (out []sayso.Event, err error) {
	var in []int
	err = run(c, `SELECT segment FROM archived WHERE stream = ? AND length > ? ORDER BY segment`,
		func(st *sqlite.Stmt) error { in = append(in, st.ColumnInt(0)); return nil }, stream, after)
	for _, number := range in {
		if err != nil {
			return nil, err
		}
		err = l.fromSegment(c, number, func(e sayso.Event) error {
			out = append(out, e)
			return nil
		}, `SELECT `+eventColumns+withContent+`WHERE e.stream = ? AND e.pos > ? ORDER BY e.pos`, stream, after)
	}
	return out, err
}

// sinceArchived returns events after a position that lies in a segment.
func (l *Log) sinceArchived(c *sqlite.Conn, after sayso.Seq, limit int) (out []sayso.Event, err error) {
	all, err := segments(c, after)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		left := limit - len(out)
		if limit > 0 && left <= 0 {
			return out, nil
		}
		err := l.fromSegment(c, s.number, func(e sayso.Event) error {
			out = append(out, e)
			return nil
		}, `SELECT `+eventColumns+withContent+`WHERE e.seq > ? ORDER BY e.seq LIMIT ?`, int64(after), sqlLimit(left))
		if err != nil {
			return nil, err
		}
		after = max(after, s.last.Seq)
	}
	if limit > 0 && len(out) >= limit {
		return out, nil
	}
	err = run(c, `SELECT `+eventColumns+withContent+`WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
		collect(&out), int64(after), sqlLimit(limit-len(out)))
	return out, err
}

// isContiguous reports whether events follow after without a gap.
func isContiguous(events []sayso.Event, after sayso.Seq) bool {
	n := len(events)
	return n == 0 || events[n-1].Seq == after+sayso.Seq(n)
}

// eachEvent calls do with each event of the log in order, wherever it lies.
func (l *Log) eachEvent(ctx context.Context, c *sqlite.Conn, do func(*sayso.Event) error) error {
	step := func(e sayso.Event) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return do(&e)
	}
	all, err := segments(c, 0)
	if err != nil {
		return err
	}
	after := sayso.Seq(0)
	for _, s := range all {
		if err := l.fromSegment(c, s.number, step, `SELECT `+eventColumns+withContent+`ORDER BY e.seq`); err != nil {
			return err
		}
		after = s.last.Seq
	}
	return run(c, `SELECT `+eventColumns+withContent+`WHERE e.seq > ? ORDER BY e.seq`,
		func(st *sqlite.Stmt) error { return step(scanEvent(st)) }, int64(after))
}

// queueErasure notes that the content of a request is to be erased from every
// segment that may hold some.
func queueErasure(c *sqlite.Conn, id sayso.ID) error {
	return run(c, `INSERT OR IGNORE INTO erasing (segment, request) SELECT number, ?1 FROM segments
		WHERE last_seq >= coalesce((SELECT first_seq FROM requests WHERE id = ?1), 0)`, nil, string(id))
}

func hasErasure(ps []*pending) bool {
	return slices.ContainsFunc(ps, func(p *pending) bool { return len(p.batch.erase) > 0 })
}

// eraseCommitted erases from segments what was erased from the log, and brings the
// zeros that stand for it into the file of the database. The erasure itself is
// committed: what fails here is done the next time.
func (l *Log) eraseCommitted(c *sqlite.Conn) {
	_ = l.eraseSegments(c)
	c.SetBusyTimeout(0)
	defer c.SetBusyTimeout(l.opts.Busy)
	_ = run(c, `PRAGMA wal_checkpoint(TRUNCATE)`, nil)
}

// eraseSegments erases what was noted. What fails stays noted, and is not shown
// until it was done.
func (l *Log) eraseSegments(c *sqlite.Conn) error {
	todo := map[int][]string{}
	err := run(c, `SELECT segment, request FROM erasing`, func(st *sqlite.Stmt) error {
		todo[st.ColumnInt(0)] = append(todo[st.ColumnInt(0)], st.ColumnText(1))
		return nil
	})
	for number, requests := range todo {
		err = errors.Join(err, l.eraseSegment(c, number, requests))
	}
	return err
}

func (l *Log) eraseSegment(c *sqlite.Conn, number int, requests []string) error {
	path := l.segmentPath(number)
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	if err := eraseSegmentContent(path, requests); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o400); err != nil {
		return err
	}
	for _, request := range requests {
		if err := run(c, `DELETE FROM erasing WHERE segment = ? AND request = ?`, nil, number, request); err != nil {
			return err
		}
	}
	return nil
}

func eraseSegmentContent(path string, requests []string) (err error) {
	file, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := secureDelete(file); err != nil {
		return err
	}
	for _, request := range requests {
		if err := run(file, `UPDATE content SET salt = NULL, body = NULL
			WHERE seq IN (SELECT seq FROM events WHERE request = ?)`, nil, request); err != nil {
			return err
		}
	}
	return nil
}
