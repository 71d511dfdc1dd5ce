package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// answeredMsg is what became of answers.
type answeredMsg struct {
	answer  sayso.Answer
	results []sayso.MemberResult
}

// send gives an answer to the request that is looked at.
func (m *model) send(a sayso.Answer) tea.Cmd {
	r := m.look.request
	m.panel = nil
	return m.sendAll([]sayso.Member{{ID: r.ID, Digest: r.Digest, Content: r.Content}}, "", a)
}

// sendAll gives one answer to each of the members, and to no other.
func (m *model) sendAll(members []sayso.Member, group string, a sayso.Answer) tea.Cmd {
	if m.link != live {
		m.told = "Not connected: no answer can be given now."
		return nil
	}
	m.told = "Sending…"
	in, ctx := m.door.Inbox, m.ctx
	beat := m.guard.changed(m.now)
	return tea.Batch(beat, func() tea.Msg { return answeredMsg{a, answerAll(ctx, in, members, group, a)} })
}

// patience is how long one answer may take. After it nobody knows what became of
// the answer, until the log says it.
const patience = 30 * time.Second

func answerAll(ctx context.Context, in sayso.Inbox, members []sayso.Member, group string, a sayso.Answer) []sayso.MemberResult {
	if group != "" && len(members) > 1 && len(members) <= sayso.MaxGroup {
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		results, err := in.AnswerGroup(ctx, group, members, a)
		if err == nil {
			return results
		}
		for _, member := range members {
			results = append(results, sayso.MemberResult{ID: member.ID, Err: err})
		}
		return results
	}
	results := make([]sayso.MemberResult, 0, len(members))
	for _, member := range members {
		results = append(results, answerOne(ctx, in, member, a))
	}
	return results
}

func answerOne(ctx context.Context, in sayso.Inbox, member sayso.Member, a sayso.Answer) sayso.MemberResult {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	a.Digest, a.Content = member.Digest, member.Content
	d, err := in.Answer(ctx, member.ID, a)
	return sayso.MemberResult{ID: member.ID, Decision: d, Err: err}
}

// answered tells what became of answers, and marks what ended.
func (m *model) answered(msg answeredMsg) tea.Cmd {
	stands, again, told, wrong := 0, false, "", ""
	for _, r := range msg.results {
		line, ended := became(r, msg.answer)
		if told = line; r.Err == nil {
			stands++
		} else if wrong == "" {
			wrong = " " + line
		}
		delete(m.marked, r.ID)
		if i := m.items.byID[r.ID]; i != nil && ended.State != "" {
			i.close(ended)
		}
		again = again || errors.Is(r.Err, sayso.ErrMismatch) || errors.Is(r.Err, sayso.ErrNotAllowed)
	}
	if n := len(msg.results); n > 1 {
		told = fmt.Sprintf("%d of %d answers are recorded.%s", stands, n, wrong)
	}
	m.items.sweep(m.cursor)
	m.sort()
	m.told = told
	if again {
		return m.read(m.cursor)
	}
	return m.guard.changed(m.now)
}

// became says what became of one answer, and how the request ended if it did.
func became(r sayso.MemberResult, a sayso.Answer) (told string, ended sayso.Decision) {
	var decided *sayso.DecidedError
	short := r.ID.Short()
	switch {
	case errors.As(r.Err, &decided):
		return words.TooLate(sayso.Request{ID: r.ID, ShortID: short}, decided.Decision), decided.Decision
	case errors.Is(r.Err, sayso.ErrExpired):
		d := sayso.Decision{Request: r.ID, State: sayso.StateExpired}
		return "too late: " + words.Standing(d), d
	case errors.Is(r.Err, sayso.ErrWithdrawn):
		d := sayso.Decision{Request: r.ID, State: sayso.StateWithdrawn}
		return "too late: " + words.Standing(d), d
	case errors.Is(r.Err, sayso.ErrUnavailable), errors.Is(r.Err, context.DeadlineExceeded):
		return "No word came back. Whether the answer to " + short + " arrived shows when the connection is back; nothing is sent again by itself.", ended
	case r.Err != nil:
		return "Not answered: " + words.Safe(r.Err.Error()), ended
	case r.Decision.State.Open():
		return "Your yes to " + short + " is recorded. It takes more people.", ended
	}
	told = words.Standing(r.Decision)
	switch {
	case r.Decision.State != sayso.StateAllowed:
	case a.Args != nil:
		told += ", with your changes"
	case a.Scope == sayso.ScopeSession:
		told += ", and remembered"
	}
	return told, r.Decision
}
