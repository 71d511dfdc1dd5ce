package clients_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// bridge is a process that has the client of a language do things.
type bridge struct {
	language string
	cmd      *exec.Cmd

	mu      sync.Mutex // guards what follows, and writing
	in      io.WriteCloser
	next    uint64
	waiting map[uint64]chan reply // nil once the process ended
}

// order is one line to the process.
type order struct {
	ID      uint64  `json:"id"`
	Op      string  `json:"op"`
	Address string  `json:"address,omitempty"`
	Token   string  `json:"token,omitempty"`
	Retry   float64 `json:"retry,omitzero"` // in seconds
	In      any     `json:"in,omitempty"`
}

// reply is one line of the process: the end of something, or something on the
// way to it.
type reply struct {
	ID      uint64     `json:"id"`
	Out     sayso.Args `json:"out,omitempty"`
	Error   *failure   `json:"error,omitempty"`
	Event   sayso.Args `json:"event,omitempty"`
	Present bool       `json:"present,omitempty"` // what is a person to be shown?
}

// start starts the process of a language; it ends with the test.
func start(t testing.TB, language string, command ...string) *bridge {
	t.Helper()
	b := &bridge{language: language, cmd: exec.Command(command[0], command[1:]...), waiting: map[uint64]chan reply{}}
	b.cmd.Stderr = os.Stderr
	in, err := b.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.in = in
	read := make(chan error, 1)
	go func() { read <- b.read(out) }() // ends with the process
	t.Cleanup(func() {
		_ = b.in.Close() // at which it ends
		late := time.AfterFunc(30*time.Second, func() { _ = b.cmd.Process.Kill() })
		err := <-read
		if err := errors.Join(err, b.cmd.Wait()); err != nil {
			t.Errorf("%s: %v", language, err)
		}
		late.Stop()
	})
	return b
}

// read hands the lines of the process to those who wait for them.
func (b *bridge) read(out io.Reader) error {
	defer b.gone()
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var r reply
		if err := jcs.UnmarshalLenient(line, &r); err != nil {
			return errors.Join(err, errors.New(string(line)))
		}
		b.mu.Lock()
		to := b.waiting[r.ID]
		b.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
}

func (b *bridge) gone() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, to := range b.waiting {
		close(to)
	}
	b.waiting = nil
}

// begin gives an order, whose replies come through the channel.
func (b *bridge) begin(o *order) (chan reply, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		return nil, errors.New("the process ended")
	}
	b.next++
	o.ID = b.next
	to := make(chan reply, 1024)
	b.waiting[o.ID] = to
	return to, b.write(o)
}

// end forgets an order.
func (b *bridge) end(id uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, id)
}

// send gives an order that has no reply of its own.
func (b *bridge) send(o *order) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.write(o)
}

func (b *bridge) write(o *order) error {
	line, err := jcs.Marshal(o)
	if err != nil {
		return err
	}
	_, err = b.in.Write(append(line, '\n'))
	return err
}

// errGone says that the process ended before it replied.
var errGone = errors.New("the process ended")

// do gives an order and waits for its end. What comes before is given to meet.
// When ctx ends, what was ordered is given up, and its end waited for.
func (b *bridge) do(ctx context.Context, o order, meet func(reply)) (sayso.Args, error) {
	replies, err := b.begin(&o)
	if err != nil {
		return nil, err
	}
	defer b.end(o.ID)
	over := ctx.Done()
	for {
		select {
		case <-over:
			over = nil
			if err := b.send(&order{ID: o.ID, Op: "cancel"}); err != nil {
				return nil, err
			}
		case r, ok := <-replies:
			switch {
			case !ok:
				return nil, errGone
			case r.Event != nil || r.Present:
				meet(r)
				if r.Present {
					continue
				}
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case r.Error != nil:
				return nil, r.Error
			default:
				return r.Out, nil
			}
		}
	}
}
