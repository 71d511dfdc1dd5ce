package policy

import (
	stdpath "path"
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// A proposal is the patterns of one rule that would speak of a call, as the
// person would write them. Whether it does is tried, never believed: what cannot
// be written as a pattern does not load, or does not match.
type proposal []string

// proposals are what could be written about a call, from what says no more than
// that to what speaks of everything.
func (s *subject) proposals(e sayso.Effect) []proposal {
	var out []proposal
	add := func(patterns ...string) {
		if len(patterns) > 0 && !slices.ContainsFunc(out, func(p proposal) bool { return slices.Equal(p, patterns) }) {
			out = append(out, patterns)
		}
	}
	name := s.patternName()
	if s.state.understood() && s.arg != "" {
		s.argumentProposals(e, name, add)
	}
	if s.server != "" {
		add("mcp__" + s.server + "__" + s.canonical)
	} else {
		add(name)
	}
	if e != sayso.Allow && s.server == "" {
		add(name + "*") // a deny on a name that nothing knows must have a star,
		add("*" + name) // and before it if the name looks like a mistake
	}
	add("*")
	return out
}

// patternName is the name that patterns give the tool of the call.
func (s *subject) patternName() string {
	if s.server == "" && len(toolsNamed(s.canonical)) == 0 && s.kind == sayso.KindShell {
		for _, t := range toolsLike(s.call.Tool) {
			return t.Name
		}
	}
	return s.canonical
}

func (s *subject) argumentProposals(e sayso.Effect, name string, add func(...string)) {
	switch s.operand {
	case sayso.OperandCommand:
		if s.readsCommands() || e != sayso.Allow {
			s.commandProposals(e, name, add)
		} else {
			add(name + ":" + s.arg)
		}
	case sayso.OperandPath:
		s.pathProposals(name, add)
	case sayso.OperandURL:
		s.urlProposals(name, add)
	case sayso.OperandText:
		add(name + ":" + s.arg)
	}
}

// maxProposed is how many commands of a line patterns are proposed for.
const maxProposed = 64

// commandProposals are the patterns for the commands of a line. An allow needs
// one for each of them, anything else for one alone.
func (s *subject) commandProposals(e sayso.Effect, name string, add func(...string)) {
	commands := s.runs()
	for _, words := range []int{0, 3, 2, 1} {
		var all []string
		for _, c := range commands {
			pattern, ok := commandText(c, words)
			if !ok {
				continue
			}
			if e != sayso.Allow {
				add(name + ":" + pattern)
			}
			if pattern = name + ":" + pattern; !slices.Contains(all, pattern) {
				all = append(all, pattern)
			}
		}
		if e == sayso.Allow {
			add(all...)
		}
	}
	if e != sayso.Allow || len(commands) > 0 {
		add(name + ":*")
	}
}

// runs are the commands of a line that would be run, those that can do most
// first.
func (s *subject) runs() []*shell.Command {
	l := s.line()
	var out []*shell.Command
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.By >= 0 && l.Commands[c.By].Has(shell.LooksUp) {
			continue
		}
		if out = append(out, c); len(out) == maxProposed {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b *shell.Command) int { return weight(b) - weight(a) })
	return out
}

// weight is how much a command can do.
func weight(c *shell.Command) int {
	n := map[shell.Class]int{shell.Foreign: 2, shell.Powerful: 3, shell.Ordinary: 1}[c.Class]
	for _, t := range c.Traits {
		if traitDangers[t.Kind] != "" {
			n += 4
		}
	}
	return n
}

// commandText writes the first words of a command as a pattern, all of them if
// words is 0. It ends in a star if there may be more.
func commandText(c *shell.Command, words int) (text string, ok bool) {
	if !c.Program.Literal() || c.Program.Text == "" {
		return "", false
	}
	var out []string
	more := c.Open
	for i, w := range c.Words() {
		if words > 0 && i == words || i > 0 && !w.Literal() {
			more = true
			break
		}
		out = append(out, shellQuoted(w.Text))
	}
	text = strings.Join(out, " ")
	if more {
		text += "*"
	}
	return text, true
}

// bareWord are the characters that a word of a command may hold without quotes.
const bareWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// shellQuoted writes a word as a shell reads it.
func shellQuoted(word string) string {
	if word != "" && strings.Trim(word, bareWord) == "" && !strings.HasPrefix(word, "=") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// pathProposals are the place that the call leads to, its folder, and so on up.
func (s *subject) pathProposals(name string, add func(...string)) {
	o, ok := s.facts.Operand(s.tool.Primary)
	if !ok || o.Resolved == "" {
		return
	}
	at, prefix := o.Resolved, ""
	if rest, ok := strings.CutPrefix(at, s.facts.Workspace+"/"); ok && s.facts.Workspace != "" {
		at = rest
	} else if at == s.facts.Workspace {
		at = "."
	} else {
		at, prefix = strings.TrimPrefix(at, "/"), "/"
	}
	if at == "." {
		add(name + ":.")
	} else {
		add(name + ":" + prefix + at)
	}
	for at = stdpath.Dir(at); at != "." && at != "/"; at = stdpath.Dir(at) {
		add(name + ":" + prefix + at + "/**")
	}
	add(name + ":" + prefix + "**")
}

// urlProposals are the page, the pages beside it, and the host.
func (s *subject) urlProposals(name string, add func(...string)) {
	u := s.address()
	if u.Host == "" || u.Scheme == "" {
		return
	}
	host := u.Scheme + "://" + authority(u.Scheme, u.Host, u.Port)
	if !u.HasQuery && !u.Escaped {
		add(name + ":" + host + u.Path)
	}
	if dir := stdpath.Dir(u.Path); !u.Escaped && dir != "/" && dir != "." {
		add(name + ":" + host + dir + "/*")
	}
	add(name + ":" + host)
	add(name + ":*://" + authority("", u.Host, 0))
}

// ruleText is a rule as a line of the list of rules.
func ruleText(e sayso.Effect, patterns []string) string {
	quotedAll := make([]string, len(patterns))
	for i, p := range patterns {
		quotedAll[i] = yamlQuoted(p)
	}
	text := strings.Join(quotedAll, ", ")
	if len(patterns) > 1 {
		text = "[" + text + "]"
	}
	return "- " + e.String() + ": " + text
}

// yamlQuoted is a text as YAML reads it: JSON is YAML.
func yamlQuoted(text string) string {
	out, err := jcs.Marshal(text)
	if err != nil {
		return `""` // no text; a rule of it does not load
	}
	return string(out)
}

// fileOf is a policy of rules alone.
func fileOf(rules ...string) string {
	return "version: 1\nrules:\n  " + strings.Join(rules, "\n  ") + "\n"
}

// authority is a host as addresses and patterns write it, with its port unless
// that is the scheme's own.
func authority(scheme, host string, port int) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if scheme == "http" && port != 80 || scheme == "https" && port != 443 {
		host += ":" + strconv.Itoa(port)
	}
	return host
}
