package local

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/redact"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// Engine is a broker on the database of this machine.
type Engine struct {
	Log    *sqlite.Log
	Policy *Rules

	o      broker.Options
	mode   sayso.Mode // that was asked for
	mu     sync.Mutex // guards what follows
	hides  policy.Redaction
	broker *broker.Broker
	older  []*broker.Broker // that hid other things; their waiters still wait
}

// OpenEngine opens the database, with the policy of its home. A policy that
// does not load is no error: requests can still be looked at and denied, and
// nothing is allowed.
func OpenEngine(ctx context.Context, paths home.Paths, o Options) (*Engine, error) {
	if err := paths.Make(); err != nil {
		return nil, unavailable(err)
	}
	log, err := sqlite.Open(ctx, paths.Database(), &sqlite.Options{Checkpoint: o.Checkpoint})
	if err != nil {
		return nil, unavailable(err)
	}
	e := &Engine{
		Log: log, Policy: NewRules(paths), mode: o.Mode,
		o: broker.Options{Locked: paths.Locked, Opened: o.Opened},
	}
	e.o.Mode = e.modeNow
	if _, err := e.Broker(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return e, nil
}

// unavailable marks an error as one of not being able to tell.
func unavailable(err error) error {
	if errors.Is(err, sayso.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", sayso.ErrUnavailable, err)
}

// Broker returns the broker. When the policy changes what is hidden, there is a
// new one.
func (e *Engine) Broker() (*broker.Broker, error) {
	hides := e.Policy.Redaction()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broker != nil && equal(hides, e.hides) {
		return e.broker, nil
	}
	o := e.o
	o.Redactor = redact.New(&redact.Options{Keys: hides.Names, MaxString: hides.MaxString, MaxItems: hides.MaxItems})
	b, err := broker.New(e.Log, e.Policy, &o)
	if err != nil {
		return nil, err
	}
	if e.broker != nil {
		e.older = append(e.older, e.broker)
	}
	e.broker, e.hides = b, hides
	return b, nil
}

// modeNow is the stricter of the mode that was asked for and the one that the
// policy names now.
func (e *Engine) modeNow() sayso.Mode {
	if e.mode == sayso.ModeStrict || e.Policy.Mode() == sayso.ModeStrict {
		return sayso.ModeStrict
	}
	return e.mode
}

// Door returns the gate and the inbox of a principal.
func (e *Engine) Door(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return e.Gate(a), e.Inbox(a) }

// Gate returns the gate of a requester.
func (e *Engine) Gate(a sayso.Actor) sayso.Gate {
	return judged{e.current().Gate(a), e.Policy}
}

// Inbox returns the inbox of a person or a requester.
func (e *Engine) Inbox(a sayso.Actor) sayso.Inbox { return e.current().Inbox(a) }

// current is the broker as the policy wants it now. A new one cannot fail where
// the first did not: it is made of the same parts.
func (e *Engine) current() *broker.Broker {
	b, err := e.Broker()
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.broker
	}
	return b
}

// Sweep records what nobody was there to record.
func (e *Engine) Sweep(ctx context.Context) error { return e.current().Sweep(ctx) }

// Run sweeps every few seconds until ctx ends.
func (e *Engine) Run(ctx context.Context) error { return e.current().Run(ctx) }

// Close closes the broker, then its log.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	errs := []error{e.broker.Close()}
	for _, b := range e.older {
		errs = append(errs, b.Close())
	}
	return errors.Join(append(errs, e.Log.Close())...)
}
