package sayso

import (
	"fmt"
	"slices"
	"time"
)

// Session is what holds for one session of an agent: who answers for it, which
// tools it may use without asking, and its mode.
type Session struct {
	ID        string
	Owner     string   // whose agent it is; answers for it
	Approvers []string // others who may answer for it
	Host      string
	Started   bool
	Begun     time.Time // when it started last
	Ended     bool
	Policies  map[string]Effect // by canonical tool name, or server/tool
	Mode      Mode              // empty if none was set for this session
	Loaded    string            // version of the policy recorded last, on the broker's stream
	Len       int               // events in the stream

	modeAt  Moment
	modeFor time.Duration
}

// FoldSession turns the events of a session's stream, or of the broker's for
// what holds for all sessions, into the session. Other events are passed over.
func FoldSession(id string, events []Event) (Session, error) {
	s := Session{ID: id}
	for i := range events {
		if err := s.Apply(&events[i]); err != nil {
			return Session{}, err
		}
	}
	return s, nil
}

// Apply adds the next event of the stream to what s is. On error s is unchanged.
func (s *Session) Apply(e *Event) error {
	next := *s
	if err := next.apply(e); err != nil {
		return fmt.Errorf("event %d (%s) of %s: %w", e.Seq, e.Type, e.Stream, err)
	}
	next.Len++
	*s = next
	return nil
}

func (s *Session) apply(e *Event) error {
	switch e.Type {
	case EventSessionStarted:
		p, err := readPayload[SessionStarted](e)
		if err != nil {
			return err
		}
		if !s.Started { // whoever started it first owns it
			s.Owner, s.Approvers = p.Owner, p.Approvers
		}
		s.Host, s.Started, s.Ended, s.Begun = p.Host, true, false, e.At.Wall
	case EventSessionPolicy:
		p, err := readPayload[SessionPolicy](e)
		if err != nil {
			return err
		}
		s.Policies = p.Policies
	case EventSessionEnded:
		s.Ended = true
	case EventPolicyLoaded:
		p, err := readPayload[PolicyLoaded](e)
		if err != nil {
			return err
		}
		s.Loaded = p.Policy
	case EventModeChanged:
		p, err := readPayload[ModeChanged](e)
		if err != nil {
			return err
		}
		if p.Switch == "" {
			s.Mode, s.modeAt, s.modeFor = p.Mode, e.At, nanoseconds(p.ForNS)
		}
	}
	return nil
}

// ModeAt is the mode in force at now, and how long it still is; left is zero
// for no end. An approve_all that has ended, or whose clock is in doubt, is
// interactive.
func (s *Session) ModeAt(now, recorded Moment) (m Mode, left time.Duration) {
	if s.Mode == "" || s.modeFor <= 0 {
		if s.Mode == ModeApproveAll {
			return "", 0 // must be given an end
		}
		return s.Mode, 0
	}
	passed, doubtful := Elapsed(s.modeAt, now, recorded)
	if passed >= s.modeFor || doubtful {
		if s.Mode == ModeStrict && doubtful {
			return ModeStrict, 0
		}
		return "", 0
	}
	return s.Mode, s.modeFor - passed
}

// Policy is what the session's tool policies say about a call. Names are the
// canonical ones, the host's own, or server/tool.
func (s *Session) Policy(c Call) (Effect, bool) {
	tool, server := c.CanonicalName()
	names := []string{tool, c.Tool}
	if server != "" {
		// never the bare name: a server may call its tools as we call ours
		names = []string{server + "/" + tool, "mcp__" + server + "__" + tool}
	}
	effect, found := Allow, false
	for _, name := range names {
		if e, ok := s.Policies[name]; ok {
			effect, found = effect.Meet(e), true
		}
	}
	if !found {
		return Deny, false
	}
	return effect, true
}

// MayAnswer reports whether a principal answers for this session: an admin for
// every one, a person for their own and where they are listed. A session that
// nobody owns is answered for by admins alone.
func (s *Session) MayAnswer(a Actor) bool {
	switch a.Kind {
	case PrincipalAdmin:
		return true
	case PrincipalPerson:
		return a.Principal != "" && (a.Principal == s.Owner || slices.Contains(s.Approvers, a.Principal))
	}
	return false
}

// MayLook reports whether a principal sees the requests of this session.
func (s *Session) MayLook(a Actor) bool {
	return s.MayAnswer(a) || (a.Kind == PrincipalViewer && a.Principal != "" &&
		(slices.Contains(s.Approvers, a.Principal) || slices.Contains(a.Approvers, "*")))
}

// SessionInfo is a session as people see it: what is known of it, and of the
// calls that it made.
type SessionInfo struct {
	ID        string     `json:"session_id"`
	Host      string     `json:"host"`
	Caller    string     `json:"caller"` // of its newest call
	Cwd       string     `json:"cwd"`    // of its newest call
	Owner     string     `json:"owner"`
	Approvers []string   `json:"approvers"`
	Calls     int        `json:"calls"`
	Asked     int        `json:"asked"` // that a person was asked about
	Open      int        `json:"open"`
	BegunAt   *time.Time `json:"begun_at"` // null where no host said so
	LastAt    time.Time  `json:"last_at"`  // of its newest call
	Ended     bool       `json:"ended"`
	// Unread says why its newest call could not be read, of which caller and folder
	// are then unknown; empty for one that could.
	Unread string `json:"unread,omitempty"`
}
