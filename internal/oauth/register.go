package oauth

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/sayso-dev/sayso"
)

// registration is what we say of ourselves (RFC 7591).
type registration struct {
	Redirects []string `json:"redirect_uris"`
	Method    string   `json:"token_endpoint_auth_method"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
	Name      string   `json:"client_name"`
	Kind      string   `json:"application_type"`
	Scope     string   `json:"scope,omitempty"`
}

// registered is what the server of a login made of it.
type registered struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
	Method string `json:"token_endpoint_auth_method"`
}

// party is who we are to the server of a login.
type party struct {
	id, secret string
	given      bool // by a person; else the server gave it
	style      oauth2.AuthStyle
}

// The ways to say who we are where tokens are had.
const (
	byNothing = "none"
	byHeader  = "client_secret_basic"
	byBody    = "client_secret_post"
)

// identify makes us somebody to the server of a login: by what a person gave, or by
// registering.
func (l *Logins) identify(ctx context.Context, i issuer, a Attempt, redirect string, scopes []string) (party, error) {
	if a.ClientID != "" {
		p := party{id: a.ClientID, secret: a.ClientSecret, given: true, style: oauth2.AuthStyleInParams}
		if p.secret != "" && (len(i.Clients) == 0 || slices.Contains(i.Clients, byHeader)) {
			p.style = oauth2.AuthStyleInHeader // what is meant where nothing is said
		}
		return p, nil
	}
	if i.Register == "" {
		return party{}, &hinted{fmt.Errorf("%w: %s takes no clients that register themselves", sayso.ErrNotAllowed, shown(i.Issuer)),
			"make a client there by hand, with the redirect http://127.0.0.1:PORT/callback, then: " + Command(a.URL) + " --client-id ID --port PORT"}
	}
	want := registration{
		Redirects: []string{redirect}, Method: byNothing, Grants: []string{"authorization_code", "refresh_token"}, Responses: []string{"code"},
		Name: "sayso", Kind: "native", Scope: strings.Join(scopes, " "),
	}
	if len(i.Clients) > 0 && !slices.Contains(i.Clients, byNothing) {
		for _, method := range []string{byHeader, byBody} {
			if slices.Contains(i.Clients, method) {
				want.Method = method
				break
			}
		}
	}
	var got registered
	if err := l.post(ctx, i.Register, want, &got); err != nil {
		return party{}, fmt.Errorf("%w: %s did not register this program as a client: %w", sayso.ErrUnavailable, shown(i.Issuer), err)
	}
	if got.ID == "" {
		return party{}, fmt.Errorf("%w: %s registered this program, and gave it no name", sayso.ErrInvalid, shown(i.Issuer))
	}
	switch method := cmp.Or(got.Method, want.Method); method {
	case byNothing:
		return party{id: got.ID, style: oauth2.AuthStyleInParams}, nil
	case byHeader:
		return party{id: got.ID, secret: got.Secret, style: oauth2.AuthStyleInHeader}, nil
	case byBody:
		return party{id: got.ID, secret: got.Secret, style: oauth2.AuthStyleInParams}, nil
	default:
		return party{}, fmt.Errorf("%w: %s registered this program, and wants it to say who it is by %s, which it cannot", sayso.ErrNotAllowed, shown(i.Issuer), printable(method))
	}
}
