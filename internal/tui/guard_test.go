package tui

import (
	"testing"
	"time"
)

// A prompt is live once the program ran for a moment without a stop.
func TestGuard(t *testing.T) {
	for _, c := range []struct {
		name string
		gaps []time.Duration
		live bool
	}{
		{"eleven beats are too few", repeated(11, beat), false},
		{"twelve are enough", repeated(12, beat), true},
		{"slow ones count for what they take", repeated(4, 3*beat), true},
		{"a stop begins anew", append(repeated(11, beat), 10*time.Second), false},
		{"and then it takes its time", append(append(repeated(11, beat), 10*time.Second), repeated(12, beat)...), true},
		{"a clock that goes back begins anew", append(repeated(11, beat), -time.Hour), false},
	} {
		var g guard
		now := noon
		g.changed(now)
		for _, gap := range c.gaps {
			now = now.Add(gap)
			g.beats(beatMsg{g.gen}, now)
		}
		if g.live != c.live {
			t.Errorf("%s: live is %v", c.name, g.live)
		}
		if g.changed(now); g.live {
			t.Errorf("%s: live after a change", c.name)
		}
	}
}

// A beat of a prompt that is gone counts nothing.
func TestGuard_otherPrompt(t *testing.T) {
	var g guard
	g.changed(noon)
	old := beatMsg{g.gen}
	g.changed(noon)
	for i := range 100 {
		g.beats(old, noon.Add(time.Duration(i)*beat))
	}
	if g.live {
		t.Error("it is live by the beats of another prompt")
	}
}

func repeated(n int, d time.Duration) (list []time.Duration) {
	for range n {
		list = append(list, d)
	}
	return list
}

// The end of a text counts once it was on the screen as it is now.
func TestPager_wholeOnceItWasDrawn(t *testing.T) {
	var p pager
	p.show(make([]string, 30), 80)
	p.draw(13)
	p.show(make([]string, 10), 200) // it would fit where it was drawn before
	if p.draw(5); p.whole {
		t.Error("whole, with 5 of 10 lines on the screen")
	}
	if p.key("end"); !p.whole {
		t.Error("not whole at its end")
	}
}
