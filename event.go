package sayso

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Seq is a position in the log; the first event has 1. Seqs follow the order
// of commits: a reader that has seen n never meets a new event at or below n.
type Seq uint64

// EventType is what an event tells.
type EventType string

// The types of events; docs/events.md is their catalogue.
const (
	EventRequested EventType = "approval.requested"
	EventAnswered  EventType = "approval.answered"
	EventResolved  EventType = "approval.resolved"
	EventExpired   EventType = "approval.expired"
	EventWithdrawn EventType = "approval.withdrawn"
	EventParked    EventType = "approval.parked"
	EventTaken     EventType = "approval.taken"
	EventRedeemed  EventType = "approval.redeemed"
	EventVoided    EventType = "approval.voided"
	EventFinished  EventType = "approval.finished"

	EventAnswerRefused EventType = "answer.refused"

	EventGrantCreated EventType = "grant.created"
	EventGrantUsed    EventType = "grant.used"
	EventGrantRevoked EventType = "grant.revoked"
	EventGrantEnded   EventType = "grant.ended"

	EventSessionStarted EventType = "session.started"
	EventSessionPolicy  EventType = "session.policy"
	EventSessionEnded   EventType = "session.ended"
	EventModeChanged    EventType = "mode.changed"

	EventPolicyLoaded   EventType = "policy.loaded"
	EventPolicyAccepted EventType = "policy.accepted"

	EventDefinitionQuarantined EventType = "definition.quarantined"
	EventDefinitionAccepted    EventType = "definition.accepted"

	EventContentErased EventType = "content.erased"
)

var eventTypes = []EventType{
	EventRequested, EventAnswered, EventResolved, EventExpired, EventWithdrawn, EventParked, EventTaken, EventRedeemed,
	EventVoided, EventFinished, EventAnswerRefused, EventGrantCreated, EventGrantUsed, EventGrantRevoked, EventGrantEnded,
	EventSessionStarted, EventSessionPolicy, EventSessionEnded, EventModeChanged, EventPolicyLoaded, EventPolicyAccepted,
	EventDefinitionQuarantined, EventDefinitionAccepted, EventContentErased,
}

// EventTypes lists the types of events, in the order of the catalogue.
func EventTypes() []EventType { return slices.Clone(eventTypes) }

// Known reports whether t is a type that this release has.
func (t EventType) Known() bool { return slices.Contains(eventTypes, t) }

// Terminal reports whether a request is decided by this event. A stream has at
// most one terminal event.
func (t EventType) Terminal() bool {
	return t == EventResolved || t == EventExpired || t == EventWithdrawn
}

// Spends reports whether this event ends an approval. A stream has at most one
// such event.
func (t EventType) Spends() bool { return t == EventRedeemed || t == EventVoided }

// The streams of the log.
const BrokerStream = "broker"

// RequestStream, GrantStream and SessionStream name the stream of one thing.
func RequestStream(id ID) string { return "request/" + string(id) }

// GrantStream names the stream of a grant.
func GrantStream(id ID) string { return "grant/" + string(id) }

// SessionStream names the stream of a session.
func SessionStream(session string) string { return "session/" + session }

// StreamID returns the id in the name of a request's or a grant's stream.
func StreamID(stream string) ID {
	_, id, _ := strings.Cut(stream, "/")
	return ID(id)
}

// Content is the free text that belongs to an event. It lies outside the chain
// of the log, which holds a salted commitment to it, so that it can be erased
// later while the log still verifies.
type Content struct {
	// Shown is merged into the event's payload wherever the event is shown.
	Shown Args `json:"shown,omitzero"`
	// Full is what may be shown to a person who asks for everything.
	Full Args `json:"full,omitzero"`
	// Private never leaves the engine: the call as it was asked, edits.
	Private Args `json:"private,omitzero"`
}

// Event is one line of the log.
type Event struct {
	Seq        Seq
	ID         ID
	Stream     string
	Pos        int // in its stream; the first has 1
	Type       EventType
	Version    int
	At         Moment
	Actor      Actor
	SessionID  string
	RunID      string
	RequestID  ID
	CallID     string
	Payload    Args   // a JSON object without free text
	Content    []byte // the JSON of a Content; nil if there is none or it was erased
	Salt       []byte // of the commitment; erased with the content
	Commitment Digest // zero if there never was any content
	Prev       Digest // hash of the event before, in the whole log
	Hash       Digest
	Memo       *Memo // what is known of payload and content already; may be nil
}

// Head is the end of the log: what a copy kept elsewhere is compared with.
type Head struct {
	Seq  Seq    `json:"seq"`
	Hash Digest `json:"hash"`
	At   Moment `json:"-"` // of the newest event
}

// Commit is the commitment to content under salt; zero for no content.
func Commit(salt, content []byte) Digest {
	if content == nil {
		return Digest{}
	}
	return HashOf("sayso/content/1", salt, content)
}

// Chain places e behind head: it sets its position in the log, the hash of the
// event before it and its own. The engine calls it inside the transaction that
// writes the event, having set Stream and Pos.
func (e *Event) Chain(head Head) Head {
	e.Seq, e.Prev = head.Seq+1, head.Hash
	e.Commitment = Commit(e.Salt, e.Content)
	e.Hash = e.hash()
	return Head{e.Seq, e.Hash, e.At}
}

// hash covers everything but the content itself, its salt, and the hash.
func (e *Event) hash() Digest {
	var room [1536]byte // enough for nearly every event
	b := appendFrame(room[:0], "sayso/event/1")
	b = appendUint(b, uint64(e.Seq))
	b = appendFrame(b, string(e.ID))
	b = appendFrame(b, e.Stream)
	b = appendUint(b, uint64(e.Pos))
	b = appendFrame(b, string(e.Type))
	b = appendUint(b, uint64(e.Version))
	b = appendUint(b, uint64(e.At.Wall.UnixNano()))
	b = appendFrame(b, e.At.Boot)
	b = appendUint(b, uint64(e.At.Since))
	b = appendFrame(b, e.Actor.Principal)
	b = appendFrame(b, string(e.Actor.Kind))
	b = appendFrame(b, e.Actor.Channel)
	b = appendFrame(b, e.SessionID)
	b = appendFrame(b, e.RunID)
	b = appendFrame(b, string(e.RequestID))
	b = appendFrame(b, e.CallID)
	b = append(appendUint(b, uint64(len(e.Payload))), e.Payload...)
	b = append(b, e.Commitment[:]...)
	b = append(b, e.Prev[:]...)
	return sha256.Sum256(b)
}

func appendUint(b []byte, n uint64) []byte {
	return append(b, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func appendFrame(b []byte, s string) []byte { return append(appendUint(b, uint64(len(s))), s...) }

// Verify reports whether e stands unchanged behind head, and returns the new
// head. Content that is present must match its commitment; content that was
// erased is not missed here.
func (e *Event) Verify(head Head) (Head, error) {
	switch {
	case e.Seq != head.Seq+1:
		return head, fmt.Errorf("event %d stands where %d belongs", e.Seq, head.Seq+1)
	case e.Prev != head.Hash:
		return head, fmt.Errorf("event %d does not follow the one before it", e.Seq)
	case e.hash() != e.Hash:
		return head, fmt.Errorf("event %d was changed", e.Seq)
	case e.Content != nil && Commit(e.Salt, e.Content) != e.Commitment:
		return head, fmt.Errorf("the content of event %d was changed", e.Seq)
	}
	return Head{e.Seq, e.Hash, e.At}, nil
}

// Batch is one atomic append: all of it or nothing.
type Batch struct {
	// Events are in order. The engine sets Seq, Pos, Prev, Hash and Commitment.
	Events []Event
	// Expect says how many events each stream must hold before. Every stream
	// that Events name must be in it, and others may be: what was read of them
	// must still hold. [AnyLength] takes a stream as it is.
	Expect map[string]int
	// Absent is what the log must not hold before.
	Absent Absent
	// Keys are names that become taken, each by one stream, for ever.
	Keys []Key
	// Erase empties the content of all events of these requests, and forgets
	// their digests.
	Erase []ID
}

// AnyLength expects nothing of a stream.
const AnyLength = -1

// Absent names what a batch takes for granted that the log does not hold of a
// session. The zero Absent is nothing.
type Absent struct {
	Session string
	Digest  Digest // of a request that is not spent, see [Row]; zero for none
	Grants  bool   // a live grant
}

// Key is a unique name for a stream.
type Key struct{ Name, Stream string }

// CallKey is the unique name of one call at one enforcement point.
func CallKey(point, session, callID string) string {
	return string(appendFrame(appendFrame(appendFrame(nil, point), session), callID))
}

// LimitKey is the unique name of one minute of a session. A call that nobody is
// asked about, since its session has too many open or asks too often, takes it,
// so that a flood leaves one event a minute and not one a call. It is never the
// name of a call: those have an id.
func LimitKey(session string, at time.Time) string {
	return CallKey("limit/"+strconv.FormatInt(at.Unix()/60, 10), session, "")
}

// LinkKey is the unique name of the one later request that the answer to a request
// counts for too, see [Resolved]. It is never the name of a call: no requester is
// called so.
func LinkKey(earlier ID) string { return CallKey("link/"+string(earlier), "", "") }

// Validate reports whether a batch can be appended by any engine.
func (b Batch) Validate() error {
	if len(b.Events) == 0 {
		return fmt.Errorf("%w: a batch without events", ErrInvalid)
	}
	for i := range b.Events {
		e := &b.Events[i]
		if _, ok := b.Expect[e.Stream]; !ok || e.Stream == "" {
			return fmt.Errorf("%w: stream %q is not expected", ErrInvalid, e.Stream)
		}
		if e.Content != nil && len(e.Salt) < 16 {
			return fmt.Errorf("%w: content of %s without a salt", ErrInvalid, e.Type)
		}
	}
	return nil
}

// truncate keeps times to the millisecond, as they are shown.
func truncate(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
