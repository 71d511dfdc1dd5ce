package gateway

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
)

// redacted stands in the place of what a server says back of what it was sent of
// ours: the headers that a person set for it, and what is secret in its address. A
// server that complains about its key often says which; its clients are not to know.
const redacted = "[hidden]"

// minSecret is how long a value is at least that is looked for. What is shorter
// stands in other words too, and is no secret.
const minSecret = 6

// secretsOf is what a server is sent by which it knows us, in the ways that it may say
// it back, the longest first.
func (u *Upstream) secretsOf() (all [][]byte) {
	add := func(value string) { all = append(all, spellings(value)...) }
	for _, values := range u.Header {
		for _, value := range values {
			add(value)
			_, behind, _ := strings.Cut(value, " ") // the scheme
			add(behind)
		}
	}
	if address, err := url.Parse(u.URL); err == nil {
		for part := range strings.SplitSeq(address.EscapedPath(), "/") {
			if !notSecret.MatchString(part) {
				add(part)
			}
		}
		add(address.RawQuery)
		for _, values := range address.Query() {
			for _, value := range values {
				add(value)
				add(url.QueryEscape(value))
			}
		}
	}
	slices.SortFunc(all, func(a, b []byte) int { return len(b) - len(a) })
	return all
}

// spellings are the ways in which a value may be said back; none if it is no secret.
func spellings(value string) (all [][]byte) {
	if len(value) < minSecret {
		return nil
	}
	for _, spelled := range []string{value, strings.ReplaceAll(value, "/", `\/`), strings.ReplaceAll(strings.ReplaceAll(value, `\`, `\\`), `"`, `\"`)} {
		all = append(all, []byte(spelled))
	}
	return all
}

// redactSecrets is a text of the server without what is ours.
func (up *upstream) redactSecrets(text []byte) []byte {
	for _, own := range up.secrets {
		if bytes.Contains(text, own) {
			text = bytes.ReplaceAll(text, own, []byte(redacted))
		}
	}
	if up.Login == nil {
		return text
	}
	for _, secret := range up.Login.Secrets() {
		for _, own := range spellings(secret) {
			text = bytes.ReplaceAll(text, own, []byte(redacted))
		}
	}
	return text
}

// redactError is an answer of the server that is an error, without what is ours.
func (up *upstream) redactError(m message) message {
	line := up.redactSecrets(m.line)
	if len(line) == len(m.line) && bytes.Equal(line, m.line) {
		return m
	}
	if in, err := readMessage(line); err == nil && in.failed && in.key() == m.key() {
		return in
	}
	in, err := readMessage(errorResponse(m.id, codeInternal, "The server answered with an error, which is not shown: it says what the gateway is authorised by."))
	if err != nil {
		return message{} // nothing of that kind is written
	}
	return in
}
