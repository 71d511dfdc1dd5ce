// Worker is one of the processes that lab/kills kills: an asker, that makes
// calls and runs what it may, or an answerer. It is built with the tag
// failpoint and writes one line of JSON for everything that it was promised;
// what it wrote is what the log must still hold after any kill.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/failpoint"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// promise is one line of a worker: what it was told, and by whom.
type promise struct {
	Call    string   `json:"call,omitempty"`    // an asker's call
	Request sayso.ID `json:"request,omitempty"` //
	Effect  string   `json:"effect,omitempty"`  // what the asker or answerer was told
	Spent   bool     `json:"spent,omitzero"`    // the call ran, or may have, before this process began
}

func main() {
	role := flag.String("role", "", "ask or answer")
	db := flag.String("db", "", "the log")
	ran := flag.String("ran", "", "file that a call appends its id to when it runs")
	calls := flag.String("calls", "", "ids of calls to make, separated by commas")
	name := flag.String("name", "", "who answers")
	flag.Parse()
	if err := run(*role, *db, *ran, *calls, *name); err != nil {
		fmt.Fprintf(os.Stderr, "worker %s: %v\n", *role, err)
		os.Exit(1)
	}
}

func run(role, db, ran, calls, name string) error {
	ctx := context.Background()
	log, err := sqlite.Open(ctx, db, &sqlite.Options{Poll: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	defer log.Close()
	b, err := broker.New(log, rules{}, &broker.Options{MaxAsks: 1 << 30})
	if err != nil {
		return err
	}
	defer b.Close()
	if role == "ask" {
		return ask(ctx, b, ran, strings.Split(calls, ","))
	}
	return answer(ctx, b, name)
}

// rules allow every third call and ask about the others.
type rules struct{}

func (rules) Version() string { return "kills" }

func (rules) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	m := sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseRule}
	if coin(c.CallID, 3) == 0 {
		m.Effect = sayso.Allow
	}
	return sayso.Verdict{Match: m, Matches: []sayso.Match{m}, Default: m, Policy: "kills"}
}

// coin is a number below n that is the same for the same text.
func coin(s string, n int) int {
	sum := sha256.Sum256([]byte(s))
	return (int(sum[0])<<8 | int(sum[1])) % n
}

var (
	out   sync.Mutex
	actor = sayso.Actor{Principal: "agent", Kind: sayso.PrincipalAgent, Channel: "lab", Owner: "ana", Approvers: []string{"ben"}}
)

// say writes a promise in one write, so that a kill leaves a whole line or none.
func say(p promise) error {
	text, err := jcs.Marshal(p)
	if err != nil {
		return err
	}
	out.Lock()
	defer out.Unlock()
	failpoint.Hit("reply.before-write")
	_, err = os.Stdout.Write(append(text, '\n'))
	failpoint.Hit("reply.after-write")
	return err
}

func ask(ctx context.Context, b *broker.Broker, ran string, calls []string) error {
	errs := make(chan error, len(calls))
	for _, id := range calls {
		go func() { errs <- one(ctx, b, ran, id) }() // all are waited for below
	}
	var all error
	for range calls {
		all = errors.Join(all, <-errs)
	}
	return all
}

// one makes a call and runs it if it may.
func one(ctx context.Context, b *broker.Broker, ran, id string) error {
	gate := b.Gate(actor)
	d, err := gate.Admit(ctx, sayso.Admission{Immediate: true, Call: sayso.Call{
		Tool: "bash", Args: sayso.Args(`{"command":"run ` + id + `"}`), Session: "kills", CallID: id,
	}})
	if errors.Is(err, sayso.ErrSpent) {
		return say(promise{Call: id, Spent: true})
	}
	if err != nil {
		return fmt.Errorf("call %s: %w", id, err)
	}
	if d.Allowed() {
		if err := execute(ran, id); err != nil {
			return err
		}
		if err := gate.Report(ctx, sayso.Outcome{Request: d.Request}); err != nil {
			return fmt.Errorf("call %s: %w", id, err)
		}
	}
	return say(promise{Call: id, Request: d.Request, Effect: d.Effect.String()})
}

// execute is what the calls do: leave a line that cannot be left unseen.
func execute(ran, id string) error {
	f, err := os.OpenFile(ran, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(id + "\n")
	return err
}

// answer answers whatever is open, each answerer with its own mind.
func answer(ctx context.Context, b *broker.Broker, name string) error {
	inbox := b.Inbox(sayso.Actor{Principal: name, Kind: sayso.PrincipalPerson, Channel: "lab"})
	for e, err := range inbox.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			return err
		}
		r, err := inbox.Request(ctx, string(e.RequestID))
		if err != nil {
			return err
		}
		if !r.State.Open() {
			continue
		}
		a := sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Deny}
		if coin(name+r.CallID, 2) == 0 {
			a.Effect = sayso.Allow
		}
		d, err := inbox.Answer(ctx, r.ID, a)
		var decided *sayso.DecidedError
		if errors.As(err, &decided) {
			d, err = decided.Decision, nil
		}
		if err != nil {
			return err
		}
		if err := say(promise{Request: r.ID, Effect: d.Effect.String()}); err != nil {
			return err
		}
	}
	return nil
}
