package oauth

import (
	"net/http"
	"strings"
)

// challenge is what a server says about how to log in, with a status 401 or 403.
type challenge struct {
	metadata string   // where it says who may vouch for it
	scopes   []string // that are wanted
	fault    string   // as insufficient_scope
}

// maxChallenge is the longest header of one that is read.
const maxChallenge = 16 << 10

// challengeIn reads the challenge to show a bearer token, if there is one. What cannot
// be read is not there: then it is looked for where the specification has it.
func challengeIn(header http.Header) (c challenge) {
	for _, text := range header.Values("Www-Authenticate") {
		if len(text) > maxChallenge {
			continue
		}
		params, ok := bearerParams(text)
		if !ok {
			continue
		}
		c.metadata = firstOf(c.metadata, params["resource_metadata"])
		c.fault = firstOf(c.fault, params["error"])
		if c.scopes == nil {
			c.scopes = scopesIn(params["scope"])
		}
	}
	return c
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// bearerParams are the parameters of the challenge Bearer in a header that may have
// several (RFC 9110, section 11.6.1): SCHEME NAME=VALUE, NAME="VALUE", SCHEME …
func bearerParams(text string) (params map[string]string, ok bool) {
	params = map[string]string{}
	bearer := false
	for text = strings.TrimLeft(text, " \t,"); text != ""; text = strings.TrimLeft(text, " \t,") {
		name, rest := token(text)
		if name == "" {
			return params, ok
		}
		after := strings.TrimLeft(rest, " \t")
		if !strings.HasPrefix(after, "=") { // a scheme
			if bearer = strings.EqualFold(name, "Bearer"); bearer {
				ok = true
			}
			text = rest
			continue
		}
		value, rest, fine := paramValue(strings.TrimLeft(after[1:], " \t"))
		if !fine {
			return params, ok
		}
		if name = strings.ToLower(name); bearer && params[name] == "" {
			params[name] = value
		}
		text = rest
	}
	return params, ok
}

// token is the word that a text begins with.
func token(text string) (word, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// paramValue is the value of a parameter, quoted or not.
func paramValue(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, ", \t")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], true
	}
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return out.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			out.WriteByte(text[i])
		default:
			out.WriteByte(c)
		}
	}
	return "", "", false
}
