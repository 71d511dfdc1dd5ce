package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/sayso-dev/sayso"
)

// early is how long before a token runs out another is had: a minute, or a quarter of
// the time for which it is good, and as long as a slow request takes.
func (r *record) early() time.Duration {
	return min(time.Minute, max(r.Expires.Sub(r.Renewed)/4, 5*time.Second))
}

// config is what the exchanges of a login take.
func (r *record) config() *oauth2.Config {
	style := oauth2.AuthStyleInParams
	if r.InHeader {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{ClientID: r.ClientID, ClientSecret: r.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: r.TokenURL, AuthStyle: style}}
}

// naming has each request of a login's exchanges name what the token is for (RFC 8707):
// the library does not when it renews one.
type naming struct {
	resource string
	next     http.RoundTripper
}

func (n naming) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxDocument))
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close() // only read
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errors.New("the request for a token is no form") // without what is in it
	}
	form.Set("resource", n.resource)
	text := form.Encode()
	out := req.Clone(req.Context())
	out.Body, out.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	out.GetBody = nil
	out.Header.Set("Accept", "application/json")
	return n.next.RoundTrip(out)
}

// asking is a context in which the library asks as we do.
func (l *Logins) asking(ctx context.Context, resource string) context.Context {
	c := *l.client
	c.Transport = naming{resource, l.client.Transport}
	return context.WithValue(ctx, oauth2.HTTPClient, &c)
}

// refusal is a word of a login's own server that it gives no token, as against one
// that it could not say.
type refusal struct {
	code   string
	status int
}

func (r *refusal) Error() string {
	if r.code != "" {
		return "it says " + printable(r.code)
	}
	return statusError(r.status).Error()
}

// final reports whether to ask again would be of no use.
func (r *refusal) final() bool {
	switch r.code {
	case "invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_target", "invalid_scope":
		return true
	}
	return false
}

// plain is an error of the library without what was sent and said: both hold secrets.
func plain(err error) error {
	if said, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		r := &refusal{code: said.ErrorCode}
		if said.Response != nil {
			r.status = said.Response.StatusCode
		}
		return r
	}
	if in, ok := errors.AsType[*url.Error](err); ok {
		return unspoken(in)
	}
	return fmt.Errorf("%w: its answer is no token", sayso.ErrInvalid)
}

// took puts a token into a record.
func (r *record) took(t *oauth2.Token, now time.Time) error {
	if !strings.EqualFold(t.Type(), "Bearer") {
		return fmt.Errorf("%w: it gave a token of the kind %s, and servers are shown bearer tokens", sayso.ErrInvalid, printable(t.Type()))
	}
	if strings.ContainsFunc(t.AccessToken, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return fmt.Errorf("%w: it gave a token that cannot stand in a header", sayso.ErrInvalid)
	}
	r.Access, r.Expires, r.Renewed, r.Ended = t.AccessToken, time.Time{}, now.UTC(), ""
	if t.RefreshToken != "" {
		r.Refresh = t.RefreshToken
	}
	if !t.Expiry.IsZero() { // which the library counts from a clock of its own
		r.Expires = now.Add(time.Until(t.Expiry).Round(time.Second)).UTC().Truncate(time.Second)
	}
	if scopes, ok := t.Extra("scope").(string); ok && scopesIn(scopes) != nil {
		r.Scopes = scopesIn(scopes)
	}
	return nil
}

// notRenewed is why a login could not be renewed this time.
func (r *record) notRenewed(why error) error {
	return fmt.Errorf("the login to %s could not be renewed at %s (%w); if that stays, a person types: %s", shown(r.URL), shown(r.Issuer), why, Command(r.URL))
}

// whereabouts are those of the server when it was logged in to.
func (r *record) whereabouts() *whereabouts {
	w := &whereabouts{}
	w.near.Store(r.Near)
	return w
}

// renew has another token. What the server refuses for good is kept, so that nobody asks
// it again.
func (l *Logins) renew(ctx context.Context, r *record) error {
	ctx = r.whereabouts().in(ctx)
	t, err := r.config().TokenSource(l.asking(ctx, r.Resource), &oauth2.Token{RefreshToken: r.Refresh}).Token()
	if err != nil {
		err = plain(err)
		if no, ok := errors.AsType[*refusal](err); ok && no.final() {
			r.Refresh, r.Ended = "", "it was not renewed: "+no.Error()
			return l.write(r)
		}
		return r.notRenewed(err)
	}
	if err := r.took(t, l.now()); err != nil {
		return r.notRenewed(err)
	}
	return l.write(r)
}

// revoke gives a token back (RFC 7009).
func (l *Logins) revoke(ctx context.Context, r *record) error {
	if r.RevokeURL == "" {
		return sayso.ErrNotFound
	}
	form := url.Values{"token": {r.Access}}
	if r.Refresh != "" {
		form = url.Values{"token": {r.Refresh}, "token_type_hint": {"refresh_token"}}
	}
	if !r.InHeader {
		form.Set("client_id", r.ClientID)
		if r.ClientSecret != "" {
			form.Set("client_secret", r.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(r.whereabouts().in(ctx), http.MethodPost, r.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return unspoken(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if r.InHeader {
		req.SetBasicAuth(url.QueryEscape(r.ClientID), url.QueryEscape(r.ClientSecret))
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return unspoken(err)
	}
	_ = resp.Body.Close() // only its status counts
	if resp.StatusCode/100 != 2 {
		return statusError(resp.StatusCode)
	}
	return nil
}
