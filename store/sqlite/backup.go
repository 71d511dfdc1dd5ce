package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/boot"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Backup writes the whole log, segments too, into one new file at path, which
// then is a log of its own. Appends go on meanwhile. The file is 0600 and
// appears when it is complete and on stable storage; a file that is there
// already is replaced.
func (l *Log) Backup(ctx context.Context, path string) (err error) {
	if err := l.usable(ctx); err != nil {
		return err
	}
	draft, err := newDraft(path)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("backup to %s: %w", path, errors.Join(err, removeDraft(draft)))
		}
	}()
	c, err := l.connect()
	if err != nil {
		return err
	}
	keepWAL(c)
	c.SetInterrupt(ctx.Done())
	err = run(c, `VACUUM INTO ?`, nil, draft)
	if err := errors.Join(err, c.Close()); err != nil {
		return unavailable("copy the log", err)
	}
	if err := l.restoreSegments(ctx, draft); err != nil {
		return err
	}
	return publish(draft, path)
}

// newDraft is the name of an empty file beside path that only we can reach.
func newDraft(path string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

func removeDraft(draft string) error {
	var errs []error
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(draft + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// publish puts a complete file in its place.
func publish(draft, path string) error {
	if err := syncPath(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return syncPath(filepath.Dir(path))
}

// syncPath brings a file or a folder onto stable storage. It must not be the
// file of a database that is open.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// restoreSegments puts the segments back into a copy of the database.
func (l *Log) restoreSegments(ctx context.Context, draft string) (err error) {
	c, err := sqlite.OpenConn(draft, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.SetInterrupt(ctx.Done())
	all, err := segments(c, 0)
	if err != nil || len(all) == 0 {
		return err
	}
	return writeTransaction(c, func() error {
		for _, s := range all {
			if err := l.fromSegment(c, s.number, func(e sayso.Event) error { return restoreEvent(c, &e) },
				`SELECT `+eventColumns+withContent+`ORDER BY e.seq`); err != nil {
				return err
			}
		}
		for _, table := range []string{"archived", "erasing", "segments"} {
			if err := run(c, `DELETE FROM `+table, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// restoreEvent inserts an event unless it stayed.
func restoreEvent(c *sqlite.Conn, e *sayso.Event) error {
	n, err := queryInt(c, `SELECT EXISTS (SELECT 1 FROM events WHERE seq = ?)`, int64(e.Seq))
	if err != nil || n > 0 {
		return err
	}
	if err := insert(c, e); err != nil {
		return err
	}
	if e.Content != nil || e.Commitment.IsZero() {
		return nil
	}
	return run(c, `INSERT INTO content (seq, salt, body) VALUES (?, NULL, NULL)`, nil, int64(e.Seq))
}

// Restored says what [Restore] found in a backup.
type Restored struct {
	Head      sayso.Head // of the backup
	Withdrawn int        // requests that were open
	Voided    int        // approvals that were not redeemed
	Ended     int        // grants that were live
	Modes     int        // sessions in which everything was approved
}

// restoreReason is why restoring ends what it ends.
const restoreReason = "restored from a backup"

// Restore makes a log at to from a backup made by [Log.Backup]. It refuses if
// anything is there, and if the backup does not verify.
//
// What was open when the backup was made must not come back to life: requests
// are withdrawn, approvals that were not redeemed are voided, grants end, and
// so does a mode that approves everything. The log appears when that is done.
func Restore(ctx context.Context, from, to string) (r Restored, err error) {
	to, err = filepath.Abs(to)
	if err != nil {
		return r, err
	}
	if err := checkVacant(to); err != nil {
		return r, fmt.Errorf("restore: %w", err)
	}
	draft, err := copyBackup(ctx, from, to)
	if err != nil {
		return r, fmt.Errorf("restore from %s: %w", from, err)
	}
	if r, err = endLive(ctx, draft); err == nil {
		err = os.Link(draft, to) // which fails if somebody was faster
	}
	if err == nil {
		err = syncPath(filepath.Dir(to))
	}
	if err := errors.Join(err, removeDraft(draft)); err != nil {
		return r, fmt.Errorf("restore from %s: %w", from, err)
	}
	return r, nil
}

// checkVacant refuses a place where a log is, or was.
func checkVacant(to string) error {
	if err := ensureFolder(filepath.Dir(to)); err != nil {
		return err
	}
	for _, path := range []string{to, to + "-wal", filepath.Join(filepath.Dir(to), "segments", "0001.db")} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already and is not overwritten; move the old log and its folder segments away", path)
		}
	}
	return nil
}

func copyBackup(ctx context.Context, from, to string) (draft string, err error) {
	c, err := sqlite.OpenConn(from, sqlite.OpenReadOnly)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.SetInterrupt(ctx.Done())
	if draft, err = newDraft(to); err != nil {
		return "", err
	}
	if err := run(c, `VACUUM INTO ?`, nil, draft); err != nil {
		return "", errors.Join(err, removeDraft(draft))
	}
	return draft, nil
}

// endLive ends everything in a copy that could still let a call run.
func endLive(ctx context.Context, draft string) (r Restored, err error) {
	c, err := sqlite.OpenConn(draft, sqlite.OpenReadWrite)
	if err != nil {
		return r, err
	}
	err = run(c, `PRAGMA journal_mode = WAL`, nil)
	if err := errors.Join(err, c.Close()); err != nil {
		return r, err
	}
	l, err := Open(ctx, draft, &Options{Checkpoint: true})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.Close(), os.Remove(l.serverFile())) }()
	report, err := l.Verify(ctx, nil)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return r, fmt.Errorf("the backup does not verify: %w", err)
	}
	r.Head = report.Head
	return r, l.endAllLive(ctx, &r)
}

func (l *Log) endAllLive(ctx context.Context, r *Restored) error {
	for _, end := range []func(context.Context, *Restored) (sayso.Batch, error){
		l.endRequests, l.endGrants, l.endModes,
	} {
		for {
			b, err := end(ctx, r)
			if err != nil {
				return err
			}
			if len(b.Events) == 0 {
				break
			}
			if _, err := l.Append(ctx, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// endRequests makes a batch that ends some of the requests that can still lead
// to a call.
func (l *Log) endRequests(ctx context.Context, r *Restored) (b sayso.Batch, err error) {
	rows, err := l.Rows(ctx, sayso.RowQuery{States: []sayso.State{
		sayso.StateOpen, sayso.StateParked, sayso.StateAllowed,
	}, Unspent: true, Oldest: true})
	for i := range rows {
		w := &rows[i]
		t := sayso.EventVoided
		if w.State.Open() {
			t = sayso.EventWithdrawn
			r.Withdrawn++
		} else {
			r.Voided++
		}
		e := sayso.Event{
			Stream: sayso.RequestStream(w.ID), Type: t, SessionID: w.Session, RunID: w.Run, RequestID: w.ID, CallID: w.CallID,
		}
		if err := addEvent(&b, e, sayso.Closed{Reason: restoreReason}); err != nil {
			return b, err
		}
	}
	return b, err
}

func (l *Log) endGrants(ctx context.Context, r *Restored) (b sayso.Batch, err error) {
	streams, err := l.Grants(ctx, nil, "", false)
	for _, stream := range streams {
		events, err := l.Stream(ctx, stream, 0)
		if err != nil {
			return b, err
		}
		e := sayso.Event{
			Stream: stream, Type: sayso.EventGrantEnded, SessionID: events[0].SessionID, RequestID: events[0].RequestID,
		}
		if err := addEvent(&b, e, sayso.Closed{Reason: restoreReason}); err != nil {
			return b, err
		}
		r.Ended++
	}
	return b, err
}

func (l *Log) endModes(ctx context.Context, r *Restored) (b sayso.Batch, err error) {
	var streams []string
	err = l.read(ctx, "list modes", func(c *sqlite.Conn) error {
		return run(c, `SELECT DISTINCT stream FROM events WHERE type = 'mode.changed'`, func(st *sqlite.Stmt) error {
			streams = append(streams, st.ColumnText(0))
			return nil
		})
	})
	for _, stream := range streams {
		events, err := l.Stream(ctx, stream, 0)
		if err != nil {
			return b, err
		}
		s, err := sayso.FoldSession(string(sayso.StreamID(stream)), events)
		if err != nil {
			return b, err
		}
		if s.Mode != sayso.ModeApproveAll {
			continue
		}
		e := sayso.Event{Stream: stream, Type: sayso.EventModeChanged, SessionID: events[0].SessionID}
		if err := addEvent(&b, e, sayso.ModeChanged{Mode: sayso.ModeInteractive}); err != nil {
			return b, err
		}
		r.Modes++
	}
	return b, err
}

// addEvent adds an event of ours to a batch, with its id, its payload and now.
func addEvent(b *sayso.Batch, e sayso.Event, payload any) (err error) {
	now := sayso.Moment{Wall: time.Now().UTC()}
	// Without a boot clock the moment says so, and counts by the wall clock.
	if id, since, err := boot.Now(); err == nil {
		now.Boot, now.Since = id, since
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	e.ID, e.Version, e.At, e.Actor = sayso.NewID(now.Wall, random), 1, now, sayso.BrokerActor
	if e.Payload, err = jcs.Marshal(payload); err != nil {
		return err
	}
	if b.Expect == nil {
		b.Expect = map[string]int{}
	}
	b.Events, b.Expect[e.Stream] = append(b.Events, e), sayso.AnyLength
	return nil
}
