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
	for _, c := range s.guessedCalls() {
		f := *s.facts
		f.Operands = nil // they are about the call as it was read here
		if c.Cwd == "" {
			c.Cwd = f.Cwd
		}
		var t subject
		t.of(&c, &f, p.home)
		m, denied := t.final()
		if !denied {
			m, denied = p.denies(&t)
		}
		if denied {
			m.Span = [2]int{}
			out = append(out, m)
		}
	}
	return out
}

// denies returns the first denial of the rules.
func (p *Policy) denies(s *subject) (sayso.Match, bool) {
	spoken, _ := p.said(s)
	for _, h := range spoken {
		if h.m.Effect == sayso.Deny {
			return h.m, true
		}
	}
	return sayso.Match{}, false
}

// guessedCalls are the calls that this one may be: of a tool that nobody knows,
// those of the tools that are called alike; of one whose argument cannot be read
// for certain, those with what may be meant by it.
func (s *subject) guessedCalls() []sayso.Call {
	var out []sayso.Call
	if s.unheard && !s.strange {
		for _, t := range meant(s.call.Tool) {
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
