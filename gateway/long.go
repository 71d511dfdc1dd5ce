package gateway

import (
	"errors"
	"io"
	"os"
)

// Pieces sends an answer as it comes, to the stream of the request that it answers.
func (d toClient) Pieces(o *outline, copy func(io.Writer) error) error {
	s := &sorter{d: d, o: o}
	err := copy(s)
	if s.to != nil {
		s.to.done(err)
	}
	return errors.Join(err, s.forget())
}

// sorter writes an answer to the stream of its request. What comes before the answer
// says which that is waits in a file that has no name.
type sorter struct {
	d    toClient
	o    *outline
	at   int // how much was written
	to   *leaky
	file *os.File
	tail []byte // what came behind the id, before it was known to be over
}

// Write writes a piece. The id in it is that of the client.
func (s *sorter) Write(p []byte) (int, error) {
	from, to := s.at, s.at+len(p)
	s.at = to
	if s.to != nil || !s.d.s.alone() {
		if err := s.find(); err != nil {
			return 0, err
		}
		return len(p), s.put(p)
	}
	if s.o.idTo == 0 { // it did not come yet
		return len(p), s.put(p)
	}
	if s.o.idFrom > from {
		if err := s.put(p[:min(s.o.idFrom, to)-from]); err != nil {
			return 0, err
		}
	}
	after := p[max(min(s.o.idTo, to), from)-from:]
	if err := s.find(); err != nil || s.to == nil {
		s.tail = append(s.tail, after...) // it may not be over yet
		return len(p), err
	}
	return len(p), errors.Join(s.put(s.tail), s.put(after))
}

// put writes to the stream if it is known, else to the file.
func (s *sorter) put(p []byte) error {
	if s.to != nil {
		_, err := s.to.Write(p)
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

// find finds the stream once the id is known, and sends what waited for it. An
// answer that nobody waits for is passed over.
func (s *sorter) find() error {
	id := s.o.answers()
	if s.to != nil || id == nil {
		return nil
	}
	st := s.d.s.answered(&message{id: id})
	if st == nil {
		st = newStream("") // which nobody reads
	}
	s.to = st.long()
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(s.to, s.file); err != nil {
			return err
		}
	}
	if s.d.s.alone() {
		_, err := s.to.Write(st.id)
		return errors.Join(err, s.forget())
	}
	return s.forget()
}

// forget gives the file back.
func (s *sorter) forget() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
