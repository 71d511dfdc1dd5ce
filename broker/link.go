package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

const (
	// linkWindow is how long ago a call may have been allowed at an earlier point to
	// be the one that comes to a later one now.
	linkWindow = 2 * time.Minute
	// maxLinkCandidates is how many of the newest requests are looked at for it.
	maxLinkCandidates = 256
)

// applyLink lets an answer of people count for the same call at a later point: a
// hook of the host asked them, and a moment later the call comes to the gateway,
// or the host asks whoever drives it, under the host's own id for the call. What the
// later point denies stays denied, and each answer counts once. Rules do not count: they
// hold here too, where more is known of the tool, and what they ask about here nobody
// was asked.
//
// A host's own hook may be asked twice about one call too: before the tool, and then,
// without an id, in the place of the host's prompt. See [waiter.isSecondPrompt]. And an agent that
// asked for permission may have its editor do the call. See [waiter.isClientMethod].
func (w *waiter) applyLink(ctx context.Context, j *judgment) error {
	c := &w.a.Call
	if j.Effect != sayso.Ask || c.CallID == "" && !w.isSecondPrompt() || c.Host == "" || c.Host == sayso.HostMCP && c.Server == "" || c.Unlisted() || j.besides.Locked {
		return nil
	}
	ids, err := w.linkCandidates(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := w.b.load(ctx, id)
		if err != nil {
			return err
		}
		same, err := w.isLinkable(ctx, &r)
		if same && err == nil {
			same, err = w.linkAnswers(ctx, &r, j)
		}
		if err != nil {
			return err
		}
		if !same {
			continue
		}
		j.linked, j.source = &r, r.Decision.Source
		j.Effect, j.Reason = sayso.Allow, "allowed a moment ago as "+r.ID.Short()+", where the host asked"
		return nil
	}
	return nil
}

// secondPromptHost is the host whose hook is always told an id before a tool, so that a
// call without one is the second question about it, in the place of its prompt.
// Other hooks may be told none at all, and then it is another call.
const secondPromptHost = "codex"

// isSecondPrompt reports whether the call may be one that the same hook of the same host was
// asked about before.
func (w *waiter) isSecondPrompt() bool {
	c := &w.a.Call
	return c.CallID == "" && c.Host == secondPromptHost && w.actor.Principal == secondPromptHost
}

// linkCandidates are the requests that may be this call at an earlier point, the newest first.
func (w *waiter) linkCandidates(ctx context.Context) (ids []sayso.ID, err error) {
	c := &w.a.Call
	if !w.isSecondPrompt() && !w.isClientMethod() {
		return w.b.linkIndex.requestsForCall(ctx, w.b.log, w.actor.Principal, c.CallID)
	}
	query := sayso.RowQuery{Session: c.Session, Limit: maxLinkCandidates}
	if w.isClientMethod() {
		query.Limit = maxClientCandidates
	}
	rows, err := w.b.log.Rows(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("looking for the call at an earlier point: %w", err)
	}
	for i := range rows {
		if row := &rows[i]; row.State == sayso.StateAllowed && row.CallID != "" && row.Asker == w.actor.Principal && (!w.isClientMethod() || row.Kind == clientMethodKind[c.Tool]) {
			ids = append(ids, row.ID)
		}
	}
	return ids, nil
}

// isLinkable reports whether a request is the same call at an earlier point, allowed
// a moment ago by people who answer for this requester too, and not linked yet.
func (w *waiter) isLinkable(ctx context.Context, r *sayso.Request) (bool, error) {
	d := r.Decision
	if d == nil || !d.Allowed() || d.Source == sayso.SourcePolicy && !w.isClientMethod() || !r.Life.Redeemed {
		return false, nil
	}
	now, recorded, err := w.b.clock(ctx)
	if err != nil {
		return false, err
	}
	if ago, doubtful := sayso.Elapsed(sayso.Moment{Wall: d.At}, now, recorded); doubtful || ago > linkWindow {
		return false, nil
	}
	s, err := w.b.session(ctx, r.SessionID)
	if err != nil || s.Owner != w.actor.Owner {
		return false, err
	}
	asked, err := r.Asked()
	if err != nil {
		return false, nil // it was erased
	}
	if w.isSecondPrompt() && (r.Life.Finished || asked.Call.Run != w.a.Call.Run || !asked.Facts.Equal(w.a.Facts)) {
		return false, nil // only its arguments say which call it is, so all else must fit
	}
	if w.isClientMethod() && (r.Life.Finished || len(d.Args) > 0 || asked.Call.Run != w.a.Call.Run || !resolvesAsBefore(asked.Facts, w.a.Call, w.a.Facts)) {
		return false, nil
	}
	if len(d.Args) > 0 {
		asked.Call.Args = d.Args
	}
	if w.a.Call.Host == sayso.HostACP {
		if !isSameInEditor(r, asked.Call, w.a.Call) {
			return false, nil
		}
	} else if !isSameCall(r, asked.Call, w.a.Call) || !equalArgs(asked.Call.Args, w.a.Call.Args) && !(w.isSecondPrompt() && isSamePatch(asked.Call, w.a.Call)) {
		return false, nil
	}
	if _, err = w.b.log.Lookup(ctx, sayso.LinkKey(r.ID)); errors.Is(err, sayso.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// linkAnswers reports whether the yes of an earlier point answers what is asked here.
// That of a person to this very call does. A mode's, and a remembered one, do
// where a mode and a remembered one may answer here.
func (w *waiter) linkAnswers(ctx context.Context, r *sayso.Request, j *judgment) (bool, error) {
	by := r.Decision.Source
	if by == sayso.SourcePerson {
		return true, nil
	}
	if sayso.ModeApproveAll.Apply(j.Match) != sayso.Allow {
		return false, nil // it takes a person
	}
	switch by {
	case sayso.SourcePolicy: // a rule for edits speaks of one that an editor writes, too, but never against a rule for writing
		return r.Kind == sayso.KindEdit && j.Cause == sayso.CauseDefault && j.mode != sayso.ModeStrict, nil
	case sayso.SourceMode:
		return j.mode != sayso.ModeStrict, nil
	case sayso.SourceGrant:
		var on basis
		why, err := w.b.checkGrant(ctx, r, &on)
		if err != nil || why != "" {
			return false, err
		}
		return j.reach == sayso.RememberAny || j.reach == sayso.RememberExact && on.grant.Cover == sayso.CoverCall, nil
	}
	return false, nil
}

// isSameCall reports whether a later point has the call that an earlier one had. Where
// the same host asks a second time, its own hook was first, and all that it says of
// the call is the same; a gateway knows its tool and nothing else.
func isSameCall(r *sayso.Request, earlier, later sayso.Call) bool {
	if later.Host == sayso.HostMCP {
		return isSameTool(earlier, later)
	}
	return r.Life.Asker.Principal == later.Host && earlier.Host == later.Host && earlier.Session == later.Session && earlier.Tool == later.Tool && earlier.Cwd == later.Cwd &&
		(earlier.Server == later.Server || isSameTool(earlier, later))
}

// isSameTool compares tools by their canonical names. A host spells the names of
// servers in its own way.
func isSameTool(earlier, later sayso.Call) bool {
	tool, server := earlier.CanonicalName()
	other, second := later.CanonicalName()
	return server != "" && tool == other && sayso.SpelledMCP(server) == sayso.SpelledMCP(second)
}

// isSamePatch reports whether the permission that a host asks for is to apply the patch
// that it asked about. A patch names all that it writes, so who said yes to it saw how
// far it goes. Of a command that is not so: whether it would leave the sandbox only
// the permission says.
func isSamePatch(earlier, later sayso.Call) bool {
	if earlier.Tool != "apply_patch" {
		return false
	}
	var first struct {
		Patch string `json:"command"`
	}
	var second struct {
		Patch string `json:"command"`
		Wants string `json:"sandbox_permissions"`
	}
	if jcs.Unmarshal(earlier.Args, &first) != nil || jcs.Unmarshal(later.Args, &second) != nil {
		return false
	}
	// The host leaves the last line feed out the second time.
	return first.Patch != "" && second.Wants == "require_escalated" && strings.TrimSuffix(first.Patch, "\n") == second.Patch
}
