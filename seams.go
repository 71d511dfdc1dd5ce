package sayso

import (
	"context"
	"iter"
	"time"
)

// Gate is where a call is stopped: a broker, or a client of one. A Gate acts
// for one principal of kind agent or tool.
type Gate interface {
	// Admit reports whether the call may run, waiting for people if policy says
	// so. A denial is a Decision, not an error. Errors are the ways of not
	// getting an answer, and the Decision then denies: [*PendingError] when
	// patience ends (the request stays, asking again takes it up), [ErrExpired],
	// [ErrWithdrawn], [ErrTooMany], [ErrConflict] for a call id that was used
	// for another call, [ErrSpent] for a call that ran before,
	// [ErrPresentationWanted], [ErrFactsWanted], [ErrNotAllowed] for a session of another owner,
	// or that the answer could not be found out.
	//
	// A cancelled context promises nothing: the request stays open.
	Admit(ctx context.Context, a Admission) (Decision, error)
	// Redeem spends a receipt on the call about to run. It succeeds once, and
	// only for a call with the receipt's digest; the caller runs the call if
	// and only if Redeem returns nil.
	Redeem(ctx context.Context, r Receipt, c Call) error
	// Report records what became of a call that ran.
	Report(ctx context.Context, o Outcome) error
	// Withdraw takes an open request back, and voids an approval that was not
	// redeemed.
	Withdraw(ctx context.Context, id ID, reason string) error
	// Begin records that a session of a host began. Admit does so by itself for
	// a session that it has not met.
	Begin(ctx context.Context, session, host string) error
	// End records that a session ended. Its grants end with it.
	End(ctx context.Context, session string) error
}

// Inbox is where people find open requests, answer them, and follow the log:
// a broker, or a client of one. An Inbox acts for one principal and shows it
// what it may see.
type Inbox interface {
	// Requests returns the selected requests, the oldest first when they are
	// open ones. Without a limit those are all there are.
	Requests(ctx context.Context, q RowQuery) ([]Request, error)
	// Request returns one request. The id may be a short one; an ambiguous one
	// is [ErrConflict].
	Request(ctx context.Context, id string) (Request, error)
	// Content returns everything that may be shown of a request.
	Content(ctx context.Context, id ID) (RequestedFull, error)
	// Answer records an answer and returns the decision that stands. The same
	// answer from the same person again is a success. [*DecidedError] says that
	// another decision stands, [ErrMismatch] that the answer is not about the
	// content of this request, [ErrExpired] and [ErrWithdrawn] that it is too
	// late. A Decision in an open state means that more answers are required.
	Answer(ctx context.Context, id ID, a Answer) (Decision, error)
	// AnswerGroup gives one answer to each of the listed members of a group, at
	// most [MaxGroup], and no other. Each is answered for itself, as Answer does:
	// where one was decided meanwhile or shows something else, its result says so
	// and the others are answered all the same. A member that this principal may
	// not see is [ErrNotFound], as one that does not exist is.
	AnswerGroup(ctx context.Context, group string, members []Member, a Answer) ([]MemberResult, error)
	// Life returns the events of one request.
	Life(ctx context.Context, id ID) ([]Event, error)
	// Follow yields the events after since, and goes on as the log grows until
	// ctx ends or the loop is left. An error ends it.
	Follow(ctx context.Context, since Seq, q EventQuery) iter.Seq2[Event, error]
	// Head returns the end of the log.
	Head(ctx context.Context) (Head, error)
	// Grants returns live grants, and ended ones if all is set.
	Grants(ctx context.Context, session string, all bool) ([]Grant, error)
	// Revoke ends a grant.
	Revoke(ctx context.Context, id ID) error
	// Sessions returns the sessions that made a call since then, the newest
	// first.
	Sessions(ctx context.Context, since time.Time) ([]SessionInfo, error)
	// Policies returns the tool policies of a session.
	Policies(ctx context.Context, session string) (map[string]Effect, error)
	// SetPolicies replaces the tool policies of a session.
	SetPolicies(ctx context.Context, session string, p map[string]Effect) error
	// Mode returns the mode in force for a session, or for all if it is empty.
	Mode(ctx context.Context, session string) (ModeState, error)
	// SetMode sets the mode of a session, or for all if session is empty, which
	// takes an admin. approve_all must be given an end.
	SetMode(ctx context.Context, session string, m Mode, d time.Duration) error
	// Explain judges a call without recording anything.
	Explain(ctx context.Context, c Call, f Facts) (Verdict, error)
}

// MaxGroup is how many members of a group one answer may be for.
const MaxGroup = 1000

// Member is one request of a group, as it was on the screen.
type Member struct {
	ID      ID     `json:"id"`
	Digest  Digest `json:"digest"`
	Content Digest `json:"content"`
}

// MemberResult is what became of one member of a group.
type MemberResult struct {
	ID       ID       `json:"id"`
	Decision Decision `json:"decision"`
	Err      error    `json:"-"`
}

// ModeState is a mode with its end.
type ModeState struct {
	Mode Mode          `json:"mode"`
	Left time.Duration `json:"-"` // zero for no end
}

// EventQuery selects events. Zero members select everything.
type EventQuery struct {
	Session string
	Types   []EventType
	Request ID
}

// Matches reports whether e is selected.
func (q EventQuery) Matches(e *Event) bool {
	if q.Session != "" && q.Session != e.SessionID || q.Request != "" && q.Request != e.RequestID {
		return false
	}
	if len(q.Types) == 0 {
		return true
	}
	for _, t := range q.Types {
		if t == e.Type {
			return true
		}
	}
	return false
}

// Log is where events are kept. Engines share this contract, and no code;
// package store/storetest is the contract as a test.
type Log interface {
	// Append adds a batch, all of it or nothing, and returns its events as they
	// stand in the log. When it returns nil they are on stable storage. It
	// returns [ErrConflict] if a stream is not as long as expected, what must be
	// absent is there, a key is taken, or a stream would get a second terminal or
	// spending event; nothing is added then. Any other error means that nothing is known to be added.
	// It may be called from many goroutines and many processes.
	Append(ctx context.Context, b Batch) ([]Event, error)
	// Stream returns the events of a stream behind its first after ones, with
	// their content. A stream that nobody wrote is empty.
	Stream(ctx context.Context, stream string, after int) ([]Event, error)
	// Since returns up to limit events after a position, in order, with their
	// content. A limit of zero is none.
	Since(ctx context.Context, after Seq, limit int) ([]Event, error)
	// Head returns the end of the log.
	Head(ctx context.Context) (Head, error)
	// Wait returns the events of a stream behind its first after ones, as Stream
	// does, as soon as there is one, also if there was before the call. It returns
	// none once it is until, unless that is zero, and the error of ctx when that
	// ends first.
	Wait(ctx context.Context, stream string, after int, until time.Time) ([]Event, error)
	// WaitSince returns as soon as the log has an event after a position. It returns
	// the first of the events behind it if they are at hand, with their content and
	// without a gap, or none: Since has them all.
	WaitSince(ctx context.Context, after Seq) ([]Event, error)
	// Open returns the events of every open request of a session, or of all if
	// session is empty, one slice a request, oldest request first, in time
	// proportional to their number. A limit of zero is none.
	Open(ctx context.Context, session string, limit int) ([][]Event, error)
	// Rows returns the rows of requests that q selects.
	Rows(ctx context.Context, q RowQuery) ([]Row, error)
	// Count returns how many requests of a session are open, and how many it
	// asked people since a time.
	Count(ctx context.Context, session string, since time.Time) (open, asked int, err error)
	// Lookup returns the stream that holds a key, or [ErrNotFound].
	Lookup(ctx context.Context, key string) (stream string, err error)
	// Find returns the ids that begin with, or whose random part begins with,
	// what a person typed; at most limit.
	Find(ctx context.Context, typed string, limit int) ([]ID, error)
	// Grants returns the streams of the grants that have one of the keys, or of
	// any if none is given, and are of a session, or of any if it is empty; oldest
	// first, live ones only unless all is set. It takes time proportional to the
	// keys and to what is found. The zero Digest is no grant's key.
	Grants(ctx context.Context, keys []Digest, session string, all bool) ([]string, error)
	// Hold takes a lease under a new name. It is held until Release or the death
	// of the process.
	Hold(ctx context.Context) (Lease, error)
	// Held reports whether a lease is held by anyone. An error means that it is
	// not known.
	Held(ctx context.Context, name string) (bool, error)
	// Close releases what the log holds.
	Close() error
}

// Lease is proof that a waiter lives.
type Lease interface {
	Name() string
	Release() error
}
