package redact

import "strings"

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

// passwordName is what a password is called that a command reads: the variable that
// it goes into, if there is one.
func passwordName(ws []word) string {
	for _, w := range ws {
		if w.text == "read" {
			return ws[len(ws)-1].text
		}
	}
	return "password"
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
		w.secret(f, at, len(w.text), passwordName(to))
	}
}
