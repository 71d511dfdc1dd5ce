package sayso

import (
	"errors"
	"fmt"
	"strings"
)

// Told is what an agent is told when its call may not run, and empty when it
// may. The ways of not getting a yes stay distinct to the last byte, and each
// names its ticket and what to do; docs/texts.md is the table of them all.
func Told(d Decision, err error) string {
	var pending *PendingError
	switch {
	case err == nil && d.Allowed():
		return ""
	case err == nil:
		return toldDenied(d)
	case errors.As(err, &pending):
		return toldPending(pending)
	case errors.Is(err, ErrUnavailable): // whatever else it is: a policy with a mistake is also invalid
		return toldUnknown(err)
	case errors.Is(err, ErrExpired):
		return "Expired" + ticket(d) + ": nobody answered before the deadline. This is not a refusal. " +
			"Ask again only if the call is still needed, or stop and report."
	case errors.Is(err, ErrWithdrawn):
		return "Withdrawn" + ticket(d) + ": the request was taken back before anybody answered. Nothing ran. " +
			"Make the call again only if it is still needed."
	case errors.Is(err, ErrTooMany):
		return "Too many open requests: this session has more calls waiting than it may have. " +
			"Nothing was asked. Stop and report; do not ask again until the waiting ones are answered."
	case errors.Is(err, ErrSpent):
		return "Already used" + ticket(d) + ": this approval was for one run and has been used. Make a new call."
	case errors.Is(err, ErrVoided):
		return "No longer valid" + ticket(d) + ": the approval lapsed, or what it was given for has changed. Make the call again to ask anew."
	case errors.Is(err, ErrConflict):
		return "Refused: this call id was used before for another call. Make a new call."
	case errors.Is(err, ErrInvalid):
		return "Refused: the call could not be read strictly (" + firstLine(err) + "). Nothing was asked and nothing ran."
	}
	return toldUnknown(err)
}

func toldUnknown(err error) string {
	return "Could not find out whether this call may run (" + firstLine(err) + "), so it does not. " +
		"Stop and report this to the user: `sayso status` says what is wrong."
}

func toldDenied(d Decision) string {
	switch d.Source {
	case SourcePerson:
		s := "Denied by " + d.Who() + ticket(d)
		if d.Note != "" {
			return s + ": " + d.Note
		}
		return s + ". Do not repeat the call; do it another way, or stop and ask."
	case SourceMode:
		return "Denied by the " + string(d.Mode) + " mode" + ticket(d) +
			": this call would have to be asked about, and nobody is asked in this mode. " +
			"Do it another way, or stop and report."
	case SourceDeadline:
		return "Denied by the deadline" + ticket(d) + ": nobody answered in time, and the policy says that this is a denial. " +
			"Do it another way, or stop and report."
	}
	return "Denied by policy" + ticket(d) + ": " + d.Because() + ". Do not repeat the call; do it another way, or stop and report."
}

func toldPending(p *PendingError) string {
	short := p.Ticket.Short()
	if p.Stop {
		return "Not decided yet, ticket " + short + ". Stop and report; do not ask again."
	}
	return "Not decided yet, ticket " + short + ": a person has not answered. This is not a refusal and nothing ran. " +
		"Make exactly the same call again to go on waiting, or stop and report that `sayso approve " + short + "` is needed."
}

func ticket(d Decision) string {
	if d.Request == "" {
		return ""
	}
	return " (ticket " + d.Request.Short() + ")"
}

// Because says what decided, in words: the reason, the rule and where it
// stands.
func (d Decision) Because() string {
	var parts []string
	if d.Reason != "" {
		parts = append(parts, strings.TrimSuffix(d.Reason, "."))
	}
	if d.Rule != "" {
		parts = append(parts, fmt.Sprintf("rule %q", d.Rule))
	}
	if d.File != "" {
		parts = append(parts, fmt.Sprintf("%s:%d", d.File, d.Line))
	}
	if len(parts) == 0 {
		return "no rule allows it"
	}
	return strings.Join(parts, ", ")
}

// firstLine keeps texts for agents to one line.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
