package policy

import (
	"errors"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/cover"
)

// Recorded is a call of the log with what became of it. [RecordedOf] makes it of
// a request.
type Recorded struct {
	ID      sayso.ID
	At      time.Time
	Session string
	Host    string
	Tool    string // canonical name
	Server  string // that the tool belongs to; empty for none
	Danger  []sayso.Danger
	Text    string // what is shown of it, with hidden values hidden

	Call    sayso.Call
	Facts   sayso.Facts
	Besides sayso.Besides
	Mode    sayso.Mode
	Cover   sayso.Cover // of the remembered yes that answered it, if one did
	Payload sayso.Args  // what its tool took for the same call
	Ignores []string    // and the arguments that this left out

	Came Came
	// Gap says why it cannot be judged again; empty if it can.
	Gap string
}

// Came is what a call came to.
type Came struct {
	// Effect is allow or deny where nobody was asked, and ask where a person was.
	Effect sayso.Effect `json:"effect"`
	// By is what decided: policy, grant or mode, or for what was asked whether it
	// was answered: person, deadline, expired, withdrawn, open.
	By string `json:"by"`
	// Answer is what the person said; empty if nobody did.
	Answer string `json:"answer"`
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Line   int    `json:"line"`
}

// The reasons why calls cannot be judged again.
const (
	GapErased = "what was asked for was erased"
	GapLimit  = "there were too many, and the call itself was not recorded"
	GapOlder  = "it was recorded by an older release, which kept less"
	GapFacts  = "this policy asks where something led, and that was not recorded"
	GapGrant  = "it was answered by a remembered yes, and which one is not known"
	GapHidden = "part of it is hidden, and who tries policies on it could find out what"
)

// asked reports whether a person was asked.
func (c Came) asked() bool { return c.Effect == sayso.Ask }

// refused reports whether the call was denied, by whom ever: a deadline that
// leads to a denial is one by policy.
func (c Came) refused() bool {
	return c.Effect == sayso.Deny || c.Answer == sayso.Deny.String() || c.By == string(sayso.SourceDeadline)
}

// RecordedOf is the call of a request as it stands in the log. Covers says what
// a remembered yes covers; empty if it is not known.
func RecordedOf(r *sayso.Request, covers func(sayso.ID) sayso.Cover) Recorded {
	out := Recorded{
		ID: r.ID, At: r.CreatedAt, Session: r.SessionID, Host: r.Host, Tool: r.Tool, Server: r.Server, Danger: r.Danger, Text: shownText(r), Mode: r.Life.Mode, Came: cameOf(r),
	}
	if r.Decision != nil && r.Decision.Mode != "" {
		out.Mode = r.Decision.Mode // decided when it was asked for again, in the mode of then
	}
	if r.Decision != nil && r.Decision.Source == sayso.SourceGrant {
		out.Cover = covers(r.Decision.Grant)
	}
	asked, err := r.Asked()
	switch {
	case r.Decision != nil && r.Decision.Rule == sayso.RuleLimit && err != nil:
		out.Gap = GapLimit
	case errors.Is(err, sayso.ErrNotFound):
		out.Gap = GapErased
	case err != nil:
		out.Gap = GapOlder
	case asked.Besides == nil:
		out.Gap = GapOlder
	case out.Came.By == string(sayso.SourceGrant) && out.Cover == "":
		out.Gap = GapGrant
	default:
		out.Call, out.Facts, out.Besides, out.Payload, out.Ignores = asked.Call, asked.Facts, *asked.Besides, asked.Payload, r.Ignores
	}
	return out
}

func cameOf(r *sayso.Request) Came {
	c := Came{Effect: sayso.Ask, By: string(r.State), Rule: r.Rule, File: r.File, Line: r.Line}
	d := r.Decision
	switch {
	case r.State.Open():
		c.By = string(sayso.StateOpen)
	case d == nil:
	case d.Source == sayso.SourcePerson:
		c.By, c.Answer = string(d.Source), d.Effect.String()
	case d.Source == sayso.SourceDeadline:
		c.By = string(d.Source)
	case d.Source != "":
		c.Effect, c.By = d.Effect, string(d.Source)
	}
	return c
}

// maxText is how much is shown of a call in a list.
const maxText = 200

// shownText is what a call is about, for people: what rules match on, or all that
// is shown of it.
func shownText(r *sayso.Request) string {
	text := string(r.Preview)
	for _, key := range [...]string{"command", "path", "file_path", "url", "query", "prompt"} {
		if value, state := member(r.Preview, key); state == argGiven {
			text = value
			break
		}
	}
	if short := []rune(text); len(short) > maxText {
		text = string(short[:maxText]) + "…"
	}
	return text
}

// again is what the call would have come to under a policy, all else as it was:
// the tool, the session, the lock, the remembered yes and the mode.
func (p *Policy) again(c *Recorded) (came Came, v sayso.Verdict, gap string) {
	if c.Gap != "" {
		return Came{}, v, c.Gap
	}
	v, ok := p.lookBack(&c.Call, c.Facts)
	if !ok {
		return Came{}, v, GapFacts
	}
	settled := c.Besides.Settle(v)
	came = Came{Effect: settled.Effect, By: string(sayso.SourcePolicy), Rule: settled.Rule, File: settled.File, Line: settled.Line}
	if settled.Effect != sayso.Ask {
		return came, v, ""
	}
	if c.Came.By == string(sayso.SourceGrant) && c.remembered(settled.Reach, v.Danger) {
		came.Effect, came.By = sayso.Allow, string(sayso.SourceGrant)
		return came, v, ""
	}
	if came.Effect = c.Mode.Apply(settled.Match); came.Effect != sayso.Ask {
		came.By = string(sayso.SourceMode)
	} else {
		came.By = string(sayso.SourcePerson)
	}
	return came, v, ""
}

// remembered reports whether the remembered yes that answered the call would
// answer it again, by the rules that hold for a call that is made.
func (c *Recorded) remembered(reach sayso.Remember, danger []sayso.Danger) bool {
	digest, err := c.Call.Digest()
	if err != nil {
		return false
	}
	s := &cover.Subject{Call: c.Call, Facts: c.Facts, Digest: digest, Payload: c.Payload, Ignores: c.Ignores, Danger: danger}
	return slices.ContainsFunc(cover.Covering(s, reach), func(w cover.Way) bool { return w.Offer.Cover == c.Cover })
}
