package sse

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Writer writes an event stream. It writes each event in one piece and flushes
// after it. It is not safe for concurrent use. Once a write or a flush failed,
// the stream may end in half an event, so every later call fails the same way.
type Writer struct {
	w     io.Writer
	flush func() error
	buf   []byte
	err   error
}

// NewWriter returns a Writer to w that calls flush after each event. flush may
// be nil; for an HTTP response it is the Flush of its ResponseController.
func NewWriter(w io.Writer, flush func() error) *Writer {
	if flush == nil {
		flush = func() error { return nil }
	}
	return &Writer{w: w, flush: flush}
}

// Event writes one event. An empty id leaves the stream's last id as it is, an
// empty name means [DefaultName]. Empty data is still an event. Ids and names
// with a line end, and text that is not UTF-8, are refused with [ErrField].
func (w *Writer) Event(id, name string, data []byte) error {
	b, err := Append(w.buf[:0], id, name, data)
	if err != nil {
		return err
	}
	return w.send(b)
}

// Append appends one event to b as [Writer.Event] writes it, for many streams.
// It ends in the data's last line and two line ends. With an error it returns b.
func Append(b []byte, id, name string, data []byte) ([]byte, error) {
	if err := checkEvent(id, name, data); err != nil {
		return b, err
	}
	b = appendField(b, "id: ", id)
	b = appendField(b, "event: ", name)
	b = appendLines(b, "data: ", data)
	return append(b, '\n'), nil
}

// Comment writes text that readers skip. As a heartbeat it keeps proxies from
// closing a quiet connection, and lets the writer notice a dead one.
func (w *Writer) Comment(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: comment is not UTF-8", ErrField)
	}
	b := appendLines(w.buf[:0], ": ", []byte(text))
	return w.send(append(b, '\n'))
}

// Retry asks the reader to wait for d, in whole milliseconds, before it
// reconnects. A negative d is refused.
func (w *Writer) Retry(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%w: retry after a negative time", ErrField)
	}
	b := append(w.buf[:0], "retry: "...)
	b = strconv.AppendInt(b, millis(d), 10)
	return w.send(append(b, '\n', '\n'))
}

func (w *Writer) send(b []byte) error {
	w.buf = b
	if w.err != nil {
		return w.err
	}
	if _, err := w.w.Write(b); err != nil {
		w.err = fmt.Errorf("sse: write: %w", err)
		return w.err
	}
	if err := w.flush(); err != nil {
		w.err = fmt.Errorf("sse: flush: %w", err)
	}
	return w.err
}

func checkEvent(id, name string, data []byte) error {
	switch {
	case strings.ContainsAny(id, "\r\n\x00"):
		return fmt.Errorf("%w: id has a line end or NUL", ErrField)
	case strings.ContainsAny(name, "\r\n"):
		return fmt.Errorf("%w: event name has a line end", ErrField)
	case !utf8.ValidString(id) || !utf8.ValidString(name) || !utf8.Valid(data):
		return fmt.Errorf("%w: event is not UTF-8", ErrField)
	}
	return nil
}

func appendField(b []byte, field, value string) []byte {
	if value == "" {
		return b
	}
	return append(append(append(b, field...), value...), '\n')
}

// appendLines writes each line of text, one at least, after the field. The
// field ends in a space, for readers take one space away.
func appendLines(b []byte, field string, text []byte) []byte {
	for {
		i := bytes.IndexAny(text, "\r\n")
		if i < 0 {
			return append(append(append(b, field...), text...), '\n')
		}
		b = append(append(append(b, field...), text[:i]...), '\n')
		if bytes.HasPrefix(text[i:], []byte("\r\n")) {
			i++
		}
		text = text[i+1:]
	}
}
