package words

import (
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// GrantCovers is what a grant covers, with what calls are compared with.
func GrantCovers(g sayso.Grant) string {
	if g.Pattern == "" {
		return Safe(g.Label)
	}
	return Safe(g.Label) + ": " + Safe(g.Pattern)
}

// GrantUses is how often a grant was used, and how often it may be.
func GrantUses(g sayso.Grant) string {
	if g.MaxUses > 0 {
		return fmt.Sprintf("%d of %d", g.Uses, g.MaxUses)
	}
	return fmt.Sprint(g.Uses)
}

// GrantEnds is when a grant ends, or why it did.
func GrantEnds(g sayso.Grant) string {
	switch {
	case g.Ended != "":
		return "ended: " + Safe(g.Ended)
	case g.ExpiresAt != nil:
		return g.ExpiresAt.Local().Format(time.DateTime)
	}
	return "with its session"
}
