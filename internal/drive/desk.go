// Package drive is what drives a host that asks its client whether a call may
// run: the driver starts the host, and puts what the host asks to the gate.
//
// What every driver and relay needs is here once:
//
//   - the host as a process that does not outlive us, and its lines: packages
//     internal/child and internal/lines;
//   - the gate, with the facts of this machine, many calls at once, each answered
//     once and only while the host still waits: [Desk].
//
// What a host's messages mean is in its own package (agent/HOST), as pure functions
// that are tested against recorded payloads. A driver is then little more than a
// loop over the lines of the host: a question goes to [Desk.Ask] with a function
// that writes the answer, a question that the host takes back to [Desk.Withdraw],
// and how a call ended to [Desk.Ended].
//
// It fails closed: a host that gets no answer waits, and one whose driver is gone
// is gone with it. A question that cannot be read strictly is answered with the
// host's own word for no, and never with silence that means yes.
package drive

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/facts"
)

// atOnce is how long a call that no person is asked about may take.
const atOnce = 300 * time.Millisecond

// Options say what a desk works with. Gate is required.
type Options struct {
	Gate sayso.Gate
	// Inbox is where the requests of the gate's principal are found, so that one is
	// withdrawn without being taken up first; nil for nowhere.
	Inbox sayso.Inbox
	// Facts say where calls run.
	Facts facts.Options
	// Wanted says which folders the policy in force names; nil for none.
	Wanted func() sayso.FactsWanted
	// Patience is how long a call waits for people; zero until there is a decision.
	Patience time.Duration
	// Plain makes the text of an error fit for an agent; nil leaves it.
	Plain func(error) error
	// Waits is told of a call that was not decided at once: people are asked, or the
	// gate is slow. Nil for nobody.
	Waits func(sayso.Call)
}

// Question is a call that a host waits with.
type Question struct {
	// Key is the host's own name for the question, unique among those that wait.
	Key  string
	Call sayso.Call
	// CanEdit says that the host takes other arguments than it asked about.
	CanEdit bool
	// Present makes what a person is shown; nil shows the arguments.
	Present func(sayso.Facts) *sayso.Presentation
	// First is what is waited for before the gate is asked; nil for nothing. An error
	// of it is the answer.
	First func(context.Context) error
	// Answer tells the host, once, and never after the question was withdrawn.
	// Everything but a decision that allows, without an error, is a no; see
	// sayso.Told. If it fails, the host did not hear a yes.
	Answer func(sayso.Decision, error) error
	// Over is called once when the question waits no more, answered or not; nil for
	// nobody.
	Over func()
}

// Desk puts the questions of a host to the gate. Its methods may be called at
// once.
type Desk struct {
	o Options

	mu      sync.Mutex // guards what follows
	waiting map[string]*waiting
	runs    runs
	closed  bool
	asking  sync.WaitGroup
}

// waiting is a question that is not answered.
type waiting struct {
	cancel context.CancelFunc
	reason string // why it was withdrawn; empty while it was not
}

// NewDesk returns a desk before a gate.
func NewDesk(o Options) *Desk {
	if o.Wanted == nil {
		o.Wanted = func() sayso.FactsWanted { return sayso.FactsWanted{} }
	}
	if o.Waits == nil {
		o.Waits = func(sayso.Call) {}
	}
	if o.Plain == nil {
		o.Plain = func(err error) error { return err }
	}
	return &Desk{o: o, waiting: map[string]*waiting{}}
}

// Ask puts a question to the gate and returns at once. A question under the key of
// one that waits is answered with an error: which of the two an answer is for
// could not be told.
func (k *Desk) Ask(ctx context.Context, q Question) {
	ctx, cancel := context.WithCancel(ctx)
	if q.Over != nil {
		context.AfterFunc(ctx, q.Over)
	}
	w := &waiting{cancel: cancel}
	k.mu.Lock()
	err := k.takes(q.Key)
	if err == nil {
		k.waiting[q.Key] = w
		k.asking.Go(func() { defer cancel(); k.ask(ctx, q, w) })
	}
	k.mu.Unlock()
	if err != nil {
		cancel()
		_ = q.Answer(sayso.Decision{}, k.o.Plain(err)) // a host that is gone needs none
	}
}

// takes reports why a question is not taken. The caller holds the lock.
func (k *Desk) takes(key string) error {
	switch {
	case k.closed:
		return fmt.Errorf("%w: the driver is ending", sayso.ErrUnavailable)
	case k.waiting[key] != nil:
		return fmt.Errorf("%w: another question has the same id and is not answered yet", sayso.ErrInvalid)
	}
	return nil
}

func (k *Desk) ask(ctx context.Context, q Question, w *waiting) {
	var d sayso.Decision
	var err error
	if q.First != nil {
		err = q.First(ctx)
	}
	asked := err == nil && ctx.Err() == nil
	if asked {
		slow := time.AfterFunc(atOnce, func() { k.o.Waits(q.Call) })
		d, err = k.admit(ctx, q)
		slow.Stop()
	}
	if reason := k.leaves(q, w, d, err); reason != "" {
		if asked {
			k.takeBack(ctx, q, d, err, reason)
		}
		return
	}
	if ctx.Err() != nil { // we are ending: what was asked is parked
		if err == nil && d.Allowed() {
			k.unrun(ctx, q.Call, d.Request) // but for what was decided meanwhile, which the host does not hear
		}
		return
	}
	err = k.o.Plain(err)
	if q.Answer(d, err) != nil && err == nil && d.Allowed() {
		k.unrun(ctx, q.Call, d.Request)
	}
}

// leaves takes a question off the desk, and says why if it was withdrawn.
func (k *Desk) leaves(q Question, w *waiting, d sayso.Decision, err error) (reason string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting[q.Key] == w { // one that was withdrawn has left, and another may have its key
		delete(k.waiting, q.Key)
	}
	if w.reason == "" && err == nil && d.Allowed() {
		k.runs.add(runOf(q.Call), d.Request)
	}
	return w.reason
}

// admit asks the gate. A call whose paths came to mean something else while
// people were asked is refused: its approval is spent.
func (k *Desk) admit(ctx context.Context, q Question) (sayso.Decision, error) {
	a, asked := k.admission(ctx, q)
	d, err := k.o.Gate.Admit(ctx, a)
	if err == nil && d.Allowed() && d.Source == sayso.SourcePerson && asked.Changed(ctx) {
		k.unrun(ctx, q.Call, d.Request)
		return sayso.Decision{Request: d.Request}, fmt.Errorf("%w: what the call names changed while people were asked", sayso.ErrVoided)
	}
	return d, err
}

func (k *Desk) admission(ctx context.Context, q Question) (sayso.Admission, *facts.Asked) {
	asked := facts.Ask(ctx, &q.Call, k.o.Facts, k.o.Wanted())
	a := sayso.Admission{
		Call: q.Call, Facts: asked.Facts, Patience: k.o.Patience, Immediate: true, CanEdit: q.CanEdit, Gather: asked.Gather,
	}
	if q.Present != nil {
		a.Present = func(context.Context) (*sayso.Presentation, error) { return q.Present(asked.Facts), nil }
	}
	return a, asked
}

// Withdraw takes a question back that the host does not wait with any more, and
// reports whether it waited. It is not answered then, and a later yes runs
// nothing.
func (k *Desk) Withdraw(key, reason string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.waiting[key]
	if w == nil {
		return false
	}
	w.reason = cmp.Or(reason, "withdrawn")
	delete(k.waiting, key) // the host may ask under it again at once
	w.cancel()
	return true
}

// takeBack tells the gate that a question was withdrawn.
func (k *Desk) takeBack(ctx context.Context, q Question, d sayso.Decision, err error, reason string) {
	if err == nil && d.Allowed() {
		k.unrun(ctx, q.Call, d.Request) // the answer came first, and the host does not hear it
		return
	}
	enforce.TakeBack(ctx, k.o.Gate, d, err, reason, func(ctx context.Context) (sayso.Decision, error) {
		if id := k.known(ctx, q.Call); id != "" {
			return sayso.Decision{Request: id}, nil
		}
		a, _ := k.admission(ctx, q)
		a.Patience, a.Immediate = time.Nanosecond, false
		return k.o.Gate.Admit(ctx, a)
	})
}

// known is the request of a call that can still be withdrawn, if it is found by its
// call id.
func (k *Desk) known(ctx context.Context, c sayso.Call) sayso.ID {
	if k.o.Inbox == nil || c.CallID == "" {
		return ""
	}
	found, err := k.o.Inbox.Requests(ctx, sayso.RowQuery{Session: c.Session, CallID: c.CallID, States: sayso.OpenStates(), Limit: 1})
	if err != nil || len(found) == 0 {
		return "" // then the gate is asked
	}
	return found[0].ID
}

// Ended records how a call of a session ended that was allowed here. Of others
// nothing is recorded.
func (k *Desk) Ended(ctx context.Context, session, callID string, o sayso.Outcome) {
	k.mu.Lock()
	id := k.runs.of(run{session, callID})
	k.runs.drop(run{session, callID})
	if id != "" && !k.closed {
		k.asking.Go(func() {
			ctx, cancel := enforce.Late(ctx)
			defer cancel()
			o.Request = id
			_ = k.o.Gate.Report(ctx, o) // the log then says that it is not known
		})
	}
	k.mu.Unlock()
}

// Ran records a call that ran and was not allowed here, under an id of its own: what
// was asked about under that of the call, if it was, is another matter.
func (k *Desk) Ran(ctx context.Context, c sayso.Call, o sayso.Outcome) {
	ctx, cancel := enforce.Late(ctx)
	defer cancel()
	c.CallID += "#ran-unasked"
	c.Metadata = map[string]any{"ran": "unasked"}
	a, _ := k.admission(ctx, Question{Call: c})
	a.Patience, a.Immediate = time.Nanosecond, false
	d, err := k.o.Gate.Admit(ctx, a)
	if err == nil && d.Allowed() {
		o.Request = d.Request
		_ = k.o.Gate.Report(ctx, o) // the log has the call all the same
		return
	}
	enforce.TakeBack(ctx, k.o.Gate, d, err, "the call ran without being asked about", func(context.Context) (sayso.Decision, error) {
		return sayso.Decision{}, nil
	})
}

// unrun records that an approval was used for a call that did not run.
func (k *Desk) unrun(ctx context.Context, c sayso.Call, id sayso.ID) {
	k.mu.Lock()
	k.runs.drop(runOf(c))
	k.mu.Unlock()
	enforce.Unrun(ctx, k.o.Gate, id)
}

// Close ends what waits, which then is parked, and the session.
func (k *Desk) Close(ctx context.Context, session string) {
	k.mu.Lock()
	k.closed = true
	for _, w := range k.waiting {
		w.cancel()
	}
	k.mu.Unlock()
	k.asking.Wait()
	if session == "" {
		return
	}
	ctx, cancel := enforce.Late(ctx)
	defer cancel()
	_ = k.o.Gate.End(ctx, session) // one that is not ended is ended by its age
}
