package drive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/lines"
)

// Claude drives Claude Code by its control protocol. A hook of the protocol is
// called before every tool and waits for the gate: what it denies stays denied,
// whatever the host's own mode and rules and the hooks of others say. Then it has the
// host ask us once more, so that what will run is seen when no other hook changes it
// any more. Where sayso's hook is installed as well, its answer is waited for and
// counts here too, and nobody is asked twice.
type Claude struct {
	Desk *Desk
	// Prompts is what the person says, one after the other; closed when nothing more
	// comes.
	Prompts <-chan string
	// Screen is what the person sees of it.
	Screen Screen
	// Hook waits until sayso's own hook, where it is installed, has decided a call. It
	// returns nil if the hook was not asked. Nil for a host without.
	Hook func(ctx context.Context, session, callID string) (*sayso.Decision, error)

	to      *lines.Sink
	end     func() // no more input
	hooked  bool   // the hook is installed
	mu      sync.Mutex
	session string
	before  map[string]claudecode.Hook // by tool-use id: what the hook was told of calls that have not ended
	uses    map[string]claudecode.Use  // that the model asked for and have not ended
	allowed map[string]allowed         // by tool-use id
	failed  bool                       // the last turn
}

// allowed is what the gate allowed.
type allowed struct {
	call     sayso.Call
	decision sayso.Decision
}

// Run drives the host whose ends are to and from, until it writes no more. end
// tells it that no more input comes.
func (c *Claude) Run(ctx context.Context, to io.Writer, end func(), from io.Reader) error {
	c.to, c.end = lines.NewSink(to), end
	c.before, c.uses, c.allowed = map[string]claudecode.Hook{}, map[string]claudecode.Use{}, map[string]allowed{}
	if err := c.to.Send(claudecode.Hooks(opening)); err != nil {
		return err
	}
	return eachLine(from, func(line []byte) error { return c.line(ctx, line) })
}

// opening is the id of what we ask first, and reading of what we ask then.
const opening, reading = "sayso", "sayso-settings"

// Session is the host's session, once it has said one.
func (c *Claude) Session() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// Failed reports whether the last turn failed.
func (c *Claude) Failed() bool { return c.failed }

// line reads one line of the host. An error ends it.
func (c *Claude) line(ctx context.Context, text []byte) error {
	l, err := claudecode.ParseLine(text)
	if err != nil {
		if l.ID == "" {
			if l.Kind == claudecode.Wants {
				return fmt.Errorf("claude asks something that cannot be read: %w", err)
			}
			c.Screen.noise(text)
			return nil
		}
		return c.to.Send(claudecode.RespondError(l.ID, sayso.Told(sayso.Decision{}, err)))
	}
	c.Screen.raw(text)
	switch l.Kind {
	case claudecode.Began:
		c.mu.Lock()
		c.session = l.Session
		c.mu.Unlock()
	case claudecode.Responds:
		return c.responded(ctx, l)
	case claudecode.HookRuns:
		return c.hook(ctx, l)
	case claudecode.Asks:
		c.ask(ctx, l)
	case claudecode.Elicits:
		c.Screen.note("the server " + l.Server + " asks something that only a person at Claude Code can answer; it is told that nobody does")
		return c.to.Send(claudecode.Respond(l.ID, []byte(`{"action":"cancel"}`)))
	case claudecode.Wants:
		return c.to.Send(claudecode.RespondError(l.ID, "sayso does not answer this"))
	case claudecode.TakesBack:
		c.Desk.Withdraw(l.ID, "Claude Code took the question back")
	case claudecode.Says:
		c.said(l)
	case claudecode.Tells:
		return c.told(ctx, l)
	case claudecode.Over:
		c.failed = l.Failed
		c.next(ctx)
	}
	return nil
}

// responded reads how the host answered us: without our hooks nothing is driven, nor
// with settings that switch them off.
func (c *Claude) responded(ctx context.Context, l claudecode.Line) error {
	switch {
	case l.ID == opening && l.Err == "":
		return c.to.Send(claudecode.AskSettings(reading))
	case l.ID == opening:
		return fmt.Errorf("claude does not let sayso drive it: %s", l.Err)
	case l.ID == reading && l.Err != "":
		return fmt.Errorf("claude does not tell what its settings are, so that nobody knows whether it asks about its calls: %s", l.Err)
	case l.ID != reading:
		return nil
	}
	s, err := claudecode.ParseSettings(l.Answer)
	switch {
	case err != nil:
		return err
	case len(s.Off) > 0:
		return fmt.Errorf("claude cannot be driven with %s: calls would run that nobody is asked about; take it out of the settings", strings.Join(s.Off, ", "))
	}
	for _, command := range s.Before {
		c.hooked = c.hooked || c.Hook != nil && strings.Contains(command, "sayso")
	}
	c.next(ctx)
	return nil
}

// next says what the person says next, while the host is read on. Where nothing
// more comes the host is told.
func (c *Claude) next(ctx context.Context) {
	go func() { // ends with ctx
		if c.prompt(ctx) != nil {
			c.end()
		}
	}()
}

// prompt says what the person says next. An error is that nothing comes.
func (c *Claude) prompt(ctx context.Context) error {
	c.Screen.turn()
	select {
	case text, ok := <-c.Prompts:
		if !ok {
			return io.EOF
		}
		line, err := claudecode.Prompt(text)
		if err != nil {
			return err
		}
		return c.to.Send(line)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hook answers a hook of the protocol: a call is put to the gate, and one that ended
// is recorded.
func (c *Claude) hook(ctx context.Context, l claudecode.Line) error {
	h := l.Hook
	id := h.Call.CallID
	c.mu.Lock()
	c.session = h.Session
	if h.Event == claudecode.PreToolUse {
		c.before[id] = h
		c.mu.Unlock()
		return c.judge(ctx, l)
	}
	delete(c.before, id)
	ran, known := c.allowed[id]
	c.mu.Unlock()
	if !known && h.Event == claudecode.PostToolUse {
		return c.unasked(ctx, h.Call, h.Outcome)
	}
	if known {
		c.Desk.Ended(ctx, ran.call.Session, ran.call.CallID, h.Outcome)
	}
	return c.to.Send(claudecode.Respond(l.ID, []byte("{}")))
}

// notHere is what the model is told of questions to a person at the host.
const notHere = "Nobody is at a screen for this: ask the user in your answer, and end your turn."

// judge puts a call to the gate before the host looks at its own rules, and has it
// wait.
func (c *Claude) judge(ctx context.Context, l claudecode.Line) error {
	h := l.Hook
	if h.OwnScreen {
		return c.to.Send(claudecode.Respond(l.ID, h.RefuseBefore(notHere)))
	}
	told := false // by the hook
	q := c.question(l.ID, h, h.Call, func(d sayso.Decision, err error) error {
		if !told {
			c.Screen.answered(h.Call, d, err)
		}
		return c.to.Send(claudecode.Respond(l.ID, h.Before(d, err)))
	})
	if c.hooked {
		q.First = func(ctx context.Context) error {
			d, err := c.Hook(ctx, h.Session, h.Call.CallID)
			if told = err == nil && d != nil && !d.Allowed(); told {
				return errors.New(sayso.Told(*d, nil))
			}
			return err
		}
	}
	c.Desk.Ask(ctx, q)
	return nil
}

// question is what the desk is asked about a call, and that an allow is kept.
func (c *Claude) question(key string, h claudecode.Hook, call sayso.Call, answer func(sayso.Decision, error) error) Question {
	return Question{
		Key: key, Call: call, CanEdit: true,
		Present: func(f sayso.Facts) *sayso.Presentation { shown := h.Present(f, facts.Content); return &shown },
		Answer: func(d sayso.Decision, err error) error {
			if err == nil && d.Allowed() {
				c.mu.Lock()
				c.allowed[h.Call.CallID] = allowed{call, d}
				c.mu.Unlock()
			}
			return answer(d, err)
		},
	}
}

// ask answers for a call that was judged. One that is not, as when another hook has
// put other arguments in the place of those that were allowed, is put to the gate.
func (c *Claude) ask(ctx context.Context, l claudecode.Line) {
	p := l.Permission
	c.mu.Lock()
	before, known := c.before[p.UseID]
	if !known {
		before = claudecode.Hook{Session: c.session} // where it would run is not known, and asked about
	}
	was, judged := c.allowed[p.UseID]
	c.mu.Unlock()
	h, err := p.Hook(before)
	rule := func(d sayso.Decision, err error) error { return c.to.Send(claudecode.Respond(l.ID, p.Rule(h, d, err))) }
	switch {
	case err != nil:
		c.Screen.answered(h.Call, sayso.Decision{}, err)
		_ = rule(sayso.Decision{}, err) // a host that is gone needs none
		return
	case h.OwnScreen:
		_ = c.to.Send(claudecode.Respond(l.ID, p.Refuse(notHere)))
		return
	case judged && was.covers(h.Call):
		_ = rule(was.decision, nil)
		return
	}
	call := h.Call
	if judged { // what was allowed does not run; this is another call, under the same id
		c.mu.Lock()
		delete(c.allowed, p.UseID)
		c.mu.Unlock()
		c.Desk.unrun(ctx, was.call, was.decision.Request)
		call.CallID += "#changed"
	}
	c.Desk.Ask(ctx, c.question(l.ID, h, call, func(d sayso.Decision, err error) error {
		c.Screen.answered(call, d, err)
		return rule(d, err)
	}))
}

// covers reports whether a call is the one that was allowed, as it came or as people
// changed it.
func (a allowed) covers(c sayso.Call) bool {
	return a.call.Tool == c.Tool && (sameArgs(a.call.Args, c.Args) || len(a.decision.Args) > 0 && sameArgs(a.decision.Args, c.Args))
}

func sameArgs(a, b sayso.Args) bool {
	one, err := jcs.Object(a)
	if err != nil {
		return false
	}
	two, err := jcs.Object(b)
	return err == nil && bytes.Equal(one, two)
}

// said shows what the model says, and keeps what it asks for until that has ended.
func (c *Claude) said(l claudecode.Line) {
	c.mu.Lock()
	for _, use := range l.Uses {
		c.uses[use.ID] = use
	}
	c.mu.Unlock()
	c.Screen.says(l.Said)
}

// told looks for calls that ran and were not allowed: a host that runs such is not
// driven on.
func (c *Claude) told(ctx context.Context, l claudecode.Line) error {
	for _, done := range l.Done {
		c.mu.Lock()
		use, before := c.uses[done.ID], c.before[done.ID]
		_, known := c.allowed[done.ID]
		delete(c.uses, done.ID)
		delete(c.before, done.ID)
		session := c.session
		c.mu.Unlock()
		if done.Failed || known {
			continue
		}
		p := claudecode.Permission{Tool: use.Name, Input: use.Input, UseID: done.ID}
		if before.Session == "" {
			before.Session = session
		}
		h, err := p.Hook(before)
		if err != nil {
			h.Call = sayso.Call{Host: claudecode.Host, Tool: cmp.Or(use.Name, "unknown"), Session: session, CallID: done.ID, Args: sayso.Args("{}")}
		}
		return c.unasked(ctx, h.Call, sayso.Outcome{})
	}
	return nil
}

// unasked records a call that ran and was not allowed here, and is the end.
func (c *Claude) unasked(ctx context.Context, call sayso.Call, o sayso.Outcome) error {
	c.Desk.Ran(ctx, call, o)
	return errors.New("claude ran a call that it did not ask about, or that was not allowed: " + call.Tool +
		"; its settings keep it from heeding the hooks of whoever drives it")
}
