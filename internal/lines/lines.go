// Package lines reads and writes messages that stand on one line each, as agents,
// editors and servers send them to each other over pipes.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
)

// Reader reads messages. A line ends with a line feed or with a carriage return
// and one; what is relayed ends with the first.
type Reader struct {
	r     *bufio.Reader
	limit int
}

// NewReader reads messages of up to limit bytes from r.
func NewReader(r io.Reader, limit int) *Reader { return &Reader{bufio.NewReaderSize(r, 64<<10), limit} }

// Next returns the next line that is not blank, without its end. One that is
// longer than the limit is not whole: what is left of it is in the reader.
func (l *Reader) Next() (line []byte, whole bool, err error) {
	for {
		line, whole, err = l.line()
		if err != nil || !whole || len(bytes.TrimSpace(line)) > 0 {
			return line, whole, err
		}
	}
}

func (l *Reader) line() (line []byte, whole bool, err error) {
	for {
		piece, err := l.r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			return withoutEnd(line), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
			if len(line) > l.limit {
				line, err = l.open(line)
				return line, false, err
			}
		case errors.Is(err, io.EOF) && len(line) > 0:
			return withoutEnd(line), true, nil
		default:
			return nil, true, err
		}
	}
}

// Rest returns the next piece of a line that was not whole, and whether it is
// the last. The piece is good until the next read.
func (l *Reader) Rest() (piece []byte, last bool, err error) {
	piece, err = l.r.ReadSlice('\n')
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return withoutEnd(piece), true, nil
	case errors.Is(err, bufio.ErrBufferFull):
		piece, err = l.open(piece)
		return piece, false, err
	}
	return nil, true, err
}

// open is a piece that another follows. A carriage return at its end is left to
// that one, as it may be part of the end of the line.
func (l *Reader) open(piece []byte) ([]byte, error) {
	if piece[len(piece)-1] != '\r' {
		return piece, nil
	}
	return piece[:len(piece)-1], l.r.UnreadByte()
}

// withoutEnd is a line without its end.
func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// errTwoLines is a message in which a line ends for readers that know more ends
// than a line feed: those of Python, Java and .NET know the carriage return, others
// more. What stands behind it would be another message for them.
var errTwoLines = fmt.Errorf("%w: a control character stands in it at which some readers end a line", sayso.ErrInvalid)

// One reports a message, or a piece of one, that is more than one line for
// some reader. The other ends of lines that readers know, as U+2028, are in JSON
// within strings alone, and no part of a message that begins within a string is
// a message.
func One(text []byte) error {
	if bytes.ContainsAny(text, "\r\v\f\x1c\x1d\x1e") {
		return errTwoLines
	}
	return nil
}

// Skip passes over what is left of a line that was not whole.
func (l *Reader) Skip() error {
	for {
		if _, last, err := l.Rest(); last || err != nil {
			return err
		}
	}
}

// Sink writes messages, each whole before the next.
type Sink struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

// NewSink writes messages to w.
func NewSink(w io.Writer) *Sink { return &Sink{w: w} }

// Send writes one message.
func (s *Sink) Send(message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(message) <= 64<<10 {
		_, err := s.w.Write(append(slices.Clip(message), '\n')) // at once, for whoever reads
		return err
	}
	if _, err := s.w.Write(message); err != nil {
		return err
	}
	_, err := s.w.Write([]byte{'\n'})
	return err
}

// Pieces writes one message as it comes.
func (s *Sink) Pieces(copy func(io.Writer) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copy(s.w)
}
