// Command eino is an agent on CloudWeGo's Eino whose file tools are behind a
// gate, and whose interrupts are those of the gate.
//
//	sayso serve --listen 127.0.0.1:7717
//	export SAYSO_TOKEN=$(sayso token create --name agent --kind tool)
//	export OPENAI_API_KEY=…
//	go run . http://127.0.0.1:7717 ./work "tidy up the notes"
//	sayso watch          # in another terminal
//
// Eino interrupts a run by a checkpoint, from which it is resumed. Here a tool
// interrupts as long as the gate has no answer, and says which ticket waits; the
// program resumes when the ticket is decided, also after a restart: the tool
// that is called again finds its answer by the id of its call. Resuming alone
// opens nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/tool"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: SAYSO_TOKEN=… OPENAI_API_KEY=… eino GATE FOLDER TASK")
	}
	ctx := context.Background()
	c, err := client.New(os.Args[1], os.Getenv("SAYSO_TOKEN"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	llm, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: os.Getenv("OPENAI_API_KEY"), Model: "gpt-5.5"})
	if err != nil {
		log.Fatal(err)
	}
	files, err := tool.OpenFiles(os.Args[2], sayso.PathRules{})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	p, err := newProgram(ctx, llm, c.Gate(), c.Inbox(), files, folder(os.TempDir()), 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	text, err := p.work(ctx, os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
}

// gated is one tool of a set behind a gate, for Eino. It has no streaming form:
// what Eino calls is what is here.
type gated struct {
	tool.Definition
	set tool.Set
}

// Info implements Eino's BaseTool.
func (g gated) Info(context.Context) (*schema.ToolInfo, error) {
	var s jsonschema.Schema
	if err := s.UnmarshalJSON(g.Schema); err != nil {
		return nil, err
	}
	return &schema.ToolInfo{Name: g.Name, Desc: g.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&s)}, nil
}

// InvokableRun implements Eino's InvokableTool. What goes wrong is for the model
// to read; only a call that nobody has answered interrupts.
func (g gated) InvokableRun(ctx context.Context, args string, _ ...einotool.Option) (string, error) {
	r, err := g.set.Call(ctx, sayso.Call{Tool: g.Name, CallID: compose.GetToolCallID(ctx), Args: sayso.Args(args)})
	var pending *sayso.PendingError
	switch {
	case errors.As(err, &pending):
		ticket := string(pending.Ticket)
		return "", einotool.StatefulInterrupt(ctx, ticket, ticket)
	case err != nil:
		return err.Error(), nil
	}
	return r.Text, nil
}

// program runs an agent, and resumes it when the gate has decided.
type program struct {
	runner *adk.Runner
	inbox  sayso.Inbox // of the requester: it sees its own requests
}

// session names the run, its checkpoint and the calls it makes.
const session = "eino-example"

func newProgram(ctx context.Context, llm model.ToolCallingChatModel, gate sayso.Gate, inbox sayso.Inbox, files *tool.Files, store adk.CheckPointStore, patience time.Duration) (*program, error) {
	set := tool.Wrap(gate, files, &tool.Terms{
		Patience: patience, // short: Eino does the waiting
		Call:     sayso.Call{Session: session, Caller: "eino/assistant"},
	})
	config := &adk.ChatModelAgentConfig{Name: "assistant", Description: "works on files", Model: llm}
	for _, d := range files.Tools() {
		config.ToolsConfig.Tools = append(config.ToolsConfig.Tools, gated{d, set})
	}
	a, err := adk.NewChatModelAgent(ctx, config)
	if err != nil {
		return nil, err
	}
	return &program{runner: adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, CheckPointStore: store}), inbox: inbox}, nil
}

// work runs the agent on a task until it waits for nothing more, and returns
// what it said last.
func (p *program) work(ctx context.Context, task string) (string, error) {
	text, waits, err := drain(p.runner.Query(ctx, task, adk.WithCheckPointID(session)))
	if err != nil || len(waits) == 0 {
		return text, err
	}
	return p.goOn(ctx, waits)
}

// goOn waits for what a run waits for, and resumes it, until it has ended.
func (p *program) goOn(ctx context.Context, waits []*adk.InterruptCtx) (text string, err error) {
	for len(waits) > 0 {
		targets := map[string]any{}
		for _, w := range waits {
			if err := p.decided(ctx, w); err != nil {
				return "", err
			}
			targets[w.ID] = nil // resuming carries no answer: the gate has it
		}
		events, err := p.runner.ResumeWithParams(ctx, session, &adk.ResumeParams{Targets: targets})
		if err != nil {
			return "", err
		}
		if text, waits, err = drain(events); err != nil {
			return "", err
		}
	}
	return text, nil
}

// drain reads a run to its end: what was said last, and what it waits for.
func drain(events *adk.AsyncIterator[*adk.AgentEvent]) (text string, waits []*adk.InterruptCtx, err error) {
	for {
		e, ok := events.Next()
		if !ok {
			return text, waits, nil
		}
		if e.Err != nil {
			return "", nil, e.Err
		}
		if e.Action != nil && e.Action.Interrupted != nil {
			for _, c := range e.Action.Interrupted.InterruptContexts {
				if c.IsRootCause {
					waits = append(waits, c)
				}
			}
		}
		if e.Output != nil && e.Output.MessageOutput != nil && e.Output.MessageOutput.Message != nil {
			text = e.Output.MessageOutput.Message.Content
		}
	}
}

// decided waits until the gate has an answer to the request of an interrupt.
func (p *program) decided(ctx context.Context, w *adk.InterruptCtx) error {
	ticket, ok := w.Info.(string)
	if !ok {
		return errors.New("an interrupt without a ticket: it is of another tool")
	}
	for e, err := range p.inbox.Follow(ctx, 0, sayso.EventQuery{Request: sayso.ID(ticket)}) {
		if err != nil {
			return err
		}
		switch e.Type {
		case sayso.EventResolved, sayso.EventExpired, sayso.EventWithdrawn:
			return nil
		}
	}
	return ctx.Err()
}

// folder keeps checkpoints as files.
type folder string

func (f folder) name(id string) string {
	return filepath.Join(string(f), filepath.Base(id)+".checkpoint")
}

// Get implements Eino's CheckPointStore.
func (f folder) Get(_ context.Context, id string) ([]byte, bool, error) {
	b, err := os.ReadFile(f.name(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return b, err == nil, err
}

// Set implements Eino's CheckPointStore.
func (f folder) Set(_ context.Context, id string, b []byte) error {
	return os.WriteFile(f.name(id), b, 0o600)
}
