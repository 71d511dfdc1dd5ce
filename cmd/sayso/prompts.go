package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/status"
)

// counted is how often people were asked of late, of the calls that this person
// may see. A server counts for itself.
func (a *app) counted(ctx context.Context, in sayso.Inbox) (*status.Counts, error) {
	if c, ok := in.(*client.Client); ok {
		if r, err := c.Status(ctx); err == nil {
			return &r.Prompts, nil
		} // a server of the release before has no such route, but the same calls
	}
	counts, err := status.Recent(ctx, in, a.now())
	return &counts, err
}

// printPrompts prints how often people were asked, and by which hosts if there
// are several.
func (a *app) printPrompts(c *status.Counts) {
	if c == nil || c.Calls == 0 {
		return
	}
	which := "in 7 days"
	if c.Cut {
		which = "the newest"
	}
	line := fmt.Sprintf("%.1f in 100 calls (%d of %d, %s)", c.Per100, c.Prompts, c.Calls, which)
	if c.Few {
		line = fmt.Sprintf("%d of %s %s, too few for a rate", c.Prompts, count(c.Calls, "call"), which)
	}
	if len(c.Rules) > 0 {
		r := c.Rules[0]
		line += fmt.Sprintf("; %d by %q", r.Asked, r.Rule)
		if r.File != "" {
			line += fmt.Sprintf(" (%s:%d)", r.File, r.Line)
		}
	}
	a.say("prompts  ", line)
	if len(c.Hosts) < 2 {
		return
	}
	var hosts []string
	for _, h := range c.Hosts {
		hosts = append(hosts, cmp.Or(h.Host, "no host")+" "+rate(h.Rate))
	}
	a.say("         ", strings.Join(hosts, ", "))
}

// rate is how often people were asked in 100 calls, or of how many where these
// are too few.
func rate(r status.Rate) string {
	if r.Few {
		return fmt.Sprintf("%d of %d", r.Prompts, r.Calls)
	}
	return fmt.Sprintf("%.1f", r.Per100)
}
