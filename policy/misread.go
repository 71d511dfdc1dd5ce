package policy

import (
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// misread returns the denials of what a program could take a call for that
// cannot be read for certain. Whatever it takes it for, a deny that speaks of
// that holds; that the call is not understood is asked about all the same.
func (p *Policy) misread(s *subject) []sayso.Match {
	var out []sayso.Match
	for _, o := range p.doubts(s) {
		o.m.Span = [2]int{}
		out = append(out, o.m)
	}
	return out
}

// denial is what is said against a call, or against one that it may be.
type denial struct {
	matched
	s *subject
}

// doubts are the denials of what a call could be taken for, the first of each.
func (p *Policy) doubts(s *subject) []denial {
	var out []denial
	for _, c := range s.guessedCalls() {
		f := *s.facts
		f.Operands = nil // they are about the call as it was read here
		if c.Cwd == "" {
			c.Cwd = f.Cwd
		}
		t := new(subject)
		t.of(&c, &f, p.home)
		if m, denied := t.final(); denied {
			out = append(out, denial{matched{m: m}, t})
		} else if h, denied := p.denies(t); denied {
			out = append(out, denial{h, t})
		}
	}
	return out
}

// denies returns the first denial of the rules.
func (p *Policy) denies(s *subject) (matched, bool) {
	spoken, _ := p.said(s)
	for _, h := range spoken {
		if h.m.Effect == sayso.Deny {
			return h, true
		}
	}
	return matched{}, false
}

// guessedCalls are the calls that this one may be: of a tool that nobody knows,
// those of the tools that are called alike; of one whose argument cannot be read
// for certain, those with what may be meant by it.
func (s *subject) guessedCalls() []sayso.Call {
	var out []sayso.Call
	if s.unheard && !s.strange {
		for _, t := range toolsMeant(s.call.Tool) {
			c := *s.call
			c.Host, c.Tool = t.host, t.called
			out = append(out, c)
		}
	}
	if s.state != argBad {
		return out
	}
	for _, text := range s.candidates() {
		args, err := jcs.Marshal(map[string]string{s.tool.Primary: text})
		if err != nil {
			continue // no text
		}
		c := *s.call
		c.Args = args
		out = append(out, c)
	}
	return out
}

// candidates are the texts that a program could take for the argument: the
// values under its name in whatever case, and a list of words as a line.
func (s *subject) candidates() []string {
	args := []byte(s.call.Args)
	if !isObject(args) {
		return nil
	}
	var out []string
	for name, value := range members(args) {
		if !isKey(name, s.tool.Primary) && !foldsTo(name, s.tool.Primary) {
			continue
		}
		if one, state := text(value); state == argGiven {
			out = append(out, one)
			continue
		}
		var words []string
		if jcs.Unmarshal(value, &words) == nil && len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}
