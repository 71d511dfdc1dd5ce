package tool_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/store/memory"
	"github.com/sayso-dev/sayso/tool"
)

// newGate is a gate that allows what asks for nothing, and denies the rest for
// want of somebody to ask.
func newGate() (gate sayso.Gate, stop func()) {
	rules, err := policy.New(policy.Options{})
	if err != nil {
		log.Fatal(err)
	}
	b, err := broker.New(memory.New(nil), rules, &broker.Options{Mode: func() sayso.Mode { return sayso.ModeStrict }})
	if err != nil {
		log.Fatal(err)
	}
	gate = b.Gate(sayso.Actor{Principal: "example", Kind: sayso.PrincipalTool, Owner: "ana"})
	return gate, func() { _ = b.Close() }
}

type Email struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

func sendEmail(_ context.Context, e Email) (string, error) { return "sent to " + e.To, nil }

func ExampleGuard() {
	gate, stop := newGate()
	defer stop()
	ctx := context.Background()

	send := tool.Guard(gate, "send_email", sendEmail, &tool.Options[Email]{
		Terms:       tool.Terms{Call: sayso.Call{Session: "s1"}},
		Description: func(e Email) string { return "Send email to " + e.To + ": " + e.Subject },
		Payload:     func(e Email) any { return map[string]string{"to": e.To} },
	})
	done, err := send.Do(ctx, Email{To: "ana@example.org", Subject: "lunch"})

	fmt.Println(done, errors.Is(err, sayso.ErrNotAllowed)) // nobody is there to be asked
	// Output:  true
}

func ExampleWhen() {
	gate, stop := newGate()
	defer stop()
	ctx := context.Background()

	abroad := func(e Email) bool { return !strings.HasSuffix(e.To, "@example.org") }
	send := tool.Guard(gate, "send_email", sendEmail, &tool.Options[Email]{Ask: tool.When(abroad)})

	done, err := send.Do(ctx, Email{To: "ana@example.org"})
	fmt.Println(done, err)
	// Output: sent to ana@example.org <nil>
}

// openTools is what an agent of a program may work with.
func openTools(gate sayso.Gate, dir string) (tool.Set, error) {
	files, err := tool.OpenFiles(dir, sayso.PathRules{Roots: []sayso.PathRoot{
		{Name: "notes", Root: "./notes", Read: sayso.Allow, Write: sayso.Ask, Suffixes: []string{".txt", ".log"}},
		{Name: "output", Root: "./output", Read: sayso.Allow, Write: sayso.Allow},
	}})
	if err != nil {
		return nil, err
	}
	shell, err := tool.OpenShell(dir, &tool.ShellOptions{Timeout: time.Minute, Env: []string{}})
	if err != nil {
		return nil, err
	}
	set, err := tool.Join(files, shell, tool.NewFetch(nil))
	if err != nil {
		return nil, err
	}
	return tool.Wrap(gate, set, &tool.Terms{Workspace: dir, Call: sayso.Call{Session: "s1", Caller: "agent/main"}}), nil
}

// answer is what a model is told of a call that it wants to make.
func answer(ctx context.Context, set tool.Set, id, name, args string) (text string, failed bool) {
	r, err := set.Call(ctx, sayso.Call{Tool: name, CallID: id, Args: sayso.Args(args)})
	if err != nil {
		return err.Error(), true
	}
	return r.Text, false
}

func ExampleWrap() {
	gate, stop := newGate()
	defer stop()
	dir, err := os.MkdirTemp("", "tools")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"notes", "output"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			log.Fatal(err)
		}
	}
	tools, err := openTools(gate, dir)
	if err != nil {
		log.Fatal(err)
	}
	for i, args := range []string{`{"path":"notes"}`, `{"path":"/etc"}`} {
		text, failed := answer(context.Background(), tools, fmt.Sprint("call-", i), "list_files", args)
		fmt.Printf("%q %v\n", strings.ReplaceAll(text, dir, "DIR"), failed)
	}
	// Output:
	// "" false
	// "list_files: /etc: not allowed: it lies outside of notes (DIR/notes), output (DIR/output)" true
}

// Deployer is a set of tools of one's own.
type Deployer struct{}

// Call implements tool.Set.
func (Deployer) Call(_ context.Context, c sayso.Call) (tool.Result, error) {
	return tool.Result{Text: "deployed"}, nil
}

// Ask implements tool.Asker: staging is free, the rest is asked about.
func (Deployer) Ask(_ context.Context, c sayso.Call) (*tool.Ask, error) {
	if string(c.Args) == `{"to":"staging"}` {
		return nil, nil
	}
	return &tool.Ask{ToolAsk: sayso.ToolAsk{Required: true, Description: "Deploy", Risk: sayso.RiskDestructive}}, nil
}

func ExampleAsker() {
	gate, stop := newGate()
	defer stop()
	tools := tool.Wrap(gate, Deployer{}, nil)
	for _, to := range []string{`{"to":"staging"}`, `{"to":"production"}`} {
		r, err := tools.Call(context.Background(), sayso.Call{Tool: "deploy", Args: sayso.Args(to)})
		fmt.Printf("%q %v\n", r.Text, errors.Is(err, sayso.ErrNotAllowed))
	}
	// Output:
	// "deployed" false
	// "" true
}

func ExampleRun() {
	gate, stop := newGate()
	defer stop()
	ctx := context.Background()
	framework := func(context.Context, string, []byte) (string, error) { return "", nil }

	call := sayso.Call{Tool: "deploy", CallID: "toolu_01", Session: "s1", Args: sayso.Args(`{"to":"staging"}`)}
	out, err := tool.Run(ctx, gate, sayso.Admission{Call: call}, func(ctx context.Context, c sayso.Call) (string, error) {
		return framework(ctx, c.Tool, c.Args) // c has the arguments that were allowed
	})

	fmt.Printf("%q %v\n", out, errors.Is(err, sayso.ErrNotAllowed))
	// Output: "" true
}

func ExampleStoppedError() {
	gate, stop := newGate()
	defer stop()
	ctx := context.Background()
	send := tool.Guard(gate, "send_email", sendEmail, nil)
	e := Email{To: "ana@example.org"}

	_, err := send.Do(ctx, e)
	var stopped *tool.StoppedError
	var pending *sayso.PendingError
	switch {
	case errors.As(err, &pending):
		fmt.Println("nobody has answered", pending.Ticket.Short(), "yet")
	case errors.As(err, &stopped):
		fmt.Println("it did not run")
	case err != nil:
		fmt.Println("it ran and failed:", err)
	}
	// Output: it did not run
}

// TestMail is how a program's own tests look.
func TestMail(t *testing.T) {
	b := saysotest.New(t)
	b.Approve(`send_email:*"to":"ana@*`) // what no line speaks of is denied
	send := tool.Guard(b.Gate(), "send_email", sendEmail, &tool.Options[Email]{Terms: tool.Terms{Call: sayso.Call{Session: "s1"}}})
	if _, err := send.Do(t.Context(), Email{To: "ana@example.org"}); err != nil {
		t.Error(err)
	}
	if _, err := send.Do(t.Context(), Email{To: "eve@example.com"}); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("it was sent: %v", err)
	}
}

// TestLocal: a page of this machine, by name and port.
func TestLocal(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer srv.Close()
	fetch := tool.NewFetch(&tool.FetchOptions{Local: []string{srv.Listener.Addr().String()}})
	if r, err := fetch.Call(t.Context(), calls(t, tool.WebFetch, obj{"url": srv.URL})); err != nil || r.Text != "hello" {
		t.Errorf("got %q, %v", r.Text, err)
	}
}
