package gateway_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

const canary = "canary-7Jq2xWv9"

// logText is all that is in the log.
func (s *httpHarness) logText() string {
	s.t.Helper()
	var all strings.Builder
	for since := sayso.Seq(0); ; {
		events, err := s.log.Since(context.Background(), since, 100)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			fmt.Fprintf(&all, "%+v\n%s\n%s\n", e, e.Payload, e.Content) // as text, too
			since = e.Seq
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return all.String() + strings.Join(s.notes, "\n")
}

// What a client is authorised by goes to the server that it is for, and nowhere
// else: not where a server sends to, not into the record, not into what is told. Our
// own token goes to no server, and a server's own headers to no client.
func TestHandlerAuthorization(t *testing.T) {
	elsewhere := newTestServer(t)
	passing, own := newTestServer(t), newTestServer(t)
	demand := `Bearer resource_metadata="https://example.org/.well-known"`
	refuses := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", demand)
		http.Error(w, "who are you, "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}
	for _, up := range []*testServer{passing, own} {
		up.handle("resources/list", refuses)
		up.handle("prompts/list", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/"+canary, http.StatusTemporaryRedirect)
		})
		up.handle("ping", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	}
	s := openHandler(t, rules{"echo": sayso.Allow},
		gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: passing.URL + "/s/" + canary + "8e1f7a2b94?key=" + canary, PassAuthorization: true},
		gateway.Upstream{Options: gateway.Options{Name: "own"}, URL: own.URL, Header: http.Header{"Authorization": {"Bearer own-" + canary}}, Owners: []string{"bob"}},
	)
	mine := []string{"Sayso-Token", adaToken, "Authorization", "Bearer " + canary}
	ask := func(path, method string, header ...string) *response {
		body, h := statelessMessage("1", method, "", "")
		return s.do(s.newRequest("POST", path, body, append(h, header...)...))
	}
	if r := ask("/srv/mcp", "tools/list", mine...); r.StatusCode != 200 {
		t.Errorf("%s %s", r.Status, r.text)
	}
	for name, tt := range map[string]struct {
		r      *response
		status int
	}{
		"our token where the server's belongs": {ask("/srv/mcp", "tools/list"), 401},
		"our token twice":                      {ask("/srv/mcp", "tools/list", "Sayso-Token", adaToken), 401},
		"the server's token alone":             {ask("/srv/mcp", "tools/list", "Authorization", "Bearer "+canary), 401},
		"the server wants another":             {ask("/srv/mcp", "resources/list", mine...), 401},
		"a redirect":                           {ask("/srv/mcp", "prompts/list", mine...), 200},
		"a connection that breaks":             {ask("/srv/mcp", "ping", mine...), 200},
		"a server of others":                   {ask("/own/mcp", "tools/list"), 404},
		"the gateway's own token is wrong":     {ask("/own/mcp", "resources/list", "Authorization", "Bearer "+bobToken), 502},
	} {
		if text := tt.r.last(); tt.r.StatusCode != tt.status || !strings.Contains(text, `"error"`) || strings.Contains(text, canary) {
			t.Errorf("%s: %s %s", name, tt.r.Status, text)
		}
		if got := tt.r.Header.Get("WWW-Authenticate"); (got == demand) != (name == "the server wants another") {
			t.Errorf("%s: it is told %q", name, got)
		}
	}
	if r := ask("/own/mcp", "tools/list", "Authorization", "Bearer "+bobToken); r.StatusCode != 200 || strings.Contains(fmt.Sprint(r.Header, r.text), canary) {
		t.Errorf("%s %v %s", r.Status, r.Header, r.text)
	}
	for _, h := range passing.received("tools/list") {
		if h.header.Get("Authorization") != "Bearer "+canary || h.header.Get("Sayso-Token") != "" {
			t.Errorf("the server got %v", h.header)
		}
	}
	for _, h := range own.received("tools/list") {
		if h.header.Get("Authorization") != "Bearer own-"+canary {
			t.Errorf("the server got %v", h.header)
		}
	}
	if len(elsewhere.got) > 0 {
		t.Errorf("somebody else got %v", elsewhere.got)
	}
	if all := s.logText(); strings.Contains(all, canary) || strings.Contains(all, adaToken) {
		t.Errorf("it is on the record:\n%s", all)
	}
}

// A server that forgot the session ends it for the client, which begins another.
func TestHandlerUpstreamSessionLost(t *testing.T) {
	up := newTestServer(t)
	up.handle("ping", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no such session", http.StatusNotFound) })
	s := openHandler(t, nil, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	in := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	if r := s.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, in...); r.StatusCode != 404 {
		t.Errorf("%s %s", r.Status, r.text)
	}
	if r := s.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, in...); r.StatusCode != 404 {
		t.Errorf("%s %s", r.Status, r.text)
	}
	s.initialize()
}

// certificate is a certificate of 127.0.0.1 with a key of its own.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "lab"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// A server that shows another key than the one that was trusted is sent nothing,
// whoever vouches for it, until a person has accepted the key.
func TestHandlerServerKey(t *testing.T) {
	first, second := certificate(t), certificate(t)
	roots := x509.NewCertPool()
	for _, c := range []tls.Certificate{first, second} {
		leaf, err := x509.ParseCertificate(c.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		roots.AddCert(leaf)
	}
	up := newTestServer(t)
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	shows := first
	l := httptest.NewUnstartedServer(up)
	l.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{shows}, NextProtos: []string{"http/1.1"}}, nil
	}}
	l.StartTLS()
	defer l.Close()
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: l.URL, Roots: roots})
	s.listTools()
	body, header := statelessEcho("1", "hi")
	if r := s.post(body, header...); !strings.Contains(r.last(), `"ran"`) {
		t.Fatalf("%s %s", r.Status, r.last())
	}
	shows = second
	l.CloseClientConnections()
	before := len(up.received("tools/call"))
	for tries := 0; ; tries++ {
		r := s.post(body, header...)
		if strings.Contains(r.last(), "sayso tools accept srv") {
			break
		}
		if tries > 2 || strings.Contains(r.last(), `"ran"`) { // a connection may have been closed as it was used again
			t.Fatalf("%s %s", r.Status, r.last())
		}
	}
	if got := len(up.received("tools/call")); got != before {
		t.Error("the server got the call")
	}
	pins, err := s.broker.Pins(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.broker.AcceptDefinition(context.Background(), person, "srv", "", pins.Of("srv")[""].Quarantined); err != nil {
		t.Fatal(err)
	}
	if r := s.post(body, header...); !strings.Contains(r.last(), `"ran"`) {
		t.Errorf("accepted: %s %s", r.Status, r.last())
	}
}

// An address is one that nobody on the way can read along with.
func TestCheckURL(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://mcp.example.org/mcp": true, "http://127.0.0.1:8000/mcp": true, "http://localhost/mcp": true, "http://[::1]:1/": true,
		"http://mcp.example.org/mcp": false, "http://127.0.0.1.example.org/": false, "https://ada:secret@example.org/": false, "ftp://127.0.0.1/": false,
		"https://": false, "/mcp": false, "": false, "https://example.org/#x": false, "http://2130706433/": false, "http://0x7f.1/": false,
	} {
		if err := gateway.CheckURL(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
