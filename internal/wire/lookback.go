package wire

import (
	"fmt"
	"reflect"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Convert writes one shape of an answer into another one. Both have the same
// members; one that only one of them has is an error.
func Convert(from, into any) error {
	text, err := jcs.Marshal(from)
	if err != nil {
		return err
	}
	return jcs.Unmarshal(text, into)
}

// PolicyFiles is the text of the policy in force, file by file.
type PolicyFiles struct {
	Version  string       `json:"version"`
	Mistake  string       `json:"mistake,omitzero"` // why the files as they are now do not load
	Stands   bool         `json:"stands"`           // with a mistake: the policy that loaded before is in force
	Files    []PolicyFile `json:"files"`
	Warnings []PolicyNote `json:"warnings"`
}

// PolicyFile is one file of a policy. Its text is made safe to be shown, with
// what is secret hidden; altered says that it is not the text of the file then.
type PolicyFile struct {
	Tier      string        `json:"tier"` // org, user or repo
	File      string        `json:"file"`
	Workspace string        `json:"workspace,omitzero"` // of a project's own file, whose text is the one that a person accepted
	State     string        `json:"state"`              // in force, not there, or does not load
	Rules     int           `json:"rules"`
	Text      string        `json:"text"`
	Altered   bool          `json:"altered,omitzero"`
	Tokens    []sayso.Token `json:"tokens"` // pairs of a class and a text that together are the text
	Mistakes  []PolicyNote  `json:"mistakes"`
}

// PolicyNote is something about a place in a file.
type PolicyNote struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	What   string `json:"what"`
	Write  string `json:"write,omitzero"`
}

// Explain is the body of POST /v1/policy/explain, and the operation explain: a
// call with its facts, or the id of a request of the log. Of a call that nobody
// makes there are no facts: assume has it judged as in the project of its
// directory, on a machine with nothing else.
type Explain struct {
	Request string      `json:"request,omitempty"`
	Call    *sayso.Call `json:"call,omitempty"`
	Facts   sayso.Facts `json:"facts,omitzero"`
	Assume  bool        `json:"assume,omitzero"`
}

// Check reports whether it is one of the two.
func (b *Explain) Check() error {
	if b.Assume && (b.Call == nil || !reflect.ValueOf(b.Facts).IsZero()) {
		return fmt.Errorf("%w: assume is for a call without facts", sayso.ErrInvalid)
	}
	if (b.Request == "") == (b.Call == nil) {
		return fmt.Errorf("%w: name either a call or a request", sayso.ErrInvalid)
	}
	if b.Call == nil {
		return nil
	}
	if err := b.Call.Validate(); err != nil {
		return err
	}
	_, err := b.Call.Digest()
	return err
}

// Spoken is one thing that had a say.
type Spoken struct {
	Effect sayso.Effect `json:"effect"`
	Cause  sayso.Cause  `json:"cause"`
	Rule   string       `json:"rule"`
	File   string       `json:"file"`
	Line   int          `json:"line"`
	Span   [2]int       `json:"span"`
	Reason string       `json:"reason"`
}

// Explanation says why a call comes out as it does, and what to write for it to
// come out otherwise.
type Explanation struct {
	Spoken
	Risk     sayso.Risk       `json:"risk"`
	Danger   []sayso.Danger   `json:"danger"`
	Kinds    []sayso.Kind     `json:"kinds"` // what it was judged as; the stricter answer holds
	Tool     string           `json:"tool"`
	Argument string           `json:"argument"`
	Text     string           `json:"text"`
	Words    string           `json:"words"`
	Spoke    []Spoken         `json:"spoke"`
	Commands []CommandOutcome `json:"commands"`
	Nearest  *Near            `json:"nearest,omitempty"` // left out if no rule is close
	Changes  []Change         `json:"changes"`
}

// CommandOutcome is what one simple command of a line comes to by itself.
type CommandOutcome struct {
	Text      string `json:"text"`
	At        [2]int `json:"at"`
	By        int    `json:"by"`
	NamedOnly bool   `json:"named_only,omitzero"`
	Spoken
}

// Near is a rule that almost matched.
type Near struct {
	Effect  sayso.Effect `json:"effect"`
	Rule    string       `json:"rule"`
	Pattern string       `json:"pattern"`
	Tier    string       `json:"tier"`
	File    string       `json:"file"`
	Line    int          `json:"line"`
	Column  int          `json:"column"`
	Why     string       `json:"why"`
}

// Change says what to write for a call to come out with another effect.
type Change struct {
	Effect   sayso.Effect `json:"effect"`
	Possible bool         `json:"possible"`
	Write    []Edit       `json:"write"`
	Why      string       `json:"why"`
}

// Edit is one thing to write.
type Edit struct {
	Do     string `json:"do"`
	Tier   string `json:"tier"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Under  string `json:"under"`
	Old    string `json:"old"`
	Text   string `json:"text"`
	Rule   string `json:"rule,omitzero"`  // what the file calls the rule of old
	Whole  bool   `json:"whole,omitzero"` // with what is removed goes its rule
}

// Replay is the body of POST /v1/policy/replay, and the operation replay: the
// text of a policy file, and how far back to look; 30 days if that is empty.
type Replay struct {
	Policy string `json:"policy"`
	Since  string `json:"since,omitempty"`
}

// MaxPolicy is the longest policy file that is replayed, in bytes.
const MaxPolicy = 512 << 10

// MaxChanges is how many of the decisions that would change are listed.
const MaxChanges = 1000

// DefaultSince is how far back a replay looks by itself.
const DefaultSince = 30 * 24 * time.Hour

// Back is how far back to look.
func (b *Replay) Back() (time.Duration, error) {
	switch {
	case b.Policy == "":
		return 0, fmt.Errorf("%w: policy is the text of a policy file, and there is none", sayso.ErrInvalid)
	case len(b.Policy) > MaxPolicy:
		return 0, fmt.Errorf("%w: a policy file has at most %d bytes", sayso.ErrInvalid, MaxPolicy)
	case b.Since == "":
		return DefaultSince, nil
	}
	d, err := time.ParseDuration(b.Since)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%w: since must be a duration such as 24h or 720h", sayso.ErrInvalid)
	}
	return d, nil
}

// Replayed is what a policy would have made of the calls of the log.
type Replayed struct {
	Policy          string    `json:"policy"`
	From            time.Time `json:"from,omitzero"`
	To              time.Time `json:"to,omitzero"`
	Calls           int       `json:"calls"`
	Replayed        int       `json:"replayed"`
	NotReplayed     []Gap     `json:"not_replayed"`
	DenialsAllowed  int       `json:"denials_allowed"`
	DeniedByPolicy  int       `json:"denied_by_policy"`
	DeniedByPerson  int       `json:"denied_by_person"`
	AllowancesEnded int       `json:"allowances_ended"`
	PromptsBefore   int       `json:"prompts_before"`
	PromptsAfter    int       `json:"prompts_after"`
	PromptsSaved    int       `json:"prompts_saved"`
	PromptsAdded    int       `json:"prompts_added"`
	Turns           []Turn    `json:"turns"`
	Changes         []Turned  `json:"changes"`  // the worst first, at most [MaxChanges]
	LeftOut         int       `json:"left_out"` // changes that are not listed; all are counted
}

// Gap is a reason why calls could not be judged again, and how many.
type Gap struct {
	Why   string `json:"why"`
	Count int    `json:"count"`
}

// Turn is a way to come out otherwise, and how many did.
type Turn struct {
	From  sayso.Effect `json:"from"`
	To    sayso.Effect `json:"to"`
	Count int          `json:"count"`
}

// Turned is a call that would have come out otherwise.
type Turned struct {
	Request sayso.ID  `json:"request"`
	ShortID string    `json:"short_id"`
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	Host    string    `json:"host"`
	Tool    string    `json:"tool"`
	Text    string    `json:"text"`
	Was     Came      `json:"was"`
	Now     Came      `json:"now"`
}

// Came is what a call came to.
type Came struct {
	Effect sayso.Effect `json:"effect"`
	By     string       `json:"by"`
	Answer string       `json:"answer"`
	Rule   string       `json:"rule"`
	File   string       `json:"file"`
	Line   int          `json:"line"`
}
