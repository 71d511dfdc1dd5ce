package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
)

// maxMessage is the largest message that is looked at whole. A longer one of the
// client is refused; one of the server passes in pieces, see [outline].
var maxMessage = 16 << 20 // less in tests

// lines reads messages, which stand on one line each.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line that is not blank, without its end. One that is
// longer than maxMessage is not whole: what is left of it is in the reader.
func (l *lines) next() (line []byte, whole bool, err error) {
	for {
		line, whole, err = l.line()
		if err != nil || !whole || len(bytes.TrimSpace(line)) > 0 {
			return line, whole, err
		}
	}
}

func (l *lines) line() (line []byte, whole bool, err error) {
	for {
		piece, err := l.r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			return line[:len(line)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
			if len(line) > maxMessage {
				return line, false, nil
			}
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, true, nil
		default:
			return nil, true, err
		}
	}
}

// rest returns the next piece of a line that was not whole, and whether it is
// the last. The piece is good until the next read.
func (l *lines) rest() (piece []byte, last bool, err error) {
	piece, err = l.r.ReadSlice('\n')
	switch {
	case err == nil:
		return piece[:len(piece)-1], true, nil
	case errors.Is(err, bufio.ErrBufferFull):
		return piece, false, nil
	case errors.Is(err, io.EOF):
		return piece, true, nil
	}
	return nil, true, err
}

// skip passes over what is left of a line that was not whole.
func (l *lines) skip() error {
	for {
		if _, last, err := l.rest(); last || err != nil {
			return err
		}
	}
}

// sink writes messages, each whole before the next.
type sink struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

// send writes one message.
func (s *sink) send(message []byte) error {
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

// pieces writes one message as it comes.
func (s *sink) pieces(copy func(io.Writer) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copy(s.w)
}
