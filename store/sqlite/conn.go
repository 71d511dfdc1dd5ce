package sqlite

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// run runs one statement, which is prepared once for each connection. Arguments
// are string, int, int64, []byte, bool or nil.
func run(c *sqlite.Conn, query string, row func(*sqlite.Stmt) error, args ...any) error {
	st, err := c.Prepare(query)
	if err != nil {
		return err
	}
	for i, a := range args {
		bind(st, i+1, a)
	}
	for {
		more, err := st.Step()
		if err != nil || !more {
			return err
		}
		if row == nil {
			continue
		}
		if err := row(st); err != nil {
			_ = st.Reset() // reports the last error of Step, of which there was none
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
}

// errStop ends the rows of run without an error.
var errStop = errors.New("no more rows are wanted")

func bind(st *sqlite.Stmt, i int, a any) {
	switch v := a.(type) {
	case string:
		st.BindText(i, v)
	case int:
		st.BindInt64(i, int64(v))
	case int64:
		st.BindInt64(i, v)
	case []byte:
		st.BindBytes(i, v)
	case bool:
		st.BindBool(i, v)
	case nil:
		st.BindNull(i)
	default:
		panic(fmt.Sprintf("sqlite: cannot bind a %T", a))
	}
}

// queryInt runs a statement whose result is one number; none is zero.
func queryInt(c *sqlite.Conn, query string, args ...any) (n int, err error) {
	err = run(c, query, func(st *sqlite.Stmt) error { n = st.ColumnInt(0); return nil }, args...)
	return n, err
}

// columnBytes copies the bytes of a column; nil for NULL.
func columnBytes(st *sqlite.Stmt, i int) []byte {
	if st.ColumnIsNull(i) {
		return nil
	}
	b := make([]byte, st.ColumnLen(i))
	st.ColumnBytes(i, b)
	return b
}

// unavailable says in words why the database could not be used.
func unavailable(doing string, err error) error {
	if err == nil {
		return nil
	}
	why := ""
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultBusy, sqlite.ResultLocked:
		why = "the database is locked by another process; see which with: fuser -v on the database file: "
	case sqlite.ResultFull:
		why = "the disk is full; make room and try again: "
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		why = "the database is damaged; restore it from a backup: "
	case sqlite.ResultReadOnly:
		why = "the database cannot be written: "
	}
	return fmt.Errorf("%w: %s: %s%w", sayso.ErrUnavailable, doing, why, err)
}

// isConstraint reports whether an error is that of a unique index or a trigger:
// the statement failed, the transaction goes on.
func isConstraint(err error) bool {
	return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultConstraint
}

// keepWAL tells a connection not to write the -wal file into the database when
// it is the last to close, which takes longer than everything else that a
// short-lived process does.
func keepWAL(c *sqlite.Conn) { configure(c, lib.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE) }

// stablePlans tells a connection not to plan a statement again each time its
// parameters change.
func stablePlans(c *sqlite.Conn) { configure(c, lib.SQLITE_DBCONFIG_ENABLE_QPSG) }

// configure turns a switch of a connection on, and reports whether it took. The
// driver has no names for these, so they are set through the library beneath; if
// that cannot be reached, things are slower and no less right.
func configure(c *sqlite.Conn, option int32) (took bool) {
	handle := reflect.ValueOf(c).Elem().FieldByName("conn")
	if handle.Kind() != reflect.Uintptr || handle.IsZero() {
		return false
	}
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.NewVaList(int32(1), uintptr(0))
	if args == 0 {
		return false
	}
	defer libc.Xfree(tls, args)
	return lib.Xsqlite3_db_config(tls, uintptr(handle.Uint()), option, args) == lib.SQLITE_OK
}

// readerPool are the connections that read, opened when they are first needed.
// Opening one takes as long as a few hundred reads, so the first reads of a
// process borrow the connection of the writer while it has nothing to do: a
// process that lives for a moment opens no other. Reads of a few rows always do:
// the writer has the pages that it wrote at hand, which every other connection
// reads again after each commit.
type readerPool struct {
	open     func() (*sqlite.Conn, error)
	sem      chan struct{} // one for each connection that may be in use
	slowSem  chan struct{} // one for each read that may take its time; one turn is left to the others
	writer   *writer
	mu       sync.Mutex
	idle     []*sqlite.Conn
	opened   bool
	borrowed int // times that the writer's connection was borrowed
	closed   bool
}

const (
	maxReaders  = 4
	maxBorrowed = 32
)

func (r *readerPool) init(open func() (*sqlite.Conn, error), w *writer) {
	r.open, r.writer = open, w
	r.sem, r.slowSem = make(chan struct{}, maxReaders), make(chan struct{}, maxReaders-1)
}

// acquireSlow waits until one more read may take its time, and says how that ends.
func (r *readerPool) acquireSlow(ctx context.Context) (end func(), err error) {
	select {
	case r.slowSem <- struct{}{}:
		return func() { <-r.slowSem }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// acquire returns a connection for a short while, of which a quick read takes next
// to nothing. It must be given back.
func (r *readerPool) acquire(ctx context.Context, quick bool) (*sqlite.Conn, error) {
	select {
	case r.sem <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		<-r.sem
		return nil, errClosed
	}
	if quick && r.writer.connMu.TryLock() {
		r.mu.Unlock()
		return r.writer.conn, nil
	}
	if n := len(r.idle); n > 0 {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return c, nil
	}
	if !r.opened && r.borrowed < maxBorrowed && r.writer.connMu.TryLock() {
		r.borrowed++
		r.mu.Unlock()
		return r.writer.conn, nil
	}
	r.opened = true
	r.mu.Unlock()
	c, err := r.open()
	if err != nil {
		<-r.sem
		return nil, err
	}
	keepWAL(c)
	return c, nil
}

func (r *readerPool) release(c *sqlite.Conn) {
	defer func() { <-r.sem }()
	if c == r.writer.conn {
		r.writer.connMu.Unlock()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = c.Close() // nothing was written on it
		return
	}
	r.idle = append(r.idle, c)
}

// close closes the connections once those in use were given back.
func (r *readerPool) close() {
	r.mu.Lock()
	r.closed = true
	idle := r.idle
	r.idle = nil
	r.mu.Unlock()
	for _, c := range idle {
		_ = c.Close() // nothing was written on it
	}
	for range maxReaders {
		r.sem <- struct{}{}
	}
	for range maxReaders {
		<-r.sem
	}
}
