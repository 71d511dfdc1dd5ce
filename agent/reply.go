package agent

import (
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// maxReason is below the 10,000 characters at which Claude Code cuts texts. Other
// hosts cut none, or do not say where; there it keeps a denial readable.
const maxReason = 9000

// Reply is the answer of a hook that runs before a call. Everything but a decision
// that allows, without an error, is what deny says, with words for the model; see
// sayso.Told. An allow is the JSON of what allow returns. It is given the arguments
// only where they were edited, with the words that were taken out of them back in
// their places, and then a note that says so.
func Reply(d sayso.Decision, err error, said Said, allow func(edited sayso.Args, note string) any, deny func(reason string) Answer) Answer {
	if err != nil || !d.Allowed() {
		return deny(sayso.Told(d, err))
	}
	var args sayso.Args
	var note string
	if len(d.Args) > 0 {
		if args, err = said.Join(d.Args); err != nil {
			return deny(sayso.Told(sayso.Decision{}, err))
		}
		note = Edited(d)
	}
	text, err := jcs.Marshal(allow(args, note))
	if err != nil {
		return deny(sayso.Told(sayso.Decision{}, err))
	}
	return Answer{Stdout: text}
}

// Deny is a denial in each of the ways that most hosts listen to: the JSON of what
// say returns, exit status 2, and the words on standard error. Where the JSON cannot
// be made the other two deny by themselves.
func Deny(reason string, say func(words string) any) Answer {
	a := Answer{Stderr: Words(reason), Exit: 2}
	if text, err := jcs.Marshal(say(a.Stderr)); err == nil {
		a.Stdout = text
	}
	return a
}

// Words are the words of a denial: never empty, which some hosts would take for
// a hook that failed, and not longer than they take.
func Words(reason string) string {
	if reason == "" {
		reason = sayso.Told(sayso.Decision{}, sayso.ErrUnavailable)
	}
	if r := []rune(reason); len(r) > maxReason {
		reason = fmt.Sprintf("%s … [%d more characters]", string(r[:maxReason]), len(r)-maxReason)
	}
	return reason
}

// Edited are the words of an allow with other arguments than were asked about.
func Edited(d sayso.Decision) string {
	return "Allowed by " + d.Who() + " with edited arguments (ticket " + d.Request.Short() + ")"
}
