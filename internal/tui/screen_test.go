package tui_test

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/tui"
)

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name    string
		command string
		keys    []string
		want    sayso.State
		note    string
	}{
		{"y allows", "make", []string{"y"}, sayso.StateAllowed, ""},
		{"A allows", "make", []string{"A"}, sayso.StateAllowed, ""},
		{"escape denies", "make", []string{"esc"}, sayso.StateDenied, ""},
		{"n denies once that is said", "make", []string{"n"}, sayso.StateOpen, ""},
		{"n takes a note", "make", []string{"n", "n", "o", " ", "y", "", "", "", "", "", "", "", "", "enter"}, sayso.StateDenied, "no y"},
		{"d takes a preset", "make", []string{"d", "alt+2", "", "", "", "", "", "", "", "enter"}, sayso.StateDenied, tui.Reasons[1]},
		{"escape leaves the note", "make", []string{"n", "x", "esc"}, sayso.StateOpen, ""},
		{"s opens the covers", "make", []string{"s"}, sayso.StateOpen, ""},
		{"escape leaves the covers", "make", []string{"s", "esc"}, sayso.StateOpen, ""},
		{"s remembers", "make", []string{"s", "", "", "", "", "", "", "", "enter"}, sayso.StateAllowed, ""},
		{"space and arrows answer nothing", "make", []string{" ", "down", "enter", "end"}, sayso.StateOpen, ""},
		{"escape leaves the help", "make", []string{"?", "y", "esc"}, sayso.StateOpen, ""},
		{"escape leaves the whole", "make", []string{"v", "y", "esc"}, sayso.StateOpen, ""},
		{"the filter takes letters", "make", []string{"/", "y", "esc"}, sayso.StateOpen, ""},
		{"several at once are none", "make", []string{"yy"}, sayso.StateOpen, ""},
		{"a pasted word is none", "make", []string{"yes"}, sayso.StateOpen, ""},
		{"a bracketed paste is none", "make", []string{"\x1b[200~y\x1b[201~"}, sayso.StateOpen, ""},
		{"alt and control are none", "make", []string{"\x1by", "\x19"}, sayso.StateOpen, ""},
		{"an arrow in two parts denies nothing", "make", []string{"\x1b[", "A"}, sayso.StateOpen, ""},
		{"danger takes no key", "rm -rf build", []string{"y", "", "", "", "", "", "", "", "y", "enter"}, sayso.StateOpen, ""},
		{"escape leaves the slow answer", "rm -rf build", []string{"y", "esc"}, sayso.StateOpen, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			staged(t, 80, 40, "", func(s *stage) {
				r := s.ask(danger(c.command))
				s.calm()
				s.press(c.keys...)
				s.calm()
				s.stands(r, c.want)
				if now := s.now(r); now.Decision != nil && now.Decision.Note != c.note {
					t.Errorf("note %q, want %q", now.Decision.Note, c.note)
				}
			})
		})
	}
}

func danger(command string) sayso.Call {
	return sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"` + command + `"}`), Cwd: "/w/app"}
}

// TestVW4_keysBeforeThePromptWasLive types a key at each time around the moment
// in which a prompt appears.
func TestVW4_keysBeforeThePromptWasLive(t *testing.T) {
	for at := -200; at <= 950; at += 50 {
		for _, key := range []string{"y", "\x1b"} {
			staged(t, 80, 40, "", func(s *stage) {
				typing := make(chan struct{})
				go func() {
					defer close(typing)
					time.Sleep(time.Duration(at+300) * time.Millisecond)
					_, _ = io.WriteString(s.keys, key)
				}()
				time.Sleep(300 * time.Millisecond)
				r := s.command("make")
				<-typing
				s.calm()
				answered := !s.state(r).Open()
				if answered && at < int(tui.Inert/time.Millisecond) || !answered && at >= 900 {
					t.Errorf("%q at %d ms: answered %v", key, at, answered)
				}
			})
		}
	}
}

// What was typed before the program ran is no answer.
func TestVW4_typedAhead(t *testing.T) {
	staged(t, 80, 40, "y\x1b", func(s *stage) {
		r := s.command("make")
		s.calm()
		s.stands(r, sayso.StateOpen)
		s.press("y")
		s.stands(r, sayso.StateAllowed)
	})
}

// A request that ends while it is looked at stays, and no other takes its place.
func TestEnded_staysUntilThePersonGoesOn(t *testing.T) {
	staged(t, 80, 24, "", func(s *stage) {
		first := s.command("make one")
		second := s.command("make two")
		s.calm()
		s.elsewhere(first, sayso.Deny)
		s.shows("ENDED", first.ShortID+" denied by ann", "make one")
		s.press("y", "a")
		s.calm()
		s.stands(second, sayso.StateOpen)
		s.press("enter")
		s.hides("ENDED", "make one")
		s.press("y") // deaf: it has only just come
		s.stands(second, sayso.StateOpen)
		s.calm()
		s.press("y", "")
		s.stands(second, sayso.StateAllowed)
		s.shows(second.ShortID + " allowed by person")
	})
}

func TestVW3_allowedOnceItsEndWasThere(t *testing.T) {
	staged(t, 80, 24, "", func(s *stage) {
		r := s.command(strings.Repeat("echo x\n", 60))
		s.calm()
		s.shows("more lines", "[space] further")
		s.hides("[y] allow")
		s.press("y")
		s.shows("Look at all of it first")
		s.stands(r, sayso.StateOpen)
		s.press("end", "y") // deaf: the end has only just come
		s.calm()
		s.stands(r, sayso.StateOpen)
		s.shows("[y] allow")
		s.press("y")
		s.stands(r, sayso.StateAllowed)
	})
}

func TestDanger_takesTheTicket(t *testing.T) {
	staged(t, 80, 40, "", func(s *stage) {
		r := s.command("rm -rf build")
		s.calm()
		s.press("y")
		s.shows("Dangerous: ", "Type "+r.ShortID)
		s.typed("abcd")
		s.calm()
		s.press("enter")
		s.shows("Not answered: that is not " + r.ShortID)
		s.press("\x15")
		s.typed(r.ShortID)
		s.calm()
		s.press("enter")
		s.stands(r, sayso.StateAllowed)
	})
}

func TestRemember_coverTimeAndUses(t *testing.T) {
	staged(t, 80, 40, "", func(s *stage) {
		r := s.command("make test")
		s.calm()
		s.press("s")
		s.shows("What a yes covers", "this exact call", "any number of times")
		s.press("t", "u", "u")
		s.calm()
		s.press("enter")
		s.shows("and remembered")
		grants, err := s.broker.Inbox().Grants(t.Context(), "", false)
		if err != nil || len(grants) != 1 || grants[0].Request != r.ID || grants[0].Cover != sayso.CoverCall || grants[0].MaxUses != 3 || grants[0].ExpiresAt == nil {
			t.Fatalf("%v: %+v", err, grants)
		}
		s.press("g")
		s.shows("Remembered: 1 grant", "this exact call", "0 of 3")
		s.press("r")
		s.shows("Revoke " + grants[0].ShortID + "?")
		s.calm()
		s.press("y")
		s.settle()
		s.shows("Revoked "+grants[0].ShortID, "Nothing is remembered")
	})
}

func TestBatch(t *testing.T) {
	staged(t, 100, 30, "", func(s *stage) {
		var all []sayso.Request
		for _, command := range []string{"make one", "make two", "make three"} {
			all = append(all, s.command(command))
		}
		s.calm()
		s.press("x", "j", "x")
		s.shows("2 selected")
		s.press("y")
		late := s.command("make four")
		s.shows("Allow 2 requests", "The riskiest is", all[0].ShortID+"  bash  make one", all[1].ShortID+"  bash  make two")
		s.press("y")
		s.stands(all[0], sayso.StateOpen) // their end was not there
		s.press("end")
		s.calm()
		s.press("y")
		s.stands(all[0], sayso.StateAllowed)
		s.stands(all[1], sayso.StateAllowed)
		s.stands(all[2], sayso.StateOpen)
		s.stands(late, sayso.StateOpen)
		s.shows("2 of 2 answers are recorded")
	})
}

func TestBatch_dangerTakesHowMany(t *testing.T) {
	staged(t, 100, 30, "", func(s *stage) {
		one, two := s.command("make one"), s.command("rm -rf build")
		s.calm()
		s.press("X", "y", "end")
		s.shows("Dangerous: ", "Type how many")
		s.calm()
		s.press("y", "enter")
		s.shows("Not answered")
		s.press("\x15", "2")
		s.elsewhere(one, sayso.Deny)
		s.calm()
		s.press("enter")
		s.stands(two, sayso.StateAllowed)
		s.stands(one, sayso.StateDenied)
		s.shows("1 of 2 answers are recorded", one.ShortID+" was already denied by ann")
	})
}

// Members of one group are answered together, each for itself.
func TestBatch_ofAGroup(t *testing.T) {
	staged(t, 100, 30, "", func(s *stage) {
		var all []sayso.Request
		for _, command := range []string{"make one", "make two"} {
			call := danger(command)
			call.GroupID = "release"
			all = append(all, s.ask(call))
		}
		s.calm()
		s.press("X", "y", "end")
		s.calm()
		s.press("y")
		s.stands(all[0], sayso.StateAllowed)
		s.stands(all[1], sayso.StateAllowed)
		s.shows("2 of 2 answers are recorded")
	})
}

func TestBatch_deny(t *testing.T) {
	staged(t, 100, 30, "", func(s *stage) {
		one, two := s.command("make one"), s.command("rm -rf build")
		s.calm()
		s.press("X")
		s.calm()
		s.press("esc")
		s.stands(one, sayso.StateOpen) // it selects none, and denies nothing
		s.press("X", "n")
		s.shows("Deny 2 requests.")
		s.calm()
		s.press("enter")
		s.stands(one, sayso.StateDenied)
		s.stands(two, sayso.StateDenied)
	})
}

func TestFilter(t *testing.T) {
	staged(t, 80, 40, "", func(s *stage) {
		s.command("make one")
		s.command("npm test")
		s.calm()
		s.press("/")
		s.typed("npm")
		s.press("enter")
		s.shows("filter: npm", "npm test", "make one", "not among these 1") // what is looked at stays on the screen
		s.press("j")
		s.hides("make one")
		s.press("/", "esc")
		s.shows("filter: npm")
	})
}

func TestHistory(t *testing.T) {
	staged(t, 100, 40, "", func(s *stage) {
		r := s.command("make one")
		s.elsewhere(r, sayso.Deny)
		two := s.command("make two")
		s.elsewhere(two, sayso.Allow)
		s.command("make three") // it waits, and is not history
		s.press("h")
		s.shows("History: 2 requests", r.ShortID+" ✗ denied by ann")
		s.press("/")
		s.typed("denied")
		s.press("enter")
		s.shows("History: 1 request", "make one")
		s.hides("make two")
		s.press("enter")
		s.shows("The life of "+r.ShortID+", denied by ann", "approval.requested", "approval.answered deny once by ann (page)", "| make one")
		s.press("esc", "esc")
		s.shows("1 waiting")
	})
}

// Nothing is sent while the connection is lost; what happened meanwhile shows
// when it is back.
func TestLost(t *testing.T) {
	staged(t, 80, 40, "", func(s *stage) {
		r := s.command("make one")
		s.calm()
		s.p.Send(tui.Lost())
		s.settle()
		s.shows("CONNECTION LOST", "make one")
		s.press("y", "esc", "n")
		s.shows("Not connected: no answer can be given now.")
		s.stands(r, sayso.StateOpen)
		s.p.Send(tui.Back(s.door()))
		s.command("make two")
		s.elsewhere(r, sayso.Deny)
		s.shows("Connected again. Meanwhile 1 came in and 1 ended.", "ENDED", "make two")
	})
}

func TestSmall_takesNoAnswer(t *testing.T) {
	staged(t, 59, 24, "", func(s *stage) {
		r := s.command("make")
		s.calm()
		s.shows("This window is 59×24. At least 60×16")
		s.press("y", "esc", "n", "enter")
		s.calm()
		s.stands(r, sayso.StateOpen)
		s.p.Send(windowSize(60, 16))
		s.press("y") // it has only just been drawn
		s.stands(r, sayso.StateOpen)
		s.shows("make")
	})
}

// Whatever a call holds, the screen is drawn by our own sequences.
func TestVW2_hostileTextStaysText(t *testing.T) {
	const evil = "\x1b[31mred\x1b]52;c;aGk=\x07\u202e\u200b<b>\u009b2J\r"
	const name = "\u202e\u200b<b>" // of these, names with more are refused
	staged(t, 100, 40, "", func(s *stage) {
		quoted := `"\u001b[31mred\u001b]52;c;aGk=\u0007\u202e\u200b<b>\u009b2J\r"`
		s.ask(sayso.Call{
			Tool: "bash", Args: sayso.Args(`{"command":` + quoted + `,` + quoted + `:1}`), Cwd: "/w/" + name, Session: "s" + name, Caller: "c" + name,
			Description: evil, Said: map[string]string{evil: evil}, GroupID: "g" + name, Run: "r" + name,
		})
		s.calm()
		for _, key := range []string{"", "end", "v", "esc", "x", "y", "end", "esc", "esc", "n", "esc", "?", "esc", "h", "enter", "esc", "esc", "g"} {
			s.press(key)
			s.settle()
			s.harmless(key)
		}
		if strings.Contains(s.out.String(), "\x1b]52") || strings.Contains(s.out.String(), "\u202e") {
			t.Error("it reached the terminal")
		}
	})
}

// harmless fails if anything but our own sequences would steer a terminal.
func (s *stage) harmless(key string) {
	s.t.Helper()
	for i, line := range strings.Split(ours.ReplaceAllString(s.view().Content+s.view().WindowTitle, ""), "\n") {
		for _, r := range line {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				s.t.Errorf("after %q line %d has %U: %q", key, i, r, line)
			}
		}
	}
}
