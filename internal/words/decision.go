package words

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// Who names the people who decided, or what did. Of an answer that came by way of
// the client that asked nobody knows whether it was a person's.
func Who(d *sayso.Decision) string {
	who := Safe(d.Who())
	if slices.ContainsFunc(d.By, func(a sayso.Actor) bool { return a.Channel == sayso.ChannelElicitation }) {
		who += " (" + sayso.ChannelWords(sayso.ChannelElicitation) + ")"
	}
	return who
}

// TooLate says which decision stands instead.
func TooLate(r sayso.Request, d sayso.Decision) string { return "too late: " + Already(r, d) }

// Already says which decision stood before an answer.
func Already(r sayso.Request, d sayso.Decision) string {
	if d.State != sayso.StateAllowed && d.State != sayso.StateDenied {
		return Standing(d)
	}
	text := r.ShortID + " was already " + string(d.State) + " by " + Who(&d)
	if r.Decision = &d; Edited(r) {
		text += ", with changes"
	}
	if d.Note != "" {
		text += ": " + Safe(d.Note)
	}
	return text
}

// Standing is a decision in a line.
func Standing(d sayso.Decision) string {
	id := d.Request.Short()
	switch d.State {
	case sayso.StateAllowed:
		return id + " allowed by " + Who(&d)
	case sayso.StateDenied:
		if d.Note != "" {
			return id + " denied by " + Who(&d) + ": " + Safe(d.Note)
		}
		return id + " denied by " + Who(&d)
	case sayso.StateExpired:
		return id + " expired before anybody answered"
	case sayso.StateWithdrawn:
		return id + " was withdrawn before anybody answered"
	}
	return id + " recorded; more answers are required"
}
