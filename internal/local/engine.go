package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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

	broker *broker.Broker
	mode   sayso.Mode // that was asked for

	mu       sync.Mutex // guards what follows
	hides    policy.Redaction
	redactor *redact.Redactor // made of it
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
	e := &Engine{Log: log, Policy: NewRules(paths), mode: o.Mode}
	e.broker, err = broker.New(log, e.Policy, &broker.Options{
		Ready: e.ready, Wanted: e.Policy.Wanted, Locked: paths.Locked, Opened: o.Opened, KeepContent: o.KeepContent,
		Mode: e.modeNow, ModeLimit: e.modeLimit, Loaded: e.Policy.Loaded, Redactor: e.redactorNow,
	})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return e, nil
}

// ready reports a policy that does not load: then it is not known whether a call
// may run.
func (e *Engine) ready() error {
	if err := e.Policy.Err(); err != nil {
		return fmt.Errorf("%w: the policy does not load: %w", sayso.ErrUnavailable, err)
	}
	return nil
}

// unavailable marks an error as one of not being able to tell.
func unavailable(err error) error {
	if errors.Is(err, sayso.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", sayso.ErrUnavailable, err)
}

// Redactor hides what the policy says now.
func (e *Engine) Redactor() *redact.Redactor { return e.redactorNow() }

// redactorNow hides what the policy says now.
func (e *Engine) redactorNow() *redact.Redactor {
	hides := e.Policy.Redaction()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.redactor == nil || !equal(hides, e.hides) {
		e.hides = hides
		e.redactor = redact.New(&redact.Options{Keys: hides.Names, MaxString: hides.MaxString, MaxItems: hides.MaxItems})
	}
	return e.redactor
}

// modeNow is the stricter of the mode that was asked for and the one that the
// policy names now.
func (e *Engine) modeNow() sayso.Mode {
	if e.mode == sayso.ModeStrict || e.Policy.Mode() == sayso.ModeStrict {
		return sayso.ModeStrict
	}
	return e.mode
}

// modeLimit is the laxest mode that may be set: a program that was started strict
// stays so.
func (e *Engine) modeLimit() sayso.Mode {
	if e.mode == sayso.ModeStrict {
		return sayso.ModeStrict
	}
	return e.Policy.ModeLimit()
}

// Door returns the gate and the inbox of a principal.
func (e *Engine) Door(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return e.Gate(a), e.Inbox(a) }

// Gate returns the gate of a requester.
func (e *Engine) Gate(a sayso.Actor) sayso.Gate {
	return e.broker.Gate(a)
}

// Inbox returns the inbox of a person or a requester.
func (e *Engine) Inbox(a sayso.Actor) sayso.Inbox { return e.broker.Inbox(a) }

// Sweep records what nobody was there to record.
func (e *Engine) Sweep(ctx context.Context) error { return e.broker.Sweep(ctx) }

// Run sweeps every few seconds until ctx ends.
func (e *Engine) Run(ctx context.Context) error { return e.broker.Run(ctx) }

// Switched records that somebody turned a switch of this machine.
func (e *Engine) Switched(ctx context.Context, by sayso.Actor, to sayso.Switch, d time.Duration) error {
	return e.broker.Switched(ctx, by, to, d)
}

// PolicyAccepted records that a person accepted the policy file of a project.
func (e *Engine) PolicyAccepted(ctx context.Context, by sayso.Actor, p sayso.PolicyLoaded) error {
	return e.broker.PolicyAccepted(ctx, by, p)
}

// Pins are the definitions of MCP servers that are trusted or in quarantine.
func (e *Engine) Pins(ctx context.Context) (sayso.Pins, error) { return e.broker.Pins(ctx) }

// Meet compares what an MCP server presents with what is trusted.
func (e *Engine) Meet(ctx context.Context, by sayso.Actor, server string, seen []sayso.Definition) ([]bool, error) {
	return e.broker.Meet(ctx, by, server, seen)
}

// Asked is the call that a request of this requester is about.
func (e *Engine) Asked(ctx context.Context, by sayso.Actor, id sayso.ID) (sayso.Call, error) {
	return e.broker.Asked(ctx, by, id)
}

// Elicitable is the request of a call that its client may put to its person.
func (e *Engine) Elicitable(ctx context.Context, by sayso.Actor, session, callID string) (sayso.Request, sayso.RequestedFull, error) {
	return e.broker.Elicitable(ctx, by, session, callID)
}

// Elicited records what that person answered there.
func (e *Engine) Elicited(ctx context.Context, by sayso.Actor, r sayso.Request, effect sayso.Effect, note string, took time.Duration) (sayso.Decision, error) {
	return e.broker.Elicited(ctx, by, r, effect, note, took)
}

// AcceptDefinition records that a person trusts a definition in quarantine.
func (e *Engine) AcceptDefinition(ctx context.Context, by sayso.Actor, server, tool string, shown sayso.Digest) error {
	return e.broker.AcceptDefinition(ctx, by, server, tool, shown)
}

// KeepDefinition records that a person was shown it, and that the trusted one stays.
func (e *Engine) KeepDefinition(ctx context.Context, by sayso.Actor, server, tool string, shown sayso.Digest) error {
	return e.broker.KeepDefinition(ctx, by, server, tool, shown)
}

// Close closes the broker, then its log.
func (e *Engine) Close() error { return errors.Join(e.broker.Close(), e.Log.Close()) }
