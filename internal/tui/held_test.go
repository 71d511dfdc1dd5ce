package tui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/tui"
)

// pace is how a keyboard repeats a key that is held down.
type pace struct{ first, again time.Duration }

var paces = []pace{
	{300 * time.Millisecond, 33 * time.Millisecond}, {500 * time.Millisecond, 33 * time.Millisecond}, {500 * time.Millisecond, 90 * time.Millisecond},
	{660 * time.Millisecond, 40 * time.Millisecond}, {time.Second, 90 * time.Millisecond},
}

// held presses a key and does not let go of it for three seconds. meanwhile is
// what happens in between.
func (s *stage) held(key string, p pace, meanwhile func()) {
	s.t.Helper()
	if name := named[key]; name != "" {
		key = name
	}
	wait := p.first
	for t := time.Duration(0); t < 3*time.Second; t += wait {
		if t > time.Second && meanwhile != nil {
			meanwhile()
			meanwhile = nil
		}
		s.write(key)
		if t > 0 {
			wait = p.again
		}
		s.wait(wait)
	}
}

// TestVW4_heldKey holds each key that answers while what it would answer changes
// under it: nothing that came meanwhile is answered, and once it is let go of, all
// is as it was.
func TestVW4_heldKey(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []string // pressed first
		key    string
		while  func(s *stage, all []sayso.Request)
		open   []int // of three, those that wait still
	}{
		{"y opens the batch and does not confirm it", []string{"X"}, "y", nil, []int{0, 1, 2}},
		{"a opens the batch and does not confirm it", []string{"X"}, "a", nil, []int{0, 1, 2}},
		{"n opens the words and does not deny", []string{"X"}, "n", nil, []int{0, 1, 2}},
		{"enter steps and does not deny", nil, "enter", nil, []int{0, 1, 2}},
		{"y allows one", nil, "y", nil, []int{1, 2}},
		{"escape denies one", nil, "esc", nil, []int{1, 2}},
		{"escape selects none and denies none", []string{"X"}, "esc", nil, []int{0, 1, 2}},
		{"enter denies one", []string{"n", ""}, "enter", nil, []int{1, 2}},
		{"enter remembers one", []string{"s", ""}, "enter", nil, []int{1, 2}},
		{"y and the one on the screen ends", []string{"X", "y", "", ""}, "y", func(s *stage, all []sayso.Request) {
			s.elsewhere(all[0], sayso.Deny)
		}, []int{1, 2}},
	} {
		for _, p := range paces {
			t.Run(fmt.Sprint(c.name, p), func(t *testing.T) {
				staged(t, 100, 40, "", func(s *stage) {
					var all []sayso.Request
					for i := range 3 {
						all = append(all, s.command(fmt.Sprint("make ", i)))
					}
					s.calm()
					for _, key := range c.before {
						s.press(key)
						if key == "" {
							s.calm()
						}
					}
					var while func()
					if c.while != nil {
						while = func() { c.while(s, all) }
					}
					s.held(c.key, p, while)
					s.calm()
					for i, r := range all {
						open := false
						for _, n := range c.open {
							open = open || n == i
						}
						if s.state(r).Open() != open {
							t.Errorf("%d is %s\n%s", i, s.state(r), s.screen())
						}
					}
				})
			})
		}
	}
}

// TestVW4_heldBefore holds a key from before there is anything to answer.
func TestVW4_heldBefore(t *testing.T) {
	for _, key := range []string{"y", "a", "esc", "enter"} {
		for _, p := range paces {
			t.Run(fmt.Sprint(key, p), func(t *testing.T) {
				staged(t, 100, 40, "", func(s *stage) {
					var r sayso.Request
					s.held(key, p, func() { r = s.open(danger("make")) })
					s.calm()
					s.stands(r, sayso.StateOpen)
					s.press("y", "")
					s.stands(r, sayso.StateAllowed)
				})
			})
		}
	}
}

// What y means changes when the requests that are selected are answered by
// somebody else: a key that was on its way answers nothing.
func TestVW4_selectedEndElsewhere(t *testing.T) {
	staged(t, 120, 40, "", func(s *stage) {
		a, b := s.command("echo a"), s.command("echo b")
		s.calm()
		s.press("j")
		s.calm()
		s.press("x", "k")
		s.calm()
		s.shows("1 selected", "allow these 1")
		s.elsewhere(b, sayso.Deny)
		s.press("y")
		s.stands(a, sayso.StateOpen)
		s.calm()
		s.press("y", "")
		s.stands(a, sayso.StateAllowed)
	})
}

// A question about a request that is not there any more is shut, and asks about no
// other.
func TestPanel_isOfOneRequest(t *testing.T) {
	for _, c := range []struct{ command, key string }{{"make", "n"}, {"make", "s"}, {"rm -rf build", "y"}} {
		staged(t, 120, 40, "", func(s *stage) {
			a := s.command(c.command)
			b := s.command("echo b")
			s.calm()
			s.press(c.key)
			s.calm()
			s.p.Send(tui.Fresh(s.door(), []sayso.Request{s.now(b)})) // another log, which knows nothing of a
			s.calm()
			s.shows("echo b", "Not answered: the request that this was about", "[y] allow once")
			s.press("enter")
			s.calm()
			s.stands(a, sayso.StateOpen)
			s.stands(b, sayso.StateOpen)
		})
	}
}
