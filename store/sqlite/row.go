package sqlite

import (
	"fmt"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// indexedColumns is what a row says in columns on which partial indexes depend.
type indexedColumns struct{ open, asked, spent bool }

func indexedOf(w *sayso.Row) indexedColumns { return indexedColumns{w.State.Open(), w.Asked, w.Spent} }

// project brings rows and grants up to date with an event.
func (d *batchWrite) project(st *streamState, e *sayso.Event, b *firstEvent) error {
	switch {
	case st.row != nil:
		if err := st.row.Apply(e); err != nil {
			return batchError{fmt.Errorf("%w: %s of %s: %w", sayso.ErrInvalid, e.Type, e.Stream, err)}
		}
	case b != nil && e.Type == sayso.EventRequested:
		st.row = new(b.row)
		st.row.First, st.row.Last = e.Seq, e.Seq
	case b != nil && e.Type == sayso.EventGrantCreated:
		return d.insertGrant(e, b.key)
	case e.Type == sayso.EventGrantRevoked || e.Type == sayso.EventGrantEnded:
		return run(d.conn, `UPDATE grants SET live = 0 WHERE stream = ?`, nil, e.Stream)
	}
	return nil
}

func (d *batchWrite) insertGrant(e *sayso.Event, key sayso.Digest) error {
	err := run(d.conn, `INSERT INTO grants (first_seq, stream, session, request, key, live) VALUES (?, ?, ?, ?, ?, 1)`,
		nil, int64(e.Seq), e.Stream, e.SessionID, string(e.RequestID), nullDigest(key))
	if err != nil && isConstraint(err) {
		return conflict("stream %s has a grant already", e.Stream)
	}
	return err
}

// nullDigest is the bytes of a digest; nil, which is stored as NULL, for none.
func nullDigest(d sayso.Digest) any {
	if d.IsZero() {
		return nil
	}
	return d[:]
}

// save writes the row of a stream, touching only the indexes that must be.
func (st *streamState) save(c *sqlite.Conn, name string) error {
	w := st.row
	if w == nil {
		return nil
	}
	now := indexedOf(w)
	var err error
	if st.stored {
		err = updateRow(c, w, st.indexed, now)
	} else {
		err = insertRow(c, w)
	}
	if err != nil && isConstraint(err) {
		return conflict("the request of stream %s: %v", name, err)
	}
	st.stored, st.indexed = true, now
	return err
}

// updateStatements are the statements that change a row, by which of the columns with
// partial indexes change. SQLite takes a row out of each index on a column that
// a statement names, and puts it back, if its value is the same too.
var updateStatements = func() map[indexedColumns]string {
	all := map[indexedColumns]string{}
	for i := range 8 {
		changed, more := indexedColumns{i&1 > 0, i&2 > 0, i&4 > 0}, ""
		if changed.open {
			more += ", open = ?"
		}
		if changed.asked {
			more += ", asked = ?"
		}
		if changed.spent {
			more += ", spent = ?"
		}
		all[changed] = `UPDATE requests SET holder = ?, state = ?, source = ?, last_seq = ?, decided = ?` + more +
			` WHERE first_seq = ?`
	}
	return all
}()

func updateRow(c *sqlite.Conn, w *sayso.Row, was, now indexedColumns) error {
	changed := indexedColumns{was.open != now.open, was.asked != now.asked, was.spent != now.spent}
	args := make([]any, 0, 9)
	args = append(args, w.Holder, string(w.State), string(w.Source), int64(w.Last), nullTime(w.Decided))
	if changed.open {
		args = append(args, now.open)
	}
	if changed.asked {
		args = append(args, now.asked)
	}
	if changed.spent {
		args = append(args, now.spent)
	}
	return run(c, updateStatements[changed], nil, append(args, int64(w.First))...)
}

// nullTime is a time as it is stored; NULL for none.
func nullTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

const insertRequest = `INSERT INTO requests (` + rowColumns + `)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// insertRow binds without the detour of run, as insert does: both are on the way
// of every call.
func insertRow(c *sqlite.Conn, w *sayso.Row) error {
	st, err := c.Prepare(insertRequest)
	if err != nil {
		return err
	}
	st.BindInt64(1, int64(w.First))
	for i, text := range [...]string{
		string(w.ID), w.Session, w.Run, w.Group, w.CallID, w.Host, w.Tool, w.Server, string(w.Kind), w.Asker, w.Holder,
	} {
		st.BindText(2+i, text)
	}
	bindDigest(st, 13, &w.Digest)
	st.BindInt64(14, w.Created.Wall.UnixNano())
	st.BindText(15, w.Created.Boot)
	st.BindInt64(16, int64(w.Created.Since))
	st.BindInt64(17, int64(w.After))
	st.BindText(18, string(w.State))
	st.BindText(19, string(w.Source))
	st.BindBool(20, w.Asked)
	st.BindBool(21, w.Spent)
	bind(st, 22, nullTime(w.Decided))
	st.BindInt64(23, int64(w.Last))
	st.BindBool(24, w.State.Open())
	_, err = st.Step()
	return err
}

const rowColumns = `first_seq, id, session, run, grouped, call, host, tool, server, kind, asker, holder, digest, wall,
	boot, since, after, state, source, asked, spent, decided, last_seq, open`

// scanRow reads the columns of rowColumns.
func scanRow(st *sqlite.Stmt) sayso.Row {
	w := sayso.Row{
		First: sayso.Seq(st.ColumnInt64(0)), ID: sayso.ID(st.ColumnText(1)), Session: st.ColumnText(2),
		Run: st.ColumnText(3), Group: st.ColumnText(4), CallID: st.ColumnText(5), Host: st.ColumnText(6),
		Tool: st.ColumnText(7), Server: st.ColumnText(8), Kind: sayso.Kind(st.ColumnText(9)), Asker: st.ColumnText(10),
		Holder: st.ColumnText(11), After: time.Duration(st.ColumnInt64(16)), State: sayso.State(st.ColumnText(17)),
		Source: sayso.Source(st.ColumnText(18)), Asked: st.ColumnBool(19), Spent: st.ColumnBool(20),
		Last: sayso.Seq(st.ColumnInt64(22)),
		Created: sayso.Moment{
			Wall: wall(st.ColumnInt64(13)), Boot: st.ColumnText(14), Since: time.Duration(st.ColumnInt64(15)),
		},
	}
	st.ColumnBytes(12, w.Digest[:])
	if !st.ColumnIsNull(21) {
		w.Decided = wall(st.ColumnInt64(21))
	}
	return w
}

// load reads the row of a request that began in an earlier transaction.
func (st *streamState) load(c *sqlite.Conn, id sayso.ID) error {
	return run(c, `SELECT `+rowColumns+` FROM requests WHERE id = ?`, func(s *sqlite.Stmt) error {
		w := scanRow(s)
		st.row, st.stored, st.indexed = &w, true, indexedOf(&w)
		return nil
	}, string(id))
}

// erase empties the content of all events of requests and what projections
// keep of it.
func (d *batchWrite) erase(ids []sayso.ID) error {
	for _, id := range ids {
		if err := eraseContent(d.conn, id); err != nil {
			return err
		}
		if err := queueErasure(d.conn, id); err != nil {
			return err
		}
		if err := d.eraseDigests(id); err != nil {
			return err
		}
	}
	return nil
}

// dropErased takes the content that the batch itself erased from its events.
func (b *preparedBatch) dropErased(events []sayso.Event) {
	for i := range events {
		if slices.Contains(b.erase, events[i].RequestID) {
			events[i].Content, events[i].Salt, events[i].Memo = nil, nil, nil
		}
	}
}

// secureDelete has whatever is removed from now on overwritten with zeros.
func secureDelete(c *sqlite.Conn) error { return run(c, `PRAGMA secure_delete = ON`, nil) }

// eraseContent also overwrites the bytes in the file.
func eraseContent(c *sqlite.Conn, id sayso.ID) error {
	if err := secureDelete(c); err != nil {
		return err
	}
	return run(c, `UPDATE content SET salt = NULL, body = NULL WHERE seq IN (
		SELECT seq FROM events WHERE stream = 'request/' || ?1 AND request = ?1
		UNION ALL SELECT seq FROM events WHERE request = ?1 AND request <> '' AND stream <> 'request/' || request)`,
		nil, string(id))
}

func (d *batchWrite) eraseDigests(id sayso.ID) error {
	if err := run(d.conn, `UPDATE requests SET digest = NULL WHERE id = ?`, nil, string(id)); err != nil {
		return err
	}
	if err := run(d.conn, `UPDATE grants SET key = NULL WHERE request = ?`, nil, string(id)); err != nil {
		return err
	}
	st, err := d.stream(sayso.RequestStream(id))
	if err == nil && st.row != nil {
		st.row.Digest = sayso.Digest{}
	}
	return err
}
