package gateway

import (
	"errors"
	"io"
	"os"
)

// Pieces sends an answer as it comes, to the stream of the request that it answers.
func (w streamSender) Pieces(o *outline, copy func(io.Writer) error) error {
	s := &longAnswerWriter{sender: w, outline: o}
	err := copy(s)
	if s.w != nil {
		s.w.closeWithError(err)
	}
	return errors.Join(err, s.closeFile())
}

// longAnswerWriter writes an answer to the stream of its request. What comes before the answer
// says which that is waits in a file that has no name.
type longAnswerWriter struct {
	sender  streamSender
	outline *outline
	written int // how much was written
	w       *lossyWriter
	file    *os.File
	tail    []byte // what came behind the id, before it was known to be over
}

// Write writes a piece. The id in it is that of the client.
func (s *longAnswerWriter) Write(p []byte) (int, error) {
	from, to := s.written, s.written+len(p)
	s.written = to
	if s.w != nil || !s.sender.s.isStateless() {
		if err := s.findStream(); err != nil {
			return 0, err
		}
		return len(p), s.forward(p)
	}
	if s.outline.idTo == 0 { // it did not come yet
		return len(p), s.forward(p)
	}
	if s.outline.idFrom > from {
		if err := s.forward(p[:min(s.outline.idFrom, to)-from]); err != nil {
			return 0, err
		}
	}
	after := p[max(min(s.outline.idTo, to), from)-from:]
	if err := s.findStream(); err != nil || s.w == nil {
		s.tail = append(s.tail, after...) // it may not be over yet
		return len(p), err
	}
	return len(p), errors.Join(s.forward(s.tail), s.forward(after))
}

// forward writes to the stream if it is known, else to the file.
func (s *longAnswerWriter) forward(p []byte) error {
	if s.w != nil {
		_, err := s.w.Write(p)
		return err
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "sayso-mcp-*")
		if err != nil {
			return err
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	_, err := s.file.Write(p)
	return err
}

// findStream finds the stream once the id is known, and sends what waited for it. An
// answer that nobody waits for is passed over.
func (s *longAnswerWriter) findStream() error {
	id := s.outline.answeredID()
	if s.w != nil || id == nil {
		return nil
	}
	st := s.sender.s.takeAnswered(&message{id: id})
	if st == nil {
		st = newStream("") // which nobody reads
	}
	s.w = st.addLong()
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(s.w, s.file); err != nil {
			return err
		}
	}
	if s.sender.s.isStateless() {
		_, err := s.w.Write(st.id)
		return errors.Join(err, s.closeFile())
	}
	return s.closeFile()
}

// closeFile gives the file back.
func (s *longAnswerWriter) closeFile() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
