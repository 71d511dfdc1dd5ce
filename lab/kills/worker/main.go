// Worker is one of the processes that lab/kills kills: an asker, that makes
// calls and runs what it may, an answerer, or a server between them and the log. It is built with the tag
// failpoint and writes one line of JSON for everything that it was promised;
// what it wrote is what the log must still hold after any kill.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/failpoint"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/server"
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
	role := flag.String("role", "", "ask, answer or serve")
	db := flag.String("db", "", "the log")
	ran := flag.String("ran", "", "file that a call appends its id to when it runs")
	calls := flag.String("calls", "", "ids of calls to make, separated by commas")
	name := flag.String("name", "", "who answers")
	socket := flag.String("socket", "", "the server's socket; without, the log is opened here")
	flag.Parse()
	if err := run(*role, *db, *ran, *calls, *name, *socket); err != nil {
		fmt.Fprintf(os.Stderr, "worker %s: %v\n", *role, err)
		os.Exit(1)
	}
}

func run(role, db, ran, calls, name, socket string) error {
	ctx := context.Background()
	if socket != "" && role != "serve" {
		return remote(ctx, role, ran, calls, name, socket)
	}
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
	switch role {
	case "ask":
		return ask(ctx, b.Gate(actor), ran, strings.Split(calls, ","))
	case "answer":
		return answer(ctx, b.Inbox(person(name)))
	}
	return serve(ctx, b, socket)
}

// remote does the same through a server that comes and goes.
func remote(ctx context.Context, role, ran, calls, name, socket string) error {
	o := &client.Options{Wait: true, Retry: time.Minute}
	token := agentToken
	if role == "answer" {
		token = personToken + name
	}
	c, err := client.New(socket, token, o)
	if err != nil {
		return err
	}
	defer c.Close()
	if role == "ask" {
		return ask(ctx, c, ran, strings.Split(calls, ","))
	}
	return answer(ctx, c)
}

// The tokens of the laboratory.
const (
	agentToken  = "sayso_agent_lab"
	personToken = "sayso_person_"
)

// serve serves the broker until it is killed.
func serve(ctx context.Context, b *broker.Broker, socket string) error {
	s, err := server.New(func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.Gate(a), b.Inbox(a) }, &server.Options{
		Authenticate: func(token string) (sayso.Actor, error) {
			if token == agentToken {
				return actor, nil
			}
			if name, ok := strings.CutPrefix(token, personToken); ok {
				return person(name), nil
			}
			return sayso.Actor{}, sayso.ErrNotAllowed
		},
	})
	if err != nil {
		return err
	}
	_ = os.Remove(socket) // of a server that was killed
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	h := s.HTTP()
	h.Handler = replying(h.Handler)
	go func() { _ = b.Run(ctx) }() // ends with the process
	return h.Serve(listener)
}

// replying marks the places around a server's replies.
func replying(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&marked{w, sync.Once{}}, r)
		failpoint.Hit("reply.after-write")
	})
}

type marked struct {
	http.ResponseWriter
	once sync.Once
}

func (m *marked) WriteHeader(status int) {
	m.once.Do(func() { failpoint.Hit("reply.before-write") })
	m.ResponseWriter.WriteHeader(status)
}

// Unwrap lets the server flush and set deadlines.
func (m *marked) Unwrap() http.ResponseWriter { return m.ResponseWriter }

func person(name string) sayso.Actor {
	return sayso.Actor{Principal: name, Kind: sayso.PrincipalPerson, Channel: "lab"}
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

func ask(ctx context.Context, gate sayso.Gate, ran string, calls []string) error {
	errs := make(chan error, len(calls))
	for _, id := range calls {
		go func() { errs <- one(ctx, gate, ran, id) }() // all are waited for below
	}
	var all error
	for range calls {
		all = errors.Join(all, <-errs)
	}
	return all
}

// one makes a call and runs it if it may.
func one(ctx context.Context, gate sayso.Gate, ran, id string) error {
	var d sayso.Decision
	err := again(func() (err error) {
		d, err = gate.Admit(ctx, sayso.Admission{Immediate: true, Call: sayso.Call{
			Tool: "bash", Args: sayso.Args(`{"command":"run ` + id + `"}`), Session: "kills", CallID: id,
		}})
		return err
	})
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
		err := again(func() error { return gate.Report(ctx, sayso.Outcome{Request: d.Request}) })
		if err != nil {
			return fmt.Errorf("call %s: reporting: %w", id, err)
		}
	}
	return say(promise{Call: id, Request: d.Request, Effect: d.Effect.String()})
}

// again repeats what a server that was killed did not answer. Whether it was
// done or not, doing it again is the same.
func again(do func() error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		if err := do(); !errors.Is(err, sayso.ErrUnavailable) {
			return err
		}
		<-tick.C
	}
	return do()
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
func answer(ctx context.Context, inbox sayso.Inbox) error {
	name := fmt.Sprint(os.Getpid())
	for e, err := range inbox.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			return err
		}
		var r sayso.Request
		err = again(func() (err error) { r, err = inbox.Request(ctx, string(e.RequestID)); return err })
		if err != nil {
			return fmt.Errorf("reading %s: %w", e.RequestID, err)
		}
		if !r.State.Open() {
			continue
		}
		a := sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Deny}
		if coin(name+r.CallID, 2) == 0 {
			a.Effect = sayso.Allow
		}
		var d sayso.Decision
		err = again(func() (err error) { d, err = inbox.Answer(ctx, r.ID, a); return err })
		var decided *sayso.DecidedError
		if errors.As(err, &decided) {
			d, err = decided.Decision, nil
		}
		if err != nil {
			return fmt.Errorf("answering %s: %w", r.ID, err)
		}
		if err := say(promise{Request: r.ID, Effect: d.Effect.String()}); err != nil {
			return err
		}
	}
	return nil
}
