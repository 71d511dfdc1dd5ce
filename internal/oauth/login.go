package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"github.com/sayso-dev/sayso"
)

// Attempt is a person's wish to log in to a server.
type Attempt struct {
	URL          string
	Scopes       []string // beside those that the server wants
	ClientID     string   // at the server of the login; empty to register there
	ClientSecret string
	Port         int // of this machine, that the browser comes back to; 0 for any
	Wait         time.Duration
	// Begin hears where to log in, and at whose page: it has the person go there.
	Begin func(ctx context.Context, page Page) error
}

// Page is where a person logs in.
type Page struct {
	Address  string
	Issuer   string // whose page it is
	Resource string // what the login is good for
	Redirect string // where the browser comes back to
	Scopes   []string
}

// Login logs a person in to a server. What was there before is replaced when it
// succeeds, and else stays.
func (l *Logins) Login(ctx context.Context, a Attempt) (Status, error) {
	server, err := canonical(a.URL)
	if err != nil {
		return Status{}, err
	}
	if err := reachable("the server", a.URL, a.URL); err != nil {
		return Status{}, err
	}
	before, err := l.read(server)
	if err != nil {
		before = nil // what cannot be read is replaced
	}
	where := &whereabouts{}
	ctx = where.in(ctx)
	where.looking.Store(true)
	want, open, err := l.challenged(ctx, a.URL)
	where.looking.Store(false)
	if err != nil {
		return Status{}, err
	}
	about, found, err := l.vouched(ctx, a.URL, want)
	if err != nil {
		return Status{}, err
	}
	who, err := l.issuerOf(ctx, about.Servers[0], a.URL)
	switch {
	case err != nil && !found && open && errors.Is(err, sayso.ErrNotFound):
		return Status{}, &hinted{fmt.Errorf("%w: %s answers without a login, and says of none", sayso.ErrNotFound, shown(a.URL)), "sayso mcp --url URL"}
	case err != nil:
		return Status{}, err
	}
	r := &record{
		Version: recordVersion, URL: server, Resource: about.Resource, Issuer: who.Issuer, TokenURL: who.Token, RevokeURL: who.Revoke,
		Near:   where.near.Load(),
		Scopes: scopesFor(want, about, who, before, a.Scopes), Since: l.now().UTC().Truncate(time.Second),
	}
	if err := l.granted(ctx, a.with(before, who), who, r); err != nil {
		return Status{}, err
	}
	return r.status(l.now()), nil
}

// scopesFor are the scopes to ask for: those that the server asked for, else all that it
// knows; and those that a person named, and had before at the same place.
func scopesFor(want challenge, about resource, who issuer, before *record, named []string) []string {
	scopes := slices.Clone(want.scopes)
	if scopes == nil {
		for _, s := range about.Scopes {
			scopes = append(scopes, scopesIn(s)...)
		}
	}
	if before != nil && before.Issuer == who.Issuer {
		scopes = append(scopes, before.Scopes...)
	}
	scopes = append(scopes, named...)
	if len(scopes) > 0 && slices.Contains(who.Scopes, "offline_access") {
		scopes = append(scopes, "offline_access") // which some give nothing to renew without
	}
	var once []string
	for _, s := range scopes {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}

// with is an attempt with the client that a person gave the last time, if they give none
// now and the same server logs them in.
func (a Attempt) with(before *record, who issuer) Attempt {
	if a.ClientID != "" || before == nil || !before.Given || before.Issuer != who.Issuer {
		return a
	}
	a.ClientID, a.ClientSecret = before.ClientID, before.ClientSecret
	if a.Port == 0 {
		a.Port = before.Port // which is that of the redirect that they gave there
	}
	return a
}

// granted has a person say yes at the page of the login, and keeps what is given for it.
func (l *Logins) granted(ctx context.Context, a Attempt, who issuer, r *record) (err error) {
	state := rand.Text()
	back, err := listen(ctx, a.Port, state)
	if err != nil {
		return err
	}
	defer func() { back.close(err) }()
	us, err := l.identify(ctx, who, a, back.redirect(), r.Scopes)
	if err != nil {
		return err
	}
	r.ClientID, r.ClientSecret, r.Given, r.InHeader = us.id, us.secret, us.given, us.style == oauth2.AuthStyleInHeader
	if us.given {
		r.Port = a.Port
	}
	c := r.config()
	c.RedirectURL, c.Scopes, c.Endpoint.AuthURL = back.redirect(), r.Scopes, who.Authorize
	proof := oauth2.GenerateVerifier()
	page := Page{Issuer: who.Issuer, Resource: r.Resource, Redirect: c.RedirectURL, Scopes: r.Scopes}
	page.Address = c.AuthCodeURL(state, oauth2.S256ChallengeOption(proof), oauth2.SetAuthURLParam("resource", r.Resource))
	if err := a.Begin(ctx, page); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, a.Wait)
	defer cancel()
	answer, err := back.wait(waiting)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		return &hinted{err, Command(a.URL) + ", and then log in within " + a.Wait.String()}
	}
	code, err := codeIn(answer, who)
	if err != nil {
		return err
	}
	t, err := c.Exchange(l.asking(ctx, r.Resource), code, oauth2.VerifierOption(proof))
	if err == nil {
		err = r.took(t, l.now())
	} else {
		err = plain(err)
	}
	if err != nil {
		return fmt.Errorf("%w: %s gave no token for the login: %w", sayso.ErrUnavailable, shown(who.Issuer), err)
	}
	return l.keep(ctx, r)
}

// codeIn is the code in an answer, if it is of who was asked (RFC 9207).
func codeIn(answer url.Values, who issuer) (string, error) {
	for _, values := range answer {
		if len(values) > 1 {
			return "", fmt.Errorf("%w: the answer to the login says one thing twice", sayso.ErrNotAllowed)
		}
	}
	from, said := answer.Get("iss"), answer.Has("iss")
	switch {
	case who.SaysWho && !said:
		return "", fmt.Errorf("%w: the answer to the login does not say who gave it, and %s says that its answers do", sayso.ErrNotAllowed, shown(who.Issuer))
	case said && from != who.Issuer:
		return "", fmt.Errorf("%w: the answer to the login is from %s, and %s was asked", sayso.ErrNotAllowed, shown(from), shown(who.Issuer))
	case answer.Get("error") != "":
		return "", fmt.Errorf("%w: %s did not log you in: it says %s", sayso.ErrNotAllowed, shown(who.Issuer), printable(answer.Get("error")))
	case answer.Get("code") == "":
		return "", fmt.Errorf("%w: the answer to the login has no code", sayso.ErrInvalid)
	}
	return answer.Get("code"), nil
}

// keep writes a login.
func (l *Logins) keep(ctx context.Context, r *record) error {
	held, err := l.lock(ctx, r.URL)
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }() // nothing was written to it
	return l.write(r)
}
