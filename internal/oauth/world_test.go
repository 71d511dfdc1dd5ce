package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/oauth"
)

// The canaries stand in what must not be told: each is looked for in all that is said.
const (
	canaryAccess  = "canary-access-9fQ2"
	canaryRefresh = "canary-refresh-7Wd1"
	canaryCode    = "canary-code-3Kp8"
	canarySecret  = "canary-secret-5Tz4"
)

// world is an MCP server that wants a login, and the server of its login, which checks
// what the specifications have it check. Each place may be made to answer otherwise.
type world struct {
	t      *testing.T
	server *httptest.Server // the MCP server
	logins *httptest.Server // the server of the login

	mu        sync.Mutex // guards what follows
	challenge string     // of the MCP server
	resource  map[string]any
	issuer    map[string]any
	answers   map[string]http.HandlerFunc // in the place of what a path of the login's server answers
	served    map[string]http.HandlerFunc // in the place of what a path of the MCP server answers
	back      func(q url.Values) url.Values
	proof     string // the challenge of PKCE
	access    string // what the MCP server takes
	refresh   string // what is taken for another
	lasts     int    // seconds
	n         int    // tokens given
	renewals  int
	asked     []string // Authorization of each request to the MCP server
	paths     []string
	names     []string // resource of each request for a token
	scopes    string   // asked for
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, answers: map[string]http.HandlerFunc{}, served: map[string]http.HandlerFunc{}, lasts: 3600}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	w.logins = httptest.NewServer(http.HandlerFunc(w.login))
	t.Cleanup(func() { w.server.Close(); w.logins.Close() })
	w.resource = map[string]any{"resource": w.at(), "authorization_servers": []string{w.logins.URL}}
	w.issuer = map[string]any{
		"issuer": w.logins.URL, "authorization_endpoint": w.logins.URL + "/authorize", "token_endpoint": w.logins.URL + "/token",
		"registration_endpoint": w.logins.URL + "/register", "revocation_endpoint": w.logins.URL + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
	}
	w.challenge = `Bearer realm="x", resource_metadata="` + w.server.URL + `/.well-known/oauth-protected-resource/mcp"`
	return w
}

// at is the address of the MCP server.
func (w *world) at() string { return w.server.URL + "/mcp" }

func answer(rw http.ResponseWriter, what any) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(what)
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paths = append(w.paths, r.URL.Path)
	if h := w.served[r.URL.Path]; h != nil {
		h(rw, r)
		return
	}
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		answer(rw, w.resource)
	case "/mcp":
		w.asked = append(w.asked, r.Header.Get("Authorization"))
		if w.access == "" || r.Header.Get("Authorization") != "Bearer "+w.access {
			rw.Header().Set("WWW-Authenticate", w.challenge)
			http.Error(rw, "who asks?", http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = rw.Write(body)
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) login(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.answers[r.URL.Path]; h != nil {
		h(rw, r)
		return
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		answer(rw, w.issuer)
	case "/register":
		answer(rw, map[string]any{"client_id": "registered", "client_secret": canarySecret, "token_endpoint_auth_method": "client_secret_post"})
	case "/authorize":
		w.authorize(rw, r)
	case "/token":
		w.token(rw, r)
	case "/revoke":
		rw.WriteHeader(http.StatusOK)
	default:
		http.NotFound(rw, r)
	}
}

func (w *world) authorize(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != w.resource["resource"] || q.Get("response_type") != "code" || q.Get("client_id") == "" {
		http.Error(rw, "not as it must be: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	w.proof, w.scopes = q.Get("code_challenge"), q.Get("scope")
	out := url.Values{"code": {canaryCode}, "state": {q.Get("state")}}
	if w.back != nil {
		out = w.back(out)
	}
	http.Redirect(rw, r, q.Get("redirect_uri")+"?"+out.Encode(), http.StatusFound)
}

func (w *world) token(rw http.ResponseWriter, r *http.Request) {
	refuse := func(code string) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(rw).Encode(map[string]string{"error": code, "error_description": "you sent " + r.FormValue("refresh_token") + r.FormValue("code")})
	}
	w.names = append(w.names, r.FormValue("resource"))
	if r.FormValue("client_secret") != canarySecret {
		refuse("invalid_client")
		return
	}
	switch r.FormValue("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if r.FormValue("code") != canaryCode || base64.RawURLEncoding.EncodeToString(sum[:]) != w.proof {
			refuse("invalid_grant")
			return
		}
	case "refresh_token":
		if w.renewals++; r.FormValue("refresh_token") != w.refresh { // each is good once
			refuse("invalid_grant")
			return
		}
	}
	w.n++
	w.access, w.refresh = fmt.Sprintf("%s-%d", canaryAccess, w.n), fmt.Sprintf("%s-%d", canaryRefresh, w.n)
	answer(rw, map[string]any{"access_token": w.access, "refresh_token": w.refresh, "token_type": "bearer", "expires_in": w.lasts})
}

// change changes the world while it runs.
func (w *world) change(do func()) { w.mu.Lock(); defer w.mu.Unlock(); do() }

// store are logins in a folder of the test.
func store(t *testing.T, now func() time.Time) *oauth.Logins {
	t.Helper()
	return oauth.Open(filepath.Join(t.TempDir(), "logins"), now, nil)
}

// browse is what a browser does with a page, and returns what a person sees.
func browse(ctx context.Context, page string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// attempt is a person who says yes in a browser.
func (w *world) attempt(seen chan<- string) oauth.Attempt {
	return oauth.Attempt{URL: w.at(), Wait: 20 * time.Second, Begin: func(ctx context.Context, p oauth.Page) error {
		go func() {
			text, err := browse(context.WithoutCancel(ctx), p.Address)
			if err != nil {
				text = err.Error()
			}
			if seen != nil {
				seen <- text
			}
		}()
		return nil
	}}
}

// logIn logs in, and fails the test if that does not work.
func (w *world) logIn(l *oauth.Logins) oauth.Status {
	w.t.Helper()
	s, err := l.Login(w.t.Context(), w.attempt(nil))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// free reports what must not be told in a text.
func free(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "canary") {
		t.Errorf("a secret is told: %s", text)
	}
}

// send sends a message to the MCP server by a login.
func (w *world) send(to *oauth.Login, text string) (status int, said string, err error) {
	c := &http.Client{Transport: to.Transport(http.DefaultTransport)}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.at(), strings.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if refused := to.Refused(resp); refused != "" {
		return resp.StatusCode, refused, err
	}
	return resp.StatusCode, string(body), err
}
