package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// AnswerGroup implements sayso.Inbox.
func (in inbox) AnswerGroup(ctx context.Context, group string, members []sayso.Member, a sayso.Answer) ([]sayso.MemberResult, error) {
	if group == "" || len(members) == 0 || len(a.Args) > 0 {
		return nil, fmt.Errorf("%w: a group answer names its group and its members, and edits nothing", sayso.ErrInvalid)
	}
	if err := validateMembers(members, a); err != nil {
		return nil, err
	}
	vis := visibility{in: in}
	results := make([]sayso.MemberResult, 0, len(members))
	for _, m := range members {
		one := a
		one.Digest, one.Content = m.Digest, m.Content
		d, err := vis.answerMember(ctx, group, m.ID, one)
		results = append(results, sayso.MemberResult{ID: m.ID, Decision: d, Err: err})
	}
	return results, nil
}

// validateMembers refuses what is wrong with an answer to a group as a whole, before
// any of its members is answered.
func validateMembers(members []sayso.Member, a sayso.Answer) error {
	if len(members) > sayso.MaxGroup {
		return fmt.Errorf("%w: a group answer may have %d members, this one has %d", sayso.ErrInvalid, sayso.MaxGroup, len(members))
	}
	seen := make(map[sayso.ID]bool, len(members))
	for _, m := range members {
		if seen[m.ID] {
			return fmt.Errorf("%w: %s is listed twice", sayso.ErrInvalid, m.ID.Short())
		}
		seen[m.ID] = true
	}
	return validateAnswer(&a)
}

// answerMember answers one member of a group. Who may not see a request is told
// what one that does not exist is told of; that they tried is on the record.
func (s *visibility) answerMember(ctx context.Context, group string, id sayso.ID, a sayso.Answer) (sayso.Decision, error) {
	r, err := s.in.b.load(ctx, id)
	see := false
	if err == nil {
		see, err = s.seesRequest(ctx, r.SessionID, r.Life.Asker.Principal)
	}
	switch {
	case err != nil && !errors.Is(err, sayso.ErrNotFound):
		return sayso.Decision{}, err
	case !see:
		if r.ID != "" && r.GroupID == group {
			_, _ = s.in.Answer(ctx, id, a) // which is refused
		}
		return sayso.Decision{}, fmt.Errorf("request %s: %w", id.Short(), sayso.ErrNotFound)
	case r.GroupID != group:
		return sayso.Decision{}, fmt.Errorf("%w: %s is not of this group", sayso.ErrInvalid, id.Short())
	}
	return s.in.Answer(ctx, id, a)
}
