package sayso

import (
	"errors"
	"fmt"
	"time"
)

// The ways in which things fail. The server maps each to one HTTP status and
// the client maps it back, so errors.Is works on both sides of the wire.
var (
	// ErrInvalid reports input that is not what it must be.
	ErrInvalid = errors.New("invalid input")
	// ErrNotFound reports an id that nothing has.
	ErrNotFound = errors.New("not found")
	// ErrNotAllowed reports a principal that may not do this.
	ErrNotAllowed = errors.New("not allowed")
	// ErrConflict reports a stream that is longer or shorter than expected, a
	// key that is taken, or a call id that was used for another call.
	ErrConflict = errors.New("conflict")
	// ErrDecided reports that another decision stands. The error is a
	// [*DecidedError] and says whose.
	ErrDecided = errors.New("already decided")
	// ErrMismatch reports a digest that is not that of the request or the call.
	ErrMismatch = errors.New("digest does not match")
	// ErrSpent reports a receipt that was redeemed before.
	ErrSpent = errors.New("already redeemed")
	// ErrVoided reports an approval that lapsed, was withdrawn or revoked, or
	// whose policy or tool definition changed.
	ErrVoided = errors.New("approval is void")
	// ErrExpired reports that nobody answered before the deadline.
	ErrExpired = errors.New("expired")
	// ErrWithdrawn reports that the requester took the request back.
	ErrWithdrawn = errors.New("withdrawn")
	// ErrPending reports that there is no decision yet. The error is a
	// [*PendingError] and carries the ticket.
	ErrPending = errors.New("not decided yet")
	// ErrTooMany reports more open requests or asks than a session may have.
	ErrTooMany = errors.New("too many requests")
	// ErrPresentationWanted reports that a person will be asked and the caller
	// has to send what they are to be shown.
	ErrPresentationWanted = errors.New("presentation wanted")
	// ErrFactsWanted reports that the facts were gathered for another policy. The
	// error is a [*FactsWantedError] and says what they are to be about.
	ErrFactsWanted = errors.New("facts wanted")
	// ErrUnavailable reports that the answer could not be found out.
	ErrUnavailable = errors.New("unavailable")
)

// FactsWantedError says what the facts of a call are to be about.
type FactsWantedError struct{ Wanted FactsWanted }

func (e *FactsWantedError) Error() string { return ErrFactsWanted.Error() }

// Unwrap makes errors.Is(err, ErrFactsWanted) hold.
func (e *FactsWantedError) Unwrap() error { return ErrFactsWanted }

// PendingError says that the caller's patience ended before a decision. The
// request stays; asking again with the same call takes it up.
type PendingError struct {
	Ticket   ID        // the request that waits
	Deadline time.Time // when it expires; zero for never
	Stop     bool      // asked too often: stop and report instead of asking again
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("%v: ticket %s", ErrPending, e.Ticket.Short())
}

// Unwrap makes errors.Is(err, ErrPending) hold.
func (e *PendingError) Unwrap() error { return ErrPending }

// DecidedError carries the decision that stands, to be shown to the one who
// came second.
type DecidedError struct{ Decision Decision }

func (e *DecidedError) Error() string {
	d := e.Decision
	return fmt.Sprintf("%v: %s by %s at %s", ErrDecided, d.State, d.Who(), d.At.UTC().Format(time.RFC3339))
}

// Unwrap makes errors.Is(err, ErrDecided) hold.
func (e *DecidedError) Unwrap() error { return ErrDecided }
