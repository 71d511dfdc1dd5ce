package outbox

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

// chatText is what a chat is told.
func chatText(t *Target, l *Letter, m *Message) string {
	text := sentence(t, l, m)
	if m.Data.Link != "" {
		text += "\n" + m.Data.Link
	}
	return text
}

func sentence(t *Target, l *Letter, m *Message) string {
	switch l.Kind {
	case Tested:
		return "sayso: this is a test of the notices to " + t.Name + "."
	case Dead:
		return "sayso: " + lostText(m.Data.Notice) + ". Type: sayso notices"
	case ModeSet:
		return "sayso: " + modeText(m.Data.Mode)
	case Opened:
		return "sayso: " + openedText(m.Data.Request)
	}
	return "sayso: " + endedText(l.Kind, m)
}

func lostText(l *Lost) string {
	if l.Count > 1 {
		return fmt.Sprintf("%d notices to %s were given up, the last one: %s", l.Count, l.Target, l.Error)
	}
	return "a notice to " + l.Target + " was given up: " + l.Error
}

func openedText(r *Request) string {
	if r.Tool == "" {
		return "a request waits for you (ticket " + r.ShortID + until(r) + ")."
	}
	text := fmt.Sprintf("%s waits for you: %s (%s; ticket %s%s).", who(r), tool(r), strings.Join(risks(r), ", "), r.ShortID, until(r))
	if r.Title != "" {
		text += " " + quiet(r.Title)
	}
	if len(r.Preview) > 0 {
		text += "\n" + quiet(string(r.Preview))
	}
	return text
}

// who asks, as far as the detail tells: the agent, and with a preview which of its
// agents, in which session and project.
func who(r *Request) string {
	text := quiet(cmp.Or(r.Caller, r.Agent, "an agent"))
	var where []string
	if s := r.SessionID; s != "" {
		where = append(where, "session "+quiet(label(s)))
	}
	if dir := path.Base(r.Cwd); strings.Trim(dir, "./") != "" {
		where = append(where, "in "+quiet(label(dir)))
	}
	if len(where) > 0 {
		text += " (" + strings.Join(where, ", ") + ")"
	}
	return text
}

// longestLabel is how much of a name a chat is shown where it only tells things apart,
// in characters: most sessions have names that no person reads to the end.
const longestLabel = 16

func label(s string) string {
	if runes := []rune(s); len(runes) > longestLabel {
		return string(runes[:longestLabel]) + "…"
	}
	return s
}

// tool is the tool, that of a server with the server.
func tool(r *Request) string {
	if r.Server == "" {
		return quiet(r.Tool)
	}
	return quiet(r.Server) + " › " + quiet(r.Tool)
}

func risks(r *Request) []string {
	return append([]string{present.Risk(r.Risk, r.Danger)}, present.Dangers(r.Danger)...)
}

func until(r *Request) string {
	if r.Deadline == nil {
		return ""
	}
	return ", until " + r.Deadline.UTC().Format("15:04 UTC")
}

func endedText(k Kind, m *Message) string {
	r := m.Data.Request
	what := "request " + r.ShortID
	if r.Tool != "" {
		what += " (" + tool(r) + ")"
	}
	if r.Agent != "" {
		what += " of " + who(r)
	}
	switch k {
	case Expired:
		return what + " expired: nobody answered in time."
	case Withdrawn:
		return what + " was withdrawn by the agent."
	}
	d := m.Data.Decision
	what += map[sayso.Effect]string{sayso.Allow: " was allowed"}[d.Effect]
	if d.Effect != sayso.Allow {
		what += " was denied"
	}
	if len(d.By) > 0 {
		what += " by " + quiet(strings.Join(d.By, ", "))
	}
	if d.Note != "" {
		return what + ": " + quiet(d.Note)
	}
	return what + "."
}

func modeText(m *Mode) string {
	whose := "of one session"
	if m.All {
		whose = "of all sessions"
	}
	text := "the mode " + whose + " is now " + string(m.Mode)
	switch m.Switch {
	case sayso.SwitchOff:
		text = "sayso was switched off: calls go to the hosts' own prompts"
	case sayso.SwitchOn:
		text = "sayso was switched on again"
	case sayso.SwitchLocked:
		text = "sayso was locked: everything asks or denies"
	case sayso.SwitchReleased:
		text = "the lock was released"
	}
	if m.ForS > 0 {
		text += " for " + (time.Duration(m.ForS) * time.Second).String()
	}
	return text + "."
}

// longestText is how much of a text that is not ours a chat is shown, in
// characters.
const longestText = 600

// lookalikes stand for what a chat would obey: a mention that calls everybody, a
// link that hides where it leads, markup.
var lookalikes = strings.NewReplacer("@", "＠", "<", "‹", ">", "›", "&", "＆", "`", "´", "*", "∗", "_", "＿", "~", "～", "[", "［", "]", "］", "|", "¦", `\`, "＼", "://", "：//", "\n", " ", "\t", " ")

// quiet is a text that is not ours as a chat may be shown it: nothing that cannot
// be seen, nothing that a chat obeys. What is too long is cut in the middle, and
// says so.
func quiet(s string) string {
	s, _ = present.Safe(s)
	if n := utf8.RuneCountInString(s); n > longestText {
		runes := []rune(s)
		s = fmt.Sprintf("%s … (%d characters more) … %s", string(runes[:longestText*2/3]), n-longestText, string(runes[n-longestText/3:]))
	}
	return lookalikes.Replace(s)
}
