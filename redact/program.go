package redact

import "strings"

// program is what is known of the options of one program that take a secret
// although their names do not tell.
type program struct {
	attached string   // letters whose value is attached: mysql -pX
	apart    string   // letters whose value is attached or the next word
	userPass []string // options whose value is name:password
	sep      string   // between name and password; a colon if empty
	next     []string // options whose value is the next word
	joins    bool     // those of one letter may have it attached
	cookies  []string // options whose value is cookies or the name of a file
	keyed    []string // options whose value is pass:X or env:X
	last     []string // options that make the last word a password
	only     string   // a word that must stand before, such as login
	with     string   // a word that must stand anywhere
	named    []string // options whose value is the name of a secret, or of something else that is none
	form     []string // options whose value is fields of a form
	bare     []string // options that take no value, although their names tell
	places   bool     // words are name/password@place
	sign     string   // what begins words that are passwords
	// after are words, in small letters, behind which a password stands: how many
	// words further, 0 for the last word of all.
	after map[string]int
}

// programs are those by the names they are started under.
var programs = func() map[string]*program {
	m := map[string]*program{}
	for names, p := range map[string]program{
		"curl": {userPass: []string{"-u", "--user", "-U", "--proxy-user", "-x", "--proxy", "-E", "--cert"}, cookies: []string{"-b", "--cookie"}, next: []string{"--pass", "--proxy-pass", "--oauth2-bearer", "--tlspassword", "--proxy-tlspassword"},
			form: []string{"-d", "--data", "--data-raw", "--data-ascii", "--data-binary", "--data-urlencode", "-F", "--form", "--form-string", "--url-query"}},
		"http https xh xhs": {userPass: []string{"-a", "--auth"}},
		"wget aria2c":       {next: []string{"--http-passwd", "--ftp-passwd", "--http-pass"}},
		"mysql mysqldump mysqlimport mysqlshow mysqlcheck mysqlsh mariadb mariadb-dump mycli":                                              {attached: "p"},
		"mongo mongosh mongodump mongorestore mongoimport mongoexport cqlsh sshpass twine snowsql clickhouse-client beeline rabbitmqadmin": {apart: "p"},
		"mysqladmin mariadb-admin":              {attached: "p", after: map[string]int{"password": 1}},
		"npm pnpm yarn":                         {after: map[string]int{"_auth": 1}},
		"7z 7za 7zr rar unrar":                  {attached: "p"},
		"redis-cli":                             {apart: "a", next: []string{"--pass"}, after: map[string]int{"auth": 0}, sign: ">"},
		"rabbitmqctl":                           {after: map[string]int{"add_user": 2, "change_password": 2, "authenticate_user": 2}},
		"nmcli":                                 {after: map[string]int{"password": 1, "wifi-sec.psk": 1, "802-11-wireless-security.psk": 1}},
		"vault":                                 {after: map[string]int{"login": 1, "unseal": 1}},
		"pulumi":                                {after: map[string]int{"set": 2}, with: "--secret", bare: []string{"--secret"}},
		"aws":                                   {next: []string{"--value"}, with: "SecureString", named: []string{"--secret-id", "--secret-ids", "--role-session-name", "--session-name"}},
		"oc cf":                                 {apart: "p", only: "login"},
		"poetry":                                {apart: "p", only: "publish"},
		"netlify":                               {next: []string{"--auth", "-a"}},
		"vercel":                                {next: []string{"-t"}},
		"doctl":                                 {next: []string{"-t"}},
		"snyk":                                  {after: map[string]int{"auth": 1}},
		"ngrok":                                 {after: map[string]int{"authtoken": 1}},
		"cargo":                                 {after: map[string]int{"login": 1}},
		"gcloud":                                {after: map[string]int{"activate-refresh-token": 2}, named: []string{"--secret", "--set-secrets", "--update-secrets", "--remove-secrets"}},
		"doppler dotenvx":                       {after: map[string]int{"set": 2}},
		"chamber":                               {after: map[string]int{"write": 3}},
		"bw":                                    {after: map[string]int{"unlock": 1, "login": 2}},
		"ansible-vault":                         {after: map[string]int{"encrypt_string": 1}},
		"samba-tool":                            {after: map[string]int{"create": 2}, only: "user"},
		"etcdctl":                               {userPass: []string{"--user"}},
		"sqlplus sqlcl expdp impdp sqlldr rman": {places: true},
		"ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare ldapmodrdn": {apart: "w"},
		"ldappasswd": {apart: "wsa"},
		"smbclient rpcclient net smbmap mount.cifs": {userPass: []string{"-U", "--user"}, sep: "%"},
		"lftp": {userPass: []string{"-u", "--user"}, sep: ","},
		"zip unzip zipcloak sqlcmd bcp tsql mosquitto_pub mosquitto_sub": {apart: "P"},
		"openssl":                               {keyed: []string{"-pass", "-passin", "-passout", "-password"}, next: []string{"-k", "-K", "-macopt"}, after: map[string]int{"passwd": 1}},
		"docker podman nerdctl buildah":         {apart: "p", only: "login", named: []string{"--secret"}},
		"helm skopeo crane oras az":             {apart: "p", only: "login"},
		"skopeo-copy":                           {userPass: []string{"--creds", "--src-creds", "--dest-creds"}},
		"ssh-keygen":                            {joins: true, next: []string{"-N", "-P"}},
		"plink putty pscp psftp":                {next: []string{"-pw"}},
		"snmpwalk snmpget snmpset snmpbulkwalk": {joins: true, next: []string{"-A", "-X", "-c"}},
		"htpasswd":                              {last: []string{"-b", "-bc", "-nb", "-cb", "-nbB", "-bB", "-Bb", "-Bbn", "-nbm", "-bn"}},
		"useradd usermod":                       {joins: true, next: []string{"-p", "--password"}},
		"security":                              {joins: true, next: []string{"-w", "-p"}},
		"keytool jarsigner":                     {next: []string{"-storepass", "-keypass", "-srcstorepass", "-deststorepass"}},
		"ipmitool":                              {joins: true, next: []string{"-P"}},
		"gh":                                    {next: []string{"--body"}, apart: "b", only: "secret"},
		"gpg gpg2":                              {next: []string{"--passphrase"}},
	} {
		for _, name := range strings.Fields(names) {
			m[name] = &p
		}
	}
	return m
}()

// special applies the rules of the program in force to the word at i. It
// reports whether the word is done, and how many words after it are too.
func (c *command) special(i int) (bool, int) {
	p, w := c.rules, &c.ws[i]
	if p != nil && len(p.named) > 0 {
		if n := c.named(p, i); n >= 0 {
			return true, n
		}
	}
	if p == nil || len(w.text) < 2 || p.only != "" && !c.seen[p.only] || p.with != "" && !c.has(p.with) {
		return false, 0
	}
	if w.text[0] != '-' {
		return c.operand(p, i)
	}
	switch {
	case contains(p.bare, w.text):
		return true, 0
	case contains(p.next, w.text):
		return true, c.hideNext(i, 0)
	case c.attached(p, w):
		return true, 0
	case contains(p.keyed, w.text):
		return true, c.keyedNext(i)
	case contains(p.cookies, w.text):
		return true, c.cookieNext(i)
	case contains(p.form, w.text):
		return true, c.formNext(i)
	}
	if n, ok := c.userPassword(p, i); ok {
		return true, n
	}
	return c.letter(p, i)
}

// attached hides the value that stands in the word of an option: -Nx, --body=x.
func (c *command) attached(p *program, w *word) bool {
	for _, option := range p.next {
		from := len(option)
		if long := strings.HasPrefix(option, "--"); long {
			option += "="
			from++
		} else if len(option) != 2 || !p.joins {
			continue
		}
		if strings.HasPrefix(w.text, option) {
			w.secret(c.f, from, len(w.text), "password")
			return true
		}
	}
	return false
}

// has reports whether a word is among those of the command.
func (c *command) has(word string) bool {
	if c.all == nil {
		c.all = map[string]bool{}
		for i := range c.ws {
			_, value, _ := strings.Cut(c.ws[i].text, "=")
			c.all[c.ws[i].text], c.all[value] = true, true
		}
	}
	return c.all[word]
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// letter applies options of one letter with a value attached or after them.
func (c *command) letter(p *program, i int) (bool, int) {
	w := &c.ws[i]
	l := w.text[1:2]
	if w.text[1] == '-' || !strings.Contains(p.attached+p.apart, l) {
		return false, 0
	}
	if len(w.text) > 2 {
		if name, _, ok := strings.Cut(w.text[1:], "="); ok && c.f.telling(name) {
			return false, 0
		}
		w.secret(c.f, 2, len(w.text), "password")
		return true, 0
	}
	if !strings.Contains(p.apart, l) {
		return false, 0
	}
	return true, c.hideNext(i, 0)
}

// hideNext hides the word after i from the given byte on.
func (c *command) hideNext(i, from int) int {
	if i+1 >= len(c.ws) {
		return 0
	}
	next := &c.ws[i+1]
	next.secret(c.f, from, len(next.text), "password")
	return 1
}

// keyedNext hides X of pass:X.
func (c *command) keyedNext(i int) int {
	if i+1 >= len(c.ws) || !strings.HasPrefix(c.ws[i+1].text, "pass:") {
		return 0
	}
	return c.hideNext(i, len("pass:"))
}

// cookieNext hides cookies, but not the name of a file that holds them.
func (c *command) cookieNext(i int) int {
	if i+1 >= len(c.ws) || !strings.Contains(c.ws[i+1].text, "=") {
		return 0
	}
	next := &c.ws[i+1]
	next.secret(c.f, 0, len(next.text), "cookie")
	return 1
}

// named searches the value of an option that names a secret, as a text like any
// other. It returns how many words are done, -1 if there is no such option at i.
func (c *command) named(p *program, i int) int {
	w := &c.ws[i]
	option, value, attached := strings.Cut(w.text, "=")
	switch {
	case !contains(p.named, option):
		return -1
	case attached:
		c.f.shapes(value, w.from(len(option)+1))
	case i+1 < len(c.ws):
		next := &c.ws[i+1]
		c.f.shapes(next.text, next.hide)
		return 1
	}
	return 0
}

// formNext searches the fields of a form, among whose names are some that tell
// nothing elsewhere.
func (c *command) formNext(i int) int {
	if i+1 >= len(c.ws) {
		return 0
	}
	next := &c.ws[i+1]
	if strings.HasPrefix(next.text, "@") { // a file
		c.f.shapes(next.text, next.hide)
		return 1
	}
	if !strings.ContainsAny(next.text, " \t\n{\"") {
		for from := 0; from < len(next.text); from++ {
			from = c.f.parameter(next.text, from, len(next.text), next.hide, c.depth)
		}
	}
	if !c.pairWord(i + 1) {
		c.plain(i + 1)
	}
	return 1
}

// userPassword hides the password of name:password, attached to the option or
// after it.
func (c *command) userPassword(p *program, i int) (int, bool) {
	w := &c.ws[i]
	for _, opt := range p.userPass {
		if w.text == opt {
			if i+1 < len(c.ws) {
				c.afterSeparator(&c.ws[i+1], 0, p, opt)
			}
			return 1, true
		}
		if opt == "-u" && strings.HasSuffix(w.text, "u") && span0(w.text[1:], isAlpha) == len(w.text)-1 && i+1 < len(c.ws) {
			c.afterSeparator(&c.ws[i+1], 0, p, opt) // letters in one word: -su
			return 1, true
		}
		if len(opt) == 2 && strings.HasPrefix(w.text, opt) {
			c.afterSeparator(w, 2, p, opt)
			return 0, true
		}
		if len(opt) > 2 && strings.HasPrefix(w.text, opt+"=") {
			c.afterSeparator(w, len(opt)+1, p, opt)
			return 0, true
		}
	}
	return 0, false
}

func (c *command) afterSeparator(w *word, from int, p *program, opt string) {
	sep := p.sep
	if sep == "" {
		sep = ":"
	}
	v := w.text[from:]
	if strings.Contains(v, "://") {
		c.f.text(v, w.from(from), c.depth+1)
		return
	}
	n := strings.Index(v, sep)
	if n < 0 {
		if looksRandom(v) {
			w.secret(c.f, from, len(w.text), "password")
		}
		return
	}
	to := len(w.text)
	if key := v[:n]; n+len(sep) == len(v) && len(key) >= 16 && looksRandom(key) {
		w.secret(c.f, from, from+n, "password") // a key in the place of a name
		return
	}
	if strings.HasSuffix(opt, "x") || strings.HasSuffix(opt, "proxy") {
		at := strings.LastIndexByte(v, '@')
		if at < n {
			return
		}
		to = from + at
	}
	w.secret(c.f, from+n+len(sep), to, "password")
}

// operand applies the rules about words that are no options.
func (c *command) operand(p *program, i int) (bool, int) {
	w := &c.ws[i]
	if n, ok := p.after[strings.ToLower(w.text)]; ok {
		return c.behind(i, n)
	}
	if p.places {
		return c.place(w), 0
	}
	if p.sign != "" && strings.HasPrefix(w.text, p.sign) {
		w.secret(c.f, len(p.sign), len(w.text), "password")
		return true, 0
	}
	return i == len(c.ws)-1 && c.lastWord(p, w), 0
}

// behind hides the word so many words behind i, or the last one; options between
// them do not count. A pair is none.
func (c *command) behind(i, n int) (bool, int) {
	at := i
	for n > 0 && at < len(c.ws) {
		if at++; at < len(c.ws) && !strings.HasPrefix(c.ws[at].text, "-") {
			n--
		}
	}
	if at == i {
		at = len(c.ws) - 1
	}
	if at <= i || at >= len(c.ws) || strings.HasPrefix(c.ws[at].text, "-") || strings.Contains(c.ws[at].text, "=") {
		return false, 0
	}
	for k := i + 1; k < at; k++ {
		c.plain(k)
	}
	return true, at - i - 1 + c.hideNext(at-1, 0)
}

// place hides the password of name/password@place.
func (c *command) place(w *word) bool {
	name, rest, ok := strings.Cut(w.text, "/")
	if !ok || name == "" || rest == "" || span0(name, func(b byte) bool { return isVarName(b) || strings.IndexByte("$#[]=", b) >= 0 }) != len(name) {
		return false
	}
	to := len(w.text)
	if at := strings.LastIndexByte(w.text, '@'); at > len(name) {
		to = at
	}
	w.secret(c.f, len(name)+1, to, "password")
	return true
}

// lastWord hides the last word where an option makes it a password.
func (c *command) lastWord(p *program, w *word) bool {
	for _, x := range c.ws {
		if contains(p.last, x.text) {
			w.secret(c.f, 0, len(w.text), "password")
			return true
		}
	}
	return false
}
