package redact

import "strings"

// reader reads one text for names and the values that stand after them.
type reader struct {
	f     *finder
	s     string
	h     hide
	depth int

	named   string    // a telling name given as a value: name: TOKEN
	namedAt int       // where
	last    [2]string // the two names before, the nearer one last
	lastEnd int

	brackets brackets

	manifest bool   // the text declares a Kubernetes secret: its data is one
	section  string // the telling name of the section in which the lines at hand stand
	lineTo   int    // up to where a command in the middle of a line was read
}

// text finds the secrets in a text of any kind: prose, settings, code, a
// document, a transcript of commands.
func (f *finder) text(s string, h hide, depth int) {
	if f.known != nil {
		for _, sp := range f.known.find(s, nil) {
			h(sp.from, sp.to, sp.size, sp.key)
		}
		return
	}
	if len(s) < 3 {
		return
	}
	if depth > maxDepth {
		f.shapes(s, h)
		return
	}
	if looksJSON(s) && f.json(s, h, depth) {
		return
	}
	f.shapes(s, h)
	if !mayName(s) {
		return
	}
	r := &reader{f: f, s: s, h: h, depth: depth, manifest: strings.Contains(s, "kind: Secret")}
	r.run()
}

// mayName reports whether s holds any of the signs that stand between names
// and values, or a word after which a blank will do. Most words of a command
// line do not.
func mayName(s string) bool {
	if strings.ContainsAny(s, "=:-<'\"") {
		return true
	}
	for _, w := range []string{"assw", "ASSW", "ENV ", "env ", " set ", "requirepass", "masterauth", "rootpw", "bindpw", "dentified by ", "DENTIFIED BY "} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func (r *reader) run() {
	for i := 0; i < len(r.s); {
		if i == 0 || r.s[i-1] == '\n' {
			if n := r.line(i); n > 0 {
				i += n
				continue
			}
		}
		switch c := r.s[i]; {
		case isName(c) && c != '-' && c != '.':
			i = r.word(i)
		case c == '-' && i+2 < len(r.s) && (i == 0 || !isName(r.s[i-1])):
			i = r.option(i)
		default:
			i++
		}
	}
}

// line reads a line that is something of its own: a command, a JSON document.
// It returns its length, or 0 if it is just text.
func (r *reader) line(i int) int {
	if r.depth >= maxDepth {
		return 0
	}
	end := lineEnd(r.s, i)
	lead := span0(r.s[i:end], isBlank)
	rest := r.s[i+lead : end]
	if name := sectionName(rest); name != "" {
		if r.section = ""; r.f.telling(name) {
			r.section = name
		}
	}
	part := i > 0 || end < len(r.s)
	if part && looksJSON(rest) && r.f.json(rest, shift(r.h, i+lead), r.depth+1) {
		return end - i
	}
	n := promptLen(rest)
	if !commandLike(rest[n:], n > 0) {
		return 0
	}
	for strings.HasSuffix(r.s[i:end], "\\") && end < len(r.s) {
		end = lineEnd(r.s, end+1)
	}
	from := i + lead + n
	r.f.shell(r.s[from:end], shift(r.h, from), r.depth+1)
	return max(1, end-i)
}

// word reads the name at i and, if it is telling, the value after it. It
// returns where to read on.
func (r *reader) word(i int) int {
	s := r.s
	j := i + span0(s[i:], isName)
	end := j
	for end > i && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	if n := schemeEnd(s[i:j], s[j:]); n > 0 {
		return r.f.address(s, i, j+n, r.h, r.depth)
	}
	if from, to, ok := r.oraclePassword(i, j); ok {
		r.f.foundText(s, from, to, "password", r.h, r.depth)
		return to
	}
	name := s[i:end]
	if j > r.lineTo && programs[name] != nil {
		r.commandInside(i, j)
	}
	next := r.valueAfter(i, j, end, name)
	r.last[0], r.last[1], r.lastEnd = r.last[1], name, end
	return next
}

// commandInside reads a command in the middle of a line, from its program on:
// "run curl -u …".
func (r *reader) commandInside(i, j int) {
	end := lineEnd(r.s, j)
	if i > 0 && r.s[i-1] == '`' {
		if n := strings.IndexByte(r.s[j:end], '`'); n > 0 {
			end = j + n
		}
	}
	r.lineTo = end
	if r.depth < maxDepth && j < end && isBlank(r.s[j]) && strings.Contains(r.s[j:end], " -") {
		r.f.shell(r.s[i:end], shift(r.h, i), r.depth+1)
	}
}

// sectionName returns the name of a section that begins with this line, as in
// settings files: [name].
func sectionName(line string) string {
	line = strings.TrimRight(line, " \t\r")
	if len(line) < 3 || line[0] != '[' || line[len(line)-1] != ']' {
		return ""
	}
	name := strings.Trim(line, "[] ")
	if span0(name, func(c byte) bool { return isName(c) || c == ' ' || c == '"' || c == ':' }) != len(name) {
		return ""
	}
	return name
}

// valueAfter looks for a value after the name s[i:end], which is read up to j.
func (r *reader) valueAfter(i, j, end int, name string) int {
	if at, ok := r.pairCall(j, name); ok {
		v := value{reader: r, name: "password", start: i, nameEnd: end, delim: loose}
		return max(j, v.read(at))
	}
	if at, ok := r.given(i, j, name); ok {
		v := value{reader: r, name: name, start: i, nameEnd: end, delim: loose}
		return max(j, v.read(at))
	}
	d, at, ok := r.delimiter(i, j)
	if !ok {
		return r.spaced(i, j, name)
	}
	full := r.fullName(i, name)
	secret, given := r.telling(full, at)
	secret = secret || d == tight && r.inConnection(i, name)
	if !secret && r.section != "" && !spares(r.section, name, false) && (d == tight || d == loose) {
		secret = (&value{reader: r, start: i}).leads()
	}
	if !secret {
		r.noteName(name, at)
		return j
	}
	if given != "" {
		full = given
	}
	v := value{reader: r, name: full, start: i, nameEnd: end, delim: d}
	return max(j, v.read(at))
}

// telling reports whether the value after a name is to be hidden, and under
// which name if that was given before.
func (r *reader) telling(name string, at int) (secret bool, given string) {
	if r.f.telling(name) {
		return true, ""
	}
	if r.named != "" && at-r.namedAt < 200 && valueName(name) {
		given, r.named = r.named, ""
		return true, given
	}
	return r.manifest && (name == "data" || name == "stringData"), ""
}

// noteName remembers that a member called name or key holds a telling name, as
// in lists of variables; the member called value beside it is the secret.
func (r *reader) noteName(name string, at int) {
	if !nameName(name) {
		return
	}
	rest := strings.TrimLeft(r.s[at:min(len(r.s), at+120)], " \t\\\"'")
	n := span0(rest, isName)
	if r.f.telling(rest[:n]) {
		r.named, r.namedAt = rest[:n], at
	}
}

func nameName(name string) bool {
	switch strings.ToLower(name) {
	case "name", "key", "header", "field", "variable", "var", "envvar", "k":
		return true
	}
	return false
}

func valueName(name string) bool {
	switch strings.ToLower(name) {
	case "value", "val", "content", "default", "data", "v", "stringvalue", "plaintext":
		return true
	}
	return false
}

// fullName joins a name with the word before it where only both together tell:
// "api key: …".
func (r *reader) fullName(i int, name string) string {
	if r.lastEnd > 0 && r.lastEnd == i-1 && r.s[r.lastEnd] == ' ' && !r.f.names.telling(name) {
		both := r.last[1] + " " + name
		ws, own := words(both), words(r.last[1])
		if len(ws) == 2 && len(own) == 1 && r.f.names.pair(ws[0]+ws[1]) {
			return both
		}
	}
	return name
}

// delim is what stands between a name and its value.
type delim byte

const (
	tight  delim = iota // name=value
	loose               // name = value
	colon               // name: value
	query               // ?name=value, &name=value
	markup              // <name>value<
)

// delimiter reads what follows a name: closing quotes, blanks and one of the
// signs that give a value. It returns where the value may begin.
func (r *reader) delimiter(i, j int) (delim, int, bool) {
	s := r.s
	if i > 0 && s[i-1] == '<' && j < len(s) && s[j] == '>' {
		return markup, j + 1, true
	}
	k := j + span0(s[j:], func(c byte) bool { return c == '\\' })
	if k < len(s) && isQuote(s[k]) {
		k++
	} else {
		k = j
	}
	if k < len(s) && s[k] == ']' {
		k++
	}
	b := k + span0(s[k:], isBlank)
	if b >= len(s) {
		return 0, 0, false
	}
	switch {
	case s[b] == '=' && b == k && !strings.HasPrefix(s[b:], "==") && !strings.HasPrefix(s[b:], "=>"):
		if i > 0 && (s[i-1] == '?' || s[i-1] == '&') {
			return query, b + 1, true
		}
		if b+1 < len(s) && isBlank(s[b+1]) {
			return tight, b + 1, true // an empty value
		}
		return tight, b + 1, true
	case s[b] == '=' && !strings.HasPrefix(s[b:], "=~"):
		return loose, b + span0(s[b:], func(c byte) bool { return c == '=' || c == '>' }), true
	case s[b] == ':' && !strings.HasPrefix(s[b:], "::"):
		return colon, b + 1 + span0(s[b+1:min(len(s), b+2)], func(c byte) bool { return c == '=' }), true
	case strings.IndexByte("+?!", s[b]) >= 0 && b+1 < len(s) && s[b+1] == '=':
		return loose, b + 2 + span0(s[b+2:], func(c byte) bool { return c == '=' }), true
	}
	return 0, 0, false
}

// spaced reads the few forms in which only a blank stands between a name and
// its value: password 'x' in a query, login and password in a netrc file.
func (r *reader) spaced(i, j int, name string) int {
	s := r.s
	b := j + span0(s[j:], isBlank)
	if b == j || b >= len(s) || !r.f.telling(name) && !strings.EqualFold(name, "by") {
		return j
	}
	identified := strings.EqualFold(name, "by") && r.identified(i)
	strong := !r.f.names.weak(name) || identified
	switch {
	case identified && !isQuote(s[b]) && s[b] != '\\':
		return r.said(j, b, "password")
	case strong && (s[b] == '\'' || s[b] == '"'):
		v := value{reader: r, name: name, start: i, nameEnd: j, delim: loose}
		if v.closes(b) {
			return max(j, v.read(b))
		}
	case r.last[1] == "ENV" || r.last[1] == "setenv":
		to := lineEnd(s, b)
		r.f.foundText(s, b, to, name, r.h, r.depth)
		return to
	case strings.EqualFold(name, "password") && r.afterLogin(i):
		to := r.wordEnd(b)
		r.f.foundText(s, b, to, name, r.h, r.depth)
		return max(j, to)
	case strong && strings.HasPrefix(s[b:], "is "):
		return r.said(j, b+3, name)
	}
	return r.setting(i, j, b, name)
}

// identified reports whether the word at i stands behind IDENTIFIED, or behind
// IDENTIFIED WITH a plugin, as in what makes users of a database.
func (r *reader) identified(i int) bool {
	words := strings.Fields(strings.ToLower(r.s[max(0, i-100):i]))
	n := len(words)
	return n > 0 && words[n-1] == "identified" || n > 2 && words[n-3] == "identified" && words[n-2] == "with"
}

// afterLogin reports whether "login NAME" stands before i.
func (r *reader) afterLogin(i int) bool {
	before, ok := strings.CutSuffix(strings.TrimRight(r.s[max(0, i-200):i], " \t\r\n"), r.last[1])
	return ok && r.last[1] != "" && strings.HasSuffix(strings.TrimRight(before, " \t\r\n"), "login")
}

// said reads "the password is …" when what follows is no ordinary word.
func (r *reader) said(j, from int, name string) int {
	from += span0(r.s[from:], func(c byte) bool { return isBlank(c) || isQuote(c) })
	to := from + span0(r.s[from:], func(c byte) bool { return !isSpace(c) && !isQuote(c) && c != ',' && c != ';' })
	v := strings.TrimRight(r.s[from:to], ".!?)")
	if len(v) < 6 || !strings.ContainsAny(v, "0123456789") || isReference(v) {
		return j
	}
	r.f.found(r.s, from, from+len(v), name, r.h)
	return to
}

// proseWords follow an option in a sentence about it.
var proseWords = set(`to is the a an and or for flag flags option options with in on from if when as
	parameter argument value must should will can not are was be has requires instead of`)

// option reads an option in a text that is no command: --token x.
func (r *reader) option(i int) int {
	s := r.s
	from := i + span0(s[i:], func(c byte) bool { return c == '-' })
	j := from + span0(s[from:], isName)
	name := s[from:j]
	if j == from || from-i > 2 || !takesValue(name) || !r.f.telling(name) {
		return max(from, i+1)
	}
	b := j + span0(s[j:], isBlank)
	if b == j || b >= len(s) || s[b] == '-' || s[b] == '\n' {
		return from
	}
	to := r.wordEnd(b)
	if isQuote(s[b]) {
		v := value{reader: r, name: name, start: i, nameEnd: j, delim: loose}
		if v.closes(b) {
			return max(j, v.read(b))
		}
		return from
	}
	if v := s[b:to]; proseWords[strings.ToLower(v)] || isReference(v) || plainFigure(name, v) || isPlace(name, v) || knownPrograms[v] {
		return j
	}
	r.f.foundText(s, b, to, name, r.h, r.depth)
	return to
}

// notValue are words of options that say something about a secret and take
// none: --password-stdin, --with-token, --no-session.
var notValue = set(`stdin no with ask prompt show without use exit only list`)

// takesValue reports whether an option of this name is followed by a value.
func takesValue(name string) bool {
	for _, w := range words(name) {
		if notValue[w] {
			return false
		}
	}
	return true
}
