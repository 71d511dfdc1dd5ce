package outbox

import (
	"crypto/rand"
	"math/big"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
)

// Letter is a notice to one target that was not delivered yet, or was given up.
type Letter struct {
	ID       sayso.ID  `json:"id"`
	Target   string    `json:"target"`
	Kind     Kind      `json:"kind"`
	Event    sayso.ID  `json:"event"`             // that it tells of, or an id of its own
	Seq      sayso.Seq `json:"seq,omitzero"`      // of that event
	Request  sayso.ID  `json:"request,omitempty"` //
	Lost     *Lost     `json:"lost,omitempty"`    // the letters that died, for [Dead]
	Attempts int       `json:"attempts"`
	Made     time.Time `json:"made"`
	Next     time.Time `json:"next"`           // when it is tried again
	Dead     bool      `json:"dead,omitzero"`  // it is not
	Error    string    `json:"error,omitzero"` // why the last attempt failed
	Gone     bool      `json:"-"`              // the policy names its target no more; the shelf knows
}

// pauses are the times between attempts, as Standard Webhooks has them.
var pauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// longest is the longest pause that a target may ask for.
const longest = 24 * time.Hour

// failed notes an attempt that failed, and when the next one is to be made.
func (l *Letter) failed(now time.Time, f *Failure) {
	l.Attempts++
	l.Error = f.Why
	if f.Final || l.Attempts > len(pauses) {
		l.Dead = true
		return
	}
	pause := spread(pauses[l.Attempts-1])
	l.Next = now.Add(max(pause, min(f.After, longest)))
}

// spread makes a pause up to a tenth longer, so that what failed together is not
// tried again together.
func spread(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d/10)))
	if err != nil {
		return d
	}
	return d + time.Duration(n.Int64())
}

// due reports whether a letter is to be tried now. A clock that was set back
// does not hold it up for longer than the longest pause.
func (l *Letter) due(now time.Time) bool {
	return !l.Dead && (!l.Next.After(now) || l.Next.Sub(now) > longest+longest/5)
}

// newID names a letter.
func newID(now time.Time) sayso.ID {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return sayso.NewID(now, random)
}

// waiting counts the letters that are still tried.
func waiting(list []Letter) int {
	return len(list) - len(slices.DeleteFunc(slices.Clone(list), func(l Letter) bool { return !l.Dead }))
}
