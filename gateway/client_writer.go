package gateway

import (
	"errors"
	"fmt"
	"io"

	"github.com/sayso-dev/sayso/internal/lines"
)

// errTruncated is a client that was sent half a message: whatever comes behind it would
// be read as a part of it.
var errTruncated = errors.New("an answer of the server broke off in the middle, and what the client has of it cannot be taken back")

// clientWriter is the sender to the client.
type clientWriter struct {
	bridge *bridge
	sink   *lines.Sink
	w      *stickyWriter
}

// Send sends one message.
func (w *clientWriter) Send(text []byte) error {
	if m, err := readMessage(text); err == nil && m.isResponse() {
		w.bridge.handleInitializeResult(&m)
		w.bridge.removeOpen(m.key()) // before the client has it, and uses the id again
	}
	w.bridge.addSending(1)
	defer w.bridge.addSending(-1)
	return w.closeOn(w.sink.Send(text))
}

// Pieces sends one answer as it comes.
func (w *clientWriter) Pieces(o *outline, copy func(io.Writer) error) error {
	w.bridge.addSending(1)
	defer w.bridge.addSending(-1)
	err := w.sink.Pieces(func(io.Writer) error {
		w.w.wrote = false
		err := copy(w.w)
		if err != nil && w.w.wrote {
			w.w.err = fmt.Errorf("%w: %w", errTruncated, err)
		}
		return err
	})
	if w.brokenBy() != nil {
		w.bridge.cancel()
	}
	if id := o.answeredID(); id != nil {
		w.bridge.removeOpen((&message{id: id}).key())
	}
	return err
}

// closeOn ends the conversation where the client takes nothing any more.
func (w *clientWriter) closeOn(err error) error {
	if err != nil {
		w.bridge.cancel()
	}
	return err
}

// brokenBy is why the client can be told nothing more, if that is not its own doing.
func (w *clientWriter) brokenBy() (err error) {
	_ = w.sink.Pieces(func(io.Writer) error { err = w.w.err; return nil })
	return err
}

// stickyWriter writes until something went wrong in the middle of a message. The sink in
// front of it has one write at a time.
type stickyWriter struct {
	w     io.Writer
	wrote bool
	err   error
}

func (t *stickyWriter) Write(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	t.wrote = t.wrote || len(p) > 0
	return t.w.Write(p)
}
