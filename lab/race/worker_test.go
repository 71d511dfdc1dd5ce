package race_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/server"
)

// partVariable makes the test binary play another process: serve, or the name
// of the door through which a worker goes.
const partVariable = "SAYSO_RACE_PART"

// The doors of a gate.
const (
	doorSocket  = "socket"  // a client on the Unix socket
	doorHTTP    = "http"    // a client on loopback
	doorWS      = "ws"      // a client with one WebSocket on loopback
	doorFile    = "file"    // the database itself
	doorCommand = "command" // a command that is run for it; no worker's
)

func TestMain(m *testing.M) {
	part := os.Getenv(partVariable)
	if part == "" {
		os.Exit(run(m))
	}
	play := work
	if part == "serve" {
		play = serve
	}
	if err := play(context.Background(), part, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", part, err)
		os.Exit(1)
	}
}

// nanoseconds is the time on a clock that all processes share and nobody sets.
func nanoseconds() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // there is no such system
	}
	return ts.Nano()
}

// pathsOf are the places in a home of the laboratory.
func pathsOf(dir string) home.Paths {
	return home.Paths{Home: dir, State: dir, Config: dir, Runtime: dir}
}

// secretFile holds the token of one principal of the laboratory.
func secretFile(dir, name string) string { return filepath.Join(dir, "secrets", name) }

// serve plays the server, as sayso serve runs it, until it is killed. It says
// when it listens.
func serve(ctx context.Context, _, dir, address string) error {
	paths := pathsOf(dir)
	e, err := local.OpenEngine(ctx, paths, local.Options{Checkpoint: true})
	if err != nil {
		return err
	}
	tokens := paths.Tokens()
	s, err := server.New(e.Door, &server.Options{Authenticate: func(secret string) (sayso.Actor, error) {
		t, err := tokens.Authenticate(secret, time.Now())
		return t.Actor(""), err
	}})
	if err != nil {
		return err
	}
	_ = os.Remove(paths.Socket()) // of a server that was killed
	socket, err := net.Listen("unix", paths.Socket())
	if err != nil {
		return err
	}
	loopback, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	go func() { _ = e.Run(ctx) }() // ends with the process
	fmt.Println(loopback.Addr())
	return s.Serve(ctx, socket, loopback)
}

// job is one thing that a worker is told to do, as somebody.
type job struct {
	N       int
	Who     string
	Do      asked
	At      int64 // when to begin; zero for at once
	Request sayso.ID
	Digest  sayso.Digest
	Content sayso.Digest
	Call    sayso.Call
	Grant   sayso.ID
}

// done is what came of it.
type done struct {
	N            int
	Call, Return int64
	Told         told
	Ran          bool   // the call may run, and nobody else has the right to run it
	Err          string // what the laboratory has no word for
}

// work plays a worker: it does the jobs that it reads, at once, and writes
// what came of each. It ends when there are no more to read.
func work(ctx context.Context, door, dir, address string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &worker{door: door, dir: dir, address: address, gates: map[string]gateway{}}
	if door == doorFile {
		e, err := local.OpenEngine(ctx, pathsOf(dir), local.Options{})
		if err != nil {
			return err
		}
		w.engine = e
	}
	out := json.NewEncoder(os.Stdout)
	var writing sync.Mutex
	var jobs sync.WaitGroup
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var j job
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			return err
		}
		jobs.Go(func() {
			d := w.do(ctx, j)
			writing.Lock()
			defer writing.Unlock()
			_ = out.Encode(d) // who does not read it any more does not miss it
		})
	}
	cancel() // what is still under way after a failure
	jobs.Wait()
	return lines.Err()
}

// gateway is both sides of a gate for one principal.
type gateway struct {
	sayso.Gate
	sayso.Inbox
}

type worker struct {
	door, dir, address string
	engine             *local.Engine

	mu    sync.Mutex // guards gates
	gates map[string]gateway
}

// as is the gate for a principal, through the door of this worker.
func (w *worker) as(ctx context.Context, who string) (gateway, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if g, ok := w.gates[who]; ok {
		return g, nil
	}
	g, err := open(ctx, w.door, w.dir, w.address, who, w.engine)
	if err == nil {
		w.gates[who] = g
	}
	return g, err
}

// open opens the gate for a principal through a door.
func open(ctx context.Context, door, dir, address, who string, e *local.Engine) (gateway, error) {
	secret, err := os.ReadFile(secretFile(dir, who))
	if err != nil {
		return gateway{}, err
	}
	if door == doorFile {
		t, err := pathsOf(dir).Tokens().Authenticate(string(secret), time.Now())
		return gateway{e.Gate(t.Actor(door)), e.Inbox(t.Actor(door))}, err
	}
	o := &client.Options{Wait: true, Retry: patience}
	base := "http://" + address
	if door == doorSocket {
		base = pathsOf(dir).Socket()
	}
	if door == doorWS {
		c, err := client.Dial(ctx, base, string(secret), o)
		return gateway{c, c}, err
	}
	c, err := client.New(base, string(secret), o)
	return gateway{c, c}, err
}

// do does a job and takes the time.
func (w *worker) do(ctx context.Context, j job) done {
	d := done{N: j.N}
	g, err := w.as(ctx, j.Who)
	if err != nil {
		d.Err = err.Error()
		return d
	}
	if j.At > 0 {
		<-time.After(time.Duration(j.At - nanoseconds()))
	}
	d.Call = nanoseconds()
	d.Told, d.Ran, err = g.try(ctx, j)
	d.Return = nanoseconds()
	if err != nil {
		d.Err = fmt.Sprintf("%s: %v", j.Do.Op, err)
	}
	return d
}

// try does a job until somebody answers: the server may be away. It is tried
// again just as a program would, and only where that is the same.
func (g gateway) try(ctx context.Context, j job) (t told, ran bool, err error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	doubt := false
	for range 3000 {
		t, ran, err = g.once(ctx, j)
		if !errors.Is(err, sayso.ErrUnavailable) || ctx.Err() != nil {
			break
		}
		doubt = true
		<-tick.C
	}
	t.Doubt = doubt && j.Do.Op == "redeem"
	return t, ran, err
}

func (g gateway) once(ctx context.Context, j job) (told, bool, error) {
	switch j.Do.Op {
	case "answer":
		e := sayso.Deny
		if j.Do.Phase == isAllowed {
			e = sayso.Allow
		}
		d, err := g.Answer(ctx, j.Request, sayso.Answer{Digest: j.Digest, Content: j.Content, Effect: e})
		t, err := phase(d, err)
		return t, false, err
	case "read":
		r, err := g.Request(ctx, string(j.Request))
		return standing(r), false, err
	case "wait":
		d, err := g.Admit(ctx, sayso.Admission{Call: j.Call})
		t, err := phase(d, err)
		return t, false, err
	case "use":
		d, err := g.Admit(ctx, sayso.Admission{Call: j.Call, Immediate: true, Patience: time.Nanosecond})
		t, err := phase(d, err)
		return t, err == nil && t.Phase == isAllowed, err
	case "redeem":
		t, err := phase(sayso.Decision{}, g.Redeem(ctx, sayso.Receipt{Request: j.Request, Digest: j.Digest}, j.Call))
		return t, err == nil && t.Phase == isMine, err
	case "withdraw":
		t, err := phase(sayso.Decision{}, g.Withdraw(ctx, j.Request, "changed my mind"))
		return t, false, err
	case "revoke":
		return told{Phase: isMine}, false, g.Revoke(ctx, j.Grant)
	}
	return told{}, false, fmt.Errorf("nobody knows how to %q", j.Do.Op)
}

// phase puts what somebody was told into the words of the model.
func phase(d sayso.Decision, err error) (told, error) {
	var decided *sayso.DecidedError
	switch {
	case errors.As(err, &decided):
		d = decided.Decision
	case errors.Is(err, sayso.ErrExpired):
		return told{Phase: isExpired}, nil
	case errors.Is(err, sayso.ErrWithdrawn):
		return told{Phase: isWithdrawn}, nil
	case errors.Is(err, sayso.ErrSpent):
		return told{Phase: isSpent}, nil
	case errors.Is(err, sayso.ErrVoided):
		return told{Phase: isVoid}, nil
	case errors.Is(err, sayso.ErrNotAllowed):
		return told{Phase: isDenied}, nil
	case errors.Is(err, sayso.ErrPending):
		return told{Phase: isOpen}, nil
	case err != nil:
		return told{}, err
	}
	if d.Request == "" {
		return told{Phase: isMine}, nil // there is no decision in what was done
	}
	return ofDecision(d), nil
}

func ofDecision(d sayso.Decision) told {
	switch d.State {
	case sayso.StateAllowed, sayso.StateDenied:
		return told{Phase: string(d.State), Who: d.Who()}
	case sayso.StateExpired, sayso.StateWithdrawn:
		return told{Phase: string(d.State)}
	}
	return told{}
}

// standing is where a request stands, to whoever reads it.
func standing(r sayso.Request) told {
	if r.State.Open() {
		return told{}
	}
	if r.State == sayso.StateExpired {
		return told{Phase: isExpired}
	}
	if r.Decision == nil {
		return told{}
	}
	return ofDecision(*r.Decision)
}
