package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// read lends a connection to do, which may take its time.
func (l *Log) read(ctx context.Context, doing string, do func(*sqlite.Conn) error) error {
	return l.withConn(ctx, false, doing, do)
}

// readFew is read for a few rows.
func (l *Log) readFew(ctx context.Context, doing string, do func(*sqlite.Conn) error) error {
	return l.withConn(ctx, true, doing, do)
}

func (l *Log) withConn(ctx context.Context, quick bool, doing string, do func(*sqlite.Conn) error) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	if !quick {
		end, err := l.readers.acquireSlow(ctx)
		if err != nil {
			return err
		}
		defer end()
	}
	c, err := l.readers.acquire(ctx, quick)
	if err != nil {
		return err
	}
	defer l.readers.release(c)
	if err := do(c); err != nil {
		return unavailable(doing, err)
	}
	return nil
}

// readWindow lets read look at the events that this process keeps, if they are the
// end of the log; see [window]. That must be asked of the database: anybody may
// have committed since, in any version, and removed whatever file would tell.
func (l *Log) readWindow(c *sqlite.Conn, read func(*window) bool) (known bool, err error) {
	if !l.hub.hasWindow() {
		return false, nil
	}
	head, err := readHead(c)
	if err != nil {
		return false, err
	}
	return l.hub.readWindow(head, read), nil
}

// Stream returns the events of a stream; see [sayso.Log].
func (l *Log) Stream(ctx context.Context, stream string, after int) (out []sayso.Event, err error) {
	err = l.readFew(ctx, "read stream "+stream, func(c *sqlite.Conn) error {
		after = max(after, 0)
		known, err := l.readWindow(c, func(w *window) (ok bool) { out, ok = w.stream(stream, after); return ok })
		if err != nil {
			return err
		}
		if known {
			out = withoutAliasing(out)
			return nil
		}
		out, err = l.readStream(c, stream, after)
		return err
	})
	return out, err
}

func (l *Log) readStream(c *sqlite.Conn, stream string, after int) (out []sayso.Event, err error) {
	err = run(c, `SELECT `+eventColumns+withContent+`WHERE e.stream = ? AND e.pos > ? ORDER BY e.pos`,
		collect(&out), stream, after)
	if err != nil || len(out) > 0 && out[0].Pos == after+1 {
		return out, err
	}
	old, err := l.archivedStream(c, stream, after)
	return append(old, out...), err
}

// withoutAliasing shares no bytes with the events that are kept, but those that nobody
// changes.
func withoutAliasing(events []sayso.Event) []sayso.Event {
	for i := range events {
		events[i] = withoutAliases(events[i])
	}
	return events
}

// collect returns a function that appends each row as an event.
func collect(out *[]sayso.Event) func(*sqlite.Stmt) error {
	return func(st *sqlite.Stmt) error {
		*out = append(*out, scanEvent(st))
		return nil
	}
}

// Since returns events after a position; see [sayso.Log]. A limit of zero is
// none.
func (l *Log) Since(ctx context.Context, after sayso.Seq, limit int) (out []sayso.Event, err error) {
	known := false
	err = l.readFew(ctx, "read the log", func(c *sqlite.Conn) (err error) {
		known, err = l.readWindow(c, func(w *window) (ok bool) { out, ok = w.since(after, limit); return ok })
		return err
	})
	if err != nil || known {
		return withoutAliasing(out), err
	}
	err = l.read(ctx, "read the log", func(c *sqlite.Conn) error {
		out, err = l.readSince(c, after, limit)
		return err
	})
	return out, err
}

func (l *Log) readSince(c *sqlite.Conn, after sayso.Seq, limit int) (out []sayso.Event, err error) {
	err = run(c, `SELECT `+eventColumns+withContent+`WHERE e.seq > ? ORDER BY e.seq LIMIT ?`,
		collect(&out), int64(after), sqlLimit(limit))
	if err != nil || isContiguous(out, after) {
		return out, err
	}
	return l.sinceArchived(c, after, limit)
}

// sqlLimit is a limit as SQLite takes it.
func sqlLimit(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

// Head returns the end of the log; see [sayso.Log].
func (l *Log) Head(ctx context.Context) (h sayso.Head, err error) {
	err = l.readFew(ctx, "read the head of the log", func(c *sqlite.Conn) error {
		h, err = readHead(c)
		return err
	})
	return h, err
}

// length is how many events a stream has.
func (l *Log) length(ctx context.Context, stream string) (n int, err error) {
	err = l.readFew(ctx, "read stream "+stream, func(c *sqlite.Conn) error {
		return run(c, lengthOf, func(st *sqlite.Stmt) error {
			n = max(st.ColumnInt(0), st.ColumnInt(1))
			return nil
		}, stream)
	})
	return n, err
}

const openRequests = `SELECT ` + eventColumns + ` FROM (
	SELECT 'request/' || id AS stream FROM requests INDEXED BY request_open WHERE open = 1 %s ORDER BY first_seq LIMIT ?1) r
	CROSS JOIN events e ON e.stream = r.stream LEFT JOIN content c ON c.seq = e.seq`

var (
	openOfAll     = fmt.Sprintf(openRequests, "")
	openOfSession = fmt.Sprintf(openRequests, "AND session = ?2")
)

// Open returns the events of open requests; see [sayso.Log].
func (l *Log) Open(ctx context.Context, session string, limit int) (out [][]sayso.Event, err error) {
	query, args := openOfAll, []any{sqlLimit(limit)}
	if session != "" {
		query, args = openOfSession, append(args, session)
	}
	err = l.read(ctx, "list open requests", func(c *sqlite.Conn) error {
		return run(c, query, func(st *sqlite.Stmt) error {
			e := scanEvent(st)
			if n := len(out); n > 0 && out[n-1][0].Stream == e.Stream {
				out[n-1] = append(out[n-1], e)
			} else {
				out = append(out, []sayso.Event{e})
			}
			return nil
		}, args...)
	})
	for _, events := range out {
		slices.SortFunc(events, func(a, b sayso.Event) int { return cmp.Compare(a.Pos, b.Pos) })
	}
	slices.SortFunc(out, func(a, b []sayso.Event) int { return cmp.Compare(a[0].Seq, b[0].Seq) })
	return out, err
}

// Rows returns the rows that q selects; see [sayso.Log].
func (l *Log) Rows(ctx context.Context, q sayso.RowQuery) (out []sayso.Row, err error) {
	query, args := rowQuery(q)
	err = l.withConn(ctx, q.Unspent && q.Session != "", "list requests", func(c *sqlite.Conn) error {
		return run(c, query, func(st *sqlite.Stmt) error {
			out = append(out, scanRow(st))
			return nil
		}, args...)
	})
	return out, err
}

// where collects conditions, joined by AND.
type where struct {
	text strings.Builder
	args []any
}

func (w *where) and(condition string, args ...any) {
	if w.text.Len() == 0 {
		w.text.WriteString(" WHERE ")
	} else {
		w.text.WriteString(" AND ")
	}
	w.text.WriteString(condition)
	w.args = append(w.args, args...)
}

// equal adds column = value unless value is empty.
func (w *where) equal(column, value string) {
	if value != "" {
		w.and(column+" = ?", value)
	}
}

// in adds column IN (values) unless there are none.
func in[T ~string](w *where, column string, values []T) {
	if len(values) == 0 {
		return
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = string(v)
	}
	w.and(column+" IN (?"+strings.Repeat(", ?", len(values)-1)+")", args...)
}

func rowQuery(q sayso.RowQuery) (string, []any) {
	var w where
	w.equal("session", q.Session)
	in(&w, "session", q.Sessions)
	if q.Group != "" {
		w.and("grouped <> '' AND grouped = ?", q.Group)
	}
	if !q.Digest.IsZero() {
		w.and("digest = ?", q.Digest[:])
	}
	w.equal("call", q.CallID)
	w.equal("tool", q.Tool)
	w.equal("host", q.Host)
	in(&w, "state", q.States)
	if q.OnlyOpen() {
		w.and("open = 1")
	}
	if q.Unspent {
		w.and("spent = 0")
	}
	if q.Asked {
		w.and("asked = 1")
	}
	if !q.Since.IsZero() {
		w.and("wall >= ?", q.Since.UnixNano())
	}
	if !q.Until.IsZero() {
		w.and("wall < ?", q.Until.UnixNano())
	}
	if q.Before > 0 {
		w.and("first_seq < ?", int64(q.Before))
	}
	order := " ORDER BY first_seq DESC LIMIT ?"
	if q.Oldest {
		order = " ORDER BY first_seq LIMIT ?"
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	return "SELECT " + rowColumns + " FROM requests" + indexFor(q) + w.text.String() + order, append(w.args, limit)
}

// indexFor names the index for a query. Left alone, SQLite reads all rows in their
// order rather than sort a few.
func indexFor(q sayso.RowQuery) string {
	switch {
	case q.OnlyOpen():
		return " INDEXED BY request_open"
	case q.Unspent:
		return " INDEXED BY request_unspent"
	case q.Group != "":
		return " INDEXED BY request_group"
	case q.Session != "" || len(q.Sessions) > 0:
		return " INDEXED BY request_session"
	}
	return ""
}

// Count counts the open requests of a session and those that it asked people
// about; see [sayso.Log].
func (l *Log) Count(ctx context.Context, session string, since time.Time) (open, asked int, err error) {
	err = l.readFew(ctx, "count requests", func(c *sqlite.Conn) error {
		return run(c, `SELECT (SELECT count(*) FROM requests INDEXED BY request_open WHERE open = 1 AND session = ?1),
			(SELECT count(*) FROM requests INDEXED BY request_asked WHERE asked = 1 AND session = ?1 AND wall >= ?2)`,
			func(st *sqlite.Stmt) error {
				open, asked = st.ColumnInt(0), st.ColumnInt(1)
				return nil
			}, session, sinceWall(since))
	})
	return open, asked, err
}

// sinceWall is a time as it is stored; the zero time is before all others.
func sinceWall(t time.Time) int64 {
	if t.IsZero() {
		return -1 << 63
	}
	return t.UnixNano()
}

// Lookup returns the stream that holds a key; see [sayso.Log].
func (l *Log) Lookup(ctx context.Context, key string) (stream string, err error) {
	err = l.readFew(ctx, "look a key up", func(c *sqlite.Conn) error {
		return run(c, `SELECT stream FROM keys WHERE name = ?`, func(st *sqlite.Stmt) error {
			stream = st.ColumnText(0)
			return nil
		}, []byte(key))
	})
	if err == nil && stream == "" {
		return "", fmt.Errorf("%w: no stream holds this key", sayso.ErrNotFound)
	}
	return stream, err
}

// Find returns the ids of requests that begin with what a person typed, or
// whose random part begins with four or more such characters, oldest first; see
// [sayso.Log]. For the second it reads all ids, 100,000 in some 40 ms: an index
// on random parts would take longer at every request.
func (l *Log) Find(ctx context.Context, typed string, limit int) (out []sayso.ID, err error) {
	if typed == "" {
		return nil, l.usable(ctx)
	}
	err = l.read(ctx, "find a request", func(c *sqlite.Conn) error {
		return run(c, `SELECT id FROM (
			SELECT first_seq, id FROM requests WHERE id >= ?1 AND id < ?2
			UNION SELECT first_seq, id FROM requests INDEXED BY request_id
				WHERE substr(id, 11) >= ?1 AND substr(id, 11) < ?2 AND length(?1) >= 4 AND length(id) = 36)
			ORDER BY first_seq LIMIT ?3`, func(st *sqlite.Stmt) error {
			out = append(out, sayso.ID(st.ColumnText(0)))
			return nil
		}, typed, typed+"\U0010FFFF", sqlLimit(limit))
	})
	return out, err
}

// Grants returns the streams of grants, oldest first; see [sayso.Log].
func (l *Log) Grants(ctx context.Context, keys []sayso.Digest, session string, all bool) (out []string, err error) {
	query, args := grantQuery(keys, session, all)
	err = l.withConn(ctx, len(keys) > 0, "list grants", func(c *sqlite.Conn) error {
		return run(c, query, func(st *sqlite.Stmt) error {
			out = append(out, st.ColumnText(0))
			return nil
		}, args...)
	})
	return out, err
}

// grantQuery looks each key up by itself. A key that was erased is NULL, and
// equal to none.
func grantQuery(keys []sayso.Digest, session string, all bool) (query string, args []any) {
	var w where
	if !all {
		w.and("live = 1")
	}
	if len(keys) > 0 {
		wanted := make([]any, len(keys))
		for i := range keys {
			wanted[i] = keys[i][:]
		}
		w.and("key IN (?"+strings.Repeat(", ?", len(keys)-1)+")", wanted...)
	}
	w.equal("session", session)
	return "SELECT stream FROM grants" + w.text.String() + " ORDER BY first_seq", w.args
}
