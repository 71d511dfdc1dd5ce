package sayso

import (
	"strconv"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// envelope writes an event as jcs.Marshal writes its shownEvent, member by member:
// every event is written for those who follow the log. ok is false, and nothing
// is written, where something is out of the ordinary, which is Marshal's to judge.
func (e *Event) envelope() (text []byte, ok bool) {
	at := e.At.Wall.UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return nil, false
	}
	w := writer{b: make([]byte, 0, len(e.Payload)+1024), ok: true}
	w.raw(`{"seq":`).uint(uint64(e.Seq))
	w.raw(`,"id":`).text(string(e.ID))
	w.raw(`,"stream":`).text(e.Stream)
	w.raw(`,"pos":`).int(int64(e.Pos))
	w.raw(`,"type":`).text(string(e.Type))
	w.raw(`,"version":`).int(int64(e.Version))
	w.raw(`,"created_at":"`)
	w.b = at.AppendFormat(w.b, time.RFC3339Nano)
	w.raw(`","boot":{"id":`).text(e.At.Boot)
	w.raw(`,"since_ns":`).int(int64(e.At.Since))
	w.raw(`},"actor":{"principal":`).text(e.Actor.Principal)
	w.raw(`,"kind":`).text(string(e.Actor.Kind))
	if e.Actor.Channel != "" {
		w.raw(`,"channel":`).text(e.Actor.Channel)
	}
	w.raw(`},"session_id":`).text(e.SessionID)
	w.raw(`,"run_id":`).text(e.RunID)
	w.raw(`,"approval_id":`).text(string(e.RequestID))
	w.raw(`,"call_id":`).text(e.CallID)
	w.raw(`,"payload":`)
	if e.Memo == nil || len(e.Payload) == 0 {
		w.value(e.Payload)
	} else { // which was written here
		w.b = append(w.b, e.Payload...)
	}
	w.raw(`,"commitment":`).digest(e.Commitment)
	w.raw(`,"prev":`).digest(e.Prev)
	w.raw(`,"hash":`).digest(e.Hash)
	return append(w.b, '}'), w.ok
}

// writer appends JSON.
type writer struct {
	b  []byte
	ok bool // nothing was out of the ordinary
}

func (w *writer) raw(s string) *writer {
	w.b = append(w.b, s...)
	return w
}

func (w *writer) uint(n uint64) { w.b = strconv.AppendUint(w.b, n, 10) }
func (w *writer) int(n int64)   { w.b = strconv.AppendInt(w.b, n, 10) }

func (w *writer) text(s string) {
	b, err := jcs.AppendString(w.b, s)
	w.b, w.ok = b, w.ok && err == nil
}

func (w *writer) value(a Args) {
	b, ok := jcs.AppendValue(w.b, a)
	w.b, w.ok = b, w.ok && ok
}

func (w *writer) digest(d Digest) {
	w.b = append(w.b, '"')
	w.b, _ = d.AppendText(w.b) // never fails
	w.b = append(w.b, '"')
}
