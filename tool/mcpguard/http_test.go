package mcpguard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
)

// serve puts the server on the network, and returns its address. The tokens of
// its users are their names.
func (w *harness) serve(stateless, users bool) string {
	w.t.Helper()
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return w.server }, &mcp.StreamableHTTPOptions{
		Stateless: stateless, PropagateRequestCancellation: true,
	})
	if users {
		h = auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: token}, nil
		}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
	}
	s := httptest.NewServer(h)
	w.t.Cleanup(s.Close)
	return s.URL
}

// bearer sends a token along.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// user connects a client of a user over HTTP.
func (w *harness) user(name, address string) *mcp.ClientSession {
	w.t.Helper()
	return w.connect(&mcp.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: bearer(name)}}, nil, func() {})
}

// Over HTTP, with sessions and without, calls are asked about, run and are refused as
// in memory, in both revisions of the protocol.
func TestMiddleware_http(t *testing.T) {
	for name, stateless := range map[string]bool{"with sessions": false, "stateless": true} {
		w := open(t, nil)
		cs := w.user("ana", w.serve(stateless, false))
		w.gate.Approve("notes/echo")
		if said, failed := w.call(cs, "echo", text{"hello"}); said != "hello" || failed {
			t.Errorf("%s: got %q, %v", name, said, failed)
		}
		w.expectRan("echo hello")
		w.gate.Deny("notes/echo", "not today")
		if said, failed := w.call(cs, "echo", text{"bye"}); !strings.HasSuffix(said, ": not today") || !failed {
			t.Errorf("%s: got %q, %v", name, said, failed)
		}
		w.expectRan()
	}
}

// What is remembered for a session is remembered for its user, and for no other.
func TestMiddleware_sessions(t *testing.T) {
	for name, tt := range map[string]struct{ stateless, users bool }{
		"with sessions": {false, false}, "stateless, with users": {true, true},
	} {
		w := open(t, nil)
		address := w.serve(tt.stateless, tt.users)
		w.gate.Answer(func(sayso.Request) sayso.Answer {
			return sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeSession}
		})
		ana, bob := w.user("ana", address), w.user("bob", address)
		w.call(ana, "echo", text{"a"})
		w.call(ana, "echo", text{"a"})
		if n := len(w.gate.Asked()); n != 1 {
			t.Errorf("%s: people were asked %d times about what was remembered", name, n)
		}
		w.call(bob, "echo", text{"a"})
		if n := len(w.gate.Asked()); n != 2 {
			t.Errorf("%s: what was remembered for one counted for another", name)
		}
	}
}

// Over HTTP without sessions the end of the response's stream is a cancellation.
func TestMiddleware_httpCancelled(t *testing.T) {
	w := open(t, nil)
	w.gate.Leave("*")
	w.cancels(w.user("ana", w.serve(true, false)))
}
