package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/oauth"
)

func TestLogin(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	seen := make(chan string, 1)
	s, err := l.Login(t.Context(), w.attempt(seen))
	if err != nil {
		t.Fatal(err)
	}
	if page := <-seen; !strings.Contains(page, "Logged in") || strings.Contains(page, "canary") {
		t.Errorf("the person sees %s", page)
	}
	if s.URL != w.at() || !s.Renewing || s.Ended != "" || s.Expires == nil {
		t.Errorf("the login stands as %+v", s)
	}
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	if status, said, err := w.send(to, "hello"); status != http.StatusOK || said != "hello" || err != nil {
		t.Errorf("with the login: %d, %q, %v", status, said, err)
	}
	if !slices.Equal(w.names, []string{w.at()}) {
		t.Errorf("tokens were asked for %q", w.names)
	}
	list, err := l.List()
	if err != nil || len(list) != 1 || list[0].URL != w.at() {
		t.Errorf("the list is %+v, %v", list, err)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	free(t, string(text))
}

// What is kept is closed to others, and gone after a logout, which gives it back.
func TestLogout(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "logins")
	l := oauth.Open(dir, time.Now, nil)
	w.logIn(l)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err == nil && st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %v", path, st.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var given string
	w.answers["/revoke"] = func(rw http.ResponseWriter, r *http.Request) { given = r.FormValue("token") }
	if back, err := l.Logout(t.Context(), w.at()); !back || err != nil || given != canaryRefresh+"-1" {
		t.Errorf("logged out: %v, %v, gave back %q", back, err, given)
	}
	holds(t, dir, "canary", false)
	if _, err := l.Logout(t.Context(), w.at()); err == nil {
		t.Error("logged out twice")
	}
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	if status, said, _ := w.send(to, "hello"); status != http.StatusUnauthorized || !strings.Contains(said, "a person types: sayso mcp login "+w.at()) {
		t.Errorf("without a login: %d, %q", status, said)
	}
}

// holds reports a file below a folder that holds a text, where that is to be or not.
func holds(t *testing.T, dir, text string, want bool) {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		got, err := os.ReadFile(path)
		if strings.Contains(string(got), text) {
			if found = true; !want {
				t.Errorf("%s holds %q", path, text)
			}
		}
		return err
	})
	if err != nil || want && !found {
		t.Errorf("nothing holds %q: %v", text, err)
	}
}

// What a login refuses. Each time nobody is logged in, no secret is told, and where the
// browser was sent away, the person sees that it did not work.
func TestLogin_refuses(t *testing.T) {
	document := "/.well-known/oauth-protected-resource/mcp"
	says := func(text string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = rw.Write([]byte(text))
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "canary", code) }
	}
	for name, tt := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"metadata for another host":      {func(w *world) { w.resource["resource"] = "https://evil.example/mcp" }, "is about another server, https://evil.example/mcp"},
		"metadata for a neighbour":       {func(w *world) { w.resource["resource"] = w.server.URL + "/mc" }, "is about another server"},
		"metadata for what lies below":   {func(w *world) { w.resource["resource"] = w.at() + "/more" }, "is about another server"},
		"metadata that names nothing":    {func(w *world) { delete(w.resource, "resource") }, "names no server"},
		"metadata for what does not say": {func(w *world) { w.resource["resource"] = w.server.URL }, "whose own cannot be had"},
		"metadata for what says otherwise": {func(w *world) {
			w.resource["resource"] = w.server.URL
			w.served["/.well-known/oauth-protected-resource"] = says(`{"resource":"` + w.server.URL + `","authorization_servers":["https://other.example"]}`)
		}, "whose own says something else"},
		"metadata without an issuer": {func(w *world) { delete(w.resource, "authorization_servers") }, "names nobody who may vouch"},
		"metadata said twice":        {func(w *world) { w.served[document] = says(`{"resource":"a","resource":"b"}`) }, "not the JSON that it should be"},
		"metadata that fails":        {func(w *world) { w.served[document] = status(500) }, "status 500"},
		"metadata asked too often":   {func(w *world) { w.served[document] = status(429) }, "status 429"},
		"metadata elsewhere by a redirect": {func(w *world) {
			w.served[document] = http.RedirectHandler("https://evil.example", http.StatusFound).ServeHTTP
		}, "status 302"},
		"metadata over plain HTTP":      {func(w *world) { w.challenge = `Bearer resource_metadata="http://evil.example/x"` }, "a login goes over https alone"},
		"an issuer over plain HTTP":     {func(w *world) { w.resource["authorization_servers"] = []string{"http://evil.example"} }, "a login goes over https alone"},
		"an issuer with a name":         {func(w *world) { w.resource["authorization_servers"] = []string{"https://a:b@evil.example"} }, "is no address that can be used"},
		"an issuer that is another":     {func(w *world) { w.issuer["issuer"] = "https://evil.example" }, "says that it is https://evil.example"},
		"an issuer that says nothing":   {func(w *world) { w.answers["/.well-known/oauth-authorization-server"] = status(404) }, "says nothing of itself"},
		"an issuer that fails":          {func(w *world) { w.answers["/.well-known/oauth-authorization-server"] = status(503) }, "status 503"},
		"no S256":                       {func(w *world) { w.issuer["code_challenge_methods_supported"] = []string{"plain"} }, "PKCE with S256"},
		"no PKCE":                       {func(w *world) { delete(w.issuer, "code_challenge_methods_supported") }, "PKCE with S256"},
		"a page over plain HTTP":        {func(w *world) { w.issuer["authorization_endpoint"] = "http://evil.example/a" }, "the page to log in is at http://evil.example"},
		"a page that is a script":       {func(w *world) { w.issuer["authorization_endpoint"] = "javascript:alert(1)" }, "is no address that can be used"},
		"tokens over plain HTTP":        {func(w *world) { w.issuer["token_endpoint"] = "http://evil.example/t" }, "where tokens are had is at http://evil.example"},
		"no tokens":                     {func(w *world) { delete(w.issuer, "token_endpoint") }, "does not say where"},
		"no codes":                      {func(w *world) { w.issuer["response_types_supported"] = []string{"token"} }, "gives no codes"},
		"no registration":               {func(w *world) { delete(w.issuer, "registration_endpoint") }, "takes no clients that register themselves"},
		"a registration that fails":     {func(w *world) { w.answers["/register"] = status(500) }, "did not register this program as a client: status 500"},
		"a registration without a name": {func(w *world) { w.answers["/register"] = says(`{"client_secret":"canary"}`) }, "gave it no name"},
		"a registration that wants a key": {func(w *world) {
			w.answers["/register"] = says(`{"client_id":"x","token_endpoint_auth_method":"private_key_jwt"}`)
		}, "say who it is by private_key_jwt, which it cannot"},
		"a registration that is no JSON": {func(w *world) { w.answers["/register"] = says(`{"client_secret":"canary"`) }, "not the JSON that it should be"},
		"an error in the place of a code": {func(w *world) {
			w.back = func(q url.Values) url.Values { return url.Values{"state": q["state"], "error": {"access_denied"}} }
		}, "did not log you in: it says access_denied"},
		"no code": {func(w *world) { w.back = func(q url.Values) url.Values { q.Del("code"); return q } }, "has no code"},
		"a code twice": {func(w *world) {
			w.back = func(q url.Values) url.Values { q.Add("code", "other"); return q }
		}, "says one thing twice"},
		"an answer of another issuer": {func(w *world) {
			w.back = func(q url.Values) url.Values { q.Set("iss", "https://evil.example"); return q }
		}, "is from https://evil.example, and"},
		"an issuer that is written otherwise": {func(w *world) {
			w.back = func(q url.Values) url.Values { q.Set("iss", w.logins.URL+"/"); return q }
		}, "the answer to the login is from"},
		"an answer that does not say of whom": {func(w *world) { w.issuer["authorization_response_iss_parameter_supported"] = true }, "does not say who gave it"},
		"another state": {func(w *world) {
			w.back = func(q url.Values) url.Values { q.Set("state", "other"); return q }
		}, "a state that is not this login's"},
		"no state":           {func(w *world) { w.back = func(q url.Values) url.Values { q.Del("state"); return q } }, "a state that is not this login's"},
		"a code of another":  {func(w *world) { w.back = func(q url.Values) url.Values { q.Set("code", "x"); return q } }, "it says invalid_grant"},
		"tokens that fail":   {func(w *world) { w.answers["/token"] = status(500) }, "gave no token for the login: status 500"},
		"a token of no kind": {func(w *world) { w.answers["/token"] = says(`{"access_token":"canary","token_type":"mac"}`) }, "of the kind MAC"},
		"a token with a line end": {func(w *world) {
			w.answers["/token"] = says(`{"access_token":"canary\r\nX: y","token_type":"bearer"}`)
		}, "cannot stand in a header"},
		"no token": {func(w *world) { w.answers["/token"] = says(`{"secret":"canary"}`) }, "its answer is no token"},
		"no JSON":  {func(w *world) { w.answers["/token"] = says(`canary`) }, "its answer is no token"},
		"tokens elsewhere": {func(w *world) {
			w.answers["/token"] = http.RedirectHandler("https://evil.example", http.StatusTemporaryRedirect).ServeHTTP
		}, "status 307"},
		"registration elsewhere": {func(w *world) {
			w.answers["/register"] = http.RedirectHandler("https://evil.example", http.StatusTemporaryRedirect).ServeHTTP
		}, "status 307"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.change(func() { tt.do(w) })
			dir := filepath.Join(t.TempDir(), "logins")
			l := oauth.Open(dir, time.Now, nil)
			seen := make(chan string, 1)
			a := w.attempt(seen)
			if strings.Contains(tt.want, "state") {
				a.Wait, a.Begin = time.Millisecond, func(ctx context.Context, p oauth.Page) error { // else the answer might come late
					text, err := browse(ctx, p.Address)
					seen <- text
					return err
				}
			}
			_, err := l.Login(t.Context(), a)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("the login came to %v; want %q", err, tt.want)
			}
			free(t, err.Error())
			select {
			case page := <-seen:
				if strings.Contains(page, "<h1>Logged in") || strings.Contains(page, "canary") {
					t.Errorf("the person sees %s", page)
				}
			default: // the browser was never sent away
			}
			if list, err := l.List(); err != nil || len(list) > 0 {
				t.Errorf("somebody is logged in: %+v, %v", list, err)
			}
			if _, err := os.Stat(dir); err == nil {
				holds(t, dir, "canary", false)
			}
		})
	}
}

// Nobody comes back: the login ends, and what was there before stays.
func TestLogin_nobodyComes(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.logIn(l)
	a := w.attempt(nil)
	a.Wait, a.Begin = 10*time.Millisecond, func(context.Context, oauth.Page) error { return nil }
	if _, err := l.Login(t.Context(), a); err == nil || !strings.Contains(err.Error(), "no browser came back in time") {
		t.Errorf("the login came to %v", err)
	}
	if list, err := l.List(); err != nil || len(list) != 1 || list[0].Ended != "" {
		t.Errorf("the login before is %+v, %v", list, err)
	}
}

// A person who ends the command ends the wait.
func TestLogin_ended(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	a := w.attempt(nil)
	a.Begin = func(context.Context, oauth.Page) error { cancel(); return nil }
	if _, err := l.Login(ctx, a); !errors.Is(err, context.Canceled) {
		t.Errorf("the login came to %v", err)
	}
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/register", "/token"} { // or while a server is asked
		t.Run(path, func(t *testing.T) {
			w := newWorld(t)
			ctx, cancel := context.WithCancel(t.Context())
			w.answers[path] = func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // so that the server sees who is gone
				cancel()
				<-r.Context().Done()
			}
			if _, err := store(t, time.Now).Login(ctx, w.attempt(nil)); !errors.Is(err, context.Canceled) {
				t.Errorf("the login came to %v", err)
			}
		})
	}
}

// A page that tries its luck neither ends a login nor is taken for its answer.
func TestLogin_strangers(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	a := w.attempt(nil)
	real := a.Begin
	a.Begin = func(ctx context.Context, p oauth.Page) error {
		for _, tail := range []string{"?code=evil&state=evil", "?code=evil", "?error=access_denied", ""} {
			if text, err := browse(ctx, p.Redirect+tail); err != nil || !strings.Contains(text, "not the login that sayso waits for") {
				t.Errorf("%q: %q, %v", tail, text, err)
			}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Redirect, nil)
		if err != nil {
			return err
		}
		req.Host = "evil.example"
		if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != http.StatusNotFound {
			t.Errorf("another host: %v, %v", resp, err)
		}
		if u, err := url.Parse(p.Redirect); err != nil || u.Hostname() != "127.0.0.1" || u.Port() == "0" {
			t.Errorf("the browser comes back to %s", p.Redirect)
		}
		return real(ctx, p)
	}
	if _, err := l.Login(t.Context(), a); err != nil {
		t.Error(err)
	}
}

// A document of a place above the server counts, if that place says the same.
func TestLogin_aboveTheServer(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.resource["resource"] = w.server.URL
	w.served["/.well-known/oauth-protected-resource"] = func(rw http.ResponseWriter, _ *http.Request) { answer(rw, w.resource) }
	w.logIn(l)
	if !slices.Equal(w.names, []string{w.server.URL}) {
		t.Errorf("tokens were asked for %q", w.names)
	}
}

// The scopes are those that the server asks for, with what a person named and had.
func TestLogin_scopes(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.resource["scopes_supported"] = []string{"all", "of", "them"}
	w.logIn(l)
	if w.scopes != "all of them" {
		t.Errorf("asked for %q", w.scopes)
	}
	if _, err := l.Logout(t.Context(), w.at()); err != nil {
		t.Fatal(err)
	}
	w.change(func() {
		w.challenge += `, scope="read"`
		w.issuer["scopes_supported"] = []string{"offline_access"}
		w.access = ""
	})
	w.logIn(l)
	if w.scopes != "read offline_access" {
		t.Errorf("asked for %q", w.scopes)
	}
	a := w.attempt(nil)
	a.Scopes = []string{"write"}
	w.change(func() { w.access = "" })
	if _, err := l.Login(t.Context(), a); err != nil || w.scopes != "read offline_access write" {
		t.Errorf("asked for %q, %v", w.scopes, err)
	}
}

// A client that a person made is used again at the same place, with the port of its
// redirect, and no other registered.
func TestLogin_givenClient(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.answers["/register"] = func(rw http.ResponseWriter, _ *http.Request) {
		t.Error("it is registered")
		rw.WriteHeader(http.StatusForbidden)
	}
	w.issuer["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
	var ports []string
	a := w.attempt(nil)
	begin := a.Begin
	a.Begin = func(ctx context.Context, p oauth.Page) error {
		u, err := url.Parse(p.Redirect)
		ports = append(ports, u.Port())
		return errors.Join(err, begin(ctx, p))
	}
	again := a
	a.ClientID, a.ClientSecret, a.Port = "mine", canarySecret, freePort(t)
	for _, a := range []oauth.Attempt{a, again} {
		if _, err := l.Login(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if want := strconv.Itoa(a.Port); !slices.Equal(ports, []string{want, want}) {
		t.Errorf("the browser comes back to %q; want %s", ports, want)
	}
}

// freePort is a port of this machine that nobody listens at.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A client that the server made without a secret sends none, whatever else it was given.
func TestLogin_publicClient(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.answers["/register"] = func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, map[string]any{"client_id": "registered", "client_secret": canarySecret, "token_endpoint_auth_method": "none"})
	}
	w.answers["/token"] = func(rw http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_id") != "registered" || r.FormValue("client_secret") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("a token is asked for as %s, with %v", r.Form, r.Header)
		}
		answer(rw, map[string]any{"access_token": "x", "token_type": "bearer"})
	}
	w.logIn(l)
}

// What a token is for has no query where the server does not say what it is for: there
// stand keys, too, and the name goes through a browser.
func TestLogin_keyInTheAddress(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.challenge = "Bearer"
	w.served["/.well-known/oauth-protected-resource/mcp"] = http.NotFound
	w.served["/.well-known/oauth-authorization-server"] = func(rw http.ResponseWriter, _ *http.Request) {
		w.issuer["issuer"] = w.server.URL
		answer(rw, w.issuer)
	}
	w.resource["resource"] = w.at() // what a token must be asked for
	a := w.attempt(nil)
	a.URL += "?key=canary"
	begin := a.Begin
	a.Begin = func(ctx context.Context, p oauth.Page) error {
		free(t, p.Address+" "+p.Resource)
		return begin(ctx, p)
	}
	s, err := l.Login(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	free(t, s.URL+s.Command)
}

// A server that says no without an end holds nobody up.
func TestLogin_refusalWithoutEnd(t *testing.T) {
	w := newWorld(t)
	l := store(t, time.Now)
	w.served["/mcp"] = func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("WWW-Authenticate", w.challenge)
		rw.WriteHeader(http.StatusUnauthorized)
		_ = http.NewResponseController(rw).Flush()
		_, _ = io.Copy(io.Discard, r.Body) // so that the server sees who is gone
		w.mu.Unlock()                      // which the rest of the world works with meanwhile
		<-r.Context().Done()
		w.mu.Lock()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := l.Login(ctx, w.attempt(nil)); err != nil {
		t.Error(err)
	}
}

// What a login may lead to, by where the server is.
func TestReachable(t *testing.T) {
	const elsewhere, here = "https://mcp.example.com/mcp", "http://127.0.0.1:1/mcp"
	for _, c := range []struct {
		at, server string
		want       bool
	}{
		{"https://login.example.com", elsewhere, true},
		{"https://login.example.com", here, true},
		{"http://127.0.0.1:2/a", here, true},
		{"http://localhost:2/a", here, true},
		{"https://[::1]:2/a", here, true},
		{"http://127.0.0.1:2/a", elsewhere, false},
		{"https://127.0.0.1/a", elsewhere, false},
		{"https://localhost/a", elsewhere, false},
		{"http://login.example.com", elsewhere, false},
		{"http://login.example.com", here, false},
		{"file:///etc/passwd", here, false},
		{"javascript:alert(1)", here, false},
		{"https://a@login.example.com", elsewhere, false},
		{"--help", elsewhere, false},
		{"", elsewhere, false},
	} {
		if err := oauth.Reachable("it", c.at, c.server); (err == nil) != c.want {
			t.Errorf("%q for %s: %v", c.at, c.server, err)
		}
	}
}
