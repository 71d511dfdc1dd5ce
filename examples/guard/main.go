// Command guard puts a gate before a function of its own, and asks on its own
// terminal.
//
//	go run ./examples/guard
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/store/memory"
	"github.com/sayso-dev/sayso/tool"
)

// Email is what the function is called with.
type Email struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// sendEmail is the function: it knows nothing of gates.
func sendEmail(_ context.Context, e Email) (string, error) {
	return "sent to " + e.To, nil
}

// guarded puts gate before it.
func guarded(gate sayso.Gate) *tool.Func[Email, string] {
	return tool.Guard(gate, "send_email", sendEmail, &tool.Options[Email]{
		Terms:       tool.Terms{Call: sayso.Call{Session: "mail"}},
		Ask:         tool.When(func(e Email) bool { return !strings.HasSuffix(e.To, "@example.org") }),
		Description: func(e Email) string { return "Send email to " + e.To + ": " + e.Subject },
		Payload:     func(e Email) any { return map[string]string{"to": e.To} },
		Present: func(_ context.Context, e Email) (*sayso.Presentation, error) {
			return &sayso.Presentation{Type: sayso.PresentText, Content: e.Body}, nil
		},
	})
}

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run sends two mails, the second of which a person is asked about.
func run(ctx context.Context, in io.Reader, out io.Writer) error {
	rules, err := policy.New(policy.Options{}) // the function says itself what there is to ask; policy.Load reads a file
	if err != nil {
		return err
	}
	b, err := broker.New(memory.New(nil), rules, nil)
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go prompt(ctx, b.Inbox(sayso.Actor{Principal: "ana", Kind: sayso.PrincipalPerson}), in, out)

	send := guarded(b.Gate(sayso.Actor{Principal: "mailer", Kind: sayso.PrincipalTool, Owner: "ana"}))
	for _, e := range []Email{
		{To: "bob@example.org", Subject: "lunch", Body: "At noon?"},
		{To: "eve@example.com", Subject: "the plan", Body: "As attached."},
	} {
		done, err := send.Do(ctx, e)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, done)
	}
	return nil
}

// prompt asks about each request as it comes, until ctx ends.
func prompt(ctx context.Context, inbox sayso.Inbox, in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for e, err := range inbox.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			return
		}
		r, err := inbox.Request(ctx, string(e.RequestID))
		if err != nil || !r.State.Open() {
			continue
		}
		fmt.Fprintf(out, "%s\nallow? [y/N] ", r.Description)
		a := sayso.Answer{Digest: r.Digest, Content: r.Content} // the zero effect denies
		if lines.Scan() && lines.Text() == "y" {
			a.Effect = sayso.Allow
		}
		if _, err := inbox.Answer(ctx, r.ID, a); err != nil {
			fmt.Fprintln(out, err)
		}
	}
}
