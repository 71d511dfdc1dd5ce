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

// prepared is a batch with all that can be worked out before its turn comes.
type prepared struct {
	events []sayso.Event // our own copy
	begun  []*begun      // what the event of that index begins; mostly nil
	expect map[string]int
	absent sayso.Absent
	keys   []sayso.Key
	erase  []sayso.ID
}

// begun is a request or a grant that an event begins, read from its content.
type begun struct {
	row sayso.Row
	key sayso.Digest // of a grant
}

// prepare checks and copies a batch, in the form in which it will be read.
func prepare(b sayso.Batch) (prepared, error) {
	if err := b.Validate(); err != nil {
		return prepared{}, err
	}
	p := prepared{
		events: make([]sayso.Event, len(b.Events)), begun: make([]*begun, len(b.Events)),
		expect: b.Expect, absent: b.Absent, keys: b.Keys, erase: b.Erase,
	}
	for i := range b.Events {
		e := &p.events[i]
		*e = b.Events[i]
		normalise(e)
		var err error
		if p.begun[i], err = begins(e); err != nil {
			return prepared{}, fmt.Errorf("%w: %s of %s: %w", sayso.ErrInvalid, e.Type, e.Stream, err)
		}
	}
	return p, nil
}

// normalise brings an event into the form in which the database gives it back,
// and lets it share no bytes with the caller's that may be changed.
func normalise(e *sayso.Event) {
	*e = steady(*e)
	if e.Content == nil {
		e.Salt = nil
	}
	e.At.Wall = wall(e.At.Wall.UnixNano())
	e.Actor.Owner, e.Actor.Approvers = "", nil
}

func wall(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// begins reads what a first event begins.
func begins(e *sayso.Event) (*begun, error) {
	switch {
	case e.Type == sayso.EventRequested && strings.HasPrefix(e.Stream, requestPrefix):
		if e.Stream != sayso.RequestStream(e.RequestID) {
			return nil, fmt.Errorf("the request is named %q", e.RequestID)
		}
		row, err := sayso.RowOf(e)
		return &begun{row: row}, err
	case e.Type == sayso.EventGrantCreated && strings.HasPrefix(e.Stream, grantPrefix):
		first := *e
		first.Pos = 1
		g, err := sayso.FoldGrant([]sayso.Event{first})
		return &begun{key: g.Key}, err
	}
	return nil, nil
}

const (
	requestPrefix = "request/"
	grantPrefix   = "grant/"
)

// verdict is an error that is about one batch: the log and the disk are fine.
type verdict struct{ err error }

func (v verdict) Error() string { return v.err.Error() }
func (v verdict) Unwrap() error { return v.err }

func isVerdict(err error) bool {
	var v verdict
	return errors.As(err, &v)
}

func conflict(format string, args ...any) error {
	return verdict{fmt.Errorf("%w: %s", sayso.ErrConflict, fmt.Sprintf(format, args...))}
}

// ledger is what the writer knows of the log inside a transaction. It keeps
// what it learned for the next one, if nobody else has written in between.
type ledger struct {
	head    sayso.Head
	others  int  // the version of the database, as far as others make it
	whole   bool // no stream lies in segments alone
	streams map[string]*stream
	bare    map[string]bool // sessions that have no live grant
}

// stream is the state of one stream.
type stream struct {
	length   int
	archived bool       // it was settled, and lies in segments where no unique index sees it
	row      *sayso.Row // of a request; nil if there is none
	stored   bool       // the row is in the database
	kept     kept       // as it stands there
}

// rememberedStreams bounds what a ledger keeps.
const rememberedStreams = 20_000

func (s *ledger) forget() { *s = ledger{} }

// begin reads the head and drops what is no longer certain. Others may have
// written without making the log longer: what is archived leaves the database.
func (s *ledger) begin(c *sqlite.Conn) error {
	head, err := readHead(c)
	if err != nil {
		return err
	}
	others, err := number(c, `PRAGMA data_version`) // the commits of other connections change it
	if err != nil {
		return err
	}
	if s.streams == nil || head != s.head || others != s.others || len(s.streams)+len(s.bare) > rememberedStreams {
		s.streams, s.bare = map[string]*stream{}, map[string]bool{}
		archived, err := number(c, `SELECT EXISTS (SELECT 1 FROM archived)`)
		if err != nil {
			return err
		}
		s.whole = archived == 0
	}
	s.head, s.others = head, others
	return nil
}

// stream returns the state of a stream as the earlier batches left it.
func (s *ledger) stream(c *sqlite.Conn, name string) (*stream, error) {
	if st, ok := s.streams[name]; ok {
		return st, nil
	}
	st := &stream{}
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

// draft is the ledger as one batch would leave it.
type draft struct {
	*ledger
	conn    *sqlite.Conn
	head    sayso.Head
	changed map[string]*stream
	wrote   bool
}

// stream returns the draft's own copy of a stream.
func (d *draft) stream(name string) (*stream, error) {
	if st, ok := d.changed[name]; ok {
		return st, nil
	}
	old, err := d.ledger.stream(d.conn, name)
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
func (s *ledger) add(c *sqlite.Conn, b *prepared) (events []sayso.Event, wrote bool, err error) {
	d := &draft{ledger: s, conn: c, head: s.head, changed: make(map[string]*stream, 2)}
	if err := d.write(b); err != nil {
		return nil, d.wrote, err
	}
	s.head = d.head
	maps.Copy(s.streams, d.changed)
	return b.events, true, nil
}

func (d *draft) write(b *prepared) error {
	if err := d.expect(b); err != nil {
		return err
	}
	if err := d.lacks(b.absent); err != nil {
		return err
	}
	if err := d.take(b.keys); err != nil {
		return err
	}
	for i := range b.events {
		if err := d.place(&b.events[i], b.begun[i]); err != nil {
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

func (d *draft) expect(b *prepared) error {
	for name, want := range b.expect {
		if want == sayso.AnyLength {
			continue
		}
		if want == 0 && b.asks(name) && d.unheard(name) {
			d.changed[name] = &stream{} // if there is such a stream all the same, its first place is taken
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

// asks reports whether a batch begins the stream of a request.
func (b *prepared) asks(stream string) bool {
	for i := range b.events {
		if b.begun[i] != nil && b.events[i].Type == sayso.EventRequested && b.events[i].Stream == stream {
			return true
		}
	}
	return false
}

// unheard reports whether nothing is known of a stream, and any event of it is in
// the database.
func (d *draft) unheard(name string) bool {
	_, known := d.ledger.streams[name]
	_, changed := d.changed[name]
	return d.whole && !known && !changed
}

const (
	unspentExists = `SELECT EXISTS (SELECT 1 FROM requests INDEXED BY request_unspent
		WHERE spent = 0 AND session = ? AND digest = ?)`
	grantExists = `SELECT EXISTS (SELECT 1 FROM grants INDEXED BY grant_session WHERE live = 1 AND session = ?)`
)

// lacks looks for what must be absent.
func (d *draft) lacks(a sayso.Absent) error {
	if !a.Digest.IsZero() {
		if n, err := number(d.conn, unspentExists, a.Session, a.Digest[:]); err != nil {
			return err
		} else if n > 0 {
			return conflict("session %s has a request for the same call", a.Session)
		}
	}
	if a.Grants && !d.bare[a.Session] {
		if n, err := number(d.conn, grantExists, a.Session); err != nil {
			return err
		} else if n > 0 {
			return conflict("session %s has a grant", a.Session)
		}
		d.bare[a.Session] = true
	}
	return nil
}

// place gives an event its place and writes it.
func (d *draft) place(e *sayso.Event, b *begun) error {
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
		return refusal(e, err)
	}
	d.wrote = true
	if e.Type == sayso.EventGrantCreated {
		delete(d.bare, e.SessionID)
	}
	return d.project(st, e, b)
}

// refusal turns what the database says against an event into a verdict.
func refusal(e *sayso.Event, err error) error {
	switch {
	case sqlite.ErrCode(err) == sqlite.ResultConstraintCheck:
		return verdict{fmt.Errorf("%w: %s of stream %s: %w", sayso.ErrInvalid, e.Type, e.Stream, err)}
	case constraint(err) && (e.Type.Terminal() || e.Type.Spends()):
		return conflict("stream %s has an event like %s", e.Stream, e.Type)
	case constraint(err):
		return conflict("stream %s refuses %s: %v", e.Stream, e.Type, err)
	}
	return err
}

const insertKey = `INSERT INTO keys (name, stream) VALUES (?, ?)`

func (d *draft) take(keys []sayso.Key) error {
	for _, k := range keys {
		if err := run(d.conn, insertKey, nil, []byte(k.Name), k.Stream); err != nil {
			if constraint(err) {
				return conflict("a key of stream %s is taken", k.Stream)
			}
			return err
		}
		d.wrote = true
	}
	return nil
}
