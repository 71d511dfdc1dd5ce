package tool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/facts"
)

// Terms say how calls are put to a gate. The zero Terms are usable.
type Terms struct {
	// Call is what the program knows of every call: session, run, directory,
	// caller, tags. It fills what a call leaves empty.
	Call sayso.Call
	// Patience is how long a call waits for people; zero waits until there is a
	// decision.
	Patience time.Duration
	// Strict denies what would be asked about, whatever the mode.
	Strict bool
	// Workspace is the root of the project. If it is empty it is looked for from
	// the call's directory.
	Workspace string
	// State lists the folders of sayso itself, where it is on this machine.
	State []string
	// Home is the person's folder, which is never taken for a project.
	Home string
	// Roots are the folders that the policy names, as it writes them: where they
	// lead is looked up here. A policy asks where it does not know. A gate that
	// says itself which folders its policy names need not be told.
	Roots []string
}

// complete fills what a call leaves empty.
func (t *Terms) complete(c sayso.Call) sayso.Call {
	for _, f := range [...]struct{ to, from *string }{
		{&c.Host, &t.Call.Host}, {&c.Server, &t.Call.Server}, {&c.Cwd, &t.Call.Cwd}, {&c.Session, &t.Call.Session},
		{&c.Run, &t.Call.Run}, {&c.CallID, &t.Call.CallID}, {&c.Caller, &t.Call.Caller}, {&c.Description, &t.Call.Description},
		{&c.GroupID, &t.Call.GroupID}, {&c.DefinitionDigest, &t.Call.DefinitionDigest},
	} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	if c.Kind == "" {
		c.Kind = t.Call.Kind
	}
	if c.Tags == nil {
		c.Tags = t.Call.Tags
	}
	if c.Metadata == nil {
		c.Metadata = t.Call.Metadata
	}
	if c.Annotations == nil {
		c.Annotations = t.Call.Annotations
	}
	if len(c.Args) == 0 {
		c.Args = sayso.Args("{}")
	}
	return c
}

// facts gathers what policy must know of a part.
func (t *Terms) facts(ctx context.Context, p *part, want sayso.FactsWanted) sayso.Facts {
	f := facts.Gather(ctx, p.call, facts.Options{
		Workspace: t.Workspace, State: t.State, Home: t.Home, Roots: want.Roots, Policy: want.Policy,
	})
	if p.cwd != "" {
		f.Cwd = p.cwd
	}
	if p.operands != nil {
		f.Operands = p.operands
	}
	return f
}

// StoppedError says that a call did not run, and why: it was denied, there is
// no decision, or what it is about has changed since. Its text is what an agent
// is told. An error that is no StoppedError is of the run itself.
type StoppedError struct {
	Decision sayso.Decision // that stands, if there is one
	Err      error          // nil for a denial
}

func (e *StoppedError) Error() string {
	if e.Err != nil && e.Decision.Allowed() && errors.Is(e.Err, sayso.ErrMismatch) {
		return "Changed (ticket " + e.Decision.Request.Short() + "): " + e.Err.Error() +
			". It is not what was approved any more, and nothing ran. Look at it again, and make the call anew."
	}
	if e.Err == nil && e.Decision.Allowed() {
		return "Could not find out whether this call may run, so it does not."
	}
	return sayso.Told(e.Decision, e.Err)
}

// Unwrap returns what went wrong, or sayso.ErrNotAllowed for a denial.
func (e *StoppedError) Unwrap() error {
	if e.Err == nil {
		return sayso.ErrNotAllowed
	}
	return e.Err
}

// Run takes one call through a gate: it is admitted, which may take people; its
// receipt is redeemed against the very call that runs; run gets that call, with
// edited arguments where a person edited them; and what became of it is
// reported, also when run panics or ctx has ended. After an error of the gate
// run is not called, and the error is a [*StoppedError].
//
// It is for loops and frameworks that have their own idea of a tool; [Guard]
// and [Wrap] are made of the same. The members Immediate and CanEdit of the
// admission are not looked at: the receipt is always redeemed last, and edited
// arguments are always taken. Without facts they are gathered; without an ask,
// and without Asking, the tool asks with the call as its description.
func Run[T any](ctx context.Context, gate sayso.Gate, a sayso.Admission, run func(context.Context, sayso.Call) (T, error)) (T, error) {
	var out T
	g := guard{gate: gate, terms: Terms{Call: sayso.Call{}, Patience: a.Patience, Strict: a.Strict}}
	p := &plan{parts: []part{{call: g.terms.complete(a.Call)}}}
	if a.Ask != nil {
		p.parts[0].ask = &Ask{*a.Ask, a.Present}
	} else if !a.Asking {
		p.parts[0].ask = &Ask{ToolAsk: sayso.ToolAsk{Required: true}, Present: a.Present}
	}
	if !a.Facts.Equal(sayso.Facts{}) {
		g.given = &a.Facts
	}
	again := func(_ context.Context, c sayso.Call) (*plan, error) {
		p.parts[0].call = c
		return p, nil
	}
	p.run = func(ctx context.Context) (r Result, err error) {
		out, err = run(ctx, p.parts[0].call)
		return resultOf(out), err
	}
	_, _, err := g.pass(ctx, p, again)
	if err != nil {
		return out, err
	}
	return out, nil
}

// guard puts plans to a gate.
type guard struct {
	gate  sayso.Gate
	terms Terms
	given *sayso.Facts // instead of gathered ones
}

var errNoGate = fmt.Errorf("%w: no gate was given", sayso.ErrUnavailable)

// admitted is a part that may run.
type admitted struct {
	part     part
	facts    sayso.Facts
	wanted   sayso.FactsWanted // what they were gathered for
	decision sayso.Decision
}

// pass takes a plan through the gate and runs it. again plans anew, for edited
// arguments.
func (g *guard) pass(ctx context.Context, p *plan, again func(context.Context, sayso.Call) (*plan, error)) (r Result, next *plan, err error) {
	if g.gate == nil {
		p.end()
		return r, nil, &StoppedError{Err: errNoGate}
	}
	ready, p, err := g.admit(ctx, p, again)
	defer func() { p.end() }()
	if err == nil {
		err = g.redeem(ctx, p, ready)
	}
	if err != nil {
		return r, nil, err
	}
	o := outcome{g: g, ready: ready, failed: true, from: time.Now()}
	defer o.report(ctx)
	r, err = p.do(ctx)
	o.of(ctx, r, err)
	if err != nil {
		return r, nil, err
	}
	return p.after(ctx, r)
}

// admit asks about each part. What was allowed is withdrawn again if not all of
// it may run.
func (g *guard) admit(ctx context.Context, p *plan, again func(context.Context, sayso.Call) (*plan, error)) ([]admitted, *plan, error) {
	var ready []admitted
	edit := again != nil && len(p.parts) == 1
	for i := range p.parts {
		part := p.parts[i]
		if part.joint && answered(ready) {
			part.ask = nil
		}
		a, err := g.ask(ctx, &part, edit)
		if err == nil && len(a.decision.Args) > 0 {
			p, err = g.edited(ctx, &a, p, again)
		}
		if err != nil {
			g.withdraw(ctx, ready, "another part of it does not run")
			return nil, p, err
		}
		ready = append(ready, a)
	}
	return ready, p, nil
}

// answered reports whether a person was asked about the part before, who saw what
// the others are, and said yes. Rules and remembered answers know nothing of them.
func answered(ready []admitted) bool {
	return len(ready) > 0 && ready[len(ready)-1].decision.Source == sayso.SourcePerson
}

// ask admits one part.
func (g *guard) ask(ctx context.Context, p *part, edit bool) (admitted, error) {
	a := admitted{part: *p}
	a.wanted.Roots = g.terms.Roots
	if a.facts = g.terms.facts(ctx, p, a.wanted); g.given != nil {
		a.facts = *g.given
	}
	ad := sayso.Admission{
		Call: p.call, Facts: a.facts, Asking: true, Patience: g.terms.Patience, Strict: g.terms.Strict, CanEdit: edit,
	}
	if g.given == nil {
		ad.Gather = func(ctx context.Context, want sayso.FactsWanted) (sayso.Facts, error) {
			a.wanted, a.facts = want, g.terms.facts(ctx, p, want)
			return a.facts, nil
		}
	}
	if p.ask != nil {
		ask := p.ask.ToolAsk
		if ask.Description == "" {
			ask.Description = describe(p.call)
		}
		ad.Ask, ad.Present = &ask, p.ask.Present
	}
	var err error
	a.decision, err = g.gate.Admit(ctx, ad)
	if err != nil || !a.decision.Allowed() {
		return a, &StoppedError{Decision: a.decision, Err: err}
	}
	return a, nil
}

// edited plans anew with the arguments that a person put in the place of the
// caller's.
func (g *guard) edited(ctx context.Context, a *admitted, p *plan, again func(context.Context, sayso.Call) (*plan, error)) (*plan, error) {
	if again == nil || len(p.parts) != 1 {
		err := fmt.Errorf("%w: edited arguments for a call that takes none", sayso.ErrMismatch)
		g.withdraw(ctx, []admitted{*a}, "the arguments cannot be edited")
		return p, &StoppedError{a.decision, err}
	}
	p.end()
	p.close = nil
	c := a.part.call
	c.Args = a.decision.Args
	anew, err := again(ctx, c)
	if err == nil && len(anew.parts) != 1 {
		anew.end()
		err = fmt.Errorf("%w: with edited arguments the call is another", sayso.ErrMismatch)
	}
	if err != nil {
		g.withdraw(ctx, []admitted{*a}, "the edited arguments cannot be used")
		return p, &StoppedError{a.decision, fmt.Errorf("with the edited arguments: %w", err)}
	}
	a.part = anew.parts[0]
	if g.given == nil {
		a.facts = g.terms.facts(ctx, &a.part, a.wanted)
	}
	return anew, nil
}

// redeem looks whether all is as it was when people were asked, and spends the
// receipts.
func (g *guard) redeem(ctx context.Context, p *plan, ready []admitted) error {
	for i := range ready {
		if err := g.unmoved(ctx, p, &ready[i]); err != nil {
			g.withdraw(ctx, ready, "what it is about has changed")
			return &StoppedError{ready[i].decision, err}
		}
	}
	for i, a := range ready {
		if err := g.gate.Redeem(ctx, a.decision.Receipt, a.part.call); err != nil {
			g.withdraw(ctx, ready[i+1:], "another part of it does not run")
			g.unrun(ctx, ready[:i])
			return &StoppedError{a.decision, err}
		}
	}
	return nil
}

// unmoved reports whether the call is the one that was allowed, and what it
// names is still what it was.
func (g *guard) unmoved(ctx context.Context, p *plan, a *admitted) error {
	digest, err := a.part.call.Digest()
	if err != nil {
		return err
	}
	if digest != a.decision.Digest || digest != a.decision.Receipt.Digest {
		return fmt.Errorf("%w: the decision is about another call", sayso.ErrMismatch)
	}
	if g.given == nil && !g.terms.facts(ctx, &a.part, a.wanted).Equal(a.facts) {
		return fmt.Errorf("%w: what the call names has changed", sayso.ErrMismatch)
	}
	if p.still != nil {
		return p.still()
	}
	return nil
}

// withdraw takes approvals back that are not going to be used. If that fails
// they lapse by themselves, and no call but this one could have used them.
func (g *guard) withdraw(ctx context.Context, ready []admitted, why string) {
	ctx, cancel := enforce.Late(ctx)
	defer cancel()
	for _, a := range ready {
		_ = g.gate.Withdraw(ctx, a.decision.Request, why)
	}
}

// unrun reports parts that were redeemed for a call that did not run after all.
func (g *guard) unrun(ctx context.Context, ready []admitted) {
	o := outcome{g: g, ready: ready, failed: true, from: time.Now()}
	o.report(ctx)
}

// outcome is what became of a call. Until it is known, it failed: that is what
// is reported of a run that panics.
type outcome struct {
	g         *guard
	ready     []admitted
	from      time.Time
	failed    bool
	interrupt bool
	exit      *int
	output    sayso.Digest
}

// of takes down how a run ended.
func (o *outcome) of(ctx context.Context, r Result, err error) {
	o.failed = err != nil || r.Exit != nil && *r.Exit != 0
	o.interrupt = ctx.Err() != nil
	o.exit = r.Exit
	if err == nil {
		o.output = sha256.Sum256([]byte(r.Text))
	}
}

// report tells the gate. A report that does not arrive loses nothing but
// itself: the log then says that the outcome is not known, which is true.
func (o *outcome) report(ctx context.Context) {
	ctx, cancel := enforce.Late(ctx)
	defer cancel()
	for _, a := range o.ready {
		_ = o.g.gate.Report(ctx, sayso.Outcome{
			Request: a.decision.Request, Failed: o.failed, Interrupt: o.interrupt, ExitStatus: o.exit, Output: o.output,
			Took: time.Since(o.from), Args: a.part.call.Args,
		})
	}
}
