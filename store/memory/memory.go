// Package memory keeps the log in memory: for tests, and for programs that
// embed a gate without a disk.
//
// It keeps every promise of [sayso.Log] but the one that events outlive the
// process: when Append returns nil, they are as stable as the process is. It
// uses a mutex and channels and nothing else, so it works inside
// testing/synctest.
package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
)

// Options change how a log behaves. The zero Options are fine.
type Options struct {
	// Fail is asked before each append; when it returns an error, Append
	// returns that error and adds nothing. It stands for a disk that is full or
	// gone. It is called with the log locked and must not call it. Default: nil,
	// nothing fails.
	Fail func(sayso.Batch) error
}

// Log is a handle on events in memory. It may be used from many goroutines.
type Log struct {
	*store
	opts   Options
	closed chan struct{} // closed by Close
	once   sync.Once
}

var _ sayso.Log = (*Log)(nil)

// store is what the handles on one log share.
type store struct {
	mu       sync.Mutex // guards everything below
	head     sayso.Head
	events   []sayso.Event
	streams  map[string]*stream
	keys     map[string]string
	requests requests
	grants   grants
	leases   map[string]*Log // who holds which
	lastName int
	waiters  map[string]*waiter // by stream; the log as a whole is ""
}

// stream is what is known of one stream.
type stream struct {
	at       []int // indexes of its events
	terminal bool  // it has a terminal event
	spent    bool  // it has a spending event
}

// New returns an empty log. A nil opts is the zero Options.
func New(opts *Options) *Log {
	if opts == nil {
		opts = &Options{}
	}
	return open(*opts, &store{
		streams:  map[string]*stream{},
		keys:     map[string]string{},
		requests: newRequests(),
		grants:   grants{byStream: map[string]*grant{}, byKey: map[sayso.Digest][]*grant{}},
		leases:   map[string]*Log{},
		waiters:  map[string]*waiter{},
	})
}

func open(opts Options, s *store) *Log {
	return &Log{store: s, opts: opts, closed: make(chan struct{})}
}

// Join returns another handle on the same events, as another process would
// have: closing one leaves the others open and frees its own leases alone.
func (l *Log) Join() *Log { return open(l.opts, l.store) }

// Close ends this handle: its waiters return [sayso.ErrUnavailable], its leases
// are free. The events stay for the other handles.
func (l *Log) Close() error {
	l.once.Do(func() { close(l.closed) })
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, holder := range l.leases {
		if holder == l {
			delete(l.leases, name)
		}
	}
	return nil
}

// usable reports why nothing can be asked of the handle now.
func (l *Log) usable(ctx context.Context) error {
	select {
	case <-l.closed:
		return fmt.Errorf("%w: the log was closed", sayso.ErrUnavailable)
	default:
		return ctx.Err()
	}
}

// Append adds a batch; see [sayso.Log].
func (l *Log) Append(ctx context.Context, b sayso.Batch) ([]sayso.Event, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if err := l.check(b); err != nil {
		return nil, err
	}
	p, err := l.place(b)
	if err != nil {
		return nil, err
	}
	if l.opts.Fail != nil {
		if err := l.opts.Fail(b); err != nil {
			return nil, err
		}
	}
	first := len(l.events)
	l.commit(p, b)
	return clones(l.events[first:]), nil
}

// check reports what the log already holds that b contradicts.
func (s *store) check(b sayso.Batch) error {
	for name, want := range b.Expect {
		if got := s.length(name); want != sayso.AnyLength && want != got {
			return fmt.Errorf("%w: stream %s has %d events, not %d", sayso.ErrConflict, name, got, want)
		}
	}
	if s.holds(b.Absent) {
		return fmt.Errorf("%w: session %s has a request for the same call, or a grant", sayso.ErrConflict, b.Absent.Session)
	}
	seen := make(map[string]bool, len(b.Keys))
	for _, k := range b.Keys {
		if _, taken := s.keys[k.Name]; taken || seen[k.Name] {
			return fmt.Errorf("%w: a key of stream %s is taken", sayso.ErrConflict, k.Stream)
		}
		seen[k.Name] = true
	}
	return nil
}

func (s *store) length(name string) int {
	if st, ok := s.streams[name]; ok {
		return len(st.at)
	}
	return 0
}

// placed is a batch that is ready to become part of the log.
type placed struct {
	head     sayso.Head
	events   []sayso.Event
	streams  map[string]*stream
	requests map[string]*sayso.Row
	grants   map[string]*grant
}

// place gives the events of b their places and works out all that they change,
// without changing anything yet.
func (s *store) place(b sayso.Batch) (*placed, error) {
	p := &placed{
		head: s.head, events: clones(b.Events), streams: map[string]*stream{},
		requests: map[string]*sayso.Row{}, grants: map[string]*grant{},
	}
	for i := range p.events {
		e := &p.events[i]
		st := s.staged(p, e.Stream)
		if (e.Type.Terminal() && st.terminal) || (e.Type.Spends() && st.spent) {
			return nil, fmt.Errorf("%w: stream %s has an event like %s", sayso.ErrConflict, e.Stream, e.Type)
		}
		st.at = append(st.at, len(s.events)+i)
		st.terminal = st.terminal || e.Type.Terminal()
		st.spent = st.spent || e.Type.Spends()
		e.Pos = len(st.at)
		p.head = e.Chain(p.head)
		if err := s.project(p, e); err != nil {
			return nil, fmt.Errorf("%w: %s of %s: %w", sayso.ErrInvalid, e.Type, e.Stream, err)
		}
	}
	return p, nil
}

// staged returns the stream as the batch has left it so far.
func (s *store) staged(p *placed, name string) *stream {
	if st, ok := p.streams[name]; ok {
		return st
	}
	st := &stream{}
	if old, ok := s.streams[name]; ok {
		*st = *old
		st.at = slices.Clip(old.at)
	}
	p.streams[name] = st
	return st
}

// commit makes the batch part of the log and wakes whom it concerns.
func (s *store) commit(p *placed, b sayso.Batch) {
	s.head = p.head
	s.events = append(s.events, p.events...)
	for _, k := range b.Keys {
		s.keys[k.Name] = k.Stream
	}
	s.keep(p)
	for _, id := range b.Erase {
		s.erase(id)
	}
	for name, st := range p.streams {
		s.streams[name] = st
		s.wake(name)
	}
	s.wake("")
}

// erase empties the content of everything about a request.
func (s *store) erase(id sayso.ID) {
	for i := range s.events {
		e := &s.events[i]
		if e.RequestID != id {
			continue
		}
		e.Content, e.Salt = nil, nil
		if e.Type == sayso.EventGrantCreated {
			s.forgetGrant(e.Stream)
		}
	}
	if w := s.requests.byID[id]; w != nil {
		w.Digest = sayso.Digest{}
	}
}

// Stream returns the events of a stream; see [sayso.Log].
func (l *Log) Stream(ctx context.Context, name string, after int) ([]sayso.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	return l.stream(name, after), nil
}

func (s *store) stream(name string, after int) []sayso.Event {
	st, ok := s.streams[name]
	after = max(after, 0)
	if !ok || after >= len(st.at) {
		return nil
	}
	out := make([]sayso.Event, 0, len(st.at)-after)
	for _, i := range st.at[after:] {
		out = append(out, clone(s.events[i]))
	}
	return out
}

// Since returns events after a position; see [sayso.Log]. A limit of zero is
// none.
func (l *Log) Since(ctx context.Context, after sayso.Seq, limit int) ([]sayso.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	rest := l.events[min(after, sayso.Seq(len(l.events))):]
	if limit > 0 {
		rest = rest[:min(limit, len(rest))]
	}
	return clones(rest), nil
}

// Head returns the end of the log; see [sayso.Log].
func (l *Log) Head(ctx context.Context) (sayso.Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return sayso.Head{}, err
	}
	return l.head, nil
}

// Lookup returns the stream that holds a key; see [sayso.Log].
func (l *Log) Lookup(ctx context.Context, key string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return "", err
	}
	name, ok := l.keys[key]
	if !ok {
		return "", fmt.Errorf("%w: no stream holds this key", sayso.ErrNotFound)
	}
	return name, nil
}

func clones(events []sayso.Event) []sayso.Event {
	out := make([]sayso.Event, len(events))
	for i := range events {
		out[i] = clone(events[i])
	}
	return out
}

// clone shares no bytes with e, and holds of it what a log keeps: no monotonic
// clock, no time zone, of the actor no more than who acted, and no memo, which
// would outlive the erasure of the content.
func clone(e sayso.Event) sayso.Event {
	e.Payload, e.Content, e.Salt = slices.Clone(e.Payload), slices.Clone(e.Content), slices.Clone(e.Salt)
	e.At.Wall = e.At.Wall.UTC().Round(0)
	e.Actor.Owner, e.Actor.Approvers, e.Memo = "", nil, nil
	return e
}
