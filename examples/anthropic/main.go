// Command anthropic is an agent on Anthropic's Go SDK whose tools are behind a
// gate: files beneath a folder, and commands in it.
//
//	sayso serve --listen 127.0.0.1:7717
//	export SAYSO_TOKEN=$(sayso token create --name agent --kind tool)
//	export ANTHROPIC_API_KEY=…
//	go run . http://127.0.0.1:7717 ./work "tidy up the notes"
//	sayso watch          # in another terminal
//
// The SDK has no confirmation of its own: its loop is the program's, and each
// tool_use block of a turn is one call at the gate. What is handed on is the
// text that the model wrote, byte for byte, and the id that it gave the call: a
// call made again after a crash finds its request by it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	anthropic "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/tool"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: SAYSO_TOKEN=… ANTHROPIC_API_KEY=… anthropic GATE FOLDER TASK")
	}
	gate, err := client.New(os.Args[1], os.Getenv("SAYSO_TOKEN"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer gate.Close()
	tools, err := open(gate.Gate(), os.Args[2], "anthropic-example")
	if err != nil {
		log.Fatal(err)
	}
	a := agent{model: anthropic.NewClient(), tools: tools}
	text, err := a.run(context.Background(), os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
}

// toolbox is a set of tools behind a gate, with what the model is told of them.
type toolbox interface {
	tool.Set
	tool.Describer
}

// open makes the tools of one session.
func open(gate sayso.Gate, dir, session string) (toolbox, error) {
	files, err := tool.OpenFiles(dir, sayso.PathRules{})
	if err != nil {
		return nil, err
	}
	shell, err := tool.OpenShell(dir, &tool.ShellOptions{Env: []string{}})
	if err != nil {
		return nil, err
	}
	set, err := tool.Join(files, shell)
	if err != nil {
		return nil, err
	}
	guarded := tool.Wrap(gate, set, &tool.Terms{Workspace: dir, Call: sayso.Call{Session: session, Caller: "anthropic-example/main"}})
	return guarded.(toolbox), nil // a joined set describes its tools
}

// agent is a model with tools.
type agent struct {
	model anthropic.Client
	tools toolbox
}

// run works on a task until the model has nothing more to call.
func (a agent) run(ctx context.Context, task string) (string, error) {
	messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(task))}
	for {
		turn, err := a.model.Messages.New(ctx, anthropic.MessageNewParams{
			Model: anthropic.ModelClaudeSonnet5, MaxTokens: 4096, Messages: messages, Tools: definitions(a.tools),
		})
		if err != nil {
			return "", err
		}
		text := ""
		var results []anthropic.ContentBlockParamUnion
		for _, block := range turn.Content {
			switch b := block.AsAny().(type) {
			case anthropic.TextBlock:
				text += b.Text
			case anthropic.ToolUseBlock:
				results = append(results, a.call(ctx, b))
			}
		}
		if len(results) == 0 {
			return text, nil
		}
		messages = append(messages, turn.ToParam(), anthropic.NewUserMessage(results...))
	}
}

// call puts one block to the gate and, if it may, runs it.
func (a agent) call(ctx context.Context, b anthropic.ToolUseBlock) anthropic.ContentBlockParamUnion {
	r, err := a.tools.Call(ctx, sayso.Call{Tool: b.Name, CallID: b.ID, Args: sayso.Args(b.Input)})
	if err != nil { // denied, pending, changed or failed: the text says which, and what to do
		return anthropic.NewToolResultBlock(b.ID, err.Error(), true)
	}
	return anthropic.NewToolResultBlock(b.ID, r.Text, false)
}

// definitions are the tools as the model is told of them.
func definitions(d tool.Describer) []anthropic.ToolUnionParam {
	var out []anthropic.ToolUnionParam
	for _, t := range d.Tools() {
		out = append(out, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: t.Name, Description: anthropic.String(t.Description),
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](t.Schema),
		}})
	}
	return out
}
