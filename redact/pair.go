package redact

import "strings"

// assignment searches NAME=value and NAME+=value before the program.
func (c *command) assignment(w *word) bool {
	n := span0(w.text, isVarName)
	if n == 0 || isDigit(w.text[0]) {
		return false
	}
	rest := w.text[n:]
	if strings.HasPrefix(rest, "[") {
		if k := strings.IndexByte(rest, ']'); k > 0 {
			rest = rest[k+1:]
		}
	}
	rest = strings.TrimPrefix(rest, "+")
	if !strings.HasPrefix(rest, "=") {
		return false
	}
	c.f.vars.sets(w.text[:n], w, len(w.text)-len(rest)+1)
	c.value(w, w.text[:n], len(w.text)-len(rest)+1)
	return true
}

// value hides the rest of a word after its name, or searches it if the name is
// a plain one.
func (c *command) value(w *word, name string, from int) {
	v := w.text[from:]
	switch {
	case v == "" || isHidden(v):
	case runsSecret(name):
		c.f.shell(v, w.from(from), c.depth+1)
	case !c.f.telling(name):
		c.f.text(v, w.from(from), c.depth+1)
	case plainFigure(name, v), isPlace(name, v):
	default:
		if strings.Contains(strings.ToLower(name), "auth") {
			from += schemeLen(v)
		}
		w.secret(c.f, from, len(w.text), name)
	}
}

// pairWord searches a word that is a name and a value: --password=x, -Dkey=x,
// TOKEN=x, --set=auth.password=x. The value of an option or a variable takes
// the rest of the word; that of a field of a form ends before the next field.
func (c *command) pairWord(i int) bool {
	w := &c.ws[i]
	if c.say {
		return false
	}
	if c.quotedLine(i) {
		c.loosely(func() { c.f.shell(w.text, w.hide, c.depth+1) })
		return true
	}
	isOption := strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "/")
	if n := span0(w.text, isVarName); n > 0 && strings.HasPrefix(w.text[n:], "=") {
		c.f.vars.sets(w.text[:n], w, n+1)
	}
	at := 0
	for range 4 {
		n := strings.IndexByte(w.text[at:], '=')
		if n <= 0 || n > 128 || strings.ContainsAny(w.text[at:at+n], " \t\n\"'{}&?;,") || strings.Contains(w.text[at:at+n], "://") {
			return false
		}
		name := strings.TrimSuffix(strings.TrimSuffix(w.text[at:at+n], "+"), ":")
		from := at + n + 1
		if runsSecret(lastPart(name)) {
			c.f.shell(w.text[from:], w.from(from), c.depth+1)
			return true
		}
		if c.f.telling(lastPart(name)) && c.sendsFile(i, w.text[from:]) {
			return true
		}
		stored := c.stored(i, name, at > 0)
		if c.f.telling(lastPart(name)) || stored {
			if !stored && !c.takesPair(i, at, w.text[from:]) {
				c.f.text(w.text[from:], w.from(from), c.depth+1)
				return true
			}
			c.pairValue(w, lastPart(name), from, isOption || name == strings.ToUpper(name))
			return true
		}
		if !isOption {
			return false
		}
		at = from
	}
	return false
}

// pairTakers are words behind which a pair sets a variable or a secret, and
// pairOptions are options that take a pair.
var (
	pairTakers = set(`env export declare typeset local readonly setenv sudo doas su op item http https xh xhs heroku
		set config:set env:set set-env set-environment`)
	pairOptions = set(`e env env-var env-vars envvar v var vars var-string set set-string set-literal build-arg from-literal
		d data data-raw data-ascii data-binary data-urlencode url-query F form form-string field raw-field H header b cookie
		param params parameter parameters setting settings variable variables define D P c config conf option options opt opts
		extra-vars set-env-vars update-env-vars property properties o dbname`)
)

// sendsFile reports whether the value of a pair is the name of a file that the
// program sends: -F token=@id_rsa.
func (c *command) sendsFile(i int, v string) bool {
	if !strings.HasPrefix(v, "@") || looksRandom(v) {
		return false
	}
	option, _, attached := strings.Cut(c.ws[i].text, "=")
	if !attached || !strings.HasPrefix(option, "-") {
		option = c.ws[max(0, i-1)].text
	}
	return fileOptions[option] || c.seen["http"] || c.seen["https"] || c.seen["xh"] || c.seen["xhs"]
}

// fileOptions take a pair whose value may be the name of a file.
var fileOptions = set(`-F --form --field`)

// builders put their pairs into what they run, and doers run or delete what
// theirs say.
var (
	builders = set(`make gmake bmake just task rake scons`)
	doers    = set(`alias find rm`)
)

// takesPair reports whether a program is known to take the value of the pair at i
// as a secret, or the value is one that nobody would give to anything else.
func (c *command) takesPair(i, nested int, v string) bool {
	switch {
	case c.head || looksRandom(v):
		return true
	case c.does:
		return false
	case c.builds:
		return likeSecret(v)
	case strings.HasPrefix(c.ws[i].text, "-"):
		option, _, _ := strings.Cut(c.ws[i].text, "=")
		return nested == 0 || pairOptions[strings.TrimLeft(option, "-")] || likeSecret(v)
	case i > 0 && strings.HasPrefix(c.ws[i-1].text, "-") && pairOptions[strings.TrimLeft(c.ws[i-1].text, "-")]:
		return true
	}
	return c.takes || likeSecret(v)
}

// stored reports whether the pair is one of those that a command stores as
// secrets: a variable, or what follows --from-literal=.
func (c *command) stored(i int, name string, nested bool) bool {
	_, v, _ := strings.Cut(c.ws[i].text, "=")
	return c.store && (nested == strings.HasPrefix(c.ws[i].text, "--from-literal=") && name[0] != '-' || name == "--value") &&
		!steering[name] && !strings.HasPrefix(v, "@")
}

// steering are names of what a server of secrets runs or allows.
var steering = set(`command policy policies`)

// lastPart drops dashes and what stands before a colon: //host/:_authToken.
func lastPart(name string) string {
	name = strings.TrimLeft(name, "-/")
	if i := strings.LastIndexByte(name, ':'); i >= 0 && i+1 < len(name) {
		return name[i+1:]
	}
	return name
}

func (c *command) pairValue(w *word, name string, from int, toEnd bool) {
	to := len(w.text)
	for i := from; i < to && !toEnd; i++ {
		if strings.IndexByte("&;,", w.text[i]) >= 0 && nextPair(w.text[i+1:]) || w.text[i] == '\n' {
			to = i
		}
	}
	if toEnd {
		if i := nextField(w.text[from:]); i >= 0 {
			to = from + i
		}
	}
	if i := nextPlace(w.text[from:to]); i >= 0 {
		to = from + i
	}
	if to < len(w.text) {
		c.f.text(w.text[to:], w.from(to), c.depth+1)
	}
	v := *w
	v.text = w.text[:to]
	if isHidden(v.text[from:]) || plainFigure(name, v.text[from:]) || isPlace(name, v.text[from:]) {
		return
	}
	if strings.Contains(strings.ToLower(name), "auth") {
		from += schemeLen(v.text[from:])
	}
	v.secret(c.f, from, to, name)
}

// nextField finds the comma before the next name in --set a=x,b=y.
func nextField(s string) int {
	for i := range len(s) {
		if s[i] == ',' && nextPair(s[i+1:]) {
			return i
		}
	}
	return -1
}

// placeNames are members of a connection string of PostgreSQL that say where it goes
// and what it reads.
var placeNames = set(`host hostaddr port dbname user service servicefile passfile options sslmode sslcert sslkey
	sslrootcert sslcrl requirepeer krbsrvname gsslib application_name connect_timeout target_session_attrs`)

// nextPlace finds the blank before the next such member of a connection string.
func nextPlace(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if !isSpace(s[i]) || isSpace(s[i+1]) {
			continue
		}
		rest := s[i+1:]
		name := rest[:span0(rest, isVarName)]
		if placeNames[name] && strings.HasPrefix(strings.TrimLeft(rest[len(name):], " "), "=") {
			return i
		}
	}
	return -1
}

// nextPair reports whether s begins with a name and an equals sign.
func nextPair(s string) bool {
	n := span0(s[:min(len(s), 64)], isName)
	return n > 0 && n < len(s) && s[n] == '='
}

// spaced searches forms in which name and value are words of their own:
// "Authorization:" Bearer x, password = x, config set auth-token x.
func (c *command) spaced(i int) int {
	w := &c.ws[i]
	name := strings.TrimRight(w.text, ":=")
	if name == "" || len(w.dynamic) > 0 && !strings.HasPrefix(name, "$env:") || span0(strings.TrimPrefix(name, "$"), func(b byte) bool { return isName(b) || b == '/' || b == ':' }) != len(strings.TrimPrefix(name, "$")) || !c.f.telling(lastPart(name)) {
		return -1
	}
	switch {
	case name != w.text:
		return c.following(i, i+1, lastPart(name))
	case i+2 < len(c.ws) && c.ws[i+2].quoted && (c.ws[i+1].text == "=" || c.ws[i+1].text == ":=" || c.ws[i+1].text == ":"):
		return c.following(i, i+2, lastPart(name))
	case i > 0 && c.ws[0].text == "set" && !looksRandom(c.ws[min(i+1, len(c.ws)-1)].text): // in most shells it sets $1, $2
		return -1
	case i > 0 && i+2 == len(c.ws) && c.setsBefore(i), i > 0 && i+1 < len(c.ws) && !strings.Contains(c.ws[i+1].text, "=") && c.putsBefore(i):
		return c.following(i, i+1, lastPart(name))
	}
	return -1
}

// setsBefore reports whether the word before i sets what is named at i.
func (c *command) setsBefore(i int) bool {
	switch strings.ToLower(c.ws[i-1].text) {
	case "set", "config", "setenv", "--add", "--global", "--local", "--replace-all", "--system":
		return true
	}
	return c.ws[0].text == "setenv" || c.ws[0].text == "setx" || c.ws[0].text == "set"
}

// putsBefore reports whether the word before i sets what is named at i, and
// options alone follow the value.
func (c *command) putsBefore(i int) bool {
	return (c.ws[i-1].text == "set" || c.ws[i-1].text == "put") && (i+2 == len(c.ws) || strings.HasPrefix(c.ws[i+2].text, "-"))
}

// following hides the word at v, or the one after it if that is an
// authorization scheme.
func (c *command) following(i, v int, name string) int {
	if v < len(c.ws)-1 && schemeLen(c.ws[v].text+" x") > 0 {
		v++
	}
	if v >= len(c.ws) || strings.HasPrefix(c.ws[v].text, "-") {
		return v - i - 1
	}
	if bare := c.ws[v].text; !c.ws[v].quoted && (knownPrograms[bare] || typeNames[strings.ToLower(bare)] || strings.HasPrefix(bare, "${{") || strings.HasPrefix(bare, "{{")) {
		return v - i - 1
	}
	c.value(&c.ws[v], name, 0)
	return v - i
}
