package sqlite

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// preparedBatch is a batch with all that can be worked out before its turn comes.
type preparedBatch struct {
	events []sayso.Event // our own copy
	firsts []*firstEvent // what the event of that index begins; mostly nil
	expect map[string]int
	absent sayso.Absent
	keys   []sayso.Key
	erase  []sayso.ID
}

// firstEvent is a request or a grant that an event begins, read from its content.
type firstEvent struct {
	row sayso.Row
	key sayso.Digest // of a grant
}

// prepare checks and copies a batch, in the form in which it will be read.
func prepare(b sayso.Batch) (preparedBatch, error) {
	if err := b.Validate(); err != nil {
		return preparedBatch{}, err
	}
	p := preparedBatch{
		events: make([]sayso.Event, len(b.Events)), firsts: make([]*firstEvent, len(b.Events)),
		expect: b.Expect, absent: b.Absent, keys: b.Keys, erase: b.Erase,
	}
	for i := range b.Events {
		e := &p.events[i]
		*e = b.Events[i]
		normalize(e)
		var err error
		if p.firsts[i], err = readFirst(e); err != nil {
			return preparedBatch{}, fmt.Errorf("%w: %s of %s: %w", sayso.ErrInvalid, e.Type, e.Stream, err)
		}
	}
	return p, nil
}

// normalize brings an event into the form in which the database gives it back,
// and lets it share no bytes with the caller's that may be changed.
func normalize(e *sayso.Event) {
	*e = withoutAliases(*e)
	if e.Content == nil {
		e.Salt = nil
	}
	e.At.Wall = wall(e.At.Wall.UnixNano())
	e.Actor.Owner, e.Actor.Approvers = "", nil
}

func wall(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// readFirst reads what a first event begins.
func readFirst(e *sayso.Event) (*firstEvent, error) {
	switch {
	case e.Type == sayso.EventRequested && strings.HasPrefix(e.Stream, requestPrefix):
		if e.Stream != sayso.RequestStream(e.RequestID) {
			return nil, fmt.Errorf("the request is named %q", e.RequestID)
		}
		row, err := sayso.RowOf(e)
		return &firstEvent{row: row}, err
	case e.Type == sayso.EventGrantCreated && strings.HasPrefix(e.Stream, grantPrefix):
		first := *e
		first.Pos = 1
		g, err := sayso.FoldGrant([]sayso.Event{first})
		return &firstEvent{key: g.Key}, err
	}
	return nil, nil
}

const (
	requestPrefix = "request/"
	grantPrefix   = "grant/"
)

// batchError is an error that is about one batch: the log and the disk are fine.
type batchError struct{ err error }

func (v batchError) Error() string { return v.err.Error() }
func (v batchError) Unwrap() error { return v.err }

func isBatchError(err error) bool {
	var v batchError
	return errors.As(err, &v)
}

func conflict(format string, args ...any) error {
	return batchError{fmt.Errorf("%w: %s", sayso.ErrConflict, fmt.Sprintf(format, args...))}
}

// writerState is what the writer knows of the log inside a transaction. It keeps
// what it learned for the next one, if nobody else has written in between.
type writerState struct {
	head            sayso.Head
	dataVersion     int  // the version of the database, as far as others make it
	nothingArchived bool // no stream lies in segments alone
	streams         map[string]*streamState
	withoutGrants   map[string]bool // sessions that have no live grant
}

// streamState is the state of one stream.
type streamState struct {
	length   int
	archived bool           // it was settled, and lies in segments where no unique index sees it
	row      *sayso.Row     // of a request; nil if there is none
	stored   bool           // the row is in the database
	indexed  indexedColumns // as it stands there
}

// maxCachedStreams bounds what a ledger keeps.
const maxCachedStreams = 20_000

func (s *writerState) reset() { *s = writerState{} }

// begin reads the head and drops what is no longer certain. Others may have
// written without making the log longer: what is archived leaves the database.
func (s *writerState) begin(c *sqlite.Conn) error {
	head, err := readHead(c)
	if err != nil {
		return err
	}
	others, err := queryInt(c, `PRAGMA data_version`) // the commits of other connections change it
	if err != nil {
		return err
	}
	if s.streams == nil || head != s.head || others != s.dataVersion || len(s.streams)+len(s.withoutGrants) > maxCachedStreams {
		s.streams, s.withoutGrants = map[string]*streamState{}, map[string]bool{}
		archived, err := queryInt(c, `SELECT EXISTS (SELECT 1 FROM archived)`)
		if err != nil {
			return err
		}
		s.nothingArchived = archived == 0
	}
	s.head, s.dataVersion = head, others
	return nil
}

// stream returns the state of a stream as the earlier batches left it.
func (s *writerState) stream(c *sqlite.Conn, name string) (*streamState, error) {
	if st, ok := s.streams[name]; ok {
		return st, nil
	}
	st := &streamState{}
	err := run(c, lengthOf, func(s *sqlite.Stmt) error {
		st.archived = s.ColumnInt(1) > 0
		st.length = max(s.ColumnInt(0), s.ColumnInt(1))
		return nil
	}, name)
	if err != nil {
		return nil, err
	}
	if st.length > 0 && strings.HasPrefix(name, requestPrefix) {
		if err := st.load(c, sayso.StreamID(name)); err != nil {
			return nil, err
		}
	}
	s.streams[name] = st
	return st, nil
}

// lengthOf selects how many events a stream has, by the database and by what
// lies in segments alone.
const lengthOf = `SELECT (SELECT max(pos) FROM events WHERE stream = ?1), (SELECT max(length) FROM archived WHERE stream = ?1)`

// batchWrite is the ledger as one batch would leave it.
type batchWrite struct {
	*writerState
	conn    *sqlite.Conn
	head    sayso.Head
	changed map[string]*streamState
	wrote   bool
}

// stream returns the draft's own copy of a stream.
func (d *batchWrite) stream(name string) (*streamState, error) {
	if st, ok := d.changed[name]; ok {
		return st, nil
	}
	old, err := d.writerState.stream(d.conn, name)
	if err != nil {
		return nil, err
	}
	st := new(*old)
	if old.row != nil {
		st.row = new(*old.row)
	}
	d.changed[name] = st
	return st, nil
}

// add writes a batch into the open transaction and returns its events in their
// places. An error leaves the ledger as it was; wrote says whether the caller
// has something to undo.
func (s *writerState) add(c *sqlite.Conn, b *preparedBatch) (events []sayso.Event, wrote bool, err error) {
	d := &batchWrite{writerState: s, conn: c, head: s.head, changed: make(map[string]*streamState, 2)}
	if err := d.write(b); err != nil {
		return nil, d.wrote, err
	}
	s.head = d.head
	maps.Copy(s.streams, d.changed)
	return b.events, true, nil
}

func (d *batchWrite) write(b *preparedBatch) error {
	if err := d.checkExpected(b); err != nil {
		return err
	}
	if err := d.checkAbsent(b.absent); err != nil {
		return err
	}
	if err := d.insertKeys(b.keys); err != nil {
		return err
	}
	for i := range b.events {
		if err := d.insertEvent(&b.events[i], b.firsts[i]); err != nil {
			return err
		}
	}
	for name, st := range d.changed {
		if err := st.save(d.conn, name); err != nil {
			return err
		}
	}
	return d.erase(b.erase)
}

func (d *batchWrite) checkExpected(b *preparedBatch) error {
	for name, want := range b.expect {
		if want == sayso.AnyLength {
			continue
		}
		if want == 0 && b.opensRequest(name) && d.isUnknown(name) {
			d.changed[name] = &streamState{} // if there is such a stream all the same, its first place is taken
			continue
		}
		st, err := d.stream(name)
		if err != nil {
			return err
		}
		if st.length != want {
			return conflict("stream %s has %d events, not %d", name, st.length, want)
		}
	}
	return nil
}

// opensRequest reports whether a batch begins the stream of a request.
func (b *preparedBatch) opensRequest(stream string) bool {
	for i := range b.events {
		if b.firsts[i] != nil && b.events[i].Type == sayso.EventRequested && b.events[i].Stream == stream {
			return true
		}
	}
	return false
}

// isUnknown reports whether nothing is known of a stream, and any event of it is in
// the database.
func (d *batchWrite) isUnknown(name string) bool {
	_, known := d.writerState.streams[name]
	_, changed := d.changed[name]
	return d.nothingArchived && !known && !changed
}

const (
	unspentExists = `SELECT EXISTS (SELECT 1 FROM requests INDEXED BY request_unspent
		WHERE spent = 0 AND session = ? AND digest = ?)`
	grantExists = `SELECT EXISTS (SELECT 1 FROM grants INDEXED BY grant_session WHERE live = 1 AND session = ?)`
)

// checkAbsent looks for what must be absent.
func (d *batchWrite) checkAbsent(a sayso.Absent) error {
	if !a.Digest.IsZero() {
		if n, err := queryInt(d.conn, unspentExists, a.Session, a.Digest[:]); err != nil {
			return err
		} else if n > 0 {
			return conflict("session %s has a request for the same call", a.Session)
		}
	}
	if a.Grants && !d.withoutGrants[a.Session] {
		if n, err := queryInt(d.conn, grantExists, a.Session); err != nil {
			return err
		} else if n > 0 {
			return conflict("session %s has a grant", a.Session)
		}
		d.withoutGrants[a.Session] = true
	}
	return nil
}

// insertEvent gives an event its place and writes it.
func (d *batchWrite) insertEvent(e *sayso.Event, b *firstEvent) error {
	st, err := d.stream(e.Stream)
	if err != nil {
		return err
	}
	if st.archived && (e.Type.Terminal() || e.Type.Spends()) {
		return conflict("stream %s was settled and archived", e.Stream)
	}
	st.length++
	e.Pos = st.length
	d.head = e.Chain(d.head)
	if err := insert(d.conn, e); err != nil {
		return constraintError(e, err)
	}
	d.wrote = true
	if e.Type == sayso.EventGrantCreated {
		delete(d.withoutGrants, e.SessionID)
	}
	return d.project(st, e, b)
}

// constraintError turns what the database says against an event into a verdict.
func constraintError(e *sayso.Event, err error) error {
	switch {
	case sqlite.ErrCode(err) == sqlite.ResultConstraintCheck:
		return batchError{fmt.Errorf("%w: %s of stream %s: %w", sayso.ErrInvalid, e.Type, e.Stream, err)}
	case isConstraint(err) && (e.Type.Terminal() || e.Type.Spends()):
		return conflict("stream %s has an event like %s", e.Stream, e.Type)
	case isConstraint(err):
		return conflict("stream %s refuses %s: %v", e.Stream, e.Type, err)
	}
	return err
}

const insertKey = `INSERT INTO keys (name, stream) VALUES (?, ?)`

func (d *batchWrite) insertKeys(keys []sayso.Key) error {
	for _, k := range keys {
		if err := run(d.conn, insertKey, nil, []byte(k.Name), k.Stream); err != nil {
			if isConstraint(err) {
				return conflict("a key of stream %s is taken", k.Stream)
			}
			return err
		}
		d.wrote = true
	}
	return nil
}
