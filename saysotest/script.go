package saysotest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// script is what the person answers.
type script struct {
	mu    sync.Mutex
	lines []line
}

// line is one line of a script. Without an answer the call is left open.
type line struct {
	tool, argument string
	answer         func(sayso.Request) sayso.Answer
}

func (s *script) add(pattern string, answer func(sayso.Request) sayso.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tool, argument, ok := strings.Cut(pattern, ":")
	if !ok {
		argument = "*"
	}
	s.lines = append(s.lines, line{tool, argument, answer})
}

// find returns the last line that matches a request.
func (s *script) find(r *sayso.Request) (l line, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range slices.Backward(s.lines) {
		if l.matches(r) {
			return l, true
		}
	}
	return line{}, false
}

func (l line) matches(r *sayso.Request) bool {
	named := fits(l.tool, r.Tool) || fits(l.tool, r.HostTool)
	if r.Server != "" {
		named = l.tool == "*" || fits(l.tool, r.Server+"/"+r.Tool)
	}
	return named && (l.argument == "*" || fits(l.argument, primary(r)))
}

// primary is the argument of a request that matters most, as the person sees
// it; the arguments as a whole for a tool that has none.
func primary(r *sayso.Request) string {
	known := sayso.Call{Tool: r.HostTool, Host: r.Host, Server: r.Server}.Known()
	var args map[string]any
	if err := jcs.Unmarshal(r.Preview, &args); err == nil {
		if s, ok := args[known.Primary].(string); ok {
			return s
		}
	}
	return string(r.Preview)
}

// fits reports whether text is like pattern, in which stars match any
// characters.
func fits(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, head)
	if !ok {
		return false
	}
	for {
		if fits(rest, text) {
			return true
		}
		if text == "" {
			return false
		}
		text = text[1:]
	}
}

// say is a line that always says the same.
func say(a sayso.Answer) func(sayso.Request) sayso.Answer {
	return func(sayso.Request) sayso.Answer { return a }
}

// person answers requests as they open, by the script, until ctx ends.
func (b *Broker) person(ctx context.Context, opened <-chan sayso.ID) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-opened:
			if err := b.reply(ctx, id); err != nil && ctx.Err() == nil {
				b.t.Errorf("saysotest: answering %s: %v", id.Short(), err)
			}
		}
	}
}

// reply answers one request, unless somebody else was faster.
func (b *Broker) reply(ctx context.Context, id sayso.ID) error {
	r, err := b.Inbox().Request(ctx, string(id))
	if err != nil {
		return err
	}
	l, ok := b.script.find(&r)
	if !ok {
		l.answer = say(sayso.Answer{Note: fmt.Sprintf(
			"saysotest: no line of the script speaks of this call; b.Approve(%q) would allow it", r.Tool+":"+primary(&r))})
	}
	if l.answer == nil {
		return nil
	}
	a := l.answer(r)
	if a.Digest.IsZero() {
		a.Digest = r.Digest
	}
	if a.Content.IsZero() {
		a.Content = r.Content
	}
	_, err = b.Inbox().Answer(ctx, id, a)
	if errors.Is(err, sayso.ErrDecided) || errors.Is(err, sayso.ErrExpired) || errors.Is(err, sayso.ErrWithdrawn) {
		return nil
	}
	return err
}

// AskAlways is a policy that asks about every call and gives people an hour.
type AskAlways struct{}

// Judge implements sayso.Policy.
func (AskAlways) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	return verdict(sayso.Ask, c)
}

// Version implements sayso.Policy.
func (AskAlways) Version() string { return "ask always" }

// verdict is a verdict of one rule.
func verdict(e sayso.Effect, c sayso.Call) sayso.Verdict {
	m := sayso.Match{Effect: e, Cause: sayso.CauseRule, Rule: "for tests", File: "saysotest", Line: 1}
	return sayso.Verdict{
		Match: m, Matches: []sayso.Match{m}, Default: m, Risk: c.EffectiveKind().Risk(), Deadline: sayso.Deadline{After: time.Hour},
	}
}
