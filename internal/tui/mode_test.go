package tui_test

import (
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// mode is what holds for a session, or for all.
func (s *stage) mode(session string) sayso.ModeState {
	s.t.Helper()
	m, err := s.broker.Inbox().Mode(s.t.Context(), session)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// The mode in which nobody looks is typed out, and always has an end.
func TestMode_approveAllIsTypedAndEnds(t *testing.T) {
	staged(t, 80, 24, "", func(s *stage) {
		r := s.command("make")
		s.calm()
		s.press("m")
		s.shows("Mode of session s1: interactive")
		s.press("j", "j")
		s.shows("how long    15m, until ")
		s.calm()
		s.press("enter")
		s.shows("Type approve_all to set it")
		s.calm()
		s.press("enter")
		s.shows("Not changed: that is not approve_all.")
		s.typed("approve_all")
		s.calm()
		s.press("enter", "")
		s.shows("The mode is changed.", "Mode of session s1: approve_all, for ")
		if m := s.mode("s1"); m.Mode != sayso.ModeApproveAll || m.Left <= 0 || m.Left > 15*time.Minute {
			t.Errorf("the session has %+v", m)
		}
		if m := s.mode(""); m.Mode == sayso.ModeApproveAll {
			t.Errorf("all sessions have %+v", m)
		}
		s.stands(r, sayso.StateOpen)
	})
}

// Keys that were on their way change no mode: neither before the page was there
// for a moment, nor as one of several.
func TestMode_isGuarded(t *testing.T) {
	staged(t, 80, 24, "", func(s *stage) {
		s.command("make")
		s.calm()
		s.press("m", "j", "enter")
		s.calm()
		s.write("\r\r")
		s.calm()
		if m := s.mode("s1"); m.Mode == sayso.ModeStrict {
			t.Errorf("a key that was on its way set %+v", m)
		}
		s.press("enter", "")
		if m := s.mode("s1"); m.Mode != sayso.ModeStrict || m.Left != 0 {
			t.Errorf("the session has %+v", m)
		}
	})
}

// For all sessions the mode is seen on every page, and over once its end has come.
func TestMode_ofAllIsSeenUntilItEnds(t *testing.T) {
	staged(t, 80, 24, "", func(s *stage) {
		s.calm()
		s.press("m")
		s.shows("Mode of all sessions: interactive")
		s.press("j", "t")
		s.calm()
		s.press("enter", "")
		s.shows("Mode of all sessions: strict, for 15m")
		s.press("esc", "h")
		s.shows("whatever would be asked is DENIED, 15m at most")
		s.wait(16 * time.Minute)
		s.hides("DENIED")
	})
}

// A switch that is turned while one watches is seen, and so is that it is over.
func TestSwitched_isSeenWhileItHolds(t *testing.T) {
	staged(t, 80, 24, "", func(s *stage) {
		s.hides("LOCKED")
		s.turn("LOCKED: everything asks or denies")
		s.wait(2 * time.Second)
		s.shows("LOCKED: everything asks or denies")
		s.press("h")
		s.shows("LOCKED")
		s.turn("")
		s.wait(2 * time.Second)
		s.hides("LOCKED")
	})
}
