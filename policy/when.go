package policy

import (
	"context"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/policy/internal/condition"
)

// applyCondition is what an entry says once its condition was looked at; ok is
// false if the condition does not hold. One that cannot be evaluated makes a
// deny deny and anything else ask.
func (e *entry) applyCondition(s *subject, m sayso.Match) (sayso.Match, bool) {
	if e.when == nil {
		return m, true
	}
	holds, err := s.conditionHolds(e.when, m.Effect == sayso.Allow)
	switch {
	case err == nil:
		return m, holds
	case m.Effect == sayso.Deny:
		m.Reason = "its condition cannot be evaluated (" + err.Error() + "), and a deny that fails denies: " + m.Reason
	default:
		m.Effect, m.Cause, m.Person = sayso.Ask, sayso.CauseNotUnderstood, true
		m.Reason = "its condition cannot be evaluated (" + err.Error() + "), and a rule that fails asks"
	}
	return m, true
}

// conditionResult is what became of a condition.
type conditionResult struct {
	surely, perhaps bool // they differ for globs only
	err             error
}

// conditionHolds evaluates a condition, once for each call. What it says of a glob is
// what is stricter: an allow needs that it holds whatever the glob stands for,
// for anything else it is enough that it may hold.
func (s *subject) conditionHolds(c *condition.Condition, surely bool) (bool, error) {
	a, ok := s.conditions[c]
	if !ok {
		if s.conditions == nil {
			s.conditions = make(map[*condition.Condition]conditionResult)
		}
		a = s.evaluate(c)
		s.conditions[c] = a
	}
	return surely && a.surely || !surely && a.perhaps, a.err
}

func (s *subject) evaluate(c *condition.Condition) conditionResult {
	holds, err := c.Holds(context.Background(), s.input())
	a := conditionResult{holds, holds, err}
	if err != nil || s.operand != sayso.OperandCommand || s.arg == "" || len(c.Texts()) == 0 {
		return a
	}
	if s.eachGuess(c.Texts(), func(guess *condition.Call) bool {
		in := *s.input()
		in.Call = func() *condition.Call { return guess }
		holds, a.err = c.Holds(context.Background(), &in)
		a.surely, a.perhaps = a.surely && holds, a.perhaps || holds
		return a.err == nil && a.surely == a.perhaps
	}) {
		return a
	}
	return conditionResult{perhaps: true}
}

// input is what conditions see of the call.
func (s *subject) input() *condition.Input {
	if s.seen == nil { // a condition asks for the call at each place where it names it
		s.seen = &condition.Input{
			Call: sync.OnceValue(s.conditionCall), Args: sync.OnceValue(s.conditionArgs), Facts: sync.OnceValue(s.conditionFacts),
		}
	}
	return s.seen
}

func (s *subject) conditionArgs() map[string]any {
	args := make(map[string]any)
	if len(s.call.Args) > 0 && (s.state == argsBad || jcs.Unmarshal(s.call.Args, &args) != nil) {
		return nil
	}
	return args
}

func (s *subject) conditionCall() *condition.Call {
	c := &condition.Call{
		Tool: s.canonical, HostTool: s.call.Tool, Host: s.call.Host, Server: s.server, Kind: string(s.claimed()),
		Cwd: s.cwd(), Session: s.call.Session, Run: s.call.Run, Caller: s.call.Caller, Tags: s.call.Tags,
	}
	said := worst(s.call.Annotations)
	c.Annotations = condition.Annotations{
		ReadOnly: said["read_only"], Destructive: said["destructive"], Idempotent: said["idempotent"], OpenWorld: said["open_world"],
	}
	if s.arg == "" {
		c.Secrets = s.operand == sayso.OperandPath && s.showsSecrets()
		return c
	}
	switch s.operand {
	case sayso.OperandCommand:
		c.Command, c.Commands, c.Understood = s.arg, s.conditionCommands(), len(s.line().Problems) == 0
		c.Secrets = slices.ContainsFunc(c.Commands, func(c condition.Command) bool { return c.Secrets }) || s.secretStreams()
	case sayso.OperandPath:
		c.Path, c.Secrets = s.arg, s.credential() || s.showsSecrets()
		if o, ok := s.facts.Operand(s.tool.Primary); ok {
			c.Resolved = o.Resolved
		}
	case sayso.OperandURL:
		u := s.address()
		c.URL = condition.URL{Scheme: u.Scheme, Host: u.Host, Port: u.Port, Path: u.Path, Query: u.Query, Local: u.Local, Plain: u.Odd == "" && !u.Escaped}
	}
	return c
}

// cwd is the directory of the call: as it says, or as the enforcement point
// found it.
func (s *subject) cwd() string {
	if s.call.Cwd != "" {
		return s.call.Cwd
	}
	return s.facts.Cwd
}

// conditionCommands are the commands of the line, each once for every folder
// that it may run in.
func (s *subject) conditionCommands() []condition.Command {
	l := s.line()
	var out []condition.Command
	for i := range l.Commands {
		c := &l.Commands[i]
		described, secret := conditionCommand(l, c), s.secrets(i)
		for _, dir := range c.Dirs {
			one := described
			one.Outside, one.Secrets = s.outside(c, dir), secret
			if !dir.Unknown {
				one.Dir = enter(s.cwd(), dir.Steps)
			}
			out = append(out, one)
		}
	}
	return out
}

func conditionCommand(l *shell.Line, c *shell.Command) condition.Command {
	out := condition.Command{
		Program: c.Base(), Word: c.Program.Text, Class: string(c.Class), Wrapped: c.By >= 0,
		Dynamic: !c.Program.Literal() || c.Open, Text: l.Text[c.Span.From:c.Span.To],
	}
	out.Args = slices.Grow(out.Args, len(c.Args))
	for _, w := range c.Args {
		out.Args = append(out.Args, w.Text)
		out.Dynamic = out.Dynamic || w.Unknown()
	}
	operands := c.Operands()
	out.Operands = slices.Grow(out.Operands, len(operands))
	for _, w := range operands {
		out.Operands = append(out.Operands, w.Text)
	}
	for _, t := range c.Traits {
		out.Traits = append(out.Traits, string(t.Kind))
	}
	return out
}

func (s *subject) conditionFacts() *condition.Facts {
	f := &condition.Facts{Workspace: s.facts.Workspace, Cwd: s.facts.Cwd, Truncated: s.facts.Truncated}
	if s.operand == sayso.OperandPath {
		f.Inside = s.inside()
		if o, ok := s.facts.Operand(s.tool.Primary); ok {
			f.State = string(o.State)
		}
	}
	return f
}
