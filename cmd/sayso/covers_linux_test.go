package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
)

const coverQuestion = "[1-3] remember for this session  [esc] back"

func TestPrompt_covers(t *testing.T) {
	for _, c := range []struct {
		name   string
		script []typist
		want   sayso.State
		cover  sayso.Cover // remembered, empty for nothing
	}{
		{"the exact call", []typist{{plainQuestion, "s"}, {coverQuestion, "1"}}, sayso.StateAllowed, sayso.CoverCall},
		{"a wider cover", []typist{{plainQuestion, "s"}, {"bash:git add*\r\n", ""}, {coverQuestion, "2"}}, sayso.StateAllowed, sayso.CoverPrefix},
		{"a number that is none", []typist{{plainQuestion, "s"}, {coverQuestion, "4"}, {plainQuestion, "s"}, {coverQuestion, "0"}, {plainQuestion, "\x03"}}, sayso.StateOpen, ""},
		{"back, and once", []typist{{plainQuestion, "s"}, {coverQuestion, "\x1b"}, {plainQuestion, "y"}}, sayso.StateAllowed, ""},
		{"left", []typist{{plainQuestion, "s"}, {coverQuestion, "\x03"}}, sayso.StateOpen, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, grants, _ := answeredBy(t, "git add a", "", "", func(string) []typist { return c.script })
			var cover sayso.Cover
			if len(grants) > 0 {
				cover = grants[0].Cover
			}
			if r.State != c.want || cover != c.cover {
				t.Errorf("the request is %s, remembered is %q; want %s, %q", r.State, cover, c.want, c.cover)
			}
		})
	}
}

// Where there is one cover nobody has to choose, and it is said all the same.
func TestPrompt_theOnlyCoverIsSaid(t *testing.T) {
	r, grants, _ := answeredBy(t, "rm -rf build", "", "", func(short string) []typist {
		return []typist{{plainQuestion, "s"}, {"remembered: call", ""}, {"to go on:", short + "\r"}}
	})
	if r.State != sayso.StateAllowed || len(grants) != 1 || grants[0].Cover != sayso.CoverCall {
		t.Errorf("the request is %s, remembered is %v", r.State, grants)
	}
}

// colour is how a terminal is told to change it.
var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// grouped is an engine where two calls of a group wait, with one that is not of
// it.
func grouped(t *testing.T, commands ...string) (*local.Engine, home.Paths) {
	t.Helper()
	paths := homeIn(t.TempDir())
	opened := make(chan sayso.Request, 8)
	e, err := local.OpenEngine(t.Context(), paths, local.Options{Opened: func(r sayso.Request) { opened <- r }})
	if err != nil {
		t.Fatal(err)
	}
	gate := e.Gate(home.OwnActor(sayso.PrincipalAgent, "test", "embedded"))
	for i, command := range append(commands, "make other") {
		call := sayso.Call{Tool: "bash", Args: argsOf(t, command), Session: "s1", Cwd: "/tmp", CallID: fmt.Sprint("c", i), GroupID: "release"}
		if i == len(commands) {
			call.GroupID = "another"
		}
		if _, err := gate.Admit(t.Context(), sayso.Admission{Call: call, Patience: -1}); !errors.Is(err, sayso.ErrPending) {
			t.Fatal(err)
		}
		<-opened
	}
	t.Cleanup(func() { e.Close() })
	return e, paths
}

func TestApproveGroup_atATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		commands []string
		script   []typist
		answered int
		fails    bool
	}{
		"yes":                 {[]string{"make one", "make two"}, []typist{{"allow these 2 requests of group release? [y/n, then Enter]", "y\r"}}, 2, false},
		"no":                  {[]string{"make one", "make two"}, []typist{{"allow these 2 requests of group release? [y/n, then Enter]", "n\r"}}, 0, true},
		"one is a danger":     {[]string{"make one", "rm -rf build"}, []typist{{"Type how many they are to go on:", "2\r"}}, 2, false},
		"a danger takes no y": {[]string{"make one", "rm -rf build"}, []typist{{"Type how many they are to go on:", "y\r"}}, 0, true},
		"escape":              {[]string{"make one", "make two"}, []typist{{"[y/n, then Enter]", "\x1b"}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			e, paths := grouped(t, c.commands...)
			screen, err := atTerminal(t, c.script, func(ctx context.Context, a *app) error {
				a.paths = paths
				return a.approveGroup(ctx, "release", nil, approval{scope: "once"})
			})
			if (err != nil) != c.fails {
				t.Fatalf("%v:\n%s", err, screen)
			}
			words := colour.ReplaceAllString(screen, "")
			for _, command := range c.commands {
				if !strings.Contains(words, command) {
					t.Errorf("not on the screen: %q", command)
				}
			}
			if strings.Contains(screen, "make other") {
				t.Error("what is of another group is on the screen")
			}
			open, err := e.Inbox(admin).Requests(t.Context(), sayso.RowQuery{States: sayso.OpenStates()})
			if err != nil || len(open) != len(c.commands)+1-c.answered {
				t.Errorf("%d wait, %v", len(open), err)
			}
		})
	}
}
