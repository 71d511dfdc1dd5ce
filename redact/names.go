package redact

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// names decides which names are telling. Words are compared whole, so the name
// is first split where its writer would split it.
type names struct {
	extra map[string]bool // words, or runs of words joined without a blank
}

func newNames(keys []string) names {
	n := names{extra: map[string]bool{}}
	for _, k := range keys {
		if w := words(k); len(w) > 0 {
			n.extra[strings.Join(w, "")] = true
		}
	}
	return n
}

// tellingWords hide whatever stands under a name that holds one of them.
var tellingWords = set(`
	password passwd passphrase passcode passwort secret token authorization
	cookie session bearer credential creds apikey accesskey privatekey secretkey
	authtoken apitoken accesstoken refreshtoken idtoken sessiontoken sessionid sessionkey
	clientsecret jwt otp totp psk mnemonic phpsessid jsessionid sessid authkey
	pgpassword sshpass htpasswd storepass keypass storepassword keypassword
	passwords passwds passphrases secrets tokens cookies credentials apikeys
	accesskeys privatekeys secretkeys accesstokens refreshtokens authtokens
	encryptionkey signingkey masterkey accountkey webhooksecret authpassword
	requirepass masterauth rootpw bindpw`)

// tellingPairs are telling as two words side by side.
var tellingPairs = set(`
	apikey apikeys accesskey accesskeys clientkey privatekey privatekeys secretkey
	signingkey encryptionkey masterkey authkey accountkey sharedkey storagekey
	deploykey servicekey connectionstring passphrase password passcode
	recoverycode recoverycodes backupcode backupcodes seedphrase npmauth redisauth
	rediscliauth proxyauth basicauth httpauth dockerauth`)

// tellingEnds make a word telling that was glued together without a seam.
var tellingEnds = []string{"password", "passwd", "passphrase", "apikey", "secretkey", "accesskey", "privatekey", "accesstoken", "authtoken"}

// measureWords turn a number under a telling name into a plain figure.
var measureWords = set(`
	max min maximum minimum count counts limit limits num number total totals
	budget usage used length len size sizes ttl timeout expiry expires expire expiration age
	lifetime duration interval retries version index position offset per rate
	cost price minutes seconds days hours ms sec secs remaining window fd`)

// switchWords turn a boolean under a telling name into a plain setting.
var switchWords = set(`
	use uses has have is are require required requires enable enabled disable
	disabled no show with allow needs need should verify check skip save keep
	include without validate force ask reset persist`)

// pluralWords count things when their value is a number.
var pluralWords = set(`tokens secrets passwords cookies credentials sessions apikeys`)

// weakWords are telling, but also common in code and prose.
var weakWords = set(`token tokens session cookie cookies bearer authorization otp credential credentials creds`)

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// telling reports whether a value under this name is to be hidden.
func (n names) telling(name string) bool {
	if len(name) < 3 || len(name) > 512 {
		return len(name) > 512 && n.telling(name[len(name)-256:])
	}
	ws := words(name)
	if len(ws) > 1 && runWords[ws[len(ws)-1]] { // it says what runs: password_command
		return n.extraRun(ws)
	}
	return n.anyTelling(ws)
}

func (n names) anyTelling(ws []string) bool {
	for i, w := range ws {
		event := w == "session" && i+1 < len(ws) && sessionEvents[ws[i+1]]
		if tellingWords[w] && !event || n.extra[w] || gluedTelling(w) {
			return true
		}
		if i > 0 && n.pair(ws[i-1]+w) {
			return true
		}
		if i > 0 && (w == "pwd" || w == "pass") && ws[i-1] != "old" {
			return true
		}
	}
	return n.extraRun(ws) || len(ws) == 1 && ws[0] == "pass"
}

func (n names) pair(joined string) bool {
	return tellingPairs[joined] || n.extra[joined]
}

// extraRun finds extra names of three and more words.
func (n names) extraRun(ws []string) bool {
	if len(n.extra) == 0 {
		return false
	}
	for i := range ws {
		joined := ""
		for _, w := range ws[i:min(i+6, len(ws))] {
			joined += w
			if n.extra[joined] {
				return true
			}
		}
	}
	return false
}

func gluedTelling(w string) bool {
	for _, end := range tellingEnds {
		if len(w) > len(end) && strings.HasSuffix(w, end) {
			return true
		}
	}
	return false
}

// weak reports whether a name is telling by weak words only, or not at all.
func (n names) weak(name string) bool {
	for _, w := range words(name) {
		if !weakWords[w] && n.anyTelling([]string{w}) {
			return false
		}
	}
	ws := words(name)
	for i := 1; i < len(ws); i++ {
		if n.pair(ws[i-1] + ws[i]) {
			return false
		}
	}
	return true
}

// measure reports whether a number under this name is a figure, not a secret:
// max_tokens, session_timeout, tokens.
func measure(name string) bool {
	for _, w := range words(name) {
		if measureWords[w] || pluralWords[w] {
			return true
		}
	}
	return false
}

// isSwitch reports whether a boolean under this name is a setting: use_cookies.
func isSwitch(name string) bool {
	for _, w := range words(name) {
		if switchWords[w] {
			return true
		}
	}
	return false
}

// words splits a name at everything that is no letter, at digits, before a
// capital that follows a small letter, and before the last of several capitals
// that is followed by a small one: X-API-Key, accessToken, APIKey2. Words come
// back in small letters, compatibility forms folded, invisible marks dropped.
func words(name string) []string {
	if !isASCII(name) {
		name = fold(name)
	}
	out := make([]string, 0, 4) // most names have no more
	start := -1
	end := func(i int) {
		if start >= 0 {
			out = append(out, strings.ToLower(name[start:i]))
		}
		start = -1
	}
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r):
			end(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && seam(name, i):
			end(i)
			start = i
		}
	}
	end(len(name))
	return out
}

// seam reports whether a word begins at the capital at i: after a small
// letter, or before one.
func seam(name string, i int) bool {
	before := name[i-1]
	if before < 'A' || before > 'Z' {
		return true
	}
	return i+1 < len(name) && isLower(name[i+1]) && !pluralTail(name[i+1:])
}

// pluralTail keeps the s of APIs and IDs with its capitals.
func pluralTail(rest string) bool {
	return rest[0] == 's' && (len(rest) == 1 || !isLower(rest[1]))
}

// fold brings a name with full-width, decorated or look-alike letters and
// invisible marks to the form a reader sees.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if a, ok := lookAlikes[r]; ok {
			return a
		}
		if unicode.In(r, unicode.Mn, unicode.Cf) {
			return -1
		}
		return r
	}, norm.NFKD.String(name))
}

// lookAlikes are the Cyrillic and Greek letters that pass for Latin ones in
// the telling words.
var lookAlikes = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'ѕ': 's', 'і': 'i', 'ј': 'j', 'ԁ': 'd', 'к': 'k', 'ѡ': 'w', 'ԝ': 'w',
	'А': 'A', 'Е': 'E', 'О': 'O', 'Р': 'P', 'С': 'C', 'Х': 'X', 'Ѕ': 'S', 'І': 'I', 'К': 'K', 'Т': 'T',
	'ο': 'o', 'α': 'a', 'ρ': 'p', 'κ': 'k', 'ν': 'v', 'ι': 'i', 'Α': 'A', 'Ε': 'E', 'Ο': 'O', 'Ρ': 'P', 'Κ': 'K', 'Τ': 'T', 'Ι': 'I',
	'ı': 'i', 'ſ': 's',
}
