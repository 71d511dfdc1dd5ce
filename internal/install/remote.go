package install

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// A server with an address is put behind the gate by making its entry one of a
// program. The address and the values of headers move, as they are written, into the
// variables of the same entry: nothing else than before can see them, and what a
// client puts in the place of references, as ${TOKEN}, it puts there, too. On the
// command line stand the names of the variables alone.

// remote is how a client's entry has an address.
type remote struct {
	url     string
	kinds   []remoteKind
	headers string
	env     string   // of a program
	bearer  string   // names a variable with a token
	passed  string   // names the variables that a program gets of the client's own
	only    []string // what else may stand in an entry; anything if nil
	never   string   // why it is left, whatever it is
}

// remoteKind is a type that an entry with an address may have, and what becomes of it.
type remoteKind struct {
	of      string // the type; empty if the entry has none
	program string // that of a program, in its place
	url     string // the variable that gets the address; tells the types of an entry apart when it is given back
}

const (
	urlVariable    = "MCP_URL"
	sseVariable    = "MCP_SSE_URL" // of the transport of 2024-11-05, which our gateway finds out by itself
	headerVariable = "MCP_HEADER_"
)

// kindsOf are types of entries that become those of programs.
func kindsOf(program string, remote ...string) []remoteKind {
	var all []remoteKind
	for _, of := range remote {
		k := remoteKind{of: of, program: program, url: urlVariable}
		switch of {
		case "sse":
			k.url = sseVariable
		case "":
			k.program = ""
		}
		all = append(all, k)
	}
	return all
}

// overHTTP reports whether words are our gateway in front of a server with an
// address.
func overHTTP(words []string) bool {
	return len(words) > 3 && filepath.Base(words[0]) == "sayso" && words[1] == "mcp" && !slices.Contains(words, "--") &&
		!slices.Contains(words, "--listen") && valueOf(words[2:], "--url") != ""
}

// Brought reports whether the entry of a server with an address is one that we made.
func (s Server) Brought() bool { return addressVariable(s.Flags) != "" }

// addressVariable is the variable that has the address of a server which we put behind
// our gateway.
func addressVariable(flags []string) string {
	name, ok := strings.CutPrefix(valueOf(flags, "--url"), "env:")
	if !ok || name != urlVariable && name != sseVariable {
		return ""
	}
	return name
}

// address is that of a server behind our gateway, as it stands in the entry.
func (l List) address(text []byte, entry *node, flags []string) string {
	value := valueOf(flags, "--url")
	name, ok := strings.CutPrefix(value, "env:")
	if !ok {
		return value
	}
	return l.form.string(text, entry.get(l.form.remote.env).get(name))
}

var (
	// secretive are names of headers that say who asks.
	secretive = regexp.MustCompile(`(?i)auth|key|token|secret|cookie|passw|credential|session`)
	// login are members of an entry by which a client finds out itself who asks.
	login = regexp.MustCompile(`(?i)auth|helper|scope|audience|transport`)
	// references are what clients put something else in the place of.
	references = regexp.MustCompile(`\$|\{(env|file|input):`)
	plainName  = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	// ordinary is a part of a path that is no secret, as far as that can be told.
	ordinary = regexp.MustCompile(`^[A-Za-z@._~-]{0,20}[0-9]{0,4}[A-Za-z._-]{0,8}$`)
)

// left says why the client goes on reaching a server itself, whatever is asked for,
// and whether the client may log in to it.
func (l List) left(text []byte, entry *node) (why string, open bool) {
	r := l.form.remote
	at := entry.get(r.url)
	kind := l.form.string(text, entry.get("type"))
	switch {
	case r.never != "":
		return r.never, false
	case at == nil || l.remoteKind(kind, entry) == nil:
		return l.howToSay(), false
	case entry.get("env") != nil || entry.get(r.env) != nil || entry.get("args") != nil || entry.get(r.passed) != nil:
		return "its entry is one of an address and of a program", false
	}
	for _, m := range entry.members {
		known := slices.Contains([]string{r.url, "type", r.headers, r.bearer}, m.name)
		if !known && strings.EqualFold(m.name, "oauth") {
			return "the client logs in by what " + m.name + " in its entry says; take that out, and say the same to sayso mcp login (--client-id, --scope)", false
		}
		if !known && (login.MatchString(m.name) || r.only != nil && !slices.Contains(r.only, m.name)) {
			return "sayso mcp does not know what " + m.name + " in its entry is for; if the client logs in by it, leave it", false
		}
	}
	if why = l.leftAddress(l.form.string(text, at)); why != "" {
		return why, false
	}
	secret := entry.get(r.bearer) != nil && r.bearer != ""
	for _, m := range members(entry.get(r.headers)) {
		if why = l.leftHeader(text, m); why != "" {
			return why, false
		}
		secret = secret || secretive.MatchString(m.name)
	}
	if why = l.leftSpelling(text, entry); why != "" {
		return why, false
	}
	return "", !secret && mayAsk(l.form.string(text, at))
}

// remoteKind is the type of an entry with an address; nil if it is not one that is known.
func (l List) remoteKind(kind string, entry *node) *remoteKind {
	i := slices.IndexFunc(l.form.remote.kinds, func(k remoteKind) bool {
		return k.of == kind && (kind != "" || entry.get("type") == nil)
	})
	if i < 0 {
		return nil
	}
	return &l.form.remote.kinds[i]
}

// howToSay says how an address must be written to be understood.
func (l List) howToSay() string {
	r := l.form.remote
	how := r.url
	if kinds := slices.DeleteFunc(slices.Clone(r.kinds), func(k remoteKind) bool { return k.of == "" }); len(kinds) > 0 {
		var types []string
		for _, k := range kinds {
			types = append(types, k.of)
		}
		how += " and type " + strings.Join(types, " or ")
	}
	return "what transport it is reached by is not certain; write it with " + how
}

// leftAddress is why an address is left to the client.
func (l List) leftAddress(text string) string {
	if references.MatchString(text) {
		return "" // sayso mcp looks at what it is
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Fragment != "" {
		return "its address is not https://HOST/PATH"
	}
	if _, here := address.Loopback(u.Host); u.Scheme == "http" && !here {
		return "everybody on the way reads along with plain HTTP; if that is meant, write its entry by hand, with sayso mcp --plain-http"
	}
	return ""
}

// mayAsk reports whether a server of this address may ask the client to log in. One
// of this machine, and one with a secret in its address, does not.
func mayAsk(text string) bool {
	u, err := url.Parse(text)
	if err != nil || references.MatchString(text) {
		return true
	}
	_, here := address.Loopback(u.Host)
	secret := slices.ContainsFunc(strings.Split(u.EscapedPath(), "/"), func(part string) bool { return !ordinary.MatchString(part) })
	return !here && !secret && u.RawQuery == ""
}

// leftHeader is why a server with this header is left to the client.
func (l List) leftHeader(text []byte, m member) string {
	value := l.form.string(text, m.value)
	switch {
	case strings.EqualFold(m.name, "Sayso-Token") || strings.Contains(value, "sayso_"):
		return "it is reached with a token of sayso, so a gateway stands in front of it already"
	case m.value.kind != '"' || !plainName.MatchString(m.name):
		return "its headers are not names with texts"
	case !address.Settable(m.name):
		return "it sets the header " + m.name + ", which sayso mcp sets itself; remove that, then again"
	}
	return ""
}

// leftSpelling is why the spelling of an entry is not one that can be changed and put
// back to the byte.
func (l List) leftSpelling(text []byte, entry *node) string {
	const why = "its entry is written in a way that could not be put back as it was"
	r := l.form.remote
	seen := map[string]bool{}
	for _, m := range members(entry.get(r.headers)) {
		if _, ok := spelled(text, m, m.name); !ok || seen[variableOf(m.name)] {
			return why
		}
		seen[variableOf(m.name)] = true
	}
	headers := entry.get(r.headers)
	for _, m := range entry.members { // also those that stay as they are: by all of them it is known again
		if _, ok := spelled(text, m, m.name); !ok {
			return why
		}
	}
	kind := entry.get("type")
	if kind != nil && string(kind.raw(text)) != inJSON(l.form.string(text, kind)) || headers != nil && (headers.kind != '{' || len(headers.members) == 0) {
		return why
	}
	return ""
}

// variableOf is the variable that holds a header's value.
func variableOf(header string) string {
	return headerVariable + strings.ReplaceAll(strings.ToUpper(header), "-", "_")
}

// spelled is where the name of a member stands, if it stands there as it is. A table of
// TOML that others only imply, as a in a.b = 1, stands nowhere.
func spelled(text []byte, m member, name string) (at int, ok bool) {
	if m.value.to == 0 {
		return 0, false
	}
	from, to := m.from, m.value.from
	if from == to { // a table of TOML, with a head of its own
		to = m.value.to
	}
	i := bytes.LastIndex(text[from:to], []byte(name))
	return from + i, i >= 0
}

// inJSON is a string of JSON, which is one of TOML, too.
func inJSON(text string) string {
	out, err := jcs.Marshal(text)
	if err != nil {
		return ""
	}
	return string(out)
}

// change is a piece of a text and what stands in its place.
type change struct {
	from, to int
	with     string
}

// applied is a text with changes, none of which touches another.
func applied(text []byte, all []change) []byte {
	slices.SortStableFunc(all, func(a, b change) int { return b.from - a.from })
	for _, c := range all {
		text = slices.Concat(text[:c.from], []byte(c.with), text[c.to:])
	}
	return text
}

// renamed is the change of a member's name.
func renamed(text []byte, m member, to string) change {
	at, _ := spelled(text, m, m.name)
	return change{at, at + len(m.name), to}
}

func find(n *node, name string) member {
	if i := slices.IndexFunc(n.members, func(m member) bool { return m.name == name }); i >= 0 {
		return n.members[i]
	}
	return member{}
}

// bring makes the entry of a server with an address one of our gateway.
func (l List) bring(text []byte, m member, g Gateway) ([]byte, error) {
	r, entry := l.form.remote, m.value
	at, headers := find(entry, r.url), find(entry, r.headers)
	typed := entry.get("type")
	kind := l.remoteKind(l.form.string(text, typed), entry)
	flags := slices.Concat([]string{"mcp", "--name", RuleName(m.name)}, g.Place, []string{"--url", "env:" + kind.url})
	raw := string(at.value.raw(text))
	var all []change
	if typed != nil {
		all = append(all, change{typed.from, typed.to, inJSON(kind.program)})
	}
	if b := find(entry, r.bearer); b.value != nil && r.bearer != "" {
		flags = append(flags, "--header", "Authorization=Bearer env:"+l.form.string(text, b.value))
		all = append(all, renamed(text, b, r.passed), change{b.value.from, b.value.from, "["}, change{b.value.to, b.value.to, "]"})
	}
	for _, h := range members(headers.value) {
		flags = append(flags, "--header", h.name+"=env:"+variableOf(h.name))
		all = append(all, renamed(text, h, variableOf(h.name)))
	}
	put := l.program(text, entry, at, g.Program, flags)
	is := " = "
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		is = ": "
	}
	if headers.value == nil {
		put += l.gap(text, entry, at) + l.key(text, at, r.env) + "{" + l.named(kind.url, is) + raw + "}"
	} else {
		all = append(all, renamed(text, headers, r.env), l.first(text, headers.value, l.named(kind.url, is)+raw))
	}
	return applied(text, append(all, change{at.from, at.value.to, put})), nil
}

func (l List) named(name, is string) string {
	if is == ": " {
		name = inJSON(name)
	}
	return name + is
}

// program is what starts our gateway, as it stands in the place of an address.
func (l List) program(text []byte, entry *node, at member, program string, flags []string) string {
	var items []string
	for _, f := range flags {
		items = append(items, inJSON(f))
	}
	if l.form.joined {
		return l.key(text, at, "command") + "[" + inJSON(program) + ", " + strings.Join(items, ", ") + "]"
	}
	return l.key(text, at, "args") + "[" + strings.Join(items, ", ") + "]" + l.gap(text, entry, at) + l.key(text, at, "command") + inJSON(program)
}

// key is the name of a member with what stands behind it, under another name.
func (l List) key(text []byte, m member, name string) string {
	key := string(text[m.from:m.value.from])
	at := strings.LastIndex(key, m.name)
	return key[:at] + name + key[at+len(m.name):]
}

// gap is what separates two members of an entry, as before this one.
func (l List) gap(text []byte, entry *node, m member) string {
	gap := text[len(bytes.TrimRight(text[:m.from], " \t\r\n")):m.from]
	if i := bytes.LastIndexByte(gap, '\n'); i > 0 { // one line of it
		gap = gap[i:]
	}
	switch {
	case text[entry.from] == '{':
		return "," + string(gap)
	case !bytes.ContainsRune(gap, '\n'): // the first line of a file
		return "\n"
	}
	return string(gap)
}

// first puts a member before the others of an object.
func (l List) first(text []byte, object *node, item string) change {
	if text[object.from] == '[' { // a table of TOML, with a head of its own
		return change{object.to, object.to, "\n" + item}
	}
	at := object.members[0].from
	gap := string(text[object.from+1 : at])
	if strings.TrimSpace(gap) != "" {
		gap = " "
	}
	return change{at, at, item + "," + gap}
}

// giveBack makes the entry that bring made one of an address again.
func (l List) giveBack(text []byte, m member, flags []string) ([]byte, error) {
	r, entry := l.form.remote, m.value
	wrong := func(what string) ([]byte, error) {
		return nil, fmt.Errorf("%w: the entry of %s is not as sayso init mcp wrote it: %s; put it back by hand", sayso.ErrInvalid, m.name, what)
	}
	env, variable := find(entry, r.env), addressVariable(flags)
	names, bearer := headersOf(flags)
	if what := otherVariables(text, entry, env.value, variable, names); what != "" {
		return wrong(what)
	}
	var all []change
	typed := entry.get("type")
	program := l.form.string(text, typed)
	kind := slices.IndexFunc(r.kinds, func(k remoteKind) bool { return k.program == program && k.url == variable })
	switch {
	case kind < 0:
		return wrong("its type is another")
	case typed != nil:
		all = append(all, change{typed.from, typed.to, inJSON(r.kinds[kind].of)})
	}
	name, last := "args", find(entry, "command")
	if l.form.joined {
		name = "command"
	}
	first := find(entry, name)
	if !l.form.joined && !between(text, first, last) {
		return wrong("something stands between its command and its arguments")
	}
	if len(names) == 0 {
		if !between(text, last, env) || text[env.value.from] != '{' {
			return wrong("something stands between its command and its variables")
		}
		last = env
	} else {
		all = append(all, renamed(text, env, r.headers), l.unfirst(text, env.value))
		for _, v := range env.value.members[1:] {
			all = append(all, renamed(text, v, names[v.name]))
		}
	}
	if bearer {
		b := find(entry, r.passed)
		if b.value == nil || len(b.value.elements) != 1 {
			return wrong("its " + r.passed + " are others")
		}
		all = append(all, renamed(text, b, r.bearer), change{b.value.from, b.value.to, string(b.value.elements[0].raw(text))})
	}
	key := string(text[first.from:first.value.from])
	i := strings.LastIndex(key, name)
	at := env.value.get(variable)
	all = append(all, change{first.from, last.value.to, key[:i] + r.url + key[i+len(name):] + string(at.raw(text))})
	return applied(text, all), nil
}

// otherVariables says in what the variables of an entry are not those that bring wrote: that
// of the address first, then those of the headers, by their names.
func otherVariables(text []byte, entry, env *node, variable string, names map[string]string) string {
	if at := env.get(variable); at == nil || at.kind != '"' {
		return "its variables have no " + variable
	}
	for _, v := range env.members {
		if v.name != variable && names[v.name] == "" {
			return "its variables have " + v.name + ", too"
		}
	}
	if len(env.members) != 1+len(names) || env.members[0].name != variable {
		return "its variables are others, or in another order"
	}
	for _, m := range slices.Concat(entry.members, env.members) {
		if _, ok := spelled(text, m, m.name); !ok {
			return "its names are spelled in another way"
		}
	}
	return ""
}

// headersOf are the headers that flags name, by their variables, and whether a
// variable of the client's own is one.
func headersOf(flags []string) (names map[string]string, bearer bool) {
	names = map[string]string{}
	for i := 0; i+1 < len(flags); i++ {
		if flags[i] != "--header" {
			continue
		}
		name, variable, _ := strings.Cut(flags[i+1], "=env:")
		if variable != "" && variable == variableOf(name) {
			names[variable] = name
		}
		bearer = bearer || strings.HasPrefix(flags[i+1], "Authorization=Bearer env:")
	}
	return names, bearer
}

// between reports whether nothing but what separates them stands between two members.
func between(text []byte, a, b member) bool {
	return a.value != nil && b.value != nil && a.value.to <= b.from && len(bytes.Trim(text[a.value.to:b.from], " \t\r\n,")) == 0
}

// unfirst takes the first member of an object away, before another.
func (l List) unfirst(text []byte, object *node) change {
	if text[object.from] == '[' {
		return change{object.to, object.members[0].value.to, ""}
	}
	return change{object.members[0].from, object.members[1].from, ""}
}
