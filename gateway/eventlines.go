package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/sayso-dev/sayso/internal/rpc"
)

// eventLines reads an event stream as lines, one for each event: what a server
// sends over HTTP is then read as what one sends over a pipe. Where the data of an
// event are several lines they are one here, so that they are one message or
// none. An event of any length passes in pieces.
type eventLines struct {
	r      *bufio.Reader
	skipLF bool // the last line ended with a carriage return
	first  bool // nothing was read yet

	line       []byte // what is read of the line, as far as it was not passed on
	inLongData bool   // its beginning was passed on: it is a line of data
	ignored    bool   // the event is no message
	hasData    bool   // data of the event were passed on
	out        []byte // to be read
	err        error

	id         string // of the event that is read
	lastID     string // of the last one that was complete
	hasMessage bool   // there was a message
	retry      time.Duration
}

func newEventLines(r io.Reader) *eventLines {
	return &eventLines{r: bufio.NewReaderSize(r, 64<<10), first: true}
}

func (e *eventLines) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.fill()
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// errBroken is a stream that its server did not end.
var errBroken = errors.New("the event stream broke off")

// maxField is the longest line that is not data.
const maxField = 64 << 10

// fill reads on.
func (e *eventLines) fill() {
	e.out = e.out[:0]
	if _, err := e.r.Peek(1); err != nil {
		e.err = err
		if !errors.Is(err, io.EOF) || e.hasData || e.inLongData || len(e.line) > 0 {
			e.err = errBroken // an event that was cut off is none
		}
		return
	}
	piece, _ := e.r.Peek(e.r.Buffered())
	if e.skipLF && piece[0] == '\n' {
		e.skipLF = false
		_, _ = e.r.Discard(1)
		return
	}
	e.skipLF = false
	end := bytes.IndexAny(piece, "\r\n")
	if end < 0 {
		e.line = append(e.line, piece...)
		_, _ = e.r.Discard(len(piece))
		e.passLongData()
		return
	}
	e.skipLF = piece[end] == '\r'
	e.line = append(e.line, piece[:end]...)
	_, _ = e.r.Discard(end + 1)
	e.endLine()
}

// passLongData passes on what is there of a long line of data.
func (e *eventLines) passLongData() {
	if len(e.line) < maxField {
		return
	}
	if !e.inLongData {
		value, ok := bytes.CutPrefix(e.trimmed(), []byte("data:"))
		if !ok {
			e.err = rpc.Invalid("a line of the event stream is too long")
			return
		}
		e.line, e.inLongData = bytes.TrimPrefix(value, []byte(" ")), true
		e.beginData()
	}
	e.appendData(e.line)
	e.line = e.line[:0]
}

// trimmed is the line without the mark that a stream may begin with.
func (e *eventLines) trimmed() []byte {
	if !e.first {
		return e.line
	}
	e.first = false
	return bytes.TrimPrefix(e.line, []byte("\ufeff"))
}

// beginData begins a line of data.
func (e *eventLines) beginData() {
	if e.hasData && !e.ignored {
		e.out = append(e.out, ' ')
	}
}

func (e *eventLines) appendData(text []byte) {
	if !e.ignored && len(text) > 0 {
		e.out, e.hasData = append(e.out, text...), true
	}
}

// endLine takes a line that is whole.
func (e *eventLines) endLine() {
	line := e.line
	e.line = e.line[:0]
	if e.inLongData {
		e.inLongData = false
		e.appendData(line)
		return
	}
	e.line = line
	line = e.trimmed()
	e.line = e.line[:0]
	if len(line) == 0 {
		e.dispatch()
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		e.beginData()
		e.appendData(value)
	case "event":
		e.ignored = len(value) > 0 && string(value) != "message" && !e.hasData
	case "id":
		if bytes.IndexByte(value, 0) < 0 && len(value) <= maxID {
			e.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// maxID is the longest id of an event, or of a session, that is kept.
const maxID = 1024

// dispatch ends an event.
func (e *eventLines) dispatch() {
	e.lastID = e.id
	if e.hasData {
		e.out, e.hasMessage = append(e.out, '\n'), true
	}
	e.hasData, e.ignored = false, false
}

// oneLine reads JSON as one line. Line ends in it stand between its parts, where a
// blank is the same; in a string they would be a mistake, which a blank hides and
// which runs as it was judged.
type oneLine struct{ r io.Reader }

func (o oneLine) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	flatten(p[:n])
	return n, err
}

// flatten puts blanks in the place of line ends.
func flatten(text []byte) {
	for i, b := range text {
		if b == '\n' || b == '\r' {
			text[i] = ' '
		}
	}
}
