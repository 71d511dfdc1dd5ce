package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/internal/codexapp"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/lines"
)

// What Codex asks its driver about.
const (
	AskUntrusted = "untrusted"  // all but what it takes for harmless, or its own rules allow
	AskRequest   = "on-request" // what its sandbox would not let run
)

// Codex drives `codex app-server`, the server of Codex for editors.
type Codex struct {
	Desk *Desk
	// Prompts is what the person says, one after the other; closed when nothing more
	// comes.
	Prompts <-chan string
	// Screen is what the person sees of it.
	Screen Screen
	// Dir is the folder that it works in.
	Dir string
	// Asks is what it asks about. Empty is [AskRequest] where it runs sayso's hook
	// before every tool, and [AskUntrusted] where it does not.
	Asks string
	// Hooked reports whether a hook that Codex lists is that of this gate, as it must
	// be, and runs; nil if none is.
	Hooked func(codexapp.Hook) bool
	// Sandbox and Model are its own words; empty for what its settings say.
	Sandbox, Model string

	to  *lines.Sink
	end func()

	mu     sync.Mutex   // guards what follows
	last   int          // the id of what we asked last
	wants  map[int]want // by the id of what we asked
	thread string
	turn   string
	items  map[string]codex.Item // that have not ended
	asked  map[string]bool       // items that were asked about
	failed bool
}

// want is what we asked of the server. A refusal ends the driver where nothing else is
// said for it.
type want struct {
	then    func(context.Context, jsontext.Value) error // nil for nothing
	refused func(ctx context.Context, why string) error // nil for the end of the driver
}

// Run drives the server whose ends are to and from, until it writes no more. end
// tells it that no more input comes.
func (c *Codex) Run(ctx context.Context, to io.Writer, end func(), from io.Reader) error {
	c.to, c.end = lines.NewSink(to), end
	c.wants, c.items, c.asked = map[int]want{}, map[string]codex.Item{}, map[string]bool{}
	err := c.request("initialize", map[string]any{
		"clientInfo": map[string]any{"name": "sayso", "version": "1"}, "capabilities": map[string]any{"experimentalApi": true},
	}, want{then: c.initialized})
	if err != nil {
		return err
	}
	return eachLine(from, func(line []byte) error { return c.line(ctx, line) })
}

// Session is the thread, once there is one.
func (c *Codex) Session() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.thread
}

// Failed reports whether the last turn failed.
func (c *Codex) Failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// request asks the server.
func (c *Codex) request(method string, params any, w want) error {
	c.mu.Lock()
	c.last++
	id := c.last
	c.wants[id] = w
	c.mu.Unlock()
	line, err := codex.AppRequest(id, method, params)
	if err != nil {
		return err
	}
	return c.to.Send(line)
}

func (c *Codex) initialized(context.Context, jsontext.Value) error {
	if err := c.to.Send(codex.AppInitialized()); err != nil {
		return err
	}
	if c.Asks != "" {
		return c.start()
	}
	return c.request("hooks/list", map[string]any{"cwds": []string{c.Dir}}, want{then: c.hooks})
}

// hooks looks whether the hook of this gate runs before every tool.
func (c *Codex) hooks(_ context.Context, result jsontext.Value) error {
	var listed struct {
		Data []struct {
			Hooks []codexapp.Hook `json:"hooks"`
		} `json:"data"`
	}
	if err := jcs.UnmarshalLenient(result, &listed); err != nil {
		return fmt.Errorf("codex does not say which hooks it runs: %w", err)
	}
	c.Asks = AskUntrusted
	for _, d := range listed.Data {
		if c.Hooked != nil && slices.ContainsFunc(d.Hooks, c.Hooked) {
			c.Asks = AskRequest
		}
	}
	return c.start()
}

// start starts the thread. That people are asked, and not another model, is said
// here, whatever the settings say.
func (c *Codex) start() error {
	params := map[string]any{"cwd": c.Dir, "approvalPolicy": c.Asks, "approvalsReviewer": reviewer, "config": codex.AppOptions()}
	for name, value := range map[string]string{"sandbox": c.Sandbox, "model": c.Model} {
		if value != "" {
			params[name] = value
		}
	}
	return c.request("thread/start", params, want{then: c.started})
}

// reviewer is who answers what Codex asks.
const reviewer = "user"

func (c *Codex) started(ctx context.Context, result jsontext.Value) error {
	var r struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
		Asks     jsontext.Value `json:"approvalPolicy"`
		Reviewer string         `json:"approvalsReviewer"`
		Sandbox  struct {
			Type string `json:"type"`
		} `json:"sandbox"`
	}
	if err := jcs.UnmarshalLenient(result, &r); err != nil || r.Thread.ID == "" {
		return errors.New("codex does not say which thread it started")
	}
	if string(r.Asks) != `"`+c.Asks+`"` || r.Reviewer != reviewer {
		return fmt.Errorf("codex does not ask as it was told to: approval policy %s, reviewer %q; its requirements say otherwise", r.Asks, r.Reviewer)
	}
	if !c.holds(r.Sandbox.Type) {
		return fmt.Errorf("codex does not stay in its sandbox, so it would not ask to leave it: it is %q by its settings; say --sandbox workspace-write, or --sandbox read-only", r.Sandbox.Type)
	}
	c.mu.Lock()
	c.thread = r.Thread.ID
	c.mu.Unlock()
	c.next(ctx)
	return nil
}

// holds reports whether a sandbox, in the word of the server, is one that holds, and
// no wider than the person said.
func (c *Codex) holds(sandbox string) bool {
	return sandbox == "readOnly" || sandbox == "workspaceWrite" && c.Sandbox != "read-only"
}

// next says what the person says next, while the server is read on.
func (c *Codex) next(ctx context.Context) {
	go func() { // ends with ctx
		c.Screen.turn()
		select {
		case text, ok := <-c.Prompts:
			if ok && c.say("turn/start", map[string]any{}, text, c.noTurn) == nil {
				return
			}
		case <-ctx.Done():
		}
		c.end()
	}()
}

// noTurn ends a turn that the server does not begin: nothing else will.
func (c *Codex) noTurn(ctx context.Context, why string) error {
	c.over(ctx, codex.AppLine{Thread: c.Session(), Status: "refused", Text: why})
	return nil
}

// noSteer goes on where something was not said: the turn may be over.
func (c *Codex) noSteer(_ context.Context, why string) error {
	c.Screen.note("codex: " + why)
	return nil
}

// say says something to the model.
func (c *Codex) say(method string, params map[string]any, text string, refused func(context.Context, string) error) error {
	params["threadId"], params["input"] = c.Session(), []any{map[string]any{"type": "text", "text": text}}
	return c.request(method, params, want{refused: refused})
}

// line reads one line of the server. An error ends it.
func (c *Codex) line(ctx context.Context, text []byte) error {
	l, err := codex.ParseApp(text)
	if err != nil {
		if l.ID == nil {
			if l.Kind == codex.AppWants {
				return fmt.Errorf("codex asks something that cannot be read: %w", err)
			}
			c.Screen.noise(text)
			return nil
		}
		c.Screen.note("something that codex asks cannot be read, and is refused: " + err.Error())
		return c.to.Send(codex.AppRefuse(l.ID, sayso.Told(sayso.Decision{}, err)))
	}
	c.Screen.raw(text)
	switch l.Kind {
	case codex.AppAnswers:
		return c.answered(ctx, l)
	case codex.AppAsks:
		c.ask(ctx, l)
	case codex.AppElicits:
		c.Screen.note("a server of tools asks something that only a person at Codex can answer; it is told that nobody does")
		return c.to.Send(codex.AppDismiss(l.ID))
	case codex.AppWants:
		c.Screen.note("codex asks for " + l.Method + ", which sayso does not answer")
		return c.to.Send(codex.AppRefuse(l.ID, "sayso does not answer this"))
	case codex.AppTakesBack:
		c.Desk.Withdraw(string(l.ID), "Codex took the question back")
	case codex.AppStarted, codex.AppChanged, codex.AppEnded:
		c.item(ctx, l)
	case codex.AppTurn:
		c.mu.Lock()
		if l.Thread == c.thread {
			c.turn = l.Turn
		}
		c.mu.Unlock()
	case codex.AppOver:
		c.over(ctx, l)
	case codex.AppWarns:
		c.Screen.note("codex: " + l.Text)
	}
	return nil
}

// answered goes on with what the server was asked for.
func (c *Codex) answered(ctx context.Context, l codex.AppLine) error {
	var id int
	if jcs.UnmarshalLenient(l.ID, &id) != nil {
		return nil
	}
	c.mu.Lock()
	w, ok := c.wants[id]
	delete(c.wants, id)
	c.mu.Unlock()
	switch {
	case !ok:
		return nil
	case l.Err != "" && w.refused != nil:
		return w.refused(ctx, l.Err)
	case l.Err != "":
		return fmt.Errorf("codex does not let sayso drive it: %s", l.Err)
	case w.then == nil:
		return nil
	}
	return w.then(ctx, l.Result)
}

// over ends a turn. Those of other threads are of agents below this one.
func (c *Codex) over(ctx context.Context, l codex.AppLine) {
	c.mu.Lock()
	ours := l.Thread == c.thread
	if ours {
		c.turn, c.failed = "", l.Status != "completed"
	}
	c.mu.Unlock()
	if !ours {
		return
	}
	if l.Text != "" {
		c.Screen.note("codex: " + l.Text)
	}
	c.next(ctx)
}

// item follows what happens in a turn.
func (c *Codex) item(ctx context.Context, l codex.AppLine) {
	i := l.Item
	c.mu.Lock()
	asked := c.asked[i.ID]
	switch before, known := c.items[i.ID]; {
	case l.Kind == codex.AppStarted:
		c.items[i.ID] = i
	case l.Kind == codex.AppChanged && known:
		before.Changes = i.Changes
		c.items[i.ID] = before
	case l.Kind == codex.AppEnded:
		delete(c.items, i.ID)
		delete(c.asked, i.ID)
	}
	c.mu.Unlock()
	if l.Kind != codex.AppEnded {
		return
	}
	if i.Type == "agentMessage" && i.Text != "" && l.Thread == c.Session() {
		c.Screen.says([]string{i.Text})
	}
	for _, id := range i.CallIDs() {
		c.Desk.Ended(ctx, c.Session(), id, ending(i))
	}
	if what := i.What(); what != "" && i.Ran() && !asked {
		c.Screen.note("· " + what + ", and Codex did not ask about it here")
	}
}

// ending is how the call of an item ended.
func ending(i codex.Item) sayso.Outcome {
	return sayso.Outcome{
		Failed: i.Status != "completed" || i.Exit != nil && *i.Exit != 0, Interrupt: !i.Ran(), ExitStatus: i.Exit,
		Took: time.Duration(i.Took * float64(time.Millisecond)),
	}
}

// ask puts a call to the gate.
func (c *Codex) ask(ctx context.Context, l codex.AppLine) {
	a := l.Approval
	c.mu.Lock()
	var about codex.Item
	for _, i := range c.items {
		if a.About(i) && !(about.ID != "" && c.asked[i.ID]) {
			about = i
		}
	}
	if about.ID != "" {
		c.asked[about.ID] = true
	}
	thread := c.thread
	c.mu.Unlock()
	call, err := a.Call(thread, about)
	answer := func(d sayso.Decision, err error) error {
		c.Screen.answered(call, d, err)
		if err != nil || !d.Allowed() {
			c.explain(sayso.Told(d, err))
		}
		return c.to.Send(a.Reply(l.ID, d, err))
	}
	if err != nil {
		_ = answer(sayso.Decision{}, err) // a host that is gone needs none
		return
	}
	c.Desk.Ask(ctx, Question{
		Key: string(l.ID), Call: call, Answer: answer,
		Present: func(f sayso.Facts) *sayso.Presentation { shown := codex.Present(call, f, facts.Content); return &shown },
	})
}

// explain tells the model why something is declined: Codex itself says no more than
// that it is. It is said before, so that the model hears both at once.
func (c *Codex) explain(why string) {
	c.mu.Lock()
	turn := c.turn
	c.mu.Unlock()
	if turn != "" {
		_ = c.say("turn/steer", map[string]any{"expectedTurnId": turn}, "sayso: "+why, c.noSteer) // it is declined without, too
	}
}

// CheckCodex reports arguments of the person that codex app-server may not have
// here. Those that it may have are known: the others could have it listen to somebody
// else, leave its sandbox, switch hooks off, or not ask.
func CheckCodex(own []string) error {
	for i := 0; i < len(own); i++ {
		name, setting, given := strings.Cut(own[i], "=")
		switch name {
		case "-c", "--config":
			if !given {
				if i++; i == len(own) {
					return fmt.Errorf("%s has no setting behind it", name)
				}
				setting = own[i]
			}
			if !aboutModel(setting) {
				return fmt.Errorf("%s %s: of Codex's settings, those of the model can be given here (model, model_…); others belong into its config.toml", name, setting)
			}
		case "--strict-config":
			if given {
				return fmt.Errorf("%s is nothing that codex app-server takes here", own[i])
			}
		default:
			return fmt.Errorf("%s is nothing that codex app-server takes here", own[i])
		}
	}
	return nil
}

// aboutModel reports whether a setting is about which model speaks, and how. No other
// is known to leave alone what Codex asks about, and what its sandbox lets run.
func aboutModel(setting string) bool {
	key, _, ok := strings.Cut(setting, "=")
	return ok && (key == "model" || strings.HasPrefix(key, "model_") || slices.Contains([]string{
		"review_model", "personality", "service_tier", "hide_agent_reasoning", "show_raw_agent_reasoning", "tool_output_token_limit",
	}, key))
}
