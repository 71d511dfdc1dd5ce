package words

import (
	"fmt"

	"github.com/sayso-dev/sayso"
)

// CoverLines are the covers of a request, a line each: the word to type, what it
// covers, and what it would have covered.
func CoverLines(offers []sayso.CoverOffer) []string {
	lines := make([]string, 0, len(offers))
	for _, o := range offers {
		line := fmt.Sprintf("%-11s  %s", Safe(string(o.Cover)), Safe(o.Label))
		if o.Pattern != "" {
			line += ": " + Safe(o.Pattern)
		}
		if w := Weight(o); w != "" {
			line += "\n             " + w
		}
		lines = append(lines, line)
	}
	return lines
}

// Weight says what a cover would have covered, empty where nothing was counted.
func Weight(o sayso.CoverOffer) string {
	if o.LookedAt == 0 {
		return ""
	}
	text := fmt.Sprintf("would have covered %d of the last %s", o.WouldHaveCovered, Counted(o.LookedAt, "call"))
	if o.Denied > 0 {
		text += fmt.Sprintf(", of which you denied %d", o.Denied)
	}
	return text
}
