// Package sse frames event streams ("Server-sent events" of the WHATWG HTML
// standard) for writing and for reading.
//
// It deals with the text alone: connections, retries and headers are the
// caller's. Line ends inside data are normalised, for the format cannot carry
// them: what was written as CR or CR LF is read as LF.
package sse

import (
	"errors"
	"time"
)

// ContentType is the media type of an event stream.
const ContentType = "text/event-stream"

// DefaultName is the name of an event that names none.
const DefaultName = "message"

var (
	// ErrField is returned by a [Writer] for an id or a name that the format
	// cannot carry: one with a line end, an id with NUL, or text that is not
	// UTF-8. Nothing was written.
	ErrField = errors.New("sse: text that an event stream cannot carry")
	// ErrTooLong is returned by a [Reader] for a line, or the data of one event,
	// beyond its limit.
	ErrTooLong = errors.New("sse: line or event is too long")
)

// Event is one event of a stream.
type Event struct {
	// ID is the last id that the stream gave, with this event or before it.
	// A client that reconnects sends it as Last-Event-ID.
	ID string
	// Name is the event's type, [DefaultName] if it has none.
	Name string
	// Data is the payload, its lines joined by LF.
	Data []byte
}

// millis is d in the unit of the retry field, rounded up.
func millis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
