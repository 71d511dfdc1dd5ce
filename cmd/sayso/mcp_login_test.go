package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
)

// guarded is the part of an MCP server that wants a login, and the server of that
// login. The file lasts says for how many seconds a token is good. Where the file ended is,
// nobody is let in and nothing renewed; where broken is, that fails; where more is, a login
// does not reach far enough; where echo is, what it was shown is said back.
type guarded struct {
	address string

	mu     sync.Mutex // guards what follows
	proof  string
	tokens int
}

var guardedPaths = []string{
	"/guarded", "/.well-known/oauth-protected-resource/guarded", "/.well-known/oauth-authorization-server", "/register", "/authorize", "/token", "/revoke",
}

// serve answers what belongs to logging in, and lets through who is logged in.
func (g *guarded) serve(w http.ResponseWriter, r *http.Request, through http.HandlerFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	say := func(format string, args ...any) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, format, args...)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/guarded":
		say(`{"resource":"%[1]s/guarded","authorization_servers":["%[1]s"]}`, g.address)
	case "/.well-known/oauth-authorization-server":
		say(`{"issuer":"%[1]s","authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","registration_endpoint":"%[1]s/register","revocation_endpoint":"%[1]s/revoke","code_challenge_methods_supported":["S256"]}`, g.address)
	case "/register":
		w.WriteHeader(http.StatusCreated)
		say(`{"client_id":"registered","token_endpoint_auth_method":"none"}`)
	case "/authorize":
		q := r.URL.Query()
		g.proof = q.Get("code_challenge")
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"canary-code"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	case "/token":
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		code := r.FormValue("grant_type") == "authorization_code" && r.FormValue("code") == "canary-code" && base64.RawURLEncoding.EncodeToString(sum[:]) == g.proof
		_, ended := os.Stat("ended")
		if _, err := os.Stat("broken"); err == nil {
			http.Error(w, r.FormValue("refresh_token"), http.StatusInternalServerError)
			return
		}
		if !code && (ended == nil || r.FormValue("refresh_token") != fmt.Sprintf("canary-refresh-%d", g.tokens)) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			say(`{"error":"invalid_grant"}`)
			return
		}
		lasts, err := os.ReadFile("lasts")
		if err != nil {
			panic(err)
		}
		g.tokens++
		say(`{"access_token":"canary-access-%[1]d","refresh_token":"canary-refresh-%[1]d","token_type":"Bearer","expires_in":%[2]s}`, g.tokens, strings.TrimSpace(string(lasts)))
	case "/revoke":
		say(`{}`)
	default:
		shown := r.Header.Get("Authorization")
		ended, _ := os.ReadFile("ended")
		if shown != fmt.Sprintf("Bearer canary-access-%d", g.tokens) || strings.TrimSpace(string(ended)) != "" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.address+`/.well-known/oauth-protected-resource/guarded"`)
			http.Error(w, "you showed "+shown, http.StatusUnauthorized)
			return
		}
		if _, err := os.Stat("more"); err == nil {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="notes:write"`)
			http.Error(w, "you showed "+shown, http.StatusForbidden)
			return
		}
		if _, err := os.Stat("echo"); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"you showed %s"}}`, shown)
			return
		}
		through(w, r)
	}
}

// browser PAGE is a browser in which a person says yes: it follows the page. Where
// the file away is, the person is not there.
func browser() {
	if _, err := os.Stat("away"); err == nil {
		return
	}
	resp, err := http.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile("page", text, 0o600); err != nil {
		panic(err)
	}
}
