package clients_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// serverFolder makes this program the server of that folder.
const serverFolder = "CLIENTS_TEST_SERVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverFolder); dir != "" {
		if err := serverMain(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// The tokens of a site.
const (
	agentToken  = "sayso_agent_SECRETSECRET"
	toolToken   = "sayso_tool_SECRETSECRET"
	personToken = "sayso_person_SECRETSECRET"
)

// asks is a policy that asks about everything but reads, and has no rule about
// send_email.
type asks struct{}

func (asks) Version() string { return "test" }
func (asks) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	m := sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseRule}
	switch c.Tool {
	case "file-read":
		m.Effect = sayso.Allow
	case "delegate":
		m.Effect = sayso.Deny
	case "send_email":
		m.Cause = sayso.CauseDefault
		return sayso.Verdict{Match: m, Default: m, Policy: "test", Deadline: sayso.Deadline{After: time.Hour}}
	}
	return sayso.Verdict{Match: m, Matches: []sayso.Match{m}, Default: m, Policy: "test", Deadline: sayso.Deadline{After: time.Hour}}
}

// serverMain serves the log in a folder until its input ends.
func serverMain(dir string) error {
	log, err := sqlite.Open(context.Background(), filepath.Join(dir, "home", "sayso.db"), nil)
	if err != nil {
		return err
	}
	b, err := broker.New(log, asks{}, nil)
	if err != nil {
		return err
	}
	s, err := server.New(func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.Gate(a), b.Inbox(a) },
		&server.Options{Authenticate: func(token string) (sayso.Actor, error) {
			switch token {
			case agentToken:
				return sayso.Actor{Principal: "agent", Kind: sayso.PrincipalAgent, Owner: "ana"}, nil
			case toolToken:
				return sayso.Actor{Principal: "tool", Kind: sayso.PrincipalTool, Owner: "ana"}, nil
			case personToken:
				return sayso.Actor{Principal: "ana", Kind: sayso.PrincipalPerson}, nil
			}
			return sayso.Actor{}, errors.New("no such token")
		}})
	if err != nil {
		return err
	}
	socket := filepath.Join(dir, "s")
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println("ready")
	return s.Serve(context.Background(), l)
}

// site is a server of its own process that can be killed.
type site struct {
	t    *testing.T
	dir  string
	kill func()
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), kill: func() {}}
	s.start()
	t.Cleanup(func() { s.kill() })
	return s
}

func (s *site) socket() string { return filepath.Join(s.dir, "s") }

func (s *site) start() {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), serverFolder+"="+s.dir), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.kill = func() {
		s.kill = func() {}
		_ = cmd.Process.Kill() // SIGKILL: it says goodbye to nobody
		_ = cmd.Wait()
		_ = in.Close()
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		s.t.Fatalf("the server says %q, %v", line, err)
	}
}

// client is the Go client of who has the token.
func (s *site) client(token string) *client.Client {
	s.t.Helper()
	c, err := client.New(s.socket(), token, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// request waits until a call is asked about.
func (s *site) request(ctx context.Context, callID string) sayso.Request {
	s.t.Helper()
	for e, err := range s.client(personToken).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			s.t.Fatal(err)
		}
		if e.CallID != callID {
			continue
		}
		r, err := sayso.RequestIn(&e)
		if err != nil {
			s.t.Fatal(err)
		}
		return r
	}
	return sayso.Request{}
}

func (s *site) driven(b *bridge, token string) *driven {
	return &driven{b: b, address: s.socket(), token: token, retry: time.Minute, wrong: s.t.Errorf}
}

func command(tool, id string) sayso.Call {
	return sayso.Call{Tool: tool, Args: sayso.Args(`{"command":"make ` + id + `"}`), Session: "s1", CallID: id}
}

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(stop)
	return ctx
}

func TestAway_inPython(t *testing.T) { away(t, python(t)) }

// away kills the server while somebody waits, and while somebody follows.
func away(t *testing.T, b *bridge) {
	t.Run("a call that waits", func(t *testing.T) { awayAdmit(t, b) })
	t.Run("a follower", func(t *testing.T) { awayFollow(t, b) })
	t.Run("nobody was ever there", func(t *testing.T) {
		d := &driven{b: b, address: filepath.Join(t.TempDir(), "none"), token: agentToken, retry: time.Minute, wrong: t.Errorf}
		if _, err := d.Admit(patient(t), sayso.Admission{Call: command("bash", "c1")}); !errors.Is(err, sayso.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

func awayAdmit(t *testing.T, b *bridge) {
	t.Parallel()
	s, ctx := newSite(t), patient(t)
	type result struct {
		d   sayso.Decision
		err error
	}
	got := make(chan result, 1)
	go func() { // ends with ctx
		d, err := s.driven(b, agentToken).Admit(ctx, sayso.Admission{Call: command("bash", "c1"), Patience: time.Minute})
		got <- result{d, err}
	}()
	r := s.request(ctx, "c1")
	for range 2 {
		s.kill()
		s.start()
	}
	if _, err := s.client(personToken).Answer(ctx, r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
		t.Fatal(err)
	}
	res := <-got
	if res.err != nil || !res.d.Allowed() || res.d.Request != r.ID {
		t.Fatalf("got %+v, %v", res.d, res.err)
	}
	agent := s.driven(b, agentToken)
	s.kill()
	if err := agent.Redeem(ctx, res.d.Receipt, command("bash", "c1")); !errors.Is(err, sayso.ErrUnavailable) {
		t.Errorf("redeemed at a server that is not there: %v", err)
	}
	s.start()
	if err := agent.Redeem(ctx, res.d.Receipt, command("bash", "c1")); err != nil {
		t.Errorf("redeeming: %v", err)
	}
	if err := agent.Redeem(ctx, res.d.Receipt, command("bash", "c1")); !errors.Is(err, sayso.ErrSpent) {
		t.Errorf("redeeming again: %v", err)
	}
}

func awayFollow(t *testing.T, b *bridge) {
	t.Parallel()
	s, ctx := newSite(t), patient(t)
	agent := s.driven(b, agentToken)
	add := func(id string) {
		if _, err := agent.Admit(ctx, sayso.Admission{Call: command("file-read", id)}); err != nil {
			t.Error(err)
		}
	}
	add("c0")
	var ids []string
	for e, err := range s.driven(b, personToken).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			t.Fatalf("after %v: %v", ids, err)
		}
		ids = append(ids, e.CallID)
		if n := len(ids); n < 3 {
			s.kill()
			s.start()
			add(fmt.Sprint("c", n))
		} else {
			break
		}
	}
	if fmt.Sprint(ids) != "[c0 c1 c2]" {
		t.Errorf("saw %v", ids)
	}
}
