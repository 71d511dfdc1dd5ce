package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// When a key is an answer, on the screen and in questions of one line.
const (
	// Inert is how long a prompt takes no answers after it appeared or changed, or
	// after a key that came while it took none: a key that is held down answers
	// nothing that appears under it.
	Inert = 600 * time.Millisecond
	// Repeats is how close together a key comes again that is held down, at the
	// slowest. Terminals wait longer before it comes for the second time, some
	// longer than a prompt is deaf.
	Repeats = 120 * time.Millisecond
)

const (
	beat = 50 * time.Millisecond
	// stall is a gap between two beats in which the program did not run: what was
	// typed meanwhile was typed before the prompt was drawn.
	stall = 5 * beat
	// burst is how close together keys are that nobody presses one by one, such
	// as a pasted text. None of them is an answer.
	burst = 25 * time.Millisecond
	// escapes is how much later than it was pressed Esc may be heard: it is told
	// from the beginning of another key by nothing following it.
	escapes = 150 * time.Millisecond
)

// guard says whether an answer may be given at all. It opens once a prompt was
// there for a moment in which the program ran without a stop and no key came, and
// closes with each change. The zero guard is closed.
type guard struct {
	live bool
	gen  int
	ran  time.Duration
	last time.Time // of a beat; when it opened once it is live
}

type (
	beatMsg struct{ gen int }
	// heldMsg says that no other key followed the one that is held.
	heldMsg struct{ n int }
)

// changed begins the moment anew.
func (g *guard) changed(now time.Time) tea.Cmd {
	*g = guard{gen: g.gen + 1, last: now}
	return g.next()
}

// pressed begins the moment anew for a key that came within it.
func (g *guard) pressed(now time.Time) {
	if !g.live {
		g.last, g.ran = now, 0
	}
}

func (g *guard) next() tea.Cmd {
	gen := g.gen
	return tea.Tick(beat, func(time.Time) tea.Msg { return beatMsg{gen} })
}

// beats takes one beat.
func (g *guard) beats(m beatMsg, now time.Time) tea.Cmd {
	if m.gen != g.gen || g.live {
		return nil
	}
	gap := now.Sub(g.last)
	g.last, g.ran = now, g.ran+gap
	if gap < 0 || gap > stall {
		g.ran = 0
	}
	if g.ran >= Inert {
		g.live = true
		return nil
	}
	return g.next()
}

// hold keeps a key that answers until it is certain that no other follows at
// once, and then does what it is for, if the prompt is still the same.
type hold struct {
	n    int
	key  string    // the last one
	last time.Time // when it came
	same bool      // as the one before
	gen  int       // of the guard when the key was pressed
	do   func() tea.Cmd
}

// pressed notes a key, and lets go of what is held: it was one of several. It
// reports whether this key may be an answer.
func (h *hold) pressed(key string, now time.Time) bool {
	h.same = key == h.key
	alone := now.Sub(h.last) >= h.wait() || now.Before(h.last)
	h.key, h.last, h.do = key, now, nil
	return alone
}

// wait is how long nothing else may come, before a key and after it. The same key
// again may be one that is held down.
func (h *hold) wait() time.Duration {
	if h.same {
		return Repeats
	}
	return burst
}

func (h *hold) keep(gen int, do func() tea.Cmd) tea.Cmd {
	h.n, h.gen, h.do = h.n+1, gen, do
	n := h.n
	return tea.Tick(h.wait(), func(time.Time) tea.Msg { return heldMsg{n} })
}

// release does what is held.
func (h *hold) release(m heldMsg, g *guard) tea.Cmd {
	do := h.do
	if m.n != h.n || do == nil || !g.live || g.gen != h.gen {
		return nil
	}
	h.do = nil
	return do()
}
