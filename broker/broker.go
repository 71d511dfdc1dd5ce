// Package broker is the engine of sayso: it stops calls, asks policy, waits for
// people, and lets exactly what was decided run, once.
//
// A [Broker] is a sayso.Gate and a sayso.Inbox over a sayso.Log and a
// sayso.Policy. The log is the only meeting point: Admit appends that a call was
// requested and waits until its stream grows; Answer appends what a person said;
// whoever waits reads it there, in this process or in another, before or after
// a restart. Nothing that runs is not in the log first, and every append names
// the length of the stream it was decided on, so of two that act at once one
// wins and the other reads again.
//
//	log := memory.New(nil)
//	b, err := broker.New(log, rules, nil)
//	...
//	gate := b.Gate(sayso.Actor{Principal: "my-agent", Kind: sayso.PrincipalTool})
//	d, err := gate.Admit(ctx, sayso.Admission{Call: call})
//
// Several brokers may work on one log, in one process or in many.
package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/boot"
	"github.com/sayso-dev/sayso/redact"
)

// Options change how a Broker works. The zero value is the default.
type Options struct {
	// Now is the clock; by default the machine's.
	Now func() sayso.Moment
	// Redactor returns what hides secrets; by default that with the default names
	// and limits. It is asked for each call and each answer, so that it may change.
	Redactor func() *redact.Redactor
	// MaxOpen is how many requests of one session may wait for people; 200 by
	// default.
	MaxOpen int
	// MaxAsks is how often one session may ask people within a minute; 120 by
	// default.
	MaxAsks int
	// KeepContent is how long the content of a request is kept after it ended;
	// 30 days by default, for ever if negative. What is older is erased by
	// [Broker.Sweep], on the record.
	KeepContent time.Duration
	// Mode returns the mode where none was set in the log; interactive by
	// default. It is asked whenever a call is judged, so that it may change. It
	// cannot approve all, which must have an end: approve_all counts as
	// interactive, and a word that is no mode as strict.
	Mode func() sayso.Mode
	// ModeLimit returns the laxest mode that may be in force now, whatever was set;
	// the zero one, and a nil function, are no limit.
	ModeLimit func() sayso.Mode
	// Wanted says which folders the policy in force names, for facts that were
	// gathered for another; by default none.
	Wanted func() sayso.FactsWanted
	// Ready reports why no call can be judged now, such as a policy that does not
	// load; nil while calls can be. While it does not, nothing is admitted and
	// nothing redeemed, and people can still look and deny.
	Ready func() error
	// Locked reports whether everything must be asked and no grant counts.
	Locked func() bool
	// Loaded says which policy is in force, for the record, and from which files;
	// false if none is. By default it is the version that the policy names.
	Loaded func() (sayso.PolicyLoaded, bool)
	// Opened is called when a request begins to wait for people. It must return
	// at once.
	Opened func(sayso.Request)
}

// Broker is a gate and an inbox over a log. Its methods may be called from many
// goroutines.
type Broker struct {
	log    sayso.Log
	policy sayso.Policy
	o      Options

	sessions     sessionCache
	grants       grantCache
	requests     requestCache
	tail         sharedTail
	limiter      askLimiter
	publicEvents publicCache
	pins         pinCache
	linkIndex    linkIndex

	retention retention

	mu           sync.Mutex // guards what follows
	lease        sayso.Lease
	recorded     sayso.Moment // of the newest event that was seen
	loggedPolicy string       // the version of the policy that the log was last asked about
}

// New returns a broker over a log and a policy. The caller closes the log
// after the broker.
func New(log sayso.Log, policy sayso.Policy, opts *Options) (*Broker, error) {
	if log == nil || policy == nil {
		return nil, fmt.Errorf("%w: a broker needs a log and a policy", sayso.ErrInvalid)
	}
	b := &Broker{log: log, policy: policy}
	if opts != nil {
		b.o = *opts
	}
	if b.o.Now == nil {
		b.o.Now = now
	}
	if b.o.Redactor == nil {
		r := redact.New(nil)
		b.o.Redactor = func() *redact.Redactor { return r }
	}
	if b.o.MaxOpen <= 0 {
		b.o.MaxOpen = 200
	}
	if b.o.MaxAsks <= 0 {
		b.o.MaxAsks = 120
	}
	if b.o.KeepContent == 0 {
		b.o.KeepContent = defaultKeepContent
	}
	if b.o.Mode == nil {
		b.o.Mode = func() sayso.Mode { return sayso.ModeInteractive }
	}
	if b.o.ModeLimit == nil {
		b.o.ModeLimit = func() sayso.Mode { return "" }
	}
	if b.o.Wanted == nil {
		b.o.Wanted = func() sayso.FactsWanted { return sayso.FactsWanted{} }
	}
	if b.o.Ready == nil {
		b.o.Ready = func() error { return nil }
	}
	if b.o.Locked == nil {
		b.o.Locked = func() bool { return false }
	}
	if b.o.Loaded == nil {
		b.o.Loaded = func() (sayso.PolicyLoaded, bool) {
			version := policy.Version()
			return sayso.PolicyLoaded{Policy: version}, version != ""
		}
	}
	if b.o.Opened == nil {
		b.o.Opened = func(sayso.Request) {}
	}
	return b, nil
}

// Close gives the broker's lease back: requests that it waited for count as
// parked from then on.
func (b *Broker) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lease == nil {
		return nil
	}
	err := b.lease.Release()
	b.lease = nil
	return err
}

// Gate returns the gate for one requester.
func (b *Broker) Gate(a sayso.Actor) sayso.Gate { return &gate{b, a} }

// Inbox returns the inbox for one person, viewer or requester.
func (b *Broker) Inbox(a sayso.Actor) sayso.Inbox { return inbox{b, a} }

// gate acts for one requester.
type gate struct {
	b     *Broker
	actor sayso.Actor
}

// inbox acts for one person.
type inbox struct {
	b     *Broker
	actor sayso.Actor
}

// now is the machine's clock. Where the boot clock cannot be read the moment
// has none, and is then compared by the wall clock.
func now() sayso.Moment {
	m := sayso.Moment{Wall: time.Now().UTC()}
	if id, since, err := boot.Now(); err == nil {
		m.Boot, m.Since = id, since
	}
	return m
}

// clock returns now and the newest moment that the log recorded, as far as this
// process has seen it. The second counts only for ages across boots; see
// sayso.Elapsed. Whoever compares now with what stands in the log reads the log
// first: what others append after the clock was read would seem to come from
// the future, which is how a clock in doubt looks.
func (b *Broker) clock(ctx context.Context) (now, recorded sayso.Moment, err error) {
	b.mu.Lock()
	recorded = b.recorded
	b.mu.Unlock()
	if recorded.Wall.IsZero() {
		if recorded, err = b.readHead(ctx); err != nil {
			return now, recorded, err
		}
	}
	return b.o.Now(), recorded, nil
}

// readHead reads the head of the log.
func (b *Broker) readHead(ctx context.Context) (sayso.Moment, error) {
	head, err := b.log.Head(ctx)
	if err != nil {
		return sayso.Moment{}, fmt.Errorf("reading the head of the log: %w", err)
	}
	b.noteRecorded(head.At)
	return head.At, nil
}

// noteRecorded remembers the newest moment that was seen in the log.
func (b *Broker) noteRecorded(m sayso.Moment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.Wall.After(b.recorded.Wall) {
		b.recorded = m
	}
}

// holder returns the name of this process's lease, taking it when it is needed
// first. One lease serves all waiters of a process: they die together.
func (b *Broker) holder(ctx context.Context) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lease == nil {
		lease, err := b.log.Hold(ctx)
		if err != nil {
			return "", fmt.Errorf("taking a lease: %w", err)
		}
		b.lease = lease
	}
	return b.lease.Name(), nil
}

// isHeld reports whether whoever waits under a lease lives. Not known counts as
// alive: nobody else then takes the request up.
func (b *Broker) isHeld(ctx context.Context, name string) bool {
	if name == "" {
		return false
	}
	ok, err := b.log.Held(ctx, name)
	return ok || err != nil
}

func newID(at time.Time) sayso.ID { return sayso.NewID(at, random()) }

func random() (r [16]byte) {
	rand.Read(r[:]) // never fails: it ends the process instead
	return r
}

// load reads a request.
func (b *Broker) load(ctx context.Context, id sayso.ID) (sayso.Request, error) {
	return b.read(ctx, sayso.RequestStream(id))
}

func (b *Broker) read(ctx context.Context, stream string) (sayso.Request, error) {
	events, err := b.log.Stream(ctx, stream, 0)
	if err != nil {
		return sayso.Request{}, fmt.Errorf("reading %s: %w", stream, err)
	}
	return sayso.Fold(events)
}

// maxAttempts is how often an append is decided anew because somebody else was first.
// Each try loses to an append that succeeded, so this many means a storm.
const maxAttempts = 64

var errContention = fmt.Errorf("%w: too many others append at once", sayso.ErrUnavailable)

// isConflict reports whether an append lost to another, and is worth deciding
// anew.
func isConflict(err error) bool {
	var used errUsedID
	return errors.Is(err, sayso.ErrConflict) && !errors.As(err, &used)
}
