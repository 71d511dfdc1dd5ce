package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/failpoint"
)

// maxGroup is how many batches one commit takes at most.
const maxGroup = 512

// pending is a batch on its way into the log.
type pending struct {
	ctx    context.Context
	batch  preparedBatch
	state  atomic.Int32 // who may decide what becomes of it
	done   chan struct{}
	events []sayso.Event
	err    error
}

// The owners of a pending batch, of which each step is taken once.
const (
	queued    int32 = iota // in the queue: its caller may still leave
	included               // the writer has it and will finish it
	abandoned              // its caller left
)

func (p *pending) finish(events []sayso.Event, err error) {
	p.events, p.err = events, err
	close(p.done)
}

// Append adds a batch, see [sayso.Log]. If ctx ends before the writer gets to
// the batch, nothing is added and the error is that of ctx; from then on Append
// waits for the outcome, which the time to wait for other processes bounds.
func (l *Log) Append(ctx context.Context, b sayso.Batch) ([]sayso.Event, error) {
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	batch, err := prepare(b)
	if err != nil {
		return nil, err
	}
	p := &pending{ctx: ctx, batch: batch, done: make(chan struct{})}
	if l.writer.tryWrite(p) {
		return p.events, p.err
	}
	if err := l.writer.push(p); err != nil {
		return nil, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		if p.state.CompareAndSwap(queued, abandoned) {
			return nil, ctx.Err()
		}
		<-p.done
	}
	return p.events, p.err
}

// writer writes to the database, for this process. Whoever appends when nobody
// else does writes by themselves, which saves handing the batch over and back;
// the rest is written by one goroutine, in groups.
type writer struct {
	log    *Log
	connMu sync.Mutex // who uses conn
	conn   *sqlite.Conn
	state  writerState

	mu     sync.Mutex
	queue  []*pending
	tasks  []*task
	closed bool

	commits atomic.Int64

	wakeup chan struct{} // holds one token when there is something to do
	ended  chan struct{}
}

// task is other work that needs the connection of the writer.
type task struct {
	do   func(*sqlite.Conn) error
	done chan error
}

func newWriter(l *Log, c *sqlite.Conn) *writer {
	return &writer{log: l, conn: c, wakeup: make(chan struct{}, 1), ended: make(chan struct{})}
}

// tryWrite writes a batch at once if nothing is being written or waits for that.
func (w *writer) tryWrite(p *pending) bool {
	if !w.connMu.TryLock() {
		return false
	}
	defer w.connMu.Unlock()
	w.mu.Lock()
	busy := w.closed || len(w.queue) > 0 || len(w.tasks) > 0
	w.mu.Unlock()
	if busy {
		return false
	}
	p.state.Store(included)
	w.commitGroup([]*pending{p})
	return true
}

func (w *writer) push(p *pending) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	w.queue = append(w.queue, p)
	w.mu.Unlock()
	w.wake()
	return nil
}

// exec has the writer run do between two groups.
func (w *writer) exec(do func(*sqlite.Conn) error) error {
	t := &task{do, make(chan error, 1)}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	w.tasks = append(w.tasks, t)
	w.mu.Unlock()
	w.wake()
	return <-t.done
}

func (w *writer) wake() {
	select {
	case w.wakeup <- struct{}{}:
	default:
	}
}

// close lets the writer finish what is in its queue and closes its connection.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wake()
	<-w.ended
	w.connMu.Lock() // whoever writes by themselves has done so
	defer w.connMu.Unlock()
	if !w.log.opts.Checkpoint {
		if w.log.needsCheckpoint() {
			w.conn.SetBusyTimeout(0)
			_ = run(w.conn, `PRAGMA wal_checkpoint(TRUNCATE)`, nil) // if others are at work, they or the next will
		}
		keepWAL(w.conn)
	}
	if err := w.conn.Close(); err != nil {
		return unavailable("close the log", err)
	}
	return nil
}

// run commits what waits, one group after the other: the queue that forms
// during a commit is the next group.
func (w *writer) run() {
	defer close(w.ended)
	for range w.wakeup {
		for w.runOnce() {
		}
		if w.isDone() {
			return
		}
	}
}

// runOnce does what waits, and reports whether anything did. What comes before
// its turn does belongs to it.
func (w *writer) runOnce() bool {
	runtime.Gosched() // whoever is about to append belongs to this group too
	w.connMu.Lock()
	defer w.connMu.Unlock()
	group, tasks := w.dequeue()
	for _, t := range tasks {
		w.state.reset()
		t.done <- t.do(w.conn)
	}
	if len(group) > 0 {
		w.commitGroup(group)
	}
	return len(group)+len(tasks) > 0
}

// isDone reports whether nothing will come any more.
func (w *writer) isDone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed && len(w.queue)+len(w.tasks) == 0
}

// dequeue takes what waits off the queue, except what its callers left.
func (w *writer) dequeue() (group []*pending, tasks []*task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := 0
	for _, p := range w.queue {
		if len(group) == maxGroup {
			break
		}
		taken++
		if p.state.CompareAndSwap(queued, included) {
			group = append(group, p)
		}
	}
	w.queue = w.queue[taken:]
	if len(w.queue) == 0 {
		w.queue = nil
	}
	tasks, w.tasks = w.tasks, nil
	return group, tasks
}

// commitGroup commits batches together. Each is judged in order and sees the earlier
// ones; one that conflicts fails alone. Nobody learns anything before the
// commit, since a conflict with a batch that was not committed is none.
//
// Nearly every conflict shows before the first write of its batch, so a group
// goes without savepoints at first. If one shows later, all is undone and done
// again with a savepoint for each batch.
func (w *writer) commitGroup(ps []*pending) {
	defer w.log.hub.endCommit()
	results := make([]result, len(ps))
	stored, err := w.transact(ps, results, (*writer).addUnsaved)
	if errors.Is(err, errNeedSavepoints) {
		stored, err = w.transact(ps, results, (*writer).addInSavepoint)
	}
	if err != nil {
		for i, p := range ps {
			if results[i].final {
				p.finish(nil, results[i].err)
				continue
			}
			p.finish(nil, err)
		}
		return
	}
	if hasErasure(ps) {
		w.log.eraseCommitted(w.conn)
		w.log.hub.resetWindow()
	} else {
		w.log.hub.addToWindow(stored.base, stored.events)
	}
	// Whoever appended is told first: it knows what others will ask it for.
	for i, p := range ps {
		p.batch.dropErased(results[i].events)
		p.finish(results[i].events, results[i].err)
	}
	failpoint.Hit("append.before-wake")
	w.log.hub.publish(stored.base, stored.events)
	failpoint.Hit("append.after-wake")
}

// errNeedSavepoints says that a batch conflicted when part of it was written already.
var errNeedSavepoints = errors.New("a batch conflicted after its first write")

// result is what became of one batch of a group.
type result struct {
	events []sayso.Event
	err    error
	final  bool // true whatever becomes of the group
}

// committed is what one group added to the log.
type committed struct {
	base   sayso.Seq // head before it
	events []sayso.Event
}

// transact runs one group in one transaction. On error nothing of the group is
// known to be in the log.
func (w *writer) transact(ps []*pending, results []result, one func(*writer, *preparedBatch) ([]sayso.Event, error),
) (a committed, err error) {
	failpoint.Hit("append.before-begin")
	begun := time.Now()
	if err := run(w.conn, `BEGIN IMMEDIATE`, nil); err != nil {
		return a, unavailable("append", err)
	}
	defer func() {
		if err != nil {
			w.rollback()
		}
	}()
	if err := w.state.begin(w.conn); err != nil {
		return a, unavailable("read the head of the log", err)
	}
	a.base = w.state.head.Seq
	a.events = make([]sayso.Event, 0, eventCount(ps))
	for i, p := range ps {
		if err := p.ctx.Err(); err != nil {
			results[i] = result{err: err, final: true}
			continue
		}
		events, err := one(w, &p.batch)
		if isGroupError(err) {
			return a, err
		}
		results[i] = result{events: events, err: err}
		a.events = append(a.events, events...)
	}
	failpoint.Hit("append.after-insert")
	if len(a.events) == 0 {
		w.rollback() // every batch conflicted with what is in the log
		return a, nil
	}
	failpoint.Hit("append.before-commit")
	w.log.hub.beginCommit(a.base)
	if err := w.commit(); err != nil {
		return a, err
	}
	failpoint.Hit("append.after-commit")
	if tell := w.log.onCommit.Load(); tell != nil {
		(*tell)(len(ps), time.Since(begun))
	}
	return a, nil
}

// TellCommits has tell called for each commit of this process from now on: how many
// appends it took together, and how long it took. The next commit waits for it.
func (l *Log) TellCommits(tell func(appends int, took time.Duration)) { l.onCommit.Store(&tell) }

// eventCount is how many events batches have together.
func eventCount(ps []*pending) (n int) {
	for _, p := range ps {
		n += len(p.batch.events)
	}
	return n
}

// isGroupError reports whether an error is that of the group and not of one batch.
func isGroupError(err error) bool { return err != nil && !isBatchError(err) }

// addUnsaved adds one batch. A conflict that shows after its first write is
// [errNeedSavepoints].
func (w *writer) addUnsaved(b *preparedBatch) ([]sayso.Event, error) {
	events, wrote, err := w.state.add(w.conn, b)
	switch {
	case err == nil:
		return events, nil
	case !isBatchError(err):
		return nil, unavailable("append", err)
	case wrote:
		return nil, errNeedSavepoints
	}
	return nil, err
}

// addInSavepoint adds one batch in a savepoint of its own. Errors that are verdicts on
// the batch leave the transaction as it was before.
func (w *writer) addInSavepoint(b *preparedBatch) ([]sayso.Event, error) {
	if err := run(w.conn, `SAVEPOINT batch`, nil); err != nil {
		return nil, unavailable("append", err)
	}
	events, _, verdict := w.state.add(w.conn, b)
	if verdict != nil && !isBatchError(verdict) {
		return nil, unavailable("append", verdict)
	}
	if verdict != nil {
		events = nil
		if err := run(w.conn, `ROLLBACK TO batch`, nil); err != nil {
			return nil, unavailable("append", err)
		}
	}
	if err := run(w.conn, `RELEASE batch`, nil); err != nil {
		return nil, unavailable("append", err)
	}
	return events, verdict
}

// commit commits, or finds out what became of a commit that reported an error:
// the transaction may be in the log all the same.
func (w *writer) commit() error {
	err := run(w.conn, `COMMIT`, nil)
	if err == nil {
		w.commits.Add(1)
		return nil
	}
	want := w.state.head
	w.rollback()
	got, readErr := readHead(w.conn)
	if readErr != nil {
		return fmt.Errorf("%w; whether the events are in the log is unknown", unavailable("commit", err))
	}
	if got == want {
		return nil
	}
	return unavailable("commit", err)
}

// rollback leaves the transaction, which SQLite may have left by itself.
func (w *writer) rollback() {
	w.state.reset()
	if !w.conn.AutocommitEnabled() {
		_ = run(w.conn, `ROLLBACK`, nil) // fails only where nothing is left to roll back
	}
}
