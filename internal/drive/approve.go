package drive

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/lines"
)

// Approve is an MCP server with one tool, approve, that Claude Code calls in the
// place of its prompt where it is started with --permission-prompt-tool. It hears
// only of calls that would be prompted for.
type Approve struct {
	Desk *Desk
	// Session is that of all calls.
	Session string
	// Dir is the folder of the project. Stays says that each command begins there;
	// without it, one begins where those before it went, which nobody says here, and
	// people are asked wherever that matters.
	Dir     string
	Stays   bool
	Version string

	to *lines.Sink
}

// heartbeat is how often a host that wants to be told hears that its call waits.
const heartbeat = 15 * time.Second

// approveTool is the tool, as it is listed.
const approveTool = `{"name":"approve","title":"sayso","description":"Asks sayso, and through it people, whether a call of a tool may run. It is for --permission-prompt-tool; there is no use in calling it otherwise.",` +
	`"inputSchema":{"type":"object","properties":{"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}},"required":["tool_name","input","tool_use_id"]}}`

// mcpMessage is what Claude Code sends.
type mcpMessage struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		Version string         `json:"protocolVersion"`
		Name    string         `json:"name"`
		Args    sayso.Args     `json:"arguments"`
		Request jsontext.Value `json:"requestId"`
		Meta    struct {
			Token jsontext.Value `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// Run serves until the host sends no more. What waits then is parked.
func (s *Approve) Run(ctx context.Context, from io.Reader, to io.Writer) error {
	s.to = lines.NewSink(to)
	return eachLine(from, func(line []byte) error { return s.line(ctx, line) })
}

func (s *Approve) line(ctx context.Context, line []byte) error {
	var m mcpMessage
	if err := agent.Read(line, []string{"id", "method", "params"}, &m); err != nil {
		return s.fails(nil, -32600, "the message could not be read strictly")
	}
	switch {
	case m.Method == "notifications/cancelled":
		s.Desk.Withdraw(string(m.Params.Request), "Claude Code took the question back")
		return nil
	case m.ID == nil: // a notification, or an answer to what was not asked
		return nil
	case m.Method == "initialize":
		return s.says(m.ID, map[string]any{
			"protocolVersion": m.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "sayso", "version": s.Version},
		})
	case m.Method == "ping":
		return s.says(m.ID, map[string]any{})
	case m.Method == "tools/list":
		return s.says(m.ID, map[string]any{"tools": []any{jsontext.Value(approveTool)}})
	case m.Method == "tools/call" && m.Params.Name == "approve":
		s.ask(ctx, m)
		return nil
	}
	return s.fails(m.ID, -32601, "there is no such method or tool here")
}

// ask puts a call to the gate.
func (s *Approve) ask(ctx context.Context, m mcpMessage) {
	p, err := claudecode.ParsePermission(m.Params.Args)
	if err != nil {
		_ = s.rules(m.ID, p.Refuse(sayso.Told(sayso.Decision{}, err))) // a host that is gone needs none
		return
	}
	h, err := p.Hook(claudecode.Hook{Session: s.Session, Cwd: s.where(p)})
	switch {
	case err != nil:
		_ = s.rules(m.ID, p.Refuse(sayso.Told(sayso.Decision{}, err)))
		return
	case h.OwnScreen:
		_ = s.rules(m.ID, p.Refuse("Nobody is at a screen for this: ask the user in your answer, and end your turn."))
		return
	}
	stop := s.beat(ctx, m.Params.Meta.Token)
	s.Desk.Ask(ctx, Question{
		Key: string(m.ID), Call: h.Call, CanEdit: true, Over: stop,
		Present: func(f sayso.Facts) *sayso.Presentation { shown := h.Present(f, facts.Content); return &shown },
		Answer: func(d sayso.Decision, err error) error {
			stop()
			return s.rules(m.ID, p.Rule(h, d, err))
		},
	})
}

// where a call would run, if that is known.
func (s *Approve) where(p claudecode.Permission) string {
	call := sayso.Call{Host: claudecode.Host, Tool: p.Tool}
	switch call.Known().Kind {
	case sayso.KindShell, sayso.KindSearch, sayso.KindList, sayso.KindOther:
		if !s.Stays {
			return ""
		}
	}
	return s.Dir
}

// beat tells the host from time to time that its call waits, until the returned
// function is called, if it wants to be told.
func (s *Approve) beat(ctx context.Context, token jsontext.Value) (stop func()) {
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with ctx
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				line, err := jcs.Marshal(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{
					"progressToken": token, "progress": n, "message": "waiting for a person to answer: sayso watch",
				}})
				if err != nil || s.to.Send(line) != nil {
					return
				}
			}
		}
	}()
	return cancel
}

// rules answers with what was decided, as the one text that Claude Code reads.
func (s *Approve) rules(id jsontext.Value, ruling []byte) error {
	return s.says(id, map[string]any{"content": []any{map[string]any{"type": "text", "text": string(ruling)}}})
}

func (s *Approve) says(id jsontext.Value, result any) error {
	line, err := jcs.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
	if err != nil {
		return fmt.Errorf("an answer cannot be written: %w", err)
	}
	return s.to.Send(line)
}

func (s *Approve) fails(id jsontext.Value, code int, text string) error {
	if id == nil {
		id = jsontext.Value("null")
	}
	line, err := jcs.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		return err
	}
	return s.to.Send(line)
}
