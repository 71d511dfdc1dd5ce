package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// maxListedCalls is how many of the newest calls a list of sessions is made from.
const maxListedCalls = 10_000

// Sessions implements sayso.Inbox.
func (in inbox) Sessions(ctx context.Context, since time.Time) ([]sayso.SessionInfo, error) {
	if !in.actor.Kind.Looks() {
		return nil, fmt.Errorf("sessions: %w", sayso.ErrNotAllowed)
	}
	rows, err := in.b.log.Rows(ctx, sayso.RowQuery{Since: since, Limit: maxListedCalls})
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	vis := visibility{in: in}
	list, at := []sayso.SessionInfo{}, map[string]int{}
	for i := range rows {
		row := &rows[i]
		if see, err := vis.seesSession(ctx, row.Session); err != nil {
			return nil, err
		} else if !see {
			continue
		}
		n, known := at[row.Session]
		if !known {
			info, staged, err := in.sessionInfo(ctx, row)
			if err != nil {
				return nil, err
			}
			if staged {
				continue
			}
			n, list = len(list), append(list, info)
			at[row.Session] = n
		}
		list[n].Calls++
		if row.Asked {
			list[n].Asked++
		}
		if row.State.Open() {
			list[n].Open++
		}
	}
	return list, nil
}

// sessionInfo is a session without its counts, as its newest call has it. One that
// cannot be read takes no other session from the list. staged says that the call is
// none of an agent at work.
func (in inbox) sessionInfo(ctx context.Context, newest *sayso.Row) (info sayso.SessionInfo, staged bool, err error) {
	s, err := in.b.session(ctx, newest.Session)
	if err != nil {
		return info, false, err
	}
	info = sayso.SessionInfo{
		ID: newest.Session, Host: newest.Host, Owner: s.Owner, Approvers: append([]string{}, s.Approvers...), LastAt: newest.ID.Time().UTC(), Ended: s.Ended,
	}
	switch r, err := in.b.load(ctx, newest.ID); {
	case ctx.Err() != nil:
		return info, false, ctx.Err()
	case err != nil:
		info.Unread = err.Error()
	default:
		staged = r.Staged()
		info.Caller, info.Cwd, info.LastAt = r.Caller, r.Cwd, r.CreatedAt
	}
	if s.Started {
		info.BegunAt = new(s.Begun.UTC())
	}
	return info, staged, nil
}
