package oauth

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/address"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/redact"
)

// canonical is an address as it is compared: two that differ by a slash at the end, by
// the case of the host or by the scheme's own port are one server.
func canonical(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", fmt.Errorf("%w: the address of a server is https://HOST/PATH", sayso.ErrInvalid)
	}
	return same(u), nil
}

func same(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		host = strings.TrimSuffix(host, ":"+port)
	}
	out := u.Scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		out += "?" + u.RawQuery
	}
	return out
}

// origin is the part of an address before the path.
func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return same(&url.URL{Scheme: u.Scheme, Host: u.Host})
}

// covers reports whether a server's address lies below another on the same host, part by
// part of the path.
func covers(above, below string) bool {
	a, errA := url.Parse(above)
	b, errB := url.Parse(below)
	if errA != nil || errB != nil || a.RawQuery != "" || origin(above) != origin(below) {
		return false
	}
	path := strings.TrimRight(a.EscapedPath(), "/") + "/"
	return strings.HasPrefix(strings.TrimRight(b.EscapedPath(), "/")+"/", path)
}

// reachable reports why an address is not one that a login may lead to: it goes over
// plain HTTP, or a server elsewhere has us speak with this machine.
func reachable(what, text, server string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%w: %s is no address that can be used", sayso.ErrNotAllowed, what)
	}
	_, here := address.Loopback(u.Host)
	_, served := address.Loopback(hostOf(server))
	switch {
	case here && served && (u.Scheme == "http" || u.Scheme == "https"):
		return nil
	case u.Scheme != "https":
		return fmt.Errorf("%w: %s is at %s://%s, and a login goes over https alone", sayso.ErrNotAllowed, what, printable(u.Scheme), printable(u.Host))
	case here:
		return fmt.Errorf("%w: %s is on this machine, and the server is not", sayso.ErrNotAllowed, what)
	}
	return nil
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// ordinary is a part of a path that holds no secret: it is short, with few digits.
var ordinary = regexp.MustCompile(`^[A-Za-z@._~-]{0,20}[0-9]{0,4}[A-Za-z._-]{0,8}$`)

// Shown is an address as people may see it: its query, and the parts of its path in
// which a secret may stand, are hidden. whole says that nothing is.
func Shown(text string) (shown string, whole bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "the server", false
	}
	parts := strings.Split(u.EscapedPath(), "/")
	whole = u.RawQuery == "" && !slices.ContainsFunc(parts, func(part string) bool { return !ordinary.MatchString(part) })
	if !whole {
		return redact.Scrub(u.Scheme+"://"+printable(u.Host)) + "/[hidden]", false
	}
	return redact.Scrub(u.Scheme + "://" + printable(u.Host) + printable(u.EscapedPath())), true
}

// plainAddress is one that a shell takes as it is.
var plainAddress = regexp.MustCompile(`^https?://[A-Za-z0-9.:/@_~-]+$`)

// Command is what a person types to log in to a server, with the scopes that it takes.
func Command(text string, scopes ...string) string {
	words := "sayso mcp login "
	if shown, whole := Shown(text); whole {
		if !plainAddress.MatchString(shown) {
			shown = home.Quoted(shown)
		}
		words += shown
	} else {
		words += "env:VARIABLE, with its address in the variable"
	}
	if len(scopes) > 0 {
		words += " --scope '" + strings.Join(scopes, " ") + "'"
	}
	return words
}

// scopeName is a scope that can stand in a command that somebody copies: what a server
// calls its scopes is its own word.
var scopeName = regexp.MustCompile(`^[A-Za-z0-9:._/+*@=,~%#-]{1,200}$`)

// scopesIn are the scopes that a text names, each once; none if one could not stand in
// a command.
func scopesIn(text string) []string {
	var all []string
	for _, s := range strings.Fields(text) {
		if !scopeName.MatchString(s) || len(all) >= 64 {
			return nil
		}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
