package redact

import (
	"regexp"
	"strings"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// findPlaces finds what says where the line writes, deletes, works or connects to.
func (l *line) findPlaces() {
	for _, r := range l.read.Redirects {
		if !strings.HasPrefix(r.Op, "<<") {
			l.places = append(l.places, r.Target.Span)
		}
	}
	for i := range l.read.Commands {
		c := &l.read.Commands[i]
		l.addOperands(c)
		for _, t := range c.Traits {
			switch t.Kind {
			case shell.Deletes, shell.Writes, shell.Moves:
				if t.Target != nil {
					l.places = append(l.places, t.Target.Span)
				}
			}
		}
	}
	l.places = l.places.merged()
}

// callers are programs whose operands say where they connect to: that many of them,
// or all.
var callers = map[string]int{"curl": all, "wget": all, "aria2c": all, "scp": all, "sftp": all, "rsync": all, "git": all, "dig": all,
	"ssh": 1, "mosh": 1, "autossh": 1, "nc": 1, "ncat": 1, "netcat": 1, "socat": 2, "telnet": 1, "ftp": 1, "lftp": 1, "ping": 1,
	"host": 1, "nslookup": 1, "whois": 1, "http": 0, "https": 0, "xh": 0}

const all = 1 << 10

var host = regexp.MustCompile(`^[\w.-]+\.[a-z]{2,}(:\d+)?(/|$)`)

// addOperands adds what says where a program connects to: of an address that part,
// of an operand what comes before a path. What stands behind an option may be its
// value, unless it looks like a host.
func (l *line) addOperands(c *shell.Command) {
	operands, ok := callers[c.Base()]
	if !ok || !c.Has(shell.Connects) && !c.Has(shell.Sends) {
		return
	}
	option := false
	for _, w := range c.Args {
		text := l.text[w.Span.From:w.Span.To]
		behind := option
		option = strings.HasPrefix(w.Text, "-")
		from, to := authority(text)
		if from < 0 && !option && (!behind || host.MatchString(w.Text)) && operands > 0 {
			before, _, _ := strings.Cut(text, "/")
			from, to = 0, len(before)
		}
		if from >= 0 && !behind {
			operands--
		}
		if from >= 0 {
			l.places = append(l.places, shell.Span{From: w.Span.From + from, To: w.Span.From + to})
		}
	}
}

// authority finds the host of an address, with its port; from is -1 if a text is no
// address.
func authority(text string) (from, to int) {
	scheme := strings.Index(text, "://")
	if scheme < 0 {
		return -1, 0
	}
	from, to = scheme+len("://"), len(text)
	if n := strings.IndexAny(text[from:], "/?#\\\"' "); n >= 0 {
		to = from + n
	}
	return from + strings.LastIndexByte(text[from:to], '@') + 1, to
}
