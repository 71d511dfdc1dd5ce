package tui_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/tui"
)

// Several are denied by their names, also those that the filter hides.
func TestBatch_denyNamesThoseThatTheFilterHides(t *testing.T) {
	staged(t, 100, 30, "", func(s *stage) {
		a, b := s.command("make one"), s.command("cargo two")
		s.calm()
		s.press("X", "/")
		s.typed("cargo")
		s.press("enter", "n")
		s.shows("Deny 2 requests.", a.ShortID+"  bash  make one", b.ShortID+"  bash  cargo two")
		s.calm()
		s.press("enter", "")
		s.stands(a, sayso.StateDenied)
		s.stands(b, sayso.StateDenied)
	})
}

// The line in which the word is typed is there on the smallest screen.
func TestDanger_theWordHasItsLine(t *testing.T) {
	staged(t, 60, 16, "", func(s *stage) {
		r := s.command("rm -rf build with everything")
		s.calm()
		s.press("end")
		s.calm()
		s.press("y")
		s.shows("Type " + r.ShortID + " to allow it")
	})
}

// deafInbox answers nothing, and cannot be read.
type deafInbox struct {
	sayso.Inbox
	broken sayso.ID
}

func (in deafInbox) Request(ctx context.Context, id string) (sayso.Request, error) {
	if id == string(in.broken) {
		return sayso.Request{}, errors.New("the disk is broken")
	}
	return in.Inbox.Request(ctx, id)
}

func (deafInbox) Answer(ctx context.Context, _ sayso.ID, _ sayso.Answer) (sayso.Decision, error) {
	<-ctx.Done()
	return sayso.Decision{}, ctx.Err()
}

// A request that cannot be read is left out of an answer to several, and is not said
// to have ended. An answer that nobody takes has an end.
func TestBatch_whatCannotBeReadAndWhatIsNotTaken(t *testing.T) {
	staged(t, 100, 40, "", func(s *stage) {
		a, b := s.command("make one"), s.command("make two")
		s.calm()
		door := s.door()
		door.Inbox = deafInbox{door.Inbox, b.ID}
		s.p.Send(tui.Back(door))
		s.calm()
		s.press("X", "y")
		s.calm()
		s.shows("Allow 1 request", b.ShortID+" could not be read and is left out: the disk is broken")
		s.hides("wait no longer")
		s.press("y", "")
		s.shows("Sending…")
		s.wait(tui.Patience)
		s.settle()
		s.shows("Whether the answer to " + a.ShortID + " arrived")
		s.stands(a, sayso.StateOpen)
	})
}
