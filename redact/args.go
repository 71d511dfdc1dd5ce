package redact

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
)

// call gathers what is found in one call and writes it without.
type call struct {
	finder
	table      table
	redactions []sayso.Redaction
	uses       map[string]use // what the commands do with variables
}

func newCall(r *Redactor) *call {
	c := &call{redactions: []sayso.Redaction{}}
	c.finder = finder{names: r.names, learn: c.table.learn, reads: c.table.read}
	return c
}

// namedText is a text of a call with what was found in it.
type namedText struct {
	name string
	node
}

func (c *call) findIn(root *node) {
	c.tree(root, "", 0)
	c.settle()
}

// known makes the secrets of the call ready to be found, and looks for them in its
// commands.
func (c *call) known() {
	c.table.build()
	if c.table.empty() {
		return
	}
	c.uses = c.usesOf()
	again := finder{names: c.names, learn: func(string, string) {}, known: &c.table}
	for _, read := range c.again {
		read(&again)
	}
}

// steers reports whether a text is the value of a variable that a command uses, or
// sets one: NAME=value.
func (c *call) steers(name, text string) bool {
	if len(c.uses) == 0 {
		return false
	}
	set, value, _ := strings.Cut(text, "=")
	return c.uses[name].shows(text) || c.uses[set].shows(value)
}

// findInTexts searches texts in the order of their names. One whose name has a
// slash is the value of a member, which may be telling: said/password.
func (c *call) findInTexts(texts map[string]string) []namedText {
	names := make([]string, 0, len(texts))
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	out := make([]namedText, len(names))
	for i, name := range names {
		out[i] = namedText{name, node{kind: '"', text: texts[name]}}
		at := strings.LastIndexByte(name, '/')
		if member := name[at+1:]; at >= 0 && c.hides(member, &out[i].node) {
			c.hideAll(&out[i].node, member)
			continue
		}
		c.reading(name, func() { c.str(&out[i].node, name, 0) })
	}
	return out
}

// text returns the text of n without its spans and without what was found
// elsewhere, and notes a redaction for each part hidden.
func (c *call) text(n *node, at *trail, name string) string {
	s := n.text
	if !n.command && !c.steers(name, s) {
		n.spans = c.table.findIn(s, n.spans, isPlaceName(name))
	}
	spans := merge(whole(s, n.spans))
	for _, sp := range spans {
		key := sp.key
		if key == "" {
			key = name
		}
		c.note(at.String(), key, sp.size)
	}
	return cut(s, spans)
}

// textNamed is text for one of the texts of a call: the path of what is hidden
// in it is its name.
func (c *call) textNamed(t *namedText) string {
	if t.hidden {
		c.note(t.name, t.key, t.bytes())
		return marker(t.bytes())
	}
	from := len(c.redactions)
	out := c.text(&t.node, nil, t.name)
	for i := from; i < len(c.redactions); i++ {
		c.redactions[i].Path = t.name
	}
	return out
}

// note records that something was hidden. Paths and keys are shown, so they
// are made safe first.
func (c *call) note(path, key string, size int) {
	c.redactions = append(c.redactions, sayso.Redaction{Path: path, Key: c.safeKey(key), Length: size})
}

// safeKey returns a name without what was found in the call.
func (c *call) safeKey(key string) string {
	if len(key) < partLen {
		return key
	}
	n := node{text: key}
	quiet := finder{names: c.names, learn: func(string, string) {}}
	quiet.shapes(key, n.hide)
	return cut(key, merge(whole(key, c.table.findParts(key, n.spans))))
}

// emit appends n as JSON without what is hidden of it. Name is that of the
// member it stands in or under.
func (c *call) emit(dst []byte, n *node, at *trail, name string) []byte {
	switch {
	case n.hidden:
		c.note(at.String(), n.key, n.bytes())
		return quote(dst, marker(n.bytes()))
	case n.kind == '{':
		return c.emitMembers(dst, n, at)
	case n.kind == '[':
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = c.emit(dst, item, &trail{up: at, index: i}, name)
		}
		return append(dst, ']')
	case n.kind == '"':
		return quote(dst, c.text(n, at, name))
	case len(c.table.find(n.text, nil)) > 0:
		c.note(at.String(), name, n.size)
		return quote(dst, marker(n.size))
	default:
		return append(dst, n.text...)
	}
}

func (c *call) emitMembers(dst []byte, n *node, up *trail) []byte {
	var used map[string]bool
	dst = append(dst, '{')
	for i, m := range n.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		spans := merge(whole(m.name.text, c.table.findParts(m.name.text, m.name.spans)))
		shown := m.name.text
		if len(spans) > 0 || used != nil {
			if used == nil {
				used = namesOf(n.members[:i])
			}
			shown = unused(cut(shown, spans), used)
		}
		at := &trail{up: up, name: shown, named: true}
		for _, sp := range spans {
			c.note(at.String(), shown, sp.size)
		}
		dst = append(quote(dst, shown), ':')
		dst = c.emit(dst, m.value, at, shown)
	}
	return append(dst, '}')
}

// namesOf returns the names of members.
func namesOf(members []member) map[string]bool {
	names := make(map[string]bool, len(members))
	for _, m := range members {
		names[m.name.text] = true
	}
	return names
}

// unused returns the name, with a number if it is taken already, and takes it.
// Two names can only be equal after parts of them were hidden.
func unused(name string, used map[string]bool) string {
	free := name
	for i := 2; used[free]; i++ {
		free = name + " #" + strconv.Itoa(i)
	}
	used[free] = true
	return free
}

// tree finds what is to be hidden of n, which stands under name.
func (f *finder) tree(n *node, name string, depth int) {
	switch n.kind {
	case '{':
		f.members(n, depth)
	case '[':
		f.items(n, name, depth)
	case '"':
		f.str(n, name, depth)
	}
}

// str searches a string: as a command line or a program if its name says so.
func (f *finder) str(n *node, name string, depth int) {
	command, code := isCommandName(name), codeName(name)
	if envNames[strings.ToLower(name)] && !looksJSON(n.text) {
		f.settings(n, depth)
		return
	}
	if looksJSON(n.text) || !command && !code || code && isAddress(n.text) {
		f.text(n.text, n.hide, depth)
		return
	}
	f.runs(depth, []*node{n}, func(f *finder) {
		f.judged(&line{text: n.text, code: code}, n.hide, func(h hide) {
			if command {
				f.shell(n.text, h, depth)
			}
			if code { // in any language
				f.text(n.text, h, depth)
			}
		})
	})
}

var commandWords = set(`command commands cmd script scripts shell bash sh run exec cmdline commandline execute`)

// isCommandName reports whether a string under this name is a command line.
func isCommandName(name string) bool {
	ws := words(name)
	return len(ws) > 0 && (commandWords[ws[len(ws)-1]] || len(ws) == 2 && ws[0] == "command" && ws[1] == "line" || runsSecret(name))
}

func (f *finder) members(n *node, depth int) {
	paired, _ := n.get("name", "key", "header", "field", "variable", "var", "envvar")
	if !f.telling(paired) {
		paired = ""
	}
	command := n.listed()
	for _, m := range n.members {
		name := m.name.text
		f.text(name, m.name.hide, depth+1)
		switch {
		case slices.Contains(command, m.value):
		case paired != "" && valueName(name) && !f.hides(name, m.value) && f.hides(paired, m.value):
			f.hold(m.value, paired, depth)
		default:
			f.member(name, m.value, depth)
		}
	}
	f.list(command, depth)
}

// member searches the value of a member, or hides it for its name.
func (f *finder) member(name string, n *node, depth int) {
	if f.hides(name, n) {
		f.hold(n, name, depth)
		return
	}
	f.reading(name, func() { f.tree(n, name, depth) })
}

// hides reports whether the value n is hidden because of the name it stands
// under. Nothing is hidden of nothing.
func (f *finder) hides(name string, n *node) bool {
	if !f.telling(name) {
		return strings.EqualFold(strings.Trim(name, "_-"), "auth") && n.kind == '"' &&
			(looksRandom(n.text) || isUserPass(n.text) || strings.Contains(n.text, ":") && !strings.Contains(n.text, " "))
	}
	switch n.kind {
	case 'n':
		return false
	case 't', 'f':
		return !isSwitch(name)
	case '0':
		return !measure(name)
	case '"':
		return !shownValue(name, n.text)
	case '[':
		return len(n.items) > 0 && !(measure(name) && n.allNumbers())
	default:
		return len(n.members) > 0
	}
}

// shownValue reports whether a string under a telling name is none to hide: it
// is empty or hidden already, it refers to a value elsewhere, it will be
// computed, or it says where the secret is kept.
func shownValue(name, v string) bool {
	switch {
	case v == "", markerEnd(v) == len(v), plainFigure(name, v), isPlace(name, v):
		return true
	case substitution(v) == len(v):
		return closedBy(v, ")") > 0 || strings.HasSuffix(v, ")") || v[0] == '`'
	case v[0] == '$' && reference(v) == len(v) && !strings.HasPrefix(v, "${"):
		return v == strings.ToUpper(v)
	}
	return reference(v) == len(v)
}

func (f *finder) hideAll(n *node, key string) {
	n.hidden, n.key = true, key
	n.leaves(func(v string) { f.learn(v, key) })
}

// pairNames are names under which lists of names and values stand.
var pairNames = set(`headers header env environment params query cookies form fields vars variables pairs entries metadata labels`)

// items searches an array: as words of one command, as names and values in
// turn, or each item by itself.
func (f *finder) items(n *node, name string, depth int) {
	switch {
	case n.setsVariables(name):
		for _, item := range n.items {
			f.tree(item, name, depth)
		}
	case n.isArgv(name):
		f.list([]*node{n}, depth)
	case len(n.items)%2 == 0 && n.allStrings() && pairNames[strings.ToLower(name)]:
		f.pairs(n, name, depth)
	default:
		for _, item := range n.items {
			if item.kind == '[' && len(item.items) == 2 && item.allStrings() {
				f.pairs(item, name, depth)
				continue
			}
			f.tree(item, name, depth)
		}
	}
}

// pairs searches an array of names and values in turn.
func (f *finder) pairs(n *node, name string, depth int) {
	for i := 0; i < len(n.items); i += 2 {
		k, v := n.items[i], n.items[i+1]
		f.str(k, name, depth)
		if span0(k.text, isName) == len(k.text) && f.hides(k.text, v) {
			f.hold(v, k.text, depth)
			continue
		}
		f.str(v, k.text, depth)
	}
}

func (n *node) allStrings() bool {
	for _, item := range n.items {
		if item.kind != '"' {
			return false
		}
	}
	return len(n.items) > 0
}
