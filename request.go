package sayso

import "time"

// State is where a request stands.
type State string

// The states. Parked requests are open ones that nobody waits for.
const (
	StateOpen      State = "open"
	StateParked    State = "parked"
	StateAllowed   State = "allowed"
	StateDenied    State = "denied"
	StateExpired   State = "expired"
	StateWithdrawn State = "withdrawn"
)

// Open reports whether a request in this state can still be answered.
func (s State) Open() bool { return s == StateOpen || s == StateParked }

// OpenStates lists the states in which a request waits for an answer.
func OpenStates() []State { return []State{StateOpen, StateParked} }

// Request is a call waiting for people, as everybody sees it: hidden values
// hidden, long ones cut. The same members stand in events, in the API and in
// the output of commands.
type Request struct {
	Version     int               `json:"version"`
	ID          ID                `json:"id"`
	ShortID     string            `json:"short_id"`
	SessionID   string            `json:"session_id"`
	RunID       string            `json:"run_id"`
	CallID      string            `json:"call_id"`
	GroupID     string            `json:"group_id"`
	Host        string            `json:"host"`
	Caller      string            `json:"caller"`
	Tool        string            `json:"tool"`
	HostTool    string            `json:"host_tool"`
	Server      string            `json:"server"`
	Kind        Kind              `json:"kind"`
	ReadOnly    bool              `json:"read_only"`
	Risk        Risk              `json:"risk"`
	Danger      []Danger          `json:"danger"`
	Cwd         string            `json:"cwd"`
	Description string            `json:"description"`
	Titled      bool              `json:"titled,omitzero"` // the description is the policy's word, and not that of the tool or the caller
	Said        map[string]string `json:"said"`
	Cause       Cause             `json:"cause"`
	Rule        string            `json:"rule"`
	File        string            `json:"file"`
	Line        int               `json:"line"`
	Span        [2]int            `json:"span"`
	Preview     Args              `json:"preview"`
	Redactions  []Redaction       `json:"redactions"`
	Warnings    []Warning         `json:"warnings"`
	Digest      Digest            `json:"digest"`
	Content     Digest            `json:"content"`
	Fingerprint Digest            `json:"fingerprint"`
	Ignores     []string          `json:"ignores"`
	Covers      []CoverOffer      `json:"covers"`
	State       State             `json:"state"`
	CreatedAt   time.Time         `json:"created_at"`
	Deadline    *time.Time        `json:"deadline"`    // null for none
	RemainingS  *float64          `json:"remaining_s"` // null for none
	Requirement Requirement       `json:"requirement"`
	CanEdit     bool              `json:"can_edit"` // the host takes edited arguments
	Decision    *Decision         `json:"decision,omitempty"`
	Outcome     string            `json:"outcome,omitempty"` // finished, failed, changed (it ran with other arguments), unknown; for calls that ran
	Erased      bool              `json:"erased,omitzero"`   // the content was erased
	Unread      string            `json:"unread,omitempty"`  // why it cannot be read: of such a one only what the log's index has is known

	// What follows is for the engine and is never shown.
	Life Life `json:"-"`
}

// Life is the part of a request's state that only the engine looks at.
type Life struct {
	Len       int      // events in the stream
	Bytes     int      // of the payloads and contents of these, about what it takes to remember them
	First     Seq      // of the oldest of them
	Last      Seq      // of the newest
	Asker     Actor    // who asked
	Holder    string   // the lease of whoever waits
	Created   Moment   //
	After     Deadline // relative to Created
	Policy    string   // version of the policy that asked, or that the answer was judged by
	Mode      Mode     // in which it was asked
	Pins      Digest   // contents of the files that the command names
	Elicit    bool     // it may be answered by way of the client that made the call
	CanPin    bool     // a remembered yes may be used more than once
	Answers   []Given  // in order
	Decided   Moment   // when it left the open states
	Locked    bool     // people decided while the lock had everything asked
	Linked    bool     // the answer to the same call at an earlier point counted
	Delivered Moment   // when the caller had the decision; zero if it has not
	Polls     []Moment // when each ask began that ended with the caller's patience
	CallIDs   []string // all ids that the call came with
	Redeemed  bool
	Voided    string // why the approval is void; empty if it is not
	Finished  bool
	private   Args              // of approval.requested, as it was read; empty after erasure
	call      *RequestedPrivate // the same as its writer remembers it, which then is all there is
	asked     Moment            // when it was asked for last
	parked    bool              // nobody has had the decision since it was parked
}

// Given is one answer with who gave it and for which call.
type Given struct {
	By     Actor
	Answer Answer
	For    Digest // the digest that this answer allows
}

// DeadlinePassed reports whether the request may no longer be answered at now,
// given the newest moment that the log recorded. A doubtful clock has passed.
func (r *Request) DeadlinePassed(now, recorded Moment) bool {
	left, timed := r.Remaining(now, recorded)
	return timed && left <= 0
}

// Remaining is how long the request may still wait; timed is false if it may
// wait for ever. Remaining is zero if the clock is in doubt.
func (r *Request) Remaining(now, recorded Moment) (left time.Duration, timed bool) {
	if r.Life.After.After <= 0 {
		return 0, false
	}
	passed, doubtful := Elapsed(r.Life.Created, now, recorded)
	if doubtful {
		return 0, true
	}
	return max(r.Life.After.After-passed, 0), true
}

// How long an approval lasts that nobody redeems.
const (
	LapseDelivered = 10 * time.Minute // after the caller has it
	LapseAnswered  = 24 * time.Hour   // after the answer, whoever has it
)

// Lapsed reports whether an approval has become too old to run on.
func (r *Request) Lapsed(now, recorded Moment) bool {
	age, doubtful := Elapsed(r.Life.Decided, now, recorded)
	if doubtful || age > LapseAnswered {
		return true
	}
	if r.Life.Delivered.Wall.IsZero() {
		return false
	}
	held, doubtful := Elapsed(r.Life.Delivered, now, recorded)
	return doubtful || held > LapseDelivered
}

// Usable reports nil if the approval may be redeemed for a call with digest at
// now, or why not.
func (r *Request) Usable(digest Digest, now, recorded Moment) error {
	switch {
	case r.State == StateExpired:
		return ErrExpired
	case r.State == StateWithdrawn:
		return ErrWithdrawn
	case r.State.Open():
		return &PendingError{Ticket: r.ID}
	case r.State != StateAllowed || r.Decision == nil || !r.Decision.Allowed():
		return ErrNotAllowed
	case r.Life.Redeemed:
		return ErrSpent
	case r.Life.Voided != "" || r.Lapsed(now, recorded):
		return ErrVoided
	case digest.IsZero() || digest != r.Decision.Digest:
		return ErrMismatch
	}
	return nil
}

// Met derives the decision from the answers: a deny decides at once, allows
// count when they are for the newest digest. ok is false if more are needed.
func (r *Request) Met(answers []Given) (effect Effect, ok bool) {
	if len(answers) == 0 {
		return Deny, false
	}
	last := answers[len(answers)-1]
	if last.Answer.Effect != Allow {
		return Deny, true
	}
	people := map[string]bool{}
	for _, g := range answers {
		if g.Answer.Effect == Allow && g.For == last.For {
			people[g.By.Principal] = true
		}
	}
	return Allow, len(people) >= max(r.Requirement.Count, 1)
}
