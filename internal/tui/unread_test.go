package tui_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
)

var errTorn = errors.New("the disk is broken here")

// torn is an inbox in which one request cannot be read.
type torn struct {
	sayso.Inbox
	id *atomic.Value
}

func (in torn) tears(id sayso.ID) bool { torn, _ := in.id.Load().(sayso.ID); return torn == id }

func (in torn) Requests(ctx context.Context, q sayso.RowQuery) ([]sayso.Request, error) {
	list, err := in.Inbox.Requests(ctx, q)
	for i, r := range list {
		if in.tears(r.ID) {
			list[i] = (&sayso.Row{ID: r.ID, Session: r.SessionID, Host: r.Host, Asker: r.Caller, Tool: r.Tool, State: r.State}).Unread(errTorn)
		}
	}
	return list, err
}

func (in torn) Request(ctx context.Context, id string) (sayso.Request, error) {
	r, err := in.Inbox.Request(ctx, id)
	if err == nil && in.tears(r.ID) {
		return sayso.Request{}, errTorn
	}
	return r, err
}

// What cannot be read is marked, in its place, with why; it offers no answer, and
// the others are as they are.
func TestUnread_isMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, broker: saysotest.New(t, saysotest.WithPolicy(rmIsDanger{})), out: &screenful{}}
		s.broker.Leave("*")
		first, second := s.command("git push origin main"), s.command("go test ./...")
		s.torn.Store(first.ID)
		s.start(80, 24, "", func(s *stage) {
			s.press("j")
			s.calm()
			s.shows(first.ShortID+" cannot be read", "2 of 2  cannot be read", "This request cannot be shown: the disk is broken here", second.ShortID, "go test ./...")
			s.hides("git push", "allow once", "may do anything", "waits for ever")
			s.press("y")
			s.calm()
			s.stands(first, sayso.StateOpen)
		})
	})
}

// At 80 columns it is said whole that nobody waits any more, or in a word.
func TestParked_fits(t *testing.T) {
	staged(t, 80, 24, "", func(s *stage) {
		for _, command := range []string{"go test", "with everything rm -rf"} {
			a := sayso.Admission{Call: sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"` + command + `"}`), Session: command, CallID: command}, Patience: time.Second}
			if _, err := s.broker.Gate().Admit(s.t.Context(), a); !errors.Is(err, sayso.ErrPending) {
				s.t.Fatal(err)
			}
		}
		s.calm()
		s.shows("may do anything  its agent has stopped waiting")
		s.press("j")
		s.calm()
		s.shows("left  parked  ■ danger: ")
	})
}
