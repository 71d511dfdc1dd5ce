package words

import "github.com/sayso-dev/sayso"

// TooLate says which decision stands instead.
func TooLate(r sayso.Request, d sayso.Decision) string { return "too late: " + Already(r, d) }

// Already says which decision stood before an answer.
func Already(r sayso.Request, d sayso.Decision) string {
	if d.State != sayso.StateAllowed && d.State != sayso.StateDenied {
		return Standing(d)
	}
	text := r.ShortID + " was already " + string(d.State) + " by " + Safe(d.Who())
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
		return id + " allowed by " + Safe(d.Who())
	case sayso.StateDenied:
		if d.Note != "" {
			return id + " denied by " + Safe(d.Who()) + ": " + Safe(d.Note)
		}
		return id + " denied by " + Safe(d.Who())
	case sayso.StateExpired:
		return id + " expired before anybody answered"
	case sayso.StateWithdrawn:
		return id + " was withdrawn before anybody answered"
	}
	return id + " recorded; more answers are required"
}
