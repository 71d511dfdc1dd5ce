// Command openai is an agent on OpenAI's Go SDK (the Responses API) whose tools
// are behind a gate: files beneath a folder, and the tools of a remote MCP
// server.
//
//	sayso serve --listen 127.0.0.1:7717
//	export SAYSO_TOKEN=$(sayso token create --name agent --kind tool)
//	export OPENAI_API_KEY=…
//	go run . http://127.0.0.1:7717 ./work "tidy up the notes"
//	sayso watch          # in another terminal
//
// Two things are stopped. A function_call is run here: it goes through the gate
// inside the tool. A tool of an MCP server is run by OpenAI, which asks first
// with an mcp_approval_request: that becomes a call at the gate, and what the
// gate says becomes the mcp_approval_response. What then ran comes back as an
// mcp_call and is reported, with its arguments: if they are not those that were
// allowed, the log says so.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/tool"
)

// session is the session of all calls of this program.
const session = "openai-example"

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: SAYSO_TOKEN=… OPENAI_API_KEY=… openai GATE FOLDER TASK")
	}
	c, err := client.New(os.Args[1], os.Getenv("SAYSO_TOKEN"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	files, err := tool.OpenFiles(os.Args[2], sayso.PathRules{})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	a := newAgent(openai.NewClient(), c.Gate(), files)
	if url := os.Getenv("MCP_SERVER_URL"); url != "" {
		a.servers = append(a.servers, server("mcp", url))
	}
	text, err := a.run(context.Background(), os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
}

// agent is a model with tools behind a gate.
type agent struct {
	model   openai.Client
	gate    sayso.Gate
	tools   tool.Set
	told    []tool.Definition
	servers []responses.ToolUnionParam
}

func newAgent(model openai.Client, gate sayso.Gate, files *tool.Files) *agent {
	return &agent{
		model: model, gate: gate, told: files.Tools(),
		tools: tool.Wrap(gate, files, &tool.Terms{Call: sayso.Call{Session: session, Caller: "openai-example/main"}}),
	}
}

// server is an MCP server, each call of which has to be approved.
func server(label, url string) responses.ToolUnionParam {
	return responses.ToolUnionParam{OfMcp: &responses.ToolMcpParam{
		ServerLabel: label, ServerURL: openai.String(url),
		RequireApproval: responses.ToolMcpRequireApprovalUnionParam{OfMcpToolApprovalSetting: openai.String("always")},
	}}
}

// run works on a task until the model has nothing more to call.
func (a *agent) run(ctx context.Context, task string) (string, error) {
	next := responses.ResponseNewParams{
		Model: openai.ChatModelGPT5_6Sol, Tools: append(definitions(a.told), a.servers...),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(task)},
	}
	for {
		r, err := a.model.Responses.New(ctx, next)
		if err != nil {
			return "", err
		}
		var answers responses.ResponseInputParam
		for _, item := range r.Output {
			switch i := item.AsAny().(type) {
			case responses.ResponseFunctionToolCall:
				answers = append(answers, a.call(ctx, i))
			case responses.ResponseOutputItemMcpApprovalRequest:
				answers = append(answers, a.approve(ctx, i))
			case responses.ResponseOutputItemMcpCall:
				if err := a.report(ctx, i); err != nil {
					return "", err
				}
			}
		}
		if len(answers) == 0 {
			return r.OutputText(), nil
		}
		next.PreviousResponseID = openai.String(r.ID)
		next.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: answers}
	}
}

// call puts a call of a function to the gate and, if it may, runs it.
func (a *agent) call(ctx context.Context, c responses.ResponseFunctionToolCall) responses.ResponseInputItemUnionParam {
	r, err := a.tools.Call(ctx, sayso.Call{Tool: c.Name, CallID: c.CallID, Args: sayso.Args(c.Arguments)})
	text := r.Text
	if err != nil { // denied, pending, changed or failed: the text says which, and what to do
		text = err.Error()
	}
	answer := responses.ResponseInputItemParamOfFunctionCallOutput(text)
	answer.OfFunctionCallOutput.CallID = openai.String(c.CallID)
	return answer
}

// approve asks the gate whether OpenAI may make a call of an MCP server. A yes
// is used at once: what is not known of it is what becomes of it, until its
// mcp_call comes back.
func (a *agent) approve(ctx context.Context, r responses.ResponseOutputItemMcpApprovalRequest) responses.ResponseInputItemUnionParam {
	d, err := a.gate.Admit(ctx, sayso.Admission{Immediate: true, Call: sayso.Call{
		Tool: r.Name, Server: r.ServerLabel, Args: sayso.Args(r.Arguments), CallID: r.ID, Session: session, Caller: "openai-example/main",
	}})
	told := sayso.Told(d, err)
	answer := responses.ResponseInputItemParamOfMcpApprovalResponse(r.ID, told == "" && d.Allowed())
	if told != "" {
		answer.OfMcpApprovalResponse.Reason = openai.String(told)
	}
	return answer
}

// report tells the gate what became of a call that it let through.
func (a *agent) report(ctx context.Context, c responses.ResponseOutputItemMcpCall) error {
	if c.ApprovalRequestID == "" {
		return fmt.Errorf("%s of %s ran without an approval", c.Name, c.ServerLabel)
	}
	return a.gate.Report(ctx, sayso.Outcome{
		Session: session, CallID: c.ApprovalRequestID, Failed: c.JSON.Error.Valid(), Args: sayso.Args(c.Arguments),
	})
}

// function is a tool as the model is told of it.
type function struct {
	Type        string     `json:"type"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Parameters  sayso.Args `json:"parameters"`
	Strict      bool       `json:"strict"`
}

func definitions(tools []tool.Definition) []responses.ToolUnionParam {
	var out []responses.ToolUnionParam
	for _, t := range tools {
		out = append(out, param.Override[responses.ToolUnionParam](function{"function", t.Name, t.Description, t.Schema, false}))
	}
	return out
}
