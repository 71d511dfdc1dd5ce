package redact

import "strings"

var shells = set(`sh bash zsh dash ksh ash fish su powershell pwsh cmd`)

// innerCommands run their argument as a command line.
var innerCommands = set(`eval ssh watch xargs parallel su script`)

// knownPrograms begin command lines. A word after an option is never hidden if
// it is one of them: nobody's password is rm.
var knownPrograms = set(`rm sh bash zsh dash ksh fish curl wget http https xh sudo doas su env export set setenv
	python python3 perl ruby node deno bun php dd mkfs chmod chown mv cp ln cat tee sed awk grep find xargs
	git gh glab npm npx yarn pnpm pip pip3 cargo go make docker podman kubectl helm terraform ansible
	ansible-playbook aws az gcloud gsutil vault openssl gpg ssh scp sftp rsync sshpass ssh-keygen zip unzip 7z 7za
	keytool jarsigner mysql mysqldump mysqladmin mariadb psql pg_dump pg_restore createdb mongo mongosh mongodump
	redis-cli ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami smbclient nc ncat netcat socat tar nohup
	timeout nice eval exec command kill pkill killall reboot shutdown halt poweroff systemctl service crontab
	mount umount iptables nft useradd userdel usermod passwd chpasswd htpasswd twine heroku fly flyctl vercel
	netlify s3cmd mc rclone lftp ftp svn hg mosquitto_pub mosquitto_sub sqlcmd bcp plink security snmpwalk
	echo printf cd ls apt apt-get yum dnf brew install truncate shred insmod chroot unshare`)

// subcommands are known programs that are also words of other programs.
var subcommands = set(`set go make install service command exec find kill export env mount security http https eval sh bash`)

var keywords = set(`if then else elif fi for while until do done case esac function time coproc`)

// base returns the last part of a program's path.
func base(program string) string {
	return strings.TrimSuffix(program[strings.LastIndexAny(program, `/\`)+1:], ".exe")
}

// promptLen returns the length of a shell prompt or list sign at the start of
// a line of a transcript or script.
func promptLen(s string) int {
	for _, p := range []string{"$ ", "% ", "> ", "+ ", "- run: ", "run: ", "RUN ", "- "} {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// commandLike reports whether a line of text reads as a command with
// arguments.
func commandLike(s string, prompted bool) bool {
	s = strings.TrimLeft(s, " \t")
	n := span0(s[:min(len(s), 200)], func(c byte) bool { return isName(c) || c == '/' })
	if n == 0 || n >= len(s) || !isBlank(s[n]) {
		return false
	}
	rest := strings.TrimLeft(s[n:], " \t")
	if rest == "" || rest[0] == '=' || rest[0] == ':' {
		return false
	}
	program := base(s[:n])
	if program == "export" && declares[rest[:span0(rest, isAlpha)]] {
		return false
	}
	return knownPrograms[program] && (prompted || program != "set" && program != "go" && program != "make" || rest[0] == '-')
}

// declares are the words behind the export of a module, which is not that of a
// shell.
var declares = set(`const let var default type interface class function async abstract declare enum`)

// commandFollows reports whether s, which stands after a sign that may join
// commands, begins with one.
func commandFollows(s string) bool {
	s = strings.TrimLeft(s, ";|& \t")
	if s == "" {
		return false
	}
	if strings.HasPrefix(s, "$(") || s[0] == '`' || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		strings.HasPrefix(s, "~/") || s[0] == '/' {
		return true
	}
	n := span0(s[:min(len(s), 64)], isName)
	return n > 0 && (n == len(s) || s[n] != '=') && (knownPrograms[s[:n]] || keywords[s[:n]])
}

// passwordReaders read a password from their input.
var passwordReaders = set(`chpasswd kinit smbpasswd`)

// secretReaders are programs that read a secret from their input if a word is
// among their first ones.
var secretReaders = map[string]string{"pass": "insert", "gopass": "insert", "secret-tool": "store", "keyring": "set", "lpass": "login", "vercel": "env"}

func texts(ws []word) (out []string) {
	for _, w := range ws {
		out = append(out, w.text)
	}
	return out
}

// readsPassword reports whether a command takes a password from its input.
func readsPassword(ws []word) bool {
	for i, w := range ws {
		if base(w.text) == "sudo" && i+1 < len(ws) && strings.HasPrefix(ws[i+1].text, "-") && strings.Contains(ws[i+1].text, "S") {
			return true
		}
		if w.text == "read" && i+1 < len(ws) && (names{}).telling(ws[len(ws)-1].text) {
			return true
		}
		if verb, ok := secretReaders[base(w.text)]; ok && contains(texts(ws[i+1:min(i+4, len(ws))]), verb) {
			return true
		}
		if passwordReaders[base(w.text)] || w.text == "passwd" && contains(texts(ws[i:]), "--stdin") {
			return true
		}
		if w.text == "--password-stdin" || w.text == "--with-token" {
			return true
		}
	}
	return storesSecrets(ws)
}

// storesSecrets reports whether a command stores what it is given as secrets:
// kubectl create secret, gh secret set, fly secrets set.
func storesSecrets(ws []word) bool {
	for i := 1; i+1 < len(ws); i++ {
		if w := ws[i].text; w == "secret" || w == "secrets" {
			switch ws[i+1].text {
			case "set", "put", "create", "add", "import", "generic", "versions":
				return true
			}
		}
		if base(ws[i-1].text) == "vault" && (ws[i].text == "write" && !steersVault(ws[i+1:]) || ws[i].text == "kv" && (ws[i+1].text == "put" || ws[i+1].text == "patch")) {
			return true
		}
	}
	return false
}

// steersVault reports whether vault writes to a place where no secrets are kept,
// but what it runs and who may do what.
func steersVault(ws []word) bool {
	for _, w := range ws {
		if !strings.HasPrefix(w.text, "-") {
			place := strings.TrimLeft(w.text, "/")
			return strings.HasPrefix(place, "sys/") || strings.HasPrefix(place, "auth/")
		}
	}
	return false
}

// fed hides what echo or printf feeds to a command that takes a password from
// its input.
func (f *finder) fed(from, to []word) {
	if f.known != nil || len(from) < 2 || !readsPassword(to) {
		return
	}
	if name := base(from[0].text); name != "echo" && name != "printf" {
		return
	}
	users := base(to[len(to)-1].text) == "chpasswd"
	for i := 1; i < len(from); i++ {
		w := &from[i]
		if strings.HasPrefix(w.text, "-") || strings.Contains(w.text, "%s") {
			continue
		}
		at := 0
		if n := strings.IndexByte(w.text, ':'); users && n > 0 {
			at = n + 1
		}
		w.secret(f, at, len(w.text), "password")
	}
}

// command searches one simple command.
type command struct {
	f     *finder
	ws    []word
	depth int
	rules *program // of the program whose arguments are read, if it has any
	shell bool     // that program runs arguments as commands
	inner bool
	say   bool            // that program only prints its arguments
	sed   bool            // its arguments are scripts of sed
	head  bool            // still before the program
	seen  map[string]bool // the words so far
	all   map[string]bool // all of them, once a program asked
	store bool            // the command stores what it is given as secrets
}

// simple searches the words of one simple command.
func (f *finder) simple(ws []word, depth int) {
	c := command{f: f, ws: ws, depth: depth, head: true, seen: map[string]bool{}}
	if f.known == nil {
		c.store = storesSecrets(ws)
		c.printed()
	}
	for i := 0; i < len(ws); i++ {
		if f.known != nil {
			c.again(i)
			continue
		}
		i += c.word(i)
	}
}

// again looks for known secrets in the word at i. Words are looked at one by
// one, so that nothing but an argument can be hidden for having been called a
// secret elsewhere. A program stays visible unless it cannot be one.
func (c *command) again(i int) {
	w := &c.ws[i]
	program := c.head && !strings.ContainsAny(w.text, "= \t\n")
	c.meet(w)
	if !program || looksRandom(w.text) {
		c.plain(i)
	}
}

// word searches the word at i and says how many words after it are done too.
func (c *command) word(i int) int {
	w := &c.ws[i]
	if c.head && c.assignment(w) {
		return 0
	}
	if done, n := c.special(i); done {
		return n
	}
	c.meet(w)
	if c.sed {
		c.script(w)
		return 0
	}
	if c.isLine(i) {
		c.f.shell(w.text, w.hide, c.depth+1)
		return 0
	}
	if name, ok := optionName(w.text); ok {
		if c.store && name == "value" {
			return c.hideNext(i, 0)
		}
		if n := c.option(i, name); n >= 0 {
			return n
		}
	}
	if c.pairWord(i) {
		return 0
	}
	if n := c.spaced(i); n >= 0 {
		return n
	}
	c.plain(i)
	return 0
}

// meet notes which program the following words belong to.
func (c *command) meet(w *word) {
	if strings.HasPrefix(w.text, "-") || strings.ContainsAny(w.text, " \t\n=") {
		return
	}
	name := base(w.text)
	c.head = c.head && keywords[name]
	c.seen[name] = true
	if p, ok := programs[name]; ok {
		c.rules = p
	} else if knownPrograms[name] && !subcommands[name] {
		c.rules = nil
	}
	if shells[name] || innerCommands[name] {
		c.shell, c.inner = shells[name], innerCommands[name]
	}
	c.say = c.say || name == "echo" || name == "printf"
	c.sed = c.sed || name == "sed" || name == "gsed"
}

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
	if c.steers(w.text[:n], w.text[len(w.text)-len(rest)+1:]) {
		return true
	}
	c.value(w, w.text[:n], len(w.text)-len(rest)+1)
	return true
}

// steers reports whether a variable with a telling name may be what runs, an
// option, or a place: whoever spends it decides by its value what is done.
func (c *command) steers(name, v string) bool {
	if c.f.line == nil || !c.f.telling(name) {
		return false
	}
	return c.f.line.runs(name) || (strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "-----") || pathLike(v)) && c.f.line.uses(name)
}

// value hides the rest of a word after its name, or searches it if the name is
// a plain one.
func (c *command) value(w *word, name string, from int) {
	v := w.text[from:]
	switch {
	case v == "" || isHidden(v):
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

// optionName returns the name of an option that has no value attached.
func optionName(text string) (string, bool) {
	name := strings.TrimLeft(text, "-")
	if name == text || name == "" || strings.ContainsAny(name, "=: \t\n") {
		return "", false
	}
	return name, true
}

// option hides the value after an option, if its name is telling. It returns
// -1 if it is not.
func (c *command) option(i int, name string) int {
	if !takesValue(name) || !c.f.telling(name) || len(name) < 3 {
		return -1
	}
	if i+1 >= len(c.ws) {
		return 0
	}
	next := &c.ws[i+1]
	if strings.HasPrefix(next.text, "-") && !looksRandom(next.text) || !next.quoted && knownPrograms[base(next.text)] {
		return 0
	}
	c.value(next, name, 0)
	return 1
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
		c.f.shell(w.text, w.hide, c.depth+1)
		return true
	}
	isOption := strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "/")
	if n := span0(w.text, isVarName); n > 0 && strings.HasPrefix(w.text[n:], "=") {
		c.f.vars.sets(w.text[:n], w, n+1)
		if c.steers(w.text[:n], w.text[n+1:]) {
			return true
		}
	}
	at := 0
	for range 4 {
		n := strings.IndexByte(w.text[at:], '=')
		if n <= 0 || n > 128 || strings.ContainsAny(w.text[at:at+n], " \t\n\"'{}&?;,") || strings.Contains(w.text[at:at+n], "://") {
			return false
		}
		name := strings.TrimSuffix(strings.TrimSuffix(w.text[at:at+n], "+"), ":")
		from := at + n + 1
		if c.f.telling(lastPart(name)) || c.stored(i, name, at > 0) {
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

// plain searches a word that is neither option nor pair: a command line if the
// program runs it as one, else a text.
func (c *command) plain(i int) {
	w := &c.ws[i]
	if c.isLine(i) {
		c.f.shell(w.text, w.hide, c.depth+1)
		return
	}
	c.f.text(w.text, w.hide, c.depth+1)
}

// isLine reports whether the program runs the word at i as a command line.
func (c *command) isLine(i int) bool {
	if !strings.ContainsAny(c.ws[i].text, " \t\n;|&") {
		return false
	}
	if c.inner || i == 0 || !c.shell {
		return c.inner
	}
	prev := strings.ToLower(c.ws[i-1].text)
	return prev == "/c" || prev == "-command" || strings.HasPrefix(prev, "-") && strings.HasSuffix(prev, "c")
}

// quotedLine reports whether the word at i is an assignment and more, quoted as
// a whole and no value of an option: somebody's command line, such as that of a
// program not known here.
func (c *command) quotedLine(i int) bool {
	w := &c.ws[i]
	if i == 0 || strings.HasPrefix(c.ws[i-1].text, "-") || len(w.quotes) != 1 || w.quotes[0].from != 0 {
		return false
	}
	return span0(w.text, isVarName) < strings.IndexAny(w.text+" ", " \t\n;|&") && strings.ContainsAny(w.text, " \t\n;|")
}
