package wire

import (
	"time"

	"github.com/sayso-dev/sayso"
)

// Notice is a notice to a target elsewhere that could not be delivered yet, or
// was given up. It says what it is about and not what it tells.
type Notice struct {
	ID        sayso.ID   `json:"id"`
	ShortID   string     `json:"short_id"`
	Target    string     `json:"target"`
	About     string     `json:"about"`             // opened, decided, expired, withdrawn, mode, dead
	Request   sayso.ID   `json:"request,omitempty"` // that it is about
	State     string     `json:"state"`             // waiting, dead or gone
	Attempts  int        `json:"attempts"`
	CreatedAt time.Time  `json:"created_at"`
	NextAt    *time.Time `json:"next_at"` // null unless it waits
	Error     string     `json:"error"`   // why the last attempt failed
}

// The states of notices.
const (
	NoticeWaiting = "waiting"
	NoticeDead    = "dead"
	NoticeGone    = "gone" // the policy names its target no more
)

// NoticeTarget is who is told, with what became of the notices since the server
// began, and how many are kept.
type NoticeTarget struct {
	Name    string `json:"name"`
	Sent    int    `json:"sent"`
	Failed  int    `json:"failed"` // attempts
	Died    int    `json:"died"`
	Dropped int    `json:"dropped"` // not delivered, and kept no more
	Waiting int    `json:"waiting"`
	Dead    int    `json:"dead"`
	Gone    bool   `json:"gone"` // the policy names it no more
}

// Notices is the answer to GET /v1/notices, the oldest first.
type Notices struct {
	Targets []NoticeTarget `json:"targets"`
	Notices []Notice       `json:"notices"`
}
