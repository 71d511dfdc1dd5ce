package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sayso-dev/sayso"
)

// What is confirmed was on the screen: all of the cover that is chosen, how long and
// how often, on every size.
func TestRemembering_allOfTheCoverIsSeen(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
		m := golden(size[0], size[1], false)
		at(1)(m)
		m.look.request.Covers = []sayso.CoverOffer{
			{Cover: sayso.CoverCall, Label: "this exact call"},
			{Cover: sayso.CoverDirectory, Label: "long", Pattern: strings.Repeat("a-folder/ ", 600) + "its end"},
			{Cover: sayso.CoverTool, Label: "the tool", WouldHaveCovered: 7, LookedAt: 40},
		}
		c := &remembering{}
		m.ask(c)
		press := func(key string) string {
			k := tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
			if key == "enter" {
				k = tea.KeyPressMsg{Code: tea.KeyEnter}
			}
			m.guard.live, m.alone = true, true
			c.key(m, k)
			screen := ansi.Strip(m.screen())
			if !strings.Contains(screen, "how long") || !strings.Contains(screen, "how often") {
				t.Fatalf("%v, after %q there is no time:\n%s", size, key, screen)
			}
			return screen
		}
		held := func() bool { press("enter"); return m.hold.do != nil }
		m.screen()
		if !held() {
			t.Errorf("%v: the cover on the screen is not confirmed", size)
		}
		m.hold.do = nil
		if screen := press("j"); !strings.Contains(screen, "▸ long") || c.read() || held() {
			t.Errorf("%v: a cover is confirmed before its end was there:\n%s", size, screen)
		}
		seen := ""
		for range 100 {
			if seen = press(" "); c.read() {
				break
			}
			if strings.Contains(seen, "its end") {
				t.Errorf("%v: its end is there, and it is not read:\n%s", size, seen)
			}
		}
		if !strings.Contains(seen, "its end") || !held() {
			t.Errorf("%v: a cover is not confirmed once all of it was there:\n%s", size, seen)
		}
		m.hold.do = nil
		if screen := press("j"); !strings.Contains(screen, "▸ the tool") || !strings.Contains(screen, "would have") {
			t.Errorf("%v: the cover that is chosen is not on the screen:\n%s", size, screen)
		}
		if screen := press("k"); !strings.Contains(screen, "▸ long") {
			t.Errorf("%v: the cover that is chosen is not on the screen:\n%s", size, screen)
		}
	}
}

// What policy says of a change is for the question that asked, and takes the place of
// no other.
func TestEditing_aLateVerdict(t *testing.T) {
	m := golden(80, 24, false)
	e := &editing{args: sayso.Args(`{"command":"make test"}`)}
	m.ask(e)
	m.shut()
	other := &remembering{}
	m.ask(other)
	m.update(judgedMsg{e, sayso.Verdict{Match: sayso.Match{Effect: sayso.Ask, Rule: "make"}}, nil})
	if m.panel != other {
		t.Errorf("%T is open", m.panel)
	}
}
