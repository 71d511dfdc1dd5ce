package child_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/sayso-dev/sayso/internal/child"
)

// TestMain makes the test binary a program, when it is started as that.
func TestMain(m *testing.M) {
	switch os.Getenv("CHILD_TEST") {
	case "status":
		os.Exit(7)
	case "signal":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "hears":
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, syscall.SIGUSR1)
		fmt.Println("ready")
		<-heard
		os.Exit(9)
	case "echoes": // until it is told to end
		_, _ = io.Copy(os.Stdout, os.Stdin)
		os.Exit(5)
	}
	os.Exit(m.Run())
}

// between stands between this program and whoever writes to in, and passes on what comes.
func between(in io.Reader, out io.Writer, signals <-chan os.Signal, what string, closed *bool) (child.End, error) {
	c := child.Command{Args: []string{os.Args[0]}, Env: append(os.Environ(), "CHILD_TEST="+what)}
	return child.Between(context.Background(), what, c, signals, in, func(to io.Writer) (child.Ways, error) {
		copies := func(to io.Writer) func(context.Context, io.Reader) error {
			return func(_ context.Context, from io.Reader) error {
				_, err := io.Copy(to, from)
				return err
			}
		}
		if closed == nil {
			return child.Ways{}, errNot
		}
		return child.Ways{In: copies(to), Out: copies(out), Close: func(context.Context) { *closed = true }}, nil
	})
}

var errNot = errors.New("not this one")

// What stands between ends as the program does, when it has no more to say.
func TestBetween_endsAlike(t *testing.T) {
	for what, want := range map[string]struct {
		end child.End
		out string
	}{
		"status": {child.End{Status: 7}, ""}, "signal": {child.End{Status: 137, Signal: syscall.SIGKILL}, ""}, "echoes": {child.End{Status: 5}, "what was said"},
	} {
		var out strings.Builder
		closed := false
		end, err := between(strings.NewReader(want.out), &out, nil, what, &closed)
		if err != nil || end != want.end || out.String() != want.out || !closed {
			t.Errorf("%s: %+v, %v, %q, closed: %v", what, end, err, out.String(), closed)
		}
	}
}

// Signals reach the program.
func TestBetween_signals(t *testing.T) {
	in, writes := io.Pipe()
	defer writes.Close()
	from, out := io.Pipe()
	signals := make(chan os.Signal, 1)
	done := make(chan child.End)
	go func() {
		end, _ := between(in, out, signals, "hears", new(bool))
		done <- end
	}()
	if _, err := io.ReadFull(from, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	signals <- syscall.SIGUSR1
	if end := <-done; end.Status != 9 {
		t.Errorf("it ended with %+v", end)
	}
}

// A program that is not there, or that nobody stands before, does not run.
func TestBetween_doesNotBegin(t *testing.T) {
	if _, err := child.Between(t.Context(), "it", child.Command{Args: []string{"/no/such/program"}}, nil, strings.NewReader(""), nil); err == nil || !strings.Contains(err.Error(), "starting it") {
		t.Errorf("%v", err)
	}
	if _, err := between(strings.NewReader(""), io.Discard, nil, "echoes", nil); !errors.Is(err, errNot) {
		t.Errorf("%v", err)
	}
}
