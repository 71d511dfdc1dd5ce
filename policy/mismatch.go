package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// Near is the rule that almost matched.
type Near struct {
	Effect  sayso.Effect `json:"effect"`
	Rule    string       `json:"rule"`
	Pattern string       `json:"pattern"`
	Tier    Tier         `json:"tier"`
	File    string       `json:"file"`
	Line    int          `json:"line"`
	Column  int          `json:"column"`
	Why     string       `json:"why"` // it did not match
}

// mismatch is how near a rule came, from 0 for not at all to 1, and why it did not
// match.
type mismatch struct {
	near float64
	why  string
}

// all are the rules of the policy in their order.
func (x *index) all() []*entry {
	seen := map[*entry]bool{}
	for _, list := range x.named {
		for _, e := range list {
			seen[e] = true
		}
	}
	for _, list := range x.served {
		for _, e := range list {
			seen[e] = true
		}
	}
	for _, e := range x.rest {
		seen[e] = true
	}
	for _, r := range x.commands.all {
		seen[r.entry] = true
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b *entry) int { return a.order - b.order })
}

// almost finds the rule that came nearest to speaking of the call and did not;
// nil if none is near. Of rules that came as near the one counts that says
// something else than what came out.
func (p *Policy) almost(readings []*subject, v sayso.Verdict) *Near {
	var said []denial
	for _, s := range readings {
		said = append(said, p.objections(s)...)
	}
	commands := map[*entry]*commandRule{}
	for _, r := range p.index.commands.all {
		commands[r.entry] = r
	}
	var best *entry
	var least mismatch
	for _, e := range p.index.all() {
		if e.tier == TierRepo && e.effect == sayso.Allow || slices.ContainsFunc(said, func(o denial) bool { return o.e == e }) {
			continue
		}
		var m mismatch
		for _, s := range readings {
			if one := e.mismatch(s, commands[e]); one.near > m.near {
				m = one
			}
		}
		if e.effect == v.Effect {
			m.near -= 0.02
		}
		if m.near > least.near {
			best, least = e, m
		}
	}
	if best == nil || least.near < 0.4 {
		return nil
	}
	return &Near{best.effect, best.says.Rule, best.written(), best.tier, best.says.File, best.m.line, best.m.column, least.why}
}

// mismatch says why an entry did not speak of the call. Scope and condition are
// looked at last, for a rule that fails by them alone is the nearest of all.
func (e *entry) mismatch(s *subject, r *commandRule) mismatch {
	if r != nil && s.operand == sayso.OperandCommand && s.state == argGiven {
		return r.mismatchCommand(s)
	}
	if !e.about(s) {
		return e.mismatchTool(s)
	}
	if m := e.mismatchArgument(s); m.why != "" {
		return m
	}
	return e.mismatchRest(s, 0.95)
}

// about reports whether the entry is about the tool of the call.
func (e *entry) about(s *subject) bool {
	if e.m.name == "" {
		return e.m.matchTool(s, e.effect == sayso.Allow)
	}
	return s.server == "" && (e.m.name == s.canonical || e.m.name == s.call.Tool)
}

// mismatchRest is the mismatch of an entry whose pattern fits.
func (e *entry) mismatchRest(s *subject, near float64) mismatch {
	if !e.scope.holds(s, e.effect) {
		return mismatch{near, "it is about the project " + e.scope.folder + ", and the call is not of it"}
	}
	if e.when != nil {
		if holds, err := s.conditionHolds(e.when, e.effect == sayso.Allow); err == nil && !holds {
			return mismatch{near, "its condition does not hold"}
		}
	}
	return mismatch{}
}

// mismatchTool is the mismatch of an entry about another tool, which is near only if the
// names are.
func (e *entry) mismatchTool(s *subject) mismatch {
	switch m := e.m; {
	case m.selector != nil:
		return m.selector.mismatch(s, e.effect == sayso.Allow)
	case m.name != "" && s.server == "":
		if distance(strings.ToLower(m.name), strings.ToLower(s.canonical)) <= 1 || strings.EqualFold(m.name, s.call.Tool) {
			return mismatch{0.5, "it is about " + m.name + ", and the tool is " + s.canonical}
		}
	case m.server != "" && s.server != "":
		near := 0.0
		if glob(m.server, s.server) {
			near = 0.45
		}
		if glob(m.tool, s.canonical) {
			near += 0.45
		}
		return mismatch{near, "it is about " + m.tool + " of " + m.server + ", and the tool is " + s.canonical + " of " + s.server}
	case m.wild != "" && s.server != "" && glob(m.wild, s.canonical):
		return mismatch{0.6, "a pattern without a server allows no tool of a server, and this one is of " + s.server}
	}
	return mismatch{}
}

// mismatch says which of the things that a selector names the call is not.
func (s *selector) mismatch(c *subject, allow bool) mismatch {
	var wrong []string
	named, fits := 0, 0
	look := func(asked, ok bool, why string) {
		if asked {
			named++
			if ok {
				fits++
			} else {
				wrong = append(wrong, why)
			}
		}
	}
	or := func(words []string) string { return strings.Join(words, " or ") }
	look(len(s.tools) > 0, s.matchesTool(c, allow), "its tool is "+or(s.tools)+", and the call's is "+c.canonical)
	look(len(s.kinds) > 0, slices.Contains(s.kinds, string(c.kind)), "its kind is "+or(s.kinds)+", and the call's is "+string(c.kind))
	look(len(s.servers) > 0, c.server != "" && anyGlob(s.servers, c.server), "its server is "+or(s.servers)+", and the call's is "+orNone(c.server))
	look(len(s.hosts) > 0, anyGlob(s.hosts, c.call.Host), "its host is "+or(s.hosts)+", and the call's is "+orNone(c.call.Host))
	look(len(s.callers) > 0, anyGlob(s.callers, c.call.Caller), "its caller is "+or(s.callers)+", and the call's is "+orNone(c.call.Caller))
	look(len(s.sessions) > 0, anyGlob(s.sessions, c.call.Session), "its session is "+or(s.sessions)+", and the call's is "+orNone(c.call.Session))
	look(len(s.tags) > 0, s.matchesTags(c), "its tags are "+strings.Join(s.tags, ", ")+", and the call has not all of them")
	look(len(s.annotations) > 0, s.matchesAnnotations(c, allow), "the annotations are not "+annotationsText(s.annotations)+", or the server is not trusted with them")
	look(len(s.args) > 0, s.matchesArgs(c, allow), "the arguments are not "+argumentsText(s.args))
	if named < 2 {
		return mismatch{} // a rule about another kind of call is not near
	}
	return mismatch{0.9 * float64(fits) / float64(named), strings.Join(wrong, "; ")}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// mismatchArgument is the mismatch of an entry about the tool of the call whose
// argument does not fit; its why is empty if the argument fits.
func (e *entry) mismatchArgument(s *subject) mismatch {
	if e.m.operand == sayso.OperandNone {
		if e.effect == sayso.Allow && s.kind == sayso.KindShell {
			return mismatch{0.8, "no allow covers commands that nobody has read"}
		}
		if e.effect == sayso.Allow && e.m.guesses(s) {
			return mismatch{0.8, "it is not certain which server the tool belongs to"}
		}
		return mismatch{}
	}
	if _, ok := e.matches(s); ok {
		return mismatch{}
	}
	switch {
	case !s.state.understood() || s.state == argNone:
		return mismatch{0.7, "the argument of the call cannot be read"}
	case e.m.path != nil:
		return e.m.path.miss(s)
	case e.m.url != nil:
		return e.m.url.miss(s.address(), e.effect == sayso.Allow)
	case e.m.glob != "":
		return mismatch{0.5 + 0.3*similarity(e.m.glob, s.arg), "the text is not " + quoted(e.m.glob)}
	}
	return mismatch{0.4, "the argument is another one"}
}

// miss says where a path leaves a pattern.
func (p *pathPattern) miss(s *subject) mismatch {
	o, ok := s.facts.Operand(s.tool.Primary)
	if !ok || o.Resolved == "" {
		return mismatch{0.6, "it is not known where the path leads"}
	}
	root := map[anchor]string{atWorkspace: s.facts.Workspace, atRoot: "/", atHome: s.home}[p.anchor]
	if !sayso.Beneath(root, o.Resolved) {
		return mismatch{0.4, "the path leads to " + o.Resolved + ", and the pattern is about " + orNone(root)}
	}
	names := strings.Split(strings.TrimPrefix(strings.TrimPrefix(o.Resolved, root), "/"), "/")
	same := 0
	for same < len(names) && same < len(p.names) && glob(p.names[same], names[same]) {
		same++
	}
	near := 0.45 + 0.45*float64(same)/float64(max(len(names), len(p.names), 1))
	if same < len(names) && same < len(p.names) && p.names[same] != "**" {
		return mismatch{near, fmt.Sprintf("the path leads to %s, in which %s is not %s", o.Resolved, quoted(names[same]), quoted(p.names[same]))}
	}
	if same == len(p.names) {
		return mismatch{near, "the path leads to " + o.Resolved + ", which lies deeper than the pattern; for all that is in a folder, write folder/**"}
	}
	return mismatch{near, "the path leads to " + o.Resolved + ", which does not fit"}
}

// miss says in what an address differs from a pattern.
func (p *urlPattern) miss(u *address.URL, allow bool) mismatch {
	switch {
	case !p.matchHost(u):
		host := p.host + p.under
		if p.under != "" && u.Host == p.under[1:] {
			return mismatch{0.75, "*." + p.under[1:] + " stands for the hosts under it, and not for " + u.Host + " itself"}
		}
		return mismatch{0.3 + 0.3*similarity(host, u.Host), "its host is " + orAny(host) + ", and the address has " + orNone(u.Host)}
	case allow && u.Odd != "":
		return mismatch{0.85, "programs may read the address differently: " + u.Odd}
	case allow && p.wide() && u.Local:
		return mismatch{0.7, "a pattern for many hosts covers none on this machine or network"}
	case p.scheme != "" && p.scheme != u.Scheme:
		return mismatch{0.8, "its scheme is " + p.scheme + ", and the address has " + orNone(u.Scheme)}
	case allow && !p.matchPort(u) || p.port != 0 && p.port != u.Port:
		return mismatch{0.8, fmt.Sprintf("the address has the port %d, which the pattern does not name", u.Port)}
	case u.Escaped:
		return mismatch{0.8, "the path of the address holds escapes that servers read differently"}
	case u.HasQuery && u.Path == p.path:
		return mismatch{0.85, "an exact address has no query; end the pattern with a star"}
	}
	return mismatch{0.6 + 0.3*similarity(p.path, u.Path), "its path is " + p.path + ", and the address has " + u.Path}
}

func orAny(host string) string {
	if host == "" {
		return "any"
	}
	return strings.TrimPrefix(host, ".")
}

// similarity is how much two texts have in common at their beginnings, from 0 to 1.
func similarity(a, b string) float64 {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return 2 * float64(n) / float64(len(a)+len(b))
}

// mismatchCommand is the mismatch of a rule on commands, at the command that it came
// nearest to.
func (r *commandRule) mismatchCommand(s *subject) mismatch {
	if r.part == 0 && !r.m.speaksOf(s, r.effect == sayso.Allow) {
		return mismatch{}
	}
	var best mismatch
	for i := range s.line().Commands {
		if m := r.missOne(s, &s.line().Commands[i]); m.near > best.near {
			best = m
		}
	}
	return best
}

func (r *commandRule) missOne(s *subject, c *shell.Command) mismatch {
	if m := r.pattern.miss(c, r.effect == sayso.Allow); m.why != "" {
		return m
	}
	if r.effect == sayso.Allow && s.isOutsideWorkspace() {
		return mismatch{0.9, "the command would run outside the workspace, where nothing is allowed"}
	}
	if r.named != nil && s.within(c, r) != shell.Yes {
		return mismatch{0.9, "not every operand of the command is known to lie in a path that its sandbox_paths name"}
	}
	if m := r.mismatchRest(s, 0.95); m.why != "" {
		return m
	}
	if r.part != 0 {
		return mismatch{0.85, "a rule before it under shell.rules matches too, and the first speaks"}
	}
	return mismatch{}
}

// isTypo reports whether a word may be a slip of another. Options are: which of
// them come first says little.
func isTypo(a, b string) bool {
	return strings.HasPrefix(a, "-") || strings.HasPrefix(b, "-") || distance(a, b) <= (max(len(a), len(b))+1)/3
}

// miss says at which word a command leaves a pattern; its why is empty if it
// does not.
func (p *commandPattern) miss(c *shell.Command, allow bool) mismatch {
	if len(p.words) == 0 {
		return mismatch{}
	}
	words := c.Words()
	name := base(p.words[0])
	if distance(strings.ToLower(name), strings.ToLower(c.Base())) > (len(name)+1)/4 {
		return mismatch{0, "it is about another program"}
	}
	if allow && p.words[0] != c.Program.Text {
		near := 0.5 + 0.1*similarity(strings.Join(p.words[1:], " "), strings.TrimPrefix(strings.Join(texts(words), " "), c.Program.Text+" "))
		return mismatch{near, "its program is " + p.words[0] + ", and the command's is " + c.Program.Text + "; an allow is the bare name as it is written"}
	}
	if !allow && p.fits(c, c.Spellings()) == shell.Yes || allow && p.covers(c) {
		return mismatch{}
	}
	same := 0
	for same < len(words) && same < len(p.words) && p.equal(p.words[same], words[same].Text) && !words[same].Unknown() {
		same++
	}
	near := 0.4 + 0.4*float64(same)/float64(len(p.words))
	switch {
	case same == 1 && len(p.words) > 1 && len(words) > 1 && !isTypo(p.words[1], words[1].Text):
		return mismatch{0, "it is about something else that the program does"}
	case same < len(p.words) && same < len(words):
		return mismatch{near, fmt.Sprintf("it is about %s, and the command has %s", quoted(strings.Join(p.words[:same+1], " ")), quoted(wordAt(words, same)))}
	case same < len(p.words):
		return mismatch{near, "the command ends before " + quoted(p.words[same])}
	case c.Beyond() != nil && allow:
		return mismatch{0.92, "no allow for a program covers this: " + c.Beyond().What}
	case len(words) > len(p.words) && !p.more:
		return mismatch{0.9, "the command has more words; end the pattern with a star"}
	}
	return mismatch{0.85, "words of the command are only known when it runs"}
}

// texts are the words of a command without what is known of them.
func texts(words []shell.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// wordAt is a word of a command as it can be told.
func wordAt(words []shell.Word, i int) string {
	if words[i].Text == "" {
		return "a word that is only known when it runs"
	}
	return words[i].Text
}
