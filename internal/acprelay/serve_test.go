package acprelay_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/acprelay"
	"github.com/sayso-dev/sayso/internal/child"
)

// TestMain makes the test binary an agent, or a relay before one, when it is started
// as that.
func TestMain(m *testing.M) {
	switch os.Getenv("ACPRELAY_TEST") {
	case "agent":
		agentProcess(os.Args[1])
	case "relay":
		if _, err := serve(os.Stdin, os.Stdout, nil, os.Args[1]); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m) // no goroutine outlives the tests
}

// nobody is a gate whose people do not answer.
type nobody struct{ sayso.Gate }

func (nobody) Admit(ctx context.Context, _ sayso.Admission) (sayso.Decision, error) {
	<-ctx.Done()
	return sayso.Decision{}, ctx.Err()
}

func (nobody) Withdraw(context.Context, sayso.ID, string) error { return nil }

func (nobody) End(context.Context, string) error { return nil }

// serve serves an agent of this program.
func serve(in io.Reader, out io.Writer, signals <-chan os.Signal, what string) (child.End, error) {
	_ = os.Setenv("ACPRELAY_TEST", "agent")
	a := acprelay.Agent{Args: []string{os.Args[0], what}, Stderr: os.Stderr, Signals: signals}
	return a.Serve(context.Background(), acprelay.Options{Gate: nobody{}}, in, out)
}

// agentProcess does as it is told. What it is told may be a pipe, which it holds open
// as long as it lives, and asks for permission, whatever signals come.
func agentProcess(what string) {
	if what == "asks" {
		fmt.Println(ask("0", "c1", "make"))
		fmt.Println(`{"method":"asked"}`)
		answer, _ := io.ReadAll(os.Stdin)
		if strings.TrimSpace(string(answer)) != said("0", "") {
			os.Exit(1)
		}
		os.Exit(5)
	}
	life, err := os.OpenFile(what, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	fmt.Println(ask("0", "c1", "make"))
	fmt.Println(`{"method":"asked"}`)
	_, _ = io.Copy(life, os.Stdin)
	_, _ = life.WriteString("the input ended\n")
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}

// A relay ends as its agent does, whose question is taken back when its editor is gone.
func TestServe_endsAlike(t *testing.T) {
	in, editor := io.Pipe()
	if end, err := serve(in, leaves{editor}, nil, "asks"); err != nil || end.Status != 5 {
		t.Errorf("%+v, %v", end, err)
	}
	if _, err := (acprelay.Agent{Args: []string{"/no/such/agent"}}).Serve(t.Context(), acprelay.Options{Gate: nobody{}}, strings.NewReader(""), io.Discard); err == nil {
		t.Error("an agent that is not there began")
	}
}

// leaves is an editor that is gone as soon as it hears something.
type leaves struct{ in *io.PipeWriter }

func (l leaves) Write(text []byte) (int, error) { return len(text), l.in.Close() }

// An agent does not outlive a relay that is killed, and hears no yes.
func TestServe_killed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends an agent that does not read with its relay; type: GOOS=linux go test ./internal/acprelay")
	}
	pipe := filepath.Join(t.TempDir(), "life")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	life, err := os.OpenFile(pipe, os.O_RDWR, 0) // so that it opens before the agent does
	if err != nil {
		t.Fatal(err)
	}
	reads, err := os.OpenFile(pipe, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	cmd := exec.Command(os.Args[0], pipe)
	cmd.Env = append(os.Environ(), "ACPRELAY_TEST=relay")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len(`{"method":"asked"}`)+1)
	if _, err := io.ReadFull(out, line); err != nil {
		t.Fatal(err)
	}
	_ = life.Close() // from here on only the agent holds it
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := reads.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	heard, err := io.ReadAll(reads)
	if err != nil {
		t.Fatalf("the agent is alive: %v", err)
	}
	if strings.Contains(string(heard), "selected") {
		t.Errorf("the agent heard %s", heard)
	}
}
