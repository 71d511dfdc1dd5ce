package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/failpoint"
	"github.com/sayso-dev/sayso/internal/filelock"
)

// Archived says what [Log.Archive] did.
type Archived struct {
	Segment int       // number of the new segment; zero if there was nothing for one
	Last    sayso.Seq // the last event that lies in a segment now
	Moved   int       // events that lie in segments alone since this call
}

// Archive seals the part of the log that is older than before: it is copied,
// chain and all, into a read-only file in the folder segments, and what is
// settled is removed from the database. Streams that somebody may still need to
// judge a call (open requests, unspent approvals, live grants, sessions that
// have not ended, the broker's) stay in the database too.
//
// Nothing can be told from outside: every event is still read as before, and
// [Log.Verify] crosses the segments. The newest event is never moved.
//
// Archive may be interrupted at any point and called again.
func (l *Log) Archive(ctx context.Context, before time.Time) (a Archived, err error) {
	if err := l.usable(ctx); err != nil {
		return a, err
	}
	if err := ensureFolder(l.segmentFolder()); err != nil {
		return a, fmt.Errorf("archive: %w", err)
	}
	one, err := l.lockArchive()
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, one.Close()) }()
	if err := l.exec(ctx, "archive", l.eraseSegments); err != nil {
		return a, err
	}
	if a.Segment, err = l.seal(ctx, before); err != nil {
		return a, fmt.Errorf("archive: %w", err)
	}
	a.Moved, err = l.removeSettled(ctx)
	if err != nil {
		return a, fmt.Errorf("archive: %w", err)
	}
	err = l.read(ctx, "archive", func(c *sqlite.Conn) error {
		a.Last, err = boundary(c)
		return err
	})
	return a, err
}

// exec runs do on the connection of the writer.
func (l *Log) exec(ctx context.Context, doing string, do func(*sqlite.Conn) error) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	err := l.writer.exec(do)
	if err != nil && sqlite.ErrCode(err) != sqlite.ResultError {
		return unavailable(doing, err)
	}
	return err
}

// lockArchive lets one process archive at a time.
func (l *Log) lockArchive() (*os.File, error) {
	f, err := filelock.Try(filepath.Join(l.segmentFolder(), "lock"), filelock.Exclusive)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%w: another process archives now", sayso.ErrUnavailable)
	}
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return f, nil
}

// seal makes the next segment of what is old enough.
func (l *Log) seal(ctx context.Context, before time.Time) (int, error) {
	var s segment
	var old bool
	err := l.read(ctx, "archive", func(c *sqlite.Conn) (err error) {
		s, old, err = nextSegment(c, before)
		return err
	})
	if err != nil || !old {
		return 0, err
	}
	draft := l.segmentPath(s.number) + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if err := l.copySegment(ctx, draft, s); err != nil {
		return 0, err
	}
	if err := checkSegment(draft, s); err != nil {
		return 0, err
	}
	if err := os.Chmod(draft, 0o400); err != nil {
		return 0, err
	}
	if err := publish(draft, l.segmentPath(s.number)); err != nil {
		return 0, err
	}
	failpoint.Hit("archive.after-copy")
	return s.number, l.exec(ctx, "archive", func(c *sqlite.Conn) error {
		if err := addSegment(c, s); err != nil {
			return err
		}
		failpoint.Hit("archive.after-enter")
		return l.eraseSegments(c)
	})
}

// nextSegment works out what the next segment is to hold.
func nextSegment(c *sqlite.Conn, before time.Time) (s segment, old bool, err error) {
	from, err := boundary(c)
	if err != nil {
		return s, false, err
	}
	head, err := readHead(c)
	if err != nil || head.Seq == 0 {
		return s, false, err
	}
	last, err := queryInt(c, `SELECT coalesce(min(seq), ?2) - 1 FROM events WHERE seq > ?1 AND wall >= ?3`,
		int64(from), int64(head.Seq), before.UnixNano())
	if err != nil || sayso.Seq(last) <= from {
		return s, false, err
	}
	last = min(last, int(head.Seq)-1)
	s.first.Seq, s.last.Seq = from, sayso.Seq(last)
	err = run(c, `SELECT (SELECT prev FROM events WHERE seq = ?), (SELECT hash FROM events WHERE seq = ?),
		(SELECT coalesce(max(number), 0) + 1 FROM segments)`, func(st *sqlite.Stmt) error {
		st.ColumnBytes(0, s.first.Hash[:])
		st.ColumnBytes(1, s.last.Hash[:])
		s.number = st.ColumnInt(2)
		return nil
	}, int64(from)+1, last)
	return s, s.last.Seq > from, err
}

// copySegment writes a part of the log into a new file. Content that is erased
// while it does so is found out and erased by addSegment.
func (l *Log) copySegment(ctx context.Context, path string, s segment) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	c, err := l.connect()
	if err != nil {
		return err
	}
	keepWAL(c)
	defer func() { err = errors.Join(err, c.Close()) }()
	c.SetInterrupt(ctx.Done())
	for _, step := range []struct {
		query string
		args  []any
	}{
		{`ATTACH ? AS segment`, []any{path}},
		{`PRAGMA segment.synchronous = FULL`, nil},
		{`BEGIN`, nil},
		{`CREATE TABLE segment.events AS SELECT * FROM main.events WHERE seq > ? AND seq <= ? ORDER BY seq`,
			[]any{int64(s.first.Seq), int64(s.last.Seq)}},
		{`CREATE TABLE segment.content AS SELECT * FROM main.content WHERE seq > ? AND seq <= ? ORDER BY seq`,
			[]any{int64(s.first.Seq), int64(s.last.Seq)}},
		{`CREATE UNIQUE INDEX segment.event_seq ON events (seq)`, nil},
		{`CREATE UNIQUE INDEX segment.event_place ON events (stream, pos)`, nil},
		{`CREATE INDEX segment.event_request ON events (request)`, nil},
		{`CREATE UNIQUE INDEX segment.content_seq ON content (seq)`, nil},
		{`COMMIT`, nil},
	} {
		if err := run(c, step.query, nil, step.args...); err != nil {
			return fmt.Errorf("write segment %s: %w", path, err)
		}
	}
	return nil
}

// checkSegment reads a new segment back before anything is removed.
func checkSegment(path string, s segment) error {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // nothing was written
	head := s.first
	err = run(c, `SELECT `+eventColumns+withContent+`ORDER BY e.seq`, func(st *sqlite.Stmt) (err error) {
		e := scanEvent(st)
		head, err = e.Verify(head)
		return err
	})
	if err != nil {
		return fmt.Errorf("segment %s: %w", path, err)
	}
	if head.Seq != s.last.Seq || head.Hash != s.last.Hash {
		return fmt.Errorf("segment %s ends at event %d, not %d", path, head.Seq, s.last.Seq)
	}
	return nil
}

// addSegment makes a segment part of the log. From then on what it holds may be
// removed from the database.
func addSegment(c *sqlite.Conn, s segment) error {
	return writeTransaction(c, func() error {
		if err := run(c, `INSERT INTO segments (number, first_seq, first_prev, last_seq, last_hash) VALUES (?, ?, ?, ?, ?)`,
			nil, s.number, int64(s.first.Seq)+1, s.first.Hash[:], int64(s.last.Seq), s.last.Hash[:]); err != nil {
			return err
		}
		// Content that was erased after it was copied is erased from the copy.
		return run(c, `INSERT OR IGNORE INTO erasing (segment, request)
			SELECT DISTINCT ?, e.request FROM content c JOIN events e ON e.seq = c.seq
			WHERE c.seq > ? AND c.seq <= ? AND c.body IS NULL`, nil, s.number, int64(s.first.Seq), int64(s.last.Seq))
	})
}

// writeTransaction runs do in a transaction that may write.
func writeTransaction(c *sqlite.Conn, do func() error) error {
	if err := run(c, `BEGIN IMMEDIATE`, nil); err != nil {
		return err
	}
	if err := do(); err != nil {
		return errors.Join(err, rollback(c))
	}
	if err := run(c, `COMMIT`, nil); err != nil {
		return errors.Join(err, rollback(c))
	}
	return nil
}

// rollback rolls back, unless SQLite did.
func rollback(c *sqlite.Conn) error {
	if c.AutocommitEnabled() {
		return nil
	}
	return run(c, `ROLLBACK`, nil)
}

// removeBatch is how many streams one transaction removes at most: others wait
// for it.
const removeBatch = 200

// settledStreams selects streams with events in the database of which none lies
// behind the segments, and of which no fold will need anything soon.
const settledStreams = `
	SELECT stream FROM (
		SELECT 'request/' || id AS stream FROM requests WHERE spent = 1 AND open = 0
		UNION ALL SELECT stream FROM grants WHERE live = 0
		UNION ALL SELECT stream FROM events e WHERE type = 'session.ended' AND seq <= ?1 AND pos =
			(SELECT max(pos) FROM events WHERE stream = e.stream)) s
	WHERE (SELECT max(seq) FROM events WHERE events.stream = s.stream) <= ?1`

// removeSettled removes what is settled from the database, a few streams at a time.
func (l *Log) removeSettled(ctx context.Context) (moved int, err error) {
	var streams []string
	err = l.read(ctx, "archive", func(c *sqlite.Conn) error {
		last, err := boundary(c)
		if err != nil {
			return err
		}
		return run(c, settledStreams, func(st *sqlite.Stmt) error {
			streams = append(streams, st.ColumnText(0))
			return nil
		}, int64(last))
	})
	for len(streams) > 0 && err == nil {
		n := min(removeBatch, len(streams))
		err = l.exec(ctx, "archive", func(c *sqlite.Conn) error {
			return writeTransaction(c, func() error { return removeStreams(c, streams[:n], &moved) })
		})
		failpoint.Hit("archive.after-sweep")
		streams = streams[n:]
	}
	return moved, err
}

// removeStreams removes streams that are still settled.
func removeStreams(c *sqlite.Conn, streams []string, moved *int) error {
	if err := secureDelete(c); err != nil {
		return err
	}
	last, err := boundary(c)
	if err != nil {
		return err
	}
	for _, stream := range streams {
		newest, err := queryInt(c, `SELECT coalesce(max(seq), 0) FROM events WHERE stream = ?`, stream)
		if err != nil {
			return err
		}
		if newest == 0 || sayso.Seq(newest) > last {
			continue // it has grown
		}
		if err := removeStream(c, stream); err != nil {
			return err
		}
		*moved += c.Changes()
	}
	return nil
}

func removeStream(c *sqlite.Conn, stream string) error {
	for _, query := range []string{
		`INSERT INTO archived (stream, segment, length) SELECT e.stream, s.number, max(e.pos)
			FROM events e JOIN segments s ON e.seq BETWEEN s.first_seq AND s.last_seq WHERE e.stream = ?
			GROUP BY s.number`,
		`DELETE FROM content WHERE seq IN (SELECT seq FROM events WHERE stream = ?)`,
		`DELETE FROM events WHERE stream = ?`,
	} {
		if err := run(c, query, nil, stream); err != nil {
			return err
		}
	}
	return nil
}
