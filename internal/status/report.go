package status

import (
	"context"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// Report is what GET /v1/status answers: figures of the requests that the
// principal may see, and the state of the gate.
type Report struct {
	Version   string     `json:"version"` // release of the server; empty for one that is none
	At        time.Time  `json:"at"`
	Mode      sayso.Mode `json:"mode"`
	ModeLeftS float64    `json:"mode_left_s,omitzero"`
	Machine
	Open    Open   `json:"open"`
	Prompts Counts `json:"prompts"`
}

// Machine is what the machine of the server knows.
type Machine struct {
	Off    *Off     `json:"off,omitempty"` // calls go back to the hosts' own prompts
	Locked bool     `json:"locked"`
	Policy Policy   `json:"policy"`
	Wired  []Wiring `json:"wired"`
}

// Off says until when the gate is switched off, and by whom.
type Off struct {
	Until time.Time `json:"until"`
	By    string    `json:"by"`
}

// Policy is which policy is in force. With a mistake in its files it is the one
// that stood before, or none, and then every call is denied.
type Policy struct {
	Version string `json:"version"`
	Mistake string `json:"mistake,omitzero"`
	Stands  bool   `json:"stands"`
}

// Wiring is what the settings of a host say: protected, not protected or
// unknown. That calls of the host arrive is the proof of it.
type Wiring struct {
	Host  string     `json:"host"`
	State Protection `json:"state"`
	Why   string     `json:"why"`
	Proof string     `json:"proof,omitzero"` // what shows that the gate is live; empty where Why comes first
}

// Protection is whether calls are gated.
type Protection string

// The three answers.
const (
	Protected    Protection = "protected"
	NotProtected Protection = "not protected"
	Unknown      Protection = "unknown"
)

// Open is what waits for people.
type Open struct {
	Count  int        `json:"count"`
	Cut    bool       `json:"cut"`    // there are more, younger than those that count
	Oldest *time.Time `json:"oldest"` // null if nothing waits
	Ages   []AgeCount `json:"ages"`
}

// AgeCount is how many requests are no older than an age and not in one before.
type AgeCount struct {
	Age   string `json:"age"`
	Count int    `json:"count"`
}

// Ages are the bounds by which open requests are counted.
var Ages = []struct {
	Name string
	Most time.Duration
}{{"1m", time.Minute}, {"10m", 10 * time.Minute}, {"1h", time.Hour}, {"1d", 24 * time.Hour}, {"older", 1<<63 - 1}}

// MaxOpen is how many open requests are counted, the oldest.
const MaxOpen = 10_000

// Waiting counts the open requests that whoever holds the inbox may see.
func Waiting(ctx context.Context, in sayso.Inbox, now time.Time) (Open, error) {
	open, err := in.Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true, Limit: MaxOpen})
	if err != nil {
		return Open{}, fmt.Errorf("counting open requests: %w", err)
	}
	out := OpenOf(open, now)
	out.Cut = len(open) == MaxOpen
	return out, nil
}

// OpenOf counts open requests by their age.
func OpenOf(open []sayso.Request, now time.Time) Open {
	out := Open{Count: len(open)}
	for _, a := range Ages {
		out.Ages = append(out.Ages, AgeCount{Age: a.Name})
	}
	for i := range open {
		at := open[i].CreatedAt
		if out.Oldest == nil || at.Before(*out.Oldest) {
			out.Oldest = &at
		}
		for j, a := range Ages {
			if now.Sub(at) <= a.Most {
				out.Ages[j].Count++
				break
			}
		}
	}
	return out
}
