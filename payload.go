package sayso

import "time"

// Requested is the payload of approval.requested: what the log keeps of a
// request when its free text has been erased.
type Requested struct {
	GroupID     string      `json:"group_id"`
	Host        string      `json:"host"`
	Tool        string      `json:"tool"`
	HostTool    string      `json:"host_tool"`
	Server      string      `json:"server"`
	Kind        Kind        `json:"kind"`
	Risk        Risk        `json:"risk"`
	Danger      []Danger    `json:"danger"`
	Cause       Cause       `json:"cause"`
	Rule        string      `json:"rule"`
	File        string      `json:"file"`
	Line        int         `json:"line"`
	Titled      bool        `json:"titled,omitzero"` // the description is the title that the rule gives the request
	Span        [2]int      `json:"span"`
	Requirement Requirement `json:"requirement"`
	DeadlineNS  int64       `json:"deadline_ns"` // zero for none
	ThenDeny    bool        `json:"then_deny,omitzero"`
	Policy      string      `json:"policy"`
	Mode        Mode        `json:"mode"`
	Holder      string      `json:"holder"`
	Pins        Digest      `json:"pins"`
	CanPin      bool        `json:"can_pin,omitzero"`
	CanEdit     bool        `json:"can_edit,omitzero"`
	Elicit      bool        `json:"elicit,omitzero"` // it may be answered by way of the client that made the call
}

// RequestedShown is the part of approval.requested that can be erased and that
// everybody who may see the request sees.
type RequestedShown struct {
	Caller      string            `json:"caller"`
	Cwd         string            `json:"cwd"`
	Description string            `json:"description"`
	Said        map[string]string `json:"said"`
	Preview     Args              `json:"preview"`
	Redactions  []Redaction       `json:"redactions"`
	Warnings    []Warning         `json:"warnings"`
	Digest      Digest            `json:"digest"`
	Content     Digest            `json:"content"`
	Fingerprint Digest            `json:"fingerprint"`
	Ignores     []string          `json:"ignores"`
	Covers      []CoverOffer      `json:"covers"`
}

// RequestedFull is everything that may be shown of a request.
type RequestedFull struct {
	Args         Args          `json:"args"` // whole, with hidden values hidden
	Presentation *Presentation `json:"presentation,omitempty"`
}

// RequestedPrivate is what the engine keeps of a request to itself.
type RequestedPrivate struct {
	Call  Call  `json:"call"`
	Facts Facts `json:"facts"`
	// Payload is what its tool takes for the same call, if it said so.
	Payload Args `json:"payload,omitzero"`
	// Besides is what had a say besides policy; nil where that was not recorded.
	Besides *Besides `json:"besides,omitzero"`
}

// Answered is the payload of approval.answered.
type Answered struct {
	Effect Effect `json:"effect"`
	Scope  Scope  `json:"scope"`
	Cover  Cover  `json:"cover,omitempty"`
	ForNS  int64  `json:"for_ns,omitzero"`
	Uses   int    `json:"uses,omitzero"`
}

// AnsweredShown is the erasable part of approval.answered and of
// approval.resolved.
type AnsweredShown struct {
	Note   string `json:"note"`
	Digest Digest `json:"digest"`           // that the answer is about
	Edited Digest `json:"edited,omitempty"` // of the edited call, zero if it was not edited
	Args   Args   `json:"args,omitzero"`    // edited arguments, with hidden values hidden
}

// AnsweredPrivate holds edited arguments as the call will receive them.
type AnsweredPrivate struct {
	Args Args `json:"args,omitzero"`
}

// Resolved is the payload of approval.resolved.
type Resolved struct {
	Effect Effect  `json:"effect"`
	Source Source  `json:"source"`
	By     []Actor `json:"by"`
	Cause  Cause   `json:"cause"`
	Rule   string  `json:"rule"`
	File   string  `json:"file"`
	Line   int     `json:"line"`
	Reason string  `json:"reason"`
	Mode   Mode    `json:"mode"`
	Grant  ID      `json:"grant,omitempty"`
	Link   ID      `json:"link,omitempty"`  // the same call at an earlier point, where people allowed it
	Policy string  `json:"policy"`          // version that the decision was judged by
	Locked bool    `json:"locked,omitzero"` // people decided while the lock had everything asked
}

// RuleLimit is the rule of a decision that denies a call which nobody is asked
// about, since its session has too many open or asks too often.
const RuleLimit = "too many requests"

// OverLimit reports whether a call was denied because there were too many. Its
// request takes the name of the minute, see [LimitKey], and not that of the call.
func (p *Resolved) OverLimit() bool {
	return p.Source == SourcePolicy && p.Cause == CauseBuiltin && p.Rule == RuleLimit
}

// Parked is the payload of approval.parked.
type Parked struct {
	Cause string `json:"cause"` // patience, left or lost
}

// The causes of parking.
const (
	ParkedPatience = "patience" // the caller's patience ended
	ParkedLeft     = "left"     // the caller went away
	ParkedLost     = "lost"     // what waited for the caller ended: its hook, or the server
)

// Taken is the payload of approval.taken.
type Taken struct {
	Holder string `json:"holder"`
	CallID string `json:"call_id"` // the new id of the call
}

// Closed is the payload of approval.withdrawn, approval.expired,
// approval.voided and grant.ended: why. Where the why is somebody's own words
// it lies in the erasable part.
type Closed struct {
	Reason string `json:"reason"`
}

// Redeemed is the payload of approval.redeemed.
type Redeemed struct {
	Policy string `json:"policy"`
}

// Finished is the payload of approval.finished.
type Finished struct {
	Failed     bool   `json:"failed"`
	Interrupt  bool   `json:"interrupt,omitzero"`
	ExitStatus *int   `json:"exit_status,omitempty"`
	TookNS     int64  `json:"took_ns,omitzero"`
	Output     Digest `json:"output"`
	Changed    bool   `json:"changed,omitzero"` // it ran with other arguments than were allowed
}

// AnswerRefused is the payload of answer.refused.
type AnswerRefused struct {
	Effect Effect `json:"effect"`
	Why    string `json:"why"` // decided, expired, withdrawn, mismatch, requester, not-allowed, agent-process
}

// GrantCreated is the payload of grant.created. The key is a digest and lies
// in the erasable part.
type GrantCreated struct {
	Request ID     `json:"request"`
	Cover   Cover  `json:"cover"`
	Host    string `json:"host"`
	Tool    string `json:"tool"`
	Server  string `json:"server"`
	Policy  string `json:"policy"`
	// Definition is the digest of the tool's definition, where it has one. Under
	// another the grant has ended.
	Definition string `json:"definition,omitempty"`
	ExpiresNS  int64  `json:"expires_ns,omitzero"`
	Uses       int    `json:"uses,omitzero"` // zero for any number
}

// GrantShown is the erasable part of grant.created.
type GrantShown struct {
	Label   string `json:"label"`
	Pattern string `json:"pattern,omitempty"`
	Key     Digest `json:"key"`
}

// GrantUsed is the payload of grant.used.
type GrantUsed struct {
	Request ID `json:"request"`
}

// SessionStarted is the payload of session.started.
type SessionStarted struct {
	Owner     string   `json:"owner"`
	Approvers []string `json:"approvers"`
	Host      string   `json:"host"`
}

// SessionPolicy is the payload of session.policy: all tool policies of the
// session, which replace those before.
type SessionPolicy struct {
	Policies map[string]Effect `json:"policies"`
}

// ModeChanged is the payload of mode.changed, on a session's stream for that
// session or on the broker's for all. Where it tells of a switch it has no mode,
// and the one in force stays.
type ModeChanged struct {
	Mode   Mode   `json:"mode"`
	ForNS  int64  `json:"for_ns,omitzero"` // zero for no end
	Switch Switch `json:"switch,omitempty"`
}

// PolicyLoaded is the payload of policy.loaded.
type PolicyLoaded struct {
	Policy string   `json:"policy"`
	Files  []string `json:"files"`
}

// ContentErased is the payload of content.erased.
type ContentErased struct {
	Requests []ID   `json:"requests"`
	Why      string `json:"why"`
}

// nanoseconds is how durations stand in payloads.
func nanoseconds(n int64) time.Duration { return time.Duration(n) }
