package sqlite

import (
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

const (
	insertEvent = `INSERT INTO events (seq, stream, pos, type, id, version, wall, boot, since, principal, kind,
		channel, session, run, request, call, payload, commitment, prev, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertContent = `INSERT INTO content (seq, salt, body) VALUES (?, ?, ?)`
)

// insert writes an event and its content.
func insert(c *sqlite.Conn, e *sayso.Event) error {
	st, err := c.Prepare(insertEvent)
	if err != nil {
		return err
	}
	bindEvent(st, e)
	if _, err := st.Step(); err != nil {
		return err
	}
	if e.Content == nil {
		return nil
	}
	if st, err = c.Prepare(insertContent); err != nil {
		return err
	}
	st.BindInt64(1, int64(e.Seq))
	st.BindBytes(2, e.Salt)
	st.BindBytes(3, e.Content)
	_, err = st.Step()
	return err
}

func bindEvent(st *sqlite.Stmt, e *sayso.Event) {
	st.BindInt64(1, int64(e.Seq))
	st.BindText(2, e.Stream)
	st.BindInt64(3, int64(e.Pos))
	st.BindText(4, string(e.Type))
	st.BindText(5, string(e.ID))
	st.BindInt64(6, int64(e.Version))
	st.BindInt64(7, e.At.Wall.UnixNano())
	st.BindText(8, e.At.Boot)
	st.BindInt64(9, int64(e.At.Since))
	st.BindText(10, e.Actor.Principal)
	st.BindText(11, string(e.Actor.Kind))
	st.BindText(12, e.Actor.Channel)
	st.BindText(13, e.SessionID)
	st.BindText(14, e.RunID)
	st.BindText(15, string(e.RequestID))
	st.BindText(16, e.CallID)
	st.BindText(17, string(e.Payload))
	bindDigest(st, 18, &e.Commitment)
	st.BindBytes(19, e.Prev[:])
	st.BindBytes(20, e.Hash[:])
}

// bindDigest binds a digest; NULL for none.
func bindDigest(st *sqlite.Stmt, i int, d *sayso.Digest) {
	if d.IsZero() {
		st.BindNull(i)
		return
	}
	st.BindBytes(i, d[:])
}

// eventColumns are those of an event, named e, with its content, named c.
const eventColumns = `e.seq, e.stream, e.pos, e.type, e.id, e.version, e.wall, e.boot, e.since, e.principal, e.kind,
	e.channel, e.session, e.run, e.request, e.call, e.payload, e.commitment, e.prev, e.hash, c.salt, c.body`

// withContent joins an event with its content.
const withContent = ` FROM events e LEFT JOIN content c ON c.seq = e.seq `

// scanEvent reads the columns of eventColumns.
func scanEvent(st *sqlite.Stmt) sayso.Event {
	e := sayso.Event{
		Seq: sayso.Seq(st.ColumnInt64(0)), Stream: st.ColumnText(1), Pos: st.ColumnInt(2),
		Type: sayso.EventType(st.ColumnText(3)), ID: sayso.ID(st.ColumnText(4)), Version: st.ColumnInt(5),
		At: sayso.Moment{
			Wall: wall(st.ColumnInt64(6)), Boot: st.ColumnText(7), Since: time.Duration(st.ColumnInt64(8)),
		},
		Actor: sayso.Actor{
			Principal: st.ColumnText(9), Kind: sayso.PrincipalKind(st.ColumnText(10)), Channel: st.ColumnText(11),
		},
		SessionID: st.ColumnText(12), RunID: st.ColumnText(13), RequestID: sayso.ID(st.ColumnText(14)),
		CallID: st.ColumnText(15),
	}
	if text := st.ColumnText(16); text != "" {
		e.Payload = sayso.Args(text)
	}
	st.ColumnBytes(17, e.Commitment[:])
	st.ColumnBytes(18, e.Prev[:])
	st.ColumnBytes(19, e.Hash[:])
	if !e.Commitment.IsZero() {
		e.Salt, e.Content = columnBytes(st, 20), columnBytes(st, 21)
	}
	return e
}

// readHead reads the end of the log.
func readHead(c *sqlite.Conn) (h sayso.Head, err error) {
	err = run(c, `SELECT seq, hash, wall, boot, since FROM events ORDER BY seq DESC LIMIT 1`, func(st *sqlite.Stmt) error {
		h.Seq = sayso.Seq(st.ColumnInt64(0))
		st.ColumnBytes(1, h.Hash[:])
		h.At = sayso.Moment{
			Wall: wall(st.ColumnInt64(2)), Boot: st.ColumnText(3), Since: time.Duration(st.ColumnInt64(4)),
		}
		return nil
	})
	return h, err
}
