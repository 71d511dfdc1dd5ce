package broker

import (
	"sync"
	"time"
)

// allowances are how often sessions may ask before they are counted again.
type allowances struct {
	mu sync.Mutex // guards of
	of map[string]allowance
}

type allowance struct {
	left  int
	until time.Time
}

// allowanceTime is how long an allowance holds.
const allowanceTime = 10 * time.Second

// use takes one from the allowance of a session; ok is false if there is none.
func (a *allowances) use(session string) (ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	mine := a.of[session]
	if mine.left <= 0 || !time.Now().Before(mine.until) {
		return false
	}
	mine.left--
	a.of[session] = mine
	return true
}

// give lets a session that was counted use up half of the room that it has, so
// that the last one of its room is counted, and processes that share a log
// overrun a limit together by no more than half of the room each.
func (a *allowances) give(session string, room int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil || len(a.of) >= 4096 {
		a.of = map[string]allowance{}
	}
	a.of[session] = allowance{left: room / 2, until: time.Now().Add(allowanceTime)}
}
