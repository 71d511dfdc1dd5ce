package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

// approveGroup shows every open request of a group and records one answer to
// each that was shown. Who comes to the group meanwhile is not in it.
func (a *app) approveGroup(ctx context.Context, group string, typed []string, o approval) error {
	if o.edit != "" || o.digest != "" {
		return usage(fmt.Errorf("%w: a group has neither one digest nor one edit", sayso.ErrInvalid), "sayso approve --group GROUP --yes ID=DIGEST ID=DIGEST")
	}
	if err := a.refuseAgentAtAll(ctx, ""); err != nil {
		return err
	}
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		open, err := in.Requests(ctx, sayso.RowQuery{Group: group, States: sayso.OpenStates(), Oldest: true})
		if err != nil {
			return err
		}
		if len(open) == 0 {
			return hint(fmt.Errorf("%w: nothing of group %s waits", sayso.ErrNotFound, safe(group)), "sayso inbox")
		}
		members, err := a.groupSeen(ctx, in, group, open, typed, o)
		if err != nil {
			return err
		}
		answer := sayso.Answer{
			Effect: sayso.Allow, Scope: sayso.Scope(o.scope), Cover: sayso.Cover(o.cover), For: o.lasts, Uses: o.uses, Note: o.note,
		}
		results, err := in.AnswerGroup(ctx, group, members, answer)
		if err != nil {
			return err
		}
		return a.groupResults(results)
	})
}

// groupSeen are the requests that the person saw: all of those that were drawn
// now, if they say so, or those that they name with their digests.
func (a *app) groupSeen(ctx context.Context, in sayso.Inbox, group string, open []sayso.Request, typed []string, o approval) ([]sayso.Member, error) {
	_, tty := a.terminal()
	if o.yes || len(typed) > 0 {
		return typedMembers(open, group, typed, o.yes)
	}
	if !tty {
		return nil, hint(errNoTerminal, "sayso inbox --json, then sayso approve --group %s --yes ID=DIGEST ID=DIGEST", safe(group))
	}
	var members []sayso.Member
	var danger []sayso.Danger
	for _, r := range open {
		s, err := look(ctx, in, string(r.ID))
		if err != nil {
			return nil, err
		}
		if !s.Request.State.Open() {
			continue
		}
		a.draw(a.err, s, 0)
		danger = append(danger, s.Request.Danger...)
		members = append(members, sayso.Member{ID: s.Request.ID, Digest: s.Request.Digest, Content: s.Request.Content})
	}
	question := fmt.Sprintf("allow these %s of group %s?", words.Counted(len(members), "request"), safe(group))
	ok, err := a.confirmGroup(ctx, question, len(members), danger)
	if err == nil && !ok {
		a.note("not answered; they still wait")
		return nil, no{}
	}
	return members, err
}

// confirmGroup asks for a yes. Where one of them is dangerous, how many there are
// has to be typed.
func (a *app) confirmGroup(ctx context.Context, question string, n int, danger []sayso.Danger) (bool, error) {
	if len(danger) == 0 {
		return a.confirm(ctx, question)
	}
	typed, err := a.line(ctx, fmt.Sprintf("%s %s. Type how many they are to go on:", question, strings.Join(unique(present.Dangers(danger)), ", ")))
	return typed == fmt.Sprint(n), err
}

func unique(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// typedMembers finds the members that were typed as ID=DIGEST among the open requests
// of a group.
func typedMembers(open []sayso.Request, group string, typed []string, yes bool) ([]sayso.Member, error) {
	if !yes || len(typed) == 0 {
		return nil, hint(fmt.Errorf("%w: without being asked, each member is named with its digest, and --yes", sayso.ErrInvalid),
			"sayso approve --group %s --yes ID=DIGEST ID=DIGEST", safe(group))
	}
	var members []sayso.Member
	for _, t := range typed {
		id, digest, _ := strings.Cut(t, "=")
		r, err := among(open, typedID(id))
		if err == nil {
			err = named(r.Digest, digest)
		}
		if err != nil {
			return nil, hint(err, "sayso show %s", safe(id))
		}
		members = append(members, sayso.Member{ID: r.ID, Digest: r.Digest, Content: r.Content})
	}
	return members, nil
}

// among finds the one request that was typed.
func among(open []sayso.Request, typed string) (sayso.Request, error) {
	return only(open, typed, func(r sayso.Request) sayso.ID { return r.ID }, "nothing that waits in this group is", "requests")
}

// groupResult is what became of one member, as JSON.
type groupResult struct {
	ID       sayso.ID        `json:"id"`
	Decision *sayso.Decision `json:"decision,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// groupResults prints what became of each member. The exit code is 0 if all were
// recorded, 1 if another decision stands for one, 2 if one failed otherwise.
func (a *app) groupResults(results []sayso.MemberResult) error {
	var failed, late error
	out := make([]groupResult, 0, len(results))
	for _, r := range results {
		one := groupResult{ID: r.ID, Decision: r.Decision.Public()}
		var decided *sayso.DecidedError
		switch {
		case r.Err == nil:
		case errors.As(r.Err, &decided):
			one.Decision, late = decided.Decision.Public(), no{}
		case errors.Is(r.Err, sayso.ErrExpired), errors.Is(r.Err, sayso.ErrWithdrawn):
			one.Decision, late = nil, no{}
		default:
			one.Decision, failed = nil, errors.Join(failed, fmt.Errorf("%s: %w", r.ID.Short(), r.Err))
		}
		if r.Err != nil {
			one.Error = r.Err.Error()
		}
		out = append(out, one)
		if !a.json {
			a.print("%s", memberLine(r, decided))
		}
	}
	if a.json {
		if err := a.printJSON(out); err != nil {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	return late
}

// memberLine is what became of one member, in words.
func memberLine(r sayso.MemberResult, decided *sayso.DecidedError) string {
	switch {
	case decided != nil:
		return words.TooLate(sayso.Request{ID: r.ID, ShortID: r.ID.Short()}, decided.Decision)
	case r.Err != nil:
		return r.ID.Short() + " was not answered: " + safe(r.Err.Error())
	}
	return words.Standing(r.Decision)
}
