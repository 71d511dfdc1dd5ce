package race_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
)

var rounds = flag.Int("rounds", 500, "how many requests eight approvers race for")

// command is the program of the commands, built once.
var command = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "sayso")
	out, err := exec.Command("go", "build", "-trimpath", "-o", path, "github.com/sayso-dev/sayso/cmd/sayso").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("building sayso: %w\n%s", err, out)
	}
	return path, err
})

// programs is the folder of the command.
var programs string

func run(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "sayso-race-bin-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	return m.Run()
}

// patience is after how long something counts as hanging, on a machine that has
// a lot else to do.
const patience = 3 * time.Minute

// Who takes part.
const (
	agentName = "racer" // asks
	approvers = 8
)

func approver(i int) string { return fmt.Sprint("approver-", i) }

// world is a home with a server, a worker behind each door that is used, and
// this process, which has opened the database too.
type world struct {
	t       testing.TB
	dir     string
	address string
	engine  *local.Engine

	dying  sync.Mutex // held while the server is killed and started again
	crash  int
	serves *exec.Cmd

	hiring  sync.Mutex // guards workers
	workers map[string]*remote
}

// newWorld makes a home with a policy and starts everything.
func newWorld(t testing.TB, policy string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "race") // short, for a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, address: "127.0.0.1:0", workers: map[string]*remote{}}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	w.people()
	if policy != "" {
		if err := os.WriteFile(pathsOf(dir).Policy(), []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.start()
	t.Cleanup(w.stop)
	if w.engine, err = local.OpenEngine(context.Background(), pathsOf(dir), local.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// people makes a token for everybody.
func (w *world) people() {
	w.t.Helper()
	if err := os.Mkdir(filepath.Join(w.dir, "secrets"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	agent := home.Token{Name: agentName, Kind: sayso.PrincipalAgent, Owner: approver(0)}
	for i := range approvers {
		agent.Approvers = append(agent.Approvers, approver(i))
		w.token(home.Token{Name: approver(i), Kind: sayso.PrincipalPerson})
	}
	w.token(agent)
}

func (w *world) token(t home.Token) {
	w.t.Helper()
	secret, _, err := pathsOf(w.dir).Tokens().Create(time.Now(), t)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(secretFile(w.dir, t.Name), []byte(secret), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// part is this test binary in another role.
func (w *world) part(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], w.dir, w.address)
	cmd.Env = append(os.Environ(), partVariable+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// start starts the server and waits until it listens.
func (w *world) start() {
	w.t.Helper()
	cmd := w.part("serve")
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		w.t.Fatalf("the server said nothing: %v, %v", lines.Err(), cmd.Wait())
	}
	w.address, w.serves = lines.Text(), cmd
}

func (w *world) stop() {
	_ = w.serves.Process.Kill()
	_ = w.serves.Wait() // says that it was killed
}

// restart kills the server as kill -9 does, and starts another.
func (w *world) restart() {
	w.dying.Lock()
	defer w.dying.Unlock()
	w.stop()
	w.crash++
	w.start()
}

// remote is a worker, which is another process.
type remote struct {
	stdin io.WriteCloser

	mu      sync.Mutex // guards what follows
	next    int
	waiting map[int]chan done
}

// hire starts a worker.
func (w *world) hire(door string) *remote {
	w.t.Helper()
	cmd := w.part(door)
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	r := &remote{stdin: in, waiting: map[int]chan done{}}
	heard := make(chan struct{})
	go func() { defer close(heard); r.hear(out) }()
	w.t.Cleanup(func() {
		_ = in.Close() // it ends then
		<-heard
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("worker %s: %v", door, err)
		}
	})
	return r
}

// hear passes on what came of the jobs.
func (r *remote) hear(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var d done
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			d.Err = err.Error()
		}
		r.mu.Lock()
		ch := r.waiting[d.N]
		delete(r.waiting, d.N)
		r.mu.Unlock()
		if ch != nil {
			ch <- d
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ch := range r.waiting {
		ch <- done{Err: "the worker is gone"}
	}
	r.waiting = nil
}

// give gives a job to a worker. What came of it arrives on the channel.
func (r *remote) give(j job) <-chan done {
	ch := make(chan done, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	j.N = r.next
	text, err := json.Marshal(j)
	if err == nil && r.waiting == nil {
		err = io.ErrClosedPipe
	}
	if err == nil {
		r.waiting[j.N] = ch
		_, err = r.stdin.Write(append(text, '\n'))
	}
	if err != nil {
		delete(r.waiting, j.N)
		ch <- done{Err: err.Error()}
	}
	return ch
}

// give gives a job to whoever is behind a door.
func (w *world) give(door string, j job) <-chan done {
	if door == doorCommand {
		ch := make(chan done, 1)
		go func() { ch <- w.typed(j) }()
		return ch
	}
	w.hiring.Lock()
	defer w.hiring.Unlock()
	if w.workers[door] == nil {
		w.workers[door] = w.hire(door)
	}
	return w.workers[door].give(j)
}

// typed answers a request by the command, as somebody who saw it.
func (w *world) typed(j job) (d done) {
	args := []string{"deny", string(j.Request), "--json"}
	if j.Do.Phase == isAllowed {
		args = []string{"approve", string(j.Request), "--json", "--yes", "--digest", j.Digest.String()}
	}
	path, err := command()
	if err != nil {
		return done{Err: err.Error()}
	}
	d.Call = nanoseconds()
	for range 200 {
		cmd := exec.Command(path, args...)
		cmd.Env = []string{"SAYSO_HOME=" + w.dir, "SAYSO_TOKEN_FILE=" + secretFile(w.dir, j.Who), "HOME=" + w.dir}
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		d.Return = nanoseconds()
		if status := cmd.ProcessState.ExitCode(); status == 2 && strings.Contains(errs.String(), "unavailable") {
			continue // the server was killed while it answered: asked again, it says what stands
		} else if status > 1 || status < 0 {
			d.Err = fmt.Sprintf("sayso %s: %v: %s", strings.Join(args, " "), err, errs.String())
			return d
		}
		var standing sayso.Decision
		if err := json.Unmarshal(out, &standing); err != nil {
			d.Err = fmt.Sprintf("sayso %s printed %q: %v", strings.Join(args, " "), out, err)
			return d
		}
		d.Told = ofDecision(standing)
		return d
	}
	d.Err = "sayso: the server did not come back"
	return d
}

// await waits until a call has a request, and returns it as a person sees it.
func (w *world) await(c sayso.Call) sayso.Request {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		head, err := w.engine.Log.Head(ctx)
		if err != nil {
			w.t.Fatal(err)
		}
		stream, err := w.engine.Log.Lookup(ctx, sayso.CallKey(agentName, c.Session, c.CallID))
		if err == nil {
			return w.request(sayso.StreamID(stream))
		}
		if _, err := w.engine.Log.WaitSince(ctx, head.Seq); err != nil {
			w.t.Fatalf("nobody asked for %s: %v", c.CallID, err)
		}
	}
}

// owner is the person whose agent asks.
var owner = sayso.Actor{Principal: approver(0), Kind: sayso.PrincipalPerson, Channel: "lab"}

func (w *world) request(id sayso.ID) sayso.Request {
	w.t.Helper()
	r, err := w.engine.Inbox(owner).Request(context.Background(), string(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// life counts the events of a request by type.
func (w *world) life(id sayso.ID) map[sayso.EventType]int {
	w.t.Helper()
	counts := map[sayso.EventType]int{}
	for _, e := range w.stream(sayso.RequestStream(id)) {
		counts[e.Type]++
	}
	return counts
}

func (w *world) stream(name string) []sayso.Event {
	w.t.Helper()
	events, err := w.engine.Log.Stream(context.Background(), name, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// verify checks the whole log.
func (w *world) verify() {
	w.t.Helper()
	report, err := w.engine.Log.Verify(context.Background(), nil)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		w.t.Errorf("the log does not verify: %v", err)
	}
}
