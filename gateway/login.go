package gateway

import (
	"context"
	"errors"
	"net/http"
	"unicode"
	"unicode/utf8"

	"github.com/sayso-dev/sayso/redact"
)

// Login is what a person logged in with to a server that speaks HTTP.
type Login interface {
	// Transport has requests to the server, and to nowhere else, go with the login. A
	// request that the server answered with 401 was not run, and may be made once more.
	// An error with a method Unsent that says so is about one that was never sent.
	Transport(next http.RoundTripper) http.RoundTripper
	// Refused is what to tell who made a request that the server refused, with what a
	// person types; empty if a login would change nothing.
	Refused(resp *http.Response) string
	// Secrets are what the server was shown of late, and may say back.
	Secrets() []string
	// Wait waits until nothing is under way that must not end in the middle, or ctx has
	// ended.
	Wait(ctx context.Context)
}

// loginText is what a client is told of a request that its server refused, where a login
// would help.
func (up *upstream) loginText(resp *http.Response) string {
	if up.Login == nil {
		return ""
	}
	return redact.Scrub(string(up.redactSecrets([]byte(up.Login.Refused(resp)))))
}

// isUnsent reports whether a request did not go to the server, as its login could not be
// had.
func isUnsent(err error) bool {
	in, ok := errors.AsType[interface {
		error
		Unsent() bool
	}](err)
	return ok && in.Unsent()
}

// sentence is a text as one.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}
