package oauth

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// protocolVersion is the version of MCP whose rules for logging in are kept to.
const protocolVersion = "2025-11-25"

// resource is what a server says of who may vouch for it (RFC 9728).
type resource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// issuer is what the server of a login says of itself (RFC 8414, and OpenID Connect
// Discovery).
type issuer struct {
	Issuer       string   `json:"issuer"`
	Authorize    string   `json:"authorization_endpoint"`
	Token        string   `json:"token_endpoint"`
	Register     string   `json:"registration_endpoint"`
	Revoke       string   `json:"revocation_endpoint"`
	Scopes       []string `json:"scopes_supported"`
	Responses    []string `json:"response_types_supported"`
	Challenges   []string `json:"code_challenge_methods_supported"`
	Clients      []string `json:"token_endpoint_auth_methods_supported"`
	SaysWho      bool     `json:"authorization_response_iss_parameter_supported"`
	TakesAddress bool     `json:"client_id_metadata_document_supported"`
}

// probe asks a server for its tools without saying who asks. It begins no session and
// runs nothing.
const probe = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

// challenged is what a server says to somebody who does not say who they are. open
// says that it answered all the same.
func (l *Logins) challenged(ctx context.Context, server string) (c challenge, open bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server, bytes.NewReader([]byte(probe)))
	if err != nil {
		return c, false, unspoken(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", protocolVersion)
	resp, err := l.client.Do(req)
	if err != nil {
		return c, false, fmt.Errorf("%w: %s cannot be reached: %w", sayso.ErrUnavailable, shown(server), unspoken(err))
	}
	_ = resp.Body.Close() // its status and headers are all that counts; the rest may have no end
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		c = challengeIn(resp.Header)
	}
	return c, resp.StatusCode/100 == 2, nil
}

func shown(text string) string { out, _ := Shown(text); return out }

// wellKnown is the place of a document about an address: between its host and its path.
func wellKnown(name, of string) string {
	u, err := url.Parse(of)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/.well-known/" + name + strings.TrimRight(u.EscapedPath(), "/")
}

const resourceDocument = "oauth-protected-resource"

// vouched finds out who may vouch for a server. A document about another server is an
// error, wherever it stands; where there is none, the server's own host is who logs
// people in, as it was up to 2025-03-26. found says that there was one.
func (l *Logins) vouched(ctx context.Context, server string, c challenge) (r resource, found bool, err error) {
	places := []string{wellKnown(resourceDocument, server), wellKnown(resourceDocument, origin(server))}
	if c.metadata != "" {
		places = append([]string{c.metadata}, places...)
	}
	for _, at := range slices.Compact(places) {
		if err := reachable("the document that says who may vouch for the server", at, server); err != nil {
			return r, false, err
		}
		r = resource{}
		if err := l.document(ctx, at, &r); err != nil {
			if absent(err) {
				continue
			}
			return r, false, fmt.Errorf("%w: the document at %s that says who may vouch for the server cannot be had: %w", sayso.ErrUnavailable, shown(at), err)
		}
		if err := l.speaksFor(ctx, &r, at, server); err != nil {
			return r, false, err
		}
		return r, true, nil
	}
	return resource{Resource: withoutQuery(server), Servers: []string{origin(server)}}, false, nil
}

// withoutQuery is an address as the name of what a token is for, which has no query by
// RFC 8707: there stand keys, too, and people and browsers see the name.
func withoutQuery(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return text
}

// speaksFor checks that a document is about a server: it names it or, on the same host, an
// address above it, whose own document must say the same.
func (l *Logins) speaksFor(ctx context.Context, r *resource, at, server string) error {
	named, err := canonical(r.Resource)
	if err != nil {
		return fmt.Errorf("%w: the document at %s names no server that it is about", sayso.ErrNotAllowed, shown(at))
	}
	if len(r.Servers) == 0 {
		return fmt.Errorf("%w: the document at %s names nobody who may vouch for the server", sayso.ErrNotAllowed, shown(at))
	}
	if mine, _ := canonical(server); named == mine {
		return nil
	}
	if !covers(r.Resource, server) {
		return fmt.Errorf("%w: the document at %s is about another server, %s", sayso.ErrNotAllowed, shown(at), shown(r.Resource))
	}
	own := wellKnown(resourceDocument, r.Resource)
	if own == at {
		return nil
	}
	var above resource
	if err := l.document(ctx, own, &above); err != nil {
		return fmt.Errorf("%w: the document at %s is about %s, whose own cannot be had: %w", sayso.ErrNotAllowed, shown(at), shown(r.Resource), err)
	}
	if above.Resource != r.Resource || !slices.Contains(above.Servers, r.Servers[0]) {
		return fmt.Errorf("%w: the document at %s is about %s, whose own says something else", sayso.ErrNotAllowed, shown(at), shown(r.Resource))
	}
	return nil
}

// issuerOf reads what the server of a login says of itself, and refuses one that cannot
// do what is needed.
func (l *Logins) issuerOf(ctx context.Context, name, server string) (issuer, error) {
	if err := reachable("the server that logs people in", name, server); err != nil {
		return issuer{}, err
	}
	places := []string{wellKnown("oauth-authorization-server", name), wellKnown("openid-configuration", name)}
	if u, err := url.Parse(name); err == nil && strings.Trim(u.Path, "/") != "" {
		places = append(places, strings.TrimRight(name, "/")+"/.well-known/openid-configuration")
	}
	for _, at := range places {
		var i issuer
		if err := l.document(ctx, at, &i); err != nil {
			if absent(err) {
				continue
			}
			return i, fmt.Errorf("%w: what %s says of itself cannot be had: %w", sayso.ErrUnavailable, shown(name), err)
		}
		return i, i.fit(name, server)
	}
	return issuer{}, &hinted{fmt.Errorf("%w: %s, which should log people in, says nothing of itself: neither by RFC 8414 nor by OpenID Connect", sayso.ErrNotFound, shown(name)),
		"if the server gave you a token, sayso mcp --url URL --header 'Authorization=Bearer env:VARIABLE'"}
}

// fit reports why a server cannot log people in as it must.
func (i *issuer) fit(name, server string) error {
	if strings.TrimSuffix(i.Issuer, "/") != strings.TrimSuffix(name, "/") {
		return fmt.Errorf("%w: the server that logs people in was to be %s, and says that it is %s", sayso.ErrNotAllowed, shown(name), shown(i.Issuer))
	}
	for what, at := range map[string]string{"the page to log in": i.Authorize, "where tokens are had": i.Token} {
		if at == "" {
			return fmt.Errorf("%w: %s does not say where %s is", sayso.ErrInvalid, shown(name), what)
		}
		if err := reachable(what, at, server); err != nil {
			return err
		}
	}
	for what, at := range map[string]string{"where clients are registered": i.Register, "where tokens are given back": i.Revoke} {
		if at == "" {
			continue
		}
		if err := reachable(what, at, server); err != nil {
			return err
		}
	}
	if !slices.Contains(i.Challenges, "S256") {
		return fmt.Errorf("%w: %s does not say that it can do PKCE with S256, without which whoever sees the code can use it", sayso.ErrNotAllowed, shown(name))
	}
	if len(i.Responses) > 0 && !slices.Contains(i.Responses, "code") {
		return fmt.Errorf("%w: %s gives no codes, and nothing else is asked for", sayso.ErrNotAllowed, shown(name))
	}
	return nil
}
