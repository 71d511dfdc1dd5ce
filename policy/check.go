package policy

import (
	"context"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// checked is the answer to one line.
type checked struct {
	Effect sayso.Effect   `json:"effect"`
	Cause  sayso.Cause    `json:"cause"`
	Rule   string         `json:"rule"`
	File   string         `json:"file"`
	Line   int            `json:"line"`
	Span   [2]int         `json:"span"`
	Reason string         `json:"reason"`
	Risk   sayso.Risk     `json:"risk"`
	Danger []sayso.Danger `json:"danger"`
}

// refused is the answer to a line that is no call.
type refused struct {
	Effect sayso.Effect `json:"effect"`
	Error  string       `json:"error"`
}

// Check answers one line of calls, as in sayso policy check: a call as JSON in,
// what the policy says as JSON out. A line that is no valid call is denied, and
// ok is false. Modes and grants play no part. The facts about a call come from
// gather.
func Check(ctx context.Context, p sayso.Policy, gather func(context.Context, sayso.Call) sayso.Facts, line []byte) (answer []byte, ok bool) {
	c, err := sayso.ParseCall(line)
	if err == nil {
		_, err = c.Digest()
	}
	if err != nil {
		return encode(refused{Error: err.Error()}), false
	}
	v := p.Judge(ctx, c, gather(ctx, c))
	out := checked{v.Effect, v.Cause, v.Rule, v.File, v.Line, v.Span, v.Reason, v.Risk, v.Danger}
	if out.Danger == nil {
		out.Danger = []sayso.Danger{}
	}
	return encode(out), true
}

func encode(v any) []byte {
	text, err := jcs.Marshal(v)
	if err != nil { // a text that is not UTF-8
		return []byte(`{"effect":"deny","error":"the answer cannot be written as JSON"}`)
	}
	return text
}
