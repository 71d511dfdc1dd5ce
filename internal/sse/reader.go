package sse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// DefaultLimit is the limit of a [Reader] that is given none, in bytes.
const DefaultLimit = 1 << 20

var byteOrderMark = []byte("\ufeff")

// Reader reads an event stream as the standard prescribes, however it is cut
// into chunks and whichever line ends it uses. It is not safe for concurrent
// use.
type Reader struct {
	r     *bufio.Reader
	limit int
	err   error

	started bool // the first line, which may have a byte order mark, is read
	skipLF  bool // the last line ended in CR, so an LF would belong to it
	line    []byte

	lastID string // of the last complete event
	retry  time.Duration

	id   string // as set by the event that is being read, or before it
	name string
	data []byte // each line with its LF
}

// NewReader returns a Reader of r that refuses lines, and data of one event,
// longer than limit bytes. A limit of zero or less means [DefaultLimit].
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{r: bufio.NewReader(r), limit: limit}
}

// LastID is the last id that the stream gave, to be sent as Last-Event-ID when
// reconnecting. An event that was cut off does not count.
func (r *Reader) LastID() string { return r.lastID }

// Retry is the time the stream asked to wait before reconnecting, zero if it
// did not ask.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event. At the end of the stream it returns [io.EOF]; an
// event without its closing blank line is dropped. Any error is final: later
// calls return it again. The data belongs to the caller.
func (r *Reader) Next() (Event, error) {
	for r.err == nil {
		line, err := r.readLine()
		if err == nil && len(line) > 0 {
			err = r.field(line)
		}
		if err != nil {
			r.err = err
			break
		}
		if len(line) > 0 {
			continue
		}
		if e, ok := r.dispatch(); ok {
			return e, nil
		}
	}
	return Event{}, r.err
}

// readLine returns the next complete line without its end. The line is valid
// until the next call. It returns as soon as the end is seen, without waiting
// for the LF that may follow a CR.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		c, err := r.r.ReadByte()
		if err != nil {
			return nil, readError(err)
		}
		skip := r.skipLF && c == '\n'
		r.skipLF = c == '\r'
		if skip {
			continue
		}
		if c == '\n' || c == '\r' {
			return r.firstLine(r.line), nil
		}
		if len(r.line) >= r.limit {
			return nil, fmt.Errorf("%w: more than %d bytes in a line", ErrTooLong, r.limit)
		}
		r.line = append(r.line, c)
	}
}

func readError(err error) error {
	if err == io.EOF {
		return io.EOF
	}
	return fmt.Errorf("sse: read: %w", err)
}

// firstLine takes the byte order mark off the first line.
func (r *Reader) firstLine(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, byteOrderMark)
}

// field takes in one line that is not blank.
func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		return r.addData(value)
	case "event":
		r.name = string(decode(value))
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.id = string(decode(value))
		}
	case "retry":
		r.setRetry(value)
	}
	return nil
}

func (r *Reader) addData(value []byte) error {
	value = decode(value)
	if len(r.data)+len(value) > r.limit {
		return fmt.Errorf("%w: more than %d bytes in an event", ErrTooLong, r.limit)
	}
	r.data = append(append(r.data, value...), '\n')
	return nil
}

// setRetry ignores what is not digits alone, as the standard wants, and times
// that no duration can hold.
func (r *Reader) setRetry(value []byte) {
	ms, err := strconv.ParseUint(string(value), 10, 63)
	if err != nil || ms > math.MaxInt64/uint64(time.Millisecond) {
		return
	}
	r.retry = time.Duration(ms) * time.Millisecond
}

// dispatch ends an event at a blank line. A block without a data line is no
// event, but its id counts.
func (r *Reader) dispatch() (Event, bool) {
	r.lastID = r.id
	e := Event{ID: r.id, Name: r.name}
	if e.Name == "" {
		e.Name = DefaultName
	}
	ok := len(r.data) > 0
	if ok {
		e.Data = bytes.Clone(r.data[:len(r.data)-1])
	}
	r.name, r.data = "", r.data[:0]
	return e, ok
}

// decode replaces bytes that are not UTF-8, for the stream is UTF-8 by
// definition.
func decode(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return []byte(string(bytes.Runes(b)))
}
