package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/lines"
)

// Claude drives Claude Code by its control protocol. A hook of the protocol is
// called before every tool and has the host ask us, so that nothing runs that was
// not judged here, whatever the host's own mode and rules say. Where sayso's hook is
// installed as well, its answer counts here too, and nobody is asked twice.
type Claude struct {
	Desk *Desk
	// Prompts is what the person says, one after the other; closed when nothing more
	// comes.
	Prompts <-chan string
	// Screen is what the person sees of it.
	Screen Screen

	to      *lines.Sink
	end     func() // no more input
	mu      sync.Mutex
	session string
	before  map[string]claudecode.Hook // by tool-use id: what the hook was told of calls that have not ended
	asked   map[string]bool            // the tool-use ids that were asked about
	failed  bool                       // the last turn
}

// Run drives the host whose ends are to and from, until it writes no more. end
// tells it that no more input comes.
func (c *Claude) Run(ctx context.Context, to io.Writer, end func(), from io.Reader) error {
	c.to, c.end = lines.NewSink(to), end
	c.before, c.asked = map[string]claudecode.Hook{}, map[string]bool{}
	if err := c.to.Send(claudecode.Hooks(opening)); err != nil {
		return err
	}
	return eachLine(from, func(line []byte) error { return c.line(ctx, line) })
}

// opening is the id of what we ask first.
const opening = "sayso"

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
		c.Screen.says(l.Said)
	case claudecode.Tells:
		return c.told(l)
	case claudecode.Over:
		c.failed = l.Failed
		c.next(ctx)
	}
	return nil
}

// responded reads how the host answered us: without our hooks nothing is driven.
func (c *Claude) responded(ctx context.Context, l claudecode.Line) error {
	switch {
	case l.ID != opening:
		return nil
	case l.Err != "":
		return fmt.Errorf("claude does not let sayso drive it: %s", l.Err)
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

// hook answers a hook of the protocol: a call is asked about, and one that ended
// is recorded.
func (c *Claude) hook(ctx context.Context, l claudecode.Line) error {
	id := l.Hook.Call.CallID
	c.mu.Lock()
	c.session = l.Hook.Session
	if l.Hook.Event == claudecode.PreToolUse {
		c.before[id], c.asked[id] = l.Hook, true
	} else {
		delete(c.before, id)
	}
	c.mu.Unlock()
	if l.Hook.Event != claudecode.PreToolUse {
		c.Desk.Ended(ctx, l.Hook.Session, id, l.Hook.Outcome)
	}
	return c.to.Send(claudecode.Respond(l.ID, claudecode.AskMe(l.Hook)))
}

// ask puts a call to the gate.
func (c *Claude) ask(ctx context.Context, l claudecode.Line) {
	p := l.Permission
	c.mu.Lock()
	before, known := c.before[p.UseID]
	if !known {
		before = claudecode.Hook{Session: c.session} // where it would run is not known, and asked about
	}
	c.asked[p.UseID] = true
	c.mu.Unlock()
	h, err := p.Hook(before)
	answer := func(d sayso.Decision, err error) error {
		c.Screen.answered(h.Call, d, err)
		return c.to.Send(claudecode.Respond(l.ID, p.Rule(h, d, err)))
	}
	switch {
	case err != nil:
		_ = answer(sayso.Decision{}, err) // a host that is gone needs none
		return
	case h.OwnScreen:
		_ = c.to.Send(claudecode.Respond(l.ID, p.Refuse("Nobody is at a screen for this: ask the user in your answer, and end your turn.")))
		return
	}
	c.Desk.Ask(ctx, Question{
		Key: l.ID, Call: h.Call, CanEdit: true, Answer: answer,
		Present: func(f sayso.Facts) *sayso.Presentation { shown := h.Present(f, facts.Content); return &shown },
	})
}

// told looks for calls that ran and were never asked about: a host that runs such
// is not driven on.
func (c *Claude) told(l claudecode.Line) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, done := range l.Done {
		delete(c.before, done.ID)
		if !done.Failed && !c.asked[done.ID] {
			return errors.New("claude ran a call that it did not ask about: its settings keep it from calling the hooks of whoever drives it")
		}
	}
	return nil
}
