package sayso

import (
	"fmt"
	"maps"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// shownEvent is the envelope in which every surface shows an event.
type shownEvent struct {
	Seq        Seq       `json:"seq"`
	ID         ID        `json:"id"`
	Stream     string    `json:"stream"`
	Pos        int       `json:"pos"`
	Type       EventType `json:"type"`
	Version    int       `json:"version"`
	CreatedAt  time.Time `json:"created_at"`
	Boot       shownBoot `json:"boot"`
	Actor      Actor     `json:"actor"`
	SessionID  string    `json:"session_id"`
	RunID      string    `json:"run_id"`
	ApprovalID ID        `json:"approval_id"`
	CallID     string    `json:"call_id"`
	Payload    Args      `json:"payload"`
	Commitment Digest    `json:"commitment"`
	Prev       Digest    `json:"prev"`
	Hash       Digest    `json:"hash"`
}

type shownBoot struct {
	ID      string `json:"id"`
	SinceNS int64  `json:"since_ns"`
}

// Public is the event as every surface shows it: its payload is merged with
// the erasable part that may be shown, and there is no content. The payload of
// approval.requested is then the [Request].
func (e *Event) Public() (Event, error) {
	payload, err := e.shown()
	if err != nil {
		return Event{}, err
	}
	return e.with(payload), nil
}

// PublicRequest is Public for the first event of a request's stream, and the
// request that it opens.
func (e *Event) PublicRequest() (*Request, Event, error) {
	r := new(Request)
	if err := r.Apply(e); err != nil {
		return nil, Event{}, err
	}
	payload, err := jcs.Marshal(r)
	return r, e.with(payload), err
}

// with is the event with another payload, and without content. If it has a memo,
// that says of the new one no more than that the payload was written here.
func (e *Event) with(payload Args) Event {
	p := *e
	p.Payload, p.Content, p.Salt = payload, nil, nil
	if e.Memo != nil {
		p.Memo = written
	}
	return p
}

var written = &Memo{}

// MarshalJSON writes the envelope with the payload, never the content.
func (e Event) MarshalJSON() ([]byte, error) {
	if text, ok := e.envelope(); ok {
		return text, nil
	}
	return e.marshal()
}

func (e *Event) marshal() ([]byte, error) {
	return jcs.Marshal(shownEvent{
		e.Seq, e.ID, e.Stream, e.Pos, e.Type, e.Version, e.At.Wall.UTC(), shownBoot{e.At.Boot, int64(e.At.Since)},
		e.Actor, e.SessionID, e.RunID, e.RequestID, e.CallID, e.Payload, e.Commitment, e.Prev, e.Hash,
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(text []byte) error {
	var s shownEvent
	if err := jcs.UnmarshalLenient(text, &s); err != nil {
		return err
	}
	*e = Event{
		Seq: s.Seq, ID: s.ID, Stream: s.Stream, Pos: s.Pos, Type: s.Type, Version: s.Version,
		At:    Moment{s.CreatedAt, s.Boot.ID, time.Duration(s.Boot.SinceNS)},
		Actor: s.Actor, SessionID: s.SessionID, RunID: s.RunID, RequestID: s.ApprovalID, CallID: s.CallID,
		Payload: s.Payload, Commitment: s.Commitment, Prev: s.Prev, Hash: s.Hash,
	}
	return nil
}

func (e *Event) shown() (Args, error) {
	if e.Type == EventRequested {
		var r Request
		if err := r.requested(e); err != nil {
			return nil, err
		}
		return jcs.Marshal(&r)
	}
	c, err := e.content()
	if err != nil || len(c.Shown) == 0 {
		return e.Payload, err
	}
	if e.Memo != nil && e.Memo.shown != nil { // both are as they were written here
		if merged, ok := jcs.Merge(e.Payload, c.Shown); ok {
			return merged, nil
		}
	}
	var payload, shown map[string]Args
	if err := jcs.Unmarshal(e.Payload, &payload); err != nil {
		return nil, err
	}
	if err := jcs.Unmarshal(c.Shown, &shown); err != nil {
		return nil, err
	}
	maps.Copy(payload, shown)
	return jcs.Marshal(payload)
}

// RequestIn returns the request in the payload of a public event of type
// approval.requested.
func RequestIn(e *Event) (Request, error) {
	var r Request
	if e.Type != EventRequested {
		return r, fmt.Errorf("%w: %s holds no request", ErrInvalid, e.Type)
	}
	return r, jcs.UnmarshalLenient(e.Payload, &r)
}
