// Command adk is an agent on Google's Agent Development Kit whose function is
// behind a gate, and whose confirmations are those of the gate.
//
//	sayso serve --listen 127.0.0.1:7717
//	export SAYSO_TOKEN=$(sayso token create --name agent --kind tool)
//	export GEMINI_API_KEY=…
//	go run . http://127.0.0.1:7717 "book a flight to Lisbon"
//	sayso watch          # in another terminal
//
// The kit confirms by ending the run with a call of adk_request_confirmation,
// which the program answers when somebody has decided; the tool is then called
// again. Here the gate decides: as long as it has no answer the tool asks for a
// confirmation that carries the ticket, and the program answers it when the
// ticket is decided. The tool that is called again finds its answer by the id of
// its call. A confirmation that somebody makes up opens nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/tool"
)

// Flight is what the function is called with.
type Flight struct {
	To     string `json:"to"`
	Budget int    `json:"budget,omitempty"`
}

// Booked is what it returns.
type Booked struct {
	Ticket string `json:"ticket"`
}

func book(_ context.Context, f Flight) (Booked, error) {
	return Booked{Ticket: "flight to " + f.To}, nil
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: SAYSO_TOKEN=… GEMINI_API_KEY=… adk GATE TASK")
	}
	ctx := context.Background()
	c, err := client.New(os.Args[1], os.Getenv("SAYSO_TOKEN"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	llm, err := gemini.NewModel(ctx, "gemini-flash-latest", &genai.ClientConfig{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := newProgram(ctx, llm, c.Gate(), c.Inbox(), 5*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	text, err := p.work(ctx, os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
}

// confirmed makes a function behind a gate a tool of the kit. While nobody has
// answered, the kit asks for a confirmation.
func confirmed[In, Out any](name, about string, f *tool.Func[In, Out]) (adktool.Tool, error) {
	return functiontool.New(functiontool.Config{Name: name, Description: about}, func(ctx agent.Context, in In) (Out, error) {
		out, err := f.With(sayso.Call{
			Session: ctx.SessionID(), Run: ctx.InvocationID(), CallID: ctx.FunctionCallID(), Caller: "adk/" + ctx.AgentName(),
		}).Do(ctx, in)
		var pending *sayso.PendingError
		if !errors.As(err, &pending) {
			return out, err
		}
		if err := ctx.RequestConfirmation(err.Error(), map[string]any{"ticket": string(pending.Ticket)}); err != nil {
			return out, err
		}
		ctx.Actions().SkipSummarization = true
		return out, fmt.Errorf("%w: ticket %s", adktool.ErrConfirmationRequired, pending.Ticket.Short())
	})
}

// program runs an agent, and answers its confirmations by what the gate decides.
type program struct {
	run     *runner.Runner
	inbox   sayso.Inbox // of the requester: it sees its own requests
	session string
}

const appName, userID = "adk-example", "user"

func newProgram(ctx context.Context, llm model.LLM, gate sayso.Gate, inbox sayso.Inbox, patience time.Duration) (*program, error) {
	flight, err := confirmed("book_flight", "Book a flight.", tool.Guard(gate, "book_flight", book, &tool.Options[Flight]{
		Terms:       tool.Terms{Patience: patience}, // short: the kit does the waiting
		Description: func(f Flight) string { return "Book a flight to " + f.To },
	}))
	if err != nil {
		return nil, err
	}
	a, err := llmagent.New(llmagent.Config{Name: "traveller", Model: llm, Instruction: "You book flights.", Tools: []adktool.Tool{flight}})
	if err != nil {
		return nil, err
	}
	sessions := session.InMemoryService()
	s, err := sessions.Create(ctx, &session.CreateRequest{AppName: appName, UserID: userID})
	if err != nil {
		return nil, err
	}
	r, err := runner.New(runner.Config{AppName: appName, Agent: a, SessionService: sessions})
	return &program{run: r, inbox: inbox, session: s.Session.ID()}, err
}

// work runs the agent on a task until it waits for nothing more, and returns
// what it said last.
func (p *program) work(ctx context.Context, task string) (string, error) {
	message := genai.NewContentFromText(task, genai.RoleUser)
	for {
		text, asked, err := p.turn(ctx, message)
		if err != nil || len(asked) == 0 {
			return text, err
		}
		message = &genai.Content{Role: string(genai.RoleUser)}
		for _, call := range asked {
			yes, err := p.decided(ctx, call)
			if err != nil {
				return "", err
			}
			message.Parts = append(message.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: call.ID, Name: call.Name, Response: map[string]any{"confirmed": yes},
			}})
		}
	}
}

// turn runs the agent once, and returns the confirmations that it ended with.
func (p *program) turn(ctx context.Context, message *genai.Content) (text string, asked []*genai.FunctionCall, err error) {
	for event, err := range p.run.Run(ctx, userID, p.session, message, agent.RunConfig{}) {
		if err != nil {
			return "", nil, err
		}
		if event.Content == nil {
			continue
		}
		for _, part := range event.Content.Parts {
			if part.Text != "" {
				text = part.Text
			}
			if part.FunctionCall != nil && part.FunctionCall.Name == toolconfirmation.FunctionCallName {
				asked = append(asked, part.FunctionCall)
			}
		}
	}
	return text, asked, nil
}

// decided waits until the gate has an answer to a confirmation.
func (p *program) decided(ctx context.Context, call *genai.FunctionCall) (bool, error) {
	id, err := ticket(call)
	if err != nil {
		return false, err
	}
	for e, err := range p.inbox.Follow(ctx, 0, sayso.EventQuery{Request: id}) {
		if err != nil {
			return false, err
		}
		switch e.Type {
		case sayso.EventResolved, sayso.EventExpired, sayso.EventWithdrawn:
			r, err := p.inbox.Request(ctx, string(id))
			return r.State == sayso.StateAllowed, err
		}
	}
	return false, ctx.Err()
}

// ticket is the request that a confirmation is about.
func ticket(call *genai.FunctionCall) (sayso.ID, error) {
	var payload any
	switch c := call.Args["toolConfirmation"].(type) {
	case toolconfirmation.ToolConfirmation:
		payload = c.Payload
	case *toolconfirmation.ToolConfirmation:
		payload = c.Payload
	}
	if m, ok := payload.(map[string]any); ok {
		if id, ok := m["ticket"].(string); ok {
			return sayso.ID(id), nil
		}
	}
	return "", errors.New("a confirmation without a ticket: it is of another tool")
}
