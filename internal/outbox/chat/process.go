package chat

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/outbox"
)

// patience is how long the process may take that sends.
const patience = 20 * time.Second

// order is what the process that sends is told, on its standard input.
type order struct {
	Address string `json:"address"`
	Text    string `json:"text"`
}

// Process returns a function that sends a text by starting a program, which
// calls [Serve]. The address is told by its input, where no list of processes
// shows it.
func Process(program string, args ...string) func(ctx context.Context, where, text string) error {
	return func(ctx context.Context, where, text string) error {
		in, err := jcs.Marshal(order{where, text})
		if err != nil {
			return &outbox.Failure{Why: "the text cannot be sent"}
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stdin, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(in), &said, time.Second
		err = cmd.Run()
		switch {
		case ctx.Err() != nil:
			return &outbox.Failure{Why: fmt.Sprintf("it did not answer within %s", patience)}
		case err != nil && said.Len() > 0 && said.Len() < 400:
			return &outbox.Failure{Why: strings.TrimSpace(said.String())}
		case err != nil:
			return &outbox.Failure{Why: "the program that sends broke off"}
		}
		return nil
	}
}

// Serve sends what the standard input orders, and says on the standard error
// what went wrong, with an exit status other than zero.
func Serve(ctx context.Context, in io.Reader, errs io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, patience-2*time.Second)
	defer cancel()
	text, err := io.ReadAll(io.LimitReader(in, 1<<20))
	var o order
	if err == nil {
		err = jcs.Unmarshal(text, &o)
	}
	if err == nil {
		err = Send(ctx, o.Address, o.Text)
	} else {
		err = errAddress
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}
