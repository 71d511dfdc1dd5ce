package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/server"
)

// raw sends bytes as they are and returns the status line and the rest.
func (w *harness) raw(network, addr, text string) (status int, rest string) {
	w.t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		w.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		w.t.Fatalf("%q: %v", text, err)
	}
	// The body is not closed: that would wait for the end of a stream.
	if resp.StatusCode == http.StatusSwitchingProtocols || strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp.StatusCode, ""
	}
	body, _ := io.ReadAll(resp.Body)
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control") {
			w.t.Errorf("%q: header %s", text, name)
		}
	}
	return resp.StatusCode, string(body)
}

// doors are the three kinds of routes that a browser could be talked into.
var doors = map[string]string{
	"list":   "GET /v1/requests HTTP/1.1\r\nConnection: close\r\n",
	"events": "GET /v1/events?since=0 HTTP/1.1\r\nConnection: close\r\n",
	"socket": "GET /v1/ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
}

func TestNE1_hostsAndOrigins(t *testing.T) {
	w := newHarness(t, func(o *server.Options) {
		o.PublicURL, o.AllowedHosts = "https://Sayso.example.org", []string{"box.lan:7777"}
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	w.open("s1", "secret-call")
	_, port, _ := net.SplitHostPort(w.addr)
	own := "Host: 127.0.0.1:" + port + "\r\n"
	const public = "X-Forwarded-Proto: https\r\nHost: sayso.example.org\r\n"
	const auth = "Authorization: Bearer person\r\n"
	for _, c := range []struct {
		name, lines string
		pass        bool
	}{
		{"address", own + auth, true},
		{"localhost", "Host: localhost:" + port + "\r\n" + auth, true},
		{"capitals", "Host: LocalHost:" + port + "\r\n" + auth, true},
		{"IPv6", "Host: [::1]:" + port + "\r\n" + auth, true},
		{"public", public + auth, true},
		{"public with its port", "X-Forwarded-Proto: https\r\nHost: sayso.example.org:443\r\n" + auth, true},
		{"listed", "Host: box.lan:7777\r\n" + auth, true},
		{"own origin", own + auth + "Origin: http://127.0.0.1:" + port + "\r\n", true},
		{"public origin", public + auth + "Origin: https://sayso.example.org\r\n", true},
		{"same origin", own + auth + "Sec-Fetch-Site: same-origin\r\n", true},
		{"address bar", own + auth + "Sec-Fetch-Site: none\r\n", true},

		{"foreign host", "Host: evil.example:" + port + "\r\n" + auth, false},
		{"foreign host without port", "Host: evil.example\r\n" + auth, false},
		{"rebound name", "Host: 127.0.0.1.evil.example:" + port + "\r\n" + auth, false},
		{"other port", "Host: 127.0.0.1:1\r\n" + auth, false},
		{"no port", "Host: 127.0.0.1\r\n" + auth, false},
		{"trailing dot", "Host: localhost.:" + port + "\r\n" + auth, false},
		{"public, past the proxy", "Host: sayso.example.org\r\n" + auth, false},
		{"public, trailing dot", "X-Forwarded-Proto: https\r\nHost: sayso.example.org.\r\n" + auth, false},
		{"public, other port", "X-Forwarded-Proto: https\r\nHost: sayso.example.org:8443\r\n" + auth, false},
		{"listed without port", "Host: box.lan\r\n" + auth, false},
		{"wildcard address", "Host: 0.0.0.0:" + port + "\r\n" + auth, false},
		{"empty host", "Host: \r\n" + auth, false},
		{"two hosts", own + "Host: evil.example\r\n" + auth, false},
		{"no host", auth, false},
		{"foreign origin", own + auth + "Origin: https://evil.example\r\n", false},
		{"null origin", own + auth + "Origin: null\r\n", false},
		{"origin on another port", own + auth + "Origin: http://127.0.0.1:1\r\n", false},
		{"origin by another name", own + auth + "Origin: http://localhost:" + port + "\r\n", false},
		{"origin of another scheme", own + auth + "Origin: https://127.0.0.1:" + port + "\r\n", false},
		{"public origin without TLS", public + auth + "Origin: http://sayso.example.org\r\n", false},
		{"two origins", own + auth + "Origin: http://127.0.0.1:" + port + "\r\nOrigin: https://evil.example\r\n", false},
		{"empty origin", own + auth + "Origin: \r\n", false},
		{"cross site", own + auth + "Sec-Fetch-Site: cross-site\r\n", false},
		{"same site", own + auth + "Sec-Fetch-Site: same-site\r\n", false},
		{"unknown site", own + auth + "Sec-Fetch-Site: x\r\n", false},
		{"navigation from elsewhere", own + auth + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", false},
		{"no token", own, false},
		{"wrong token", own + "Authorization: Bearer nobody\r\n", false},
		{"other scheme", own + "Authorization: Basic cGVyc29uOg==\r\n", false},
		{"empty token", own + "Authorization: Bearer \r\n", false},
		{"two tokens", own + auth + "Authorization: Bearer admin\r\n", false},
		{"cookie", own + "Cookie: token=person\r\n", false},
		{"version far away", own + auth + "Sayso-Version: 1.7.0\r\n", false},
	} {
		for name, line := range doors {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				w := *w
				w.t = t
				status, body := w.raw("tcp", w.addr, line+c.lines+"\r\n")
				if passed := status < 300; passed != c.pass {
					t.Errorf("status %d %s", status, body)
				}
				if !c.pass && (strings.Contains(body, "secret-call") || strings.Contains(body, "git push")) {
					t.Errorf("a refusal tells of requests: %s", body)
				}
			})
		}
	}
}

func TestTokensStayOutOfAddresses(t *testing.T) {
	w := newHarness(t, nil)
	for _, path := range []string{"/v1/requests?token=person", "/v1/events?access_token=person", "/v1/requests?authorization=Bearer+person"} {
		if r := w.request("", "GET", path, ""); r.status != http.StatusUnauthorized {
			t.Errorf("GET %s: %d", path, r.status)
		}
	}
}

func TestContentTypes(t *testing.T) {
	w := newHarness(t, nil)
	const right = `{"session":"s1","mode":"strict"}`
	for _, c := range []struct {
		header string
		pass   bool
	}{
		{"Content-Type: application/json", true},
		{"Content-Type: application/json; charset=utf-8", true},
		{"Content-Type: Application/JSON;charset=UTF-8", true},
		{"Content-Type", false},
		{"Content-Type: text/plain", false},
		{"Content-Type: text/json", false},
		{"Content-Type: application/x-www-form-urlencoded", false},
		{"Content-Type: multipart/form-data; boundary=x", false},
		{"Content-Type: application/json; charset=x", false},
		{"Content-Type: application/json, text/plain", false},
		{"Content-Type: application/json; charset=utf-8; x=y", false},
		{"Content-Type: text/plain; application/json", false},
		{"Content-Encoding: gzip", false},
	} {
		before := w.head()
		r := w.request("admin", "PUT", "/v1/mode", right, c.header)
		if passed := r.status == http.StatusNoContent; passed != c.pass || (!passed && r.status != http.StatusUnsupportedMediaType) {
			t.Errorf("%s: %d %s", c.header, r.status, r.body)
		}
		if !c.pass && w.head() != before {
			t.Errorf("%s changed the log", c.header)
		}
	}
	if r := w.request("admin", "GET", "/v1/mode", "{}"); r.status != http.StatusUnsupportedMediaType {
		t.Errorf("a GET with a body: %d", r.status)
	}
}

func TestMethods(t *testing.T) {
	w := newHarness(t, nil)
	for _, c := range []struct {
		method, path, header string
		want                 int
	}{
		{"OPTIONS", "/v1/requests", "Origin: http://127.0.0.1:1", 403},
		{"OPTIONS", "/v1/requests", "Access-Control-Request-Method: POST", 405},
		{"OPTIONS", "/v1/nothing", "Access-Control-Request-Method: POST", 405},
		{"TRACE", "/v1/requests", "X-A: b", 405},
		{"HEAD", "/v1/events", "X-A: b", 405},
		{"HEAD", "/healthz", "X-A: b", 200},
		{"POST", "/v1/requests", "X-HTTP-Method-Override: GET", 405},
		{"GET", "/v1/mode", "X-HTTP-Method-Override: PUT", 200},
		{"DELETE", "/v1/mode", "X-Method-Override: GET", 405},
		{"GET", "/v1/nothing", "X-A: b", 404},
		{"GET", "/v1//requests", "X-A: b", 404},
		{"GET", "/v1/requests/", "X-A: b", 404},
		{"GET", "/v1/x/../requests", "X-A: b", 404},
		{"GET", "/v1/%72equests", "X-A: b", 404},
		{"GET", "/", "X-A: b", 404},
	} {
		r := w.request("admin", c.method, c.path, "", c.header)
		if r.status != c.want {
			t.Errorf("%s %s (%s): %d %s, want %d", c.method, c.path, c.header, r.status, r.body, c.want)
		}
		if c.want == 405 && c.method != "OPTIONS" && r.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
	for _, path := range []string{"/v1/requests", "/v1/nothing", "/anything"} {
		if r := w.request("", "GET", path, ""); r.status != http.StatusUnauthorized {
			t.Errorf("GET %s without a token: %d: who shows none learns which routes there are", path, r.status)
		}
	}
}

func TestUnixSocketWantsTokensToo(t *testing.T) {
	w := newHarness(t, nil)
	for _, c := range []struct {
		lines string
		want  int
	}{
		{"Host: sayso\r\nAuthorization: Bearer person\r\n", 200},
		{"Host: sayso\r\n", 401},
		{"Host: sayso\r\nAuthorization: Bearer person\r\nOrigin: https://evil.example\r\n", 403},
		{"Host: sayso\r\nAuthorization: Bearer person\r\nSec-Fetch-Site: cross-site\r\n", 403},
	} {
		if got, body := w.raw("unix", w.socket, "GET /v1/requests HTTP/1.1\r\nConnection: close\r\n"+c.lines+"\r\n"); got != c.want {
			t.Errorf("%q: %d %s, want %d", c.lines, got, body, c.want)
		}
	}
}

func TestVersionSkewNamesTheCommand(t *testing.T) {
	w := newHarness(t, nil)
	for version, want := range map[string]int{
		"": 200, "1.4.9": 200, "v1.3.0": 200, "1.5.0": 200, "(devel)": 200, "1.2.9": 400, "1.6.0": 400, "2.4.0": 400,
	} {
		header := "Sayso-Version: " + version
		if version == "" {
			header = "Sayso-Version"
		}
		r := w.request("person", "GET", "/v1/head", "", header)
		if r.status != want {
			t.Errorf("%q: %d %s", version, r.status, r.body)
		}
		if r.header.Get("Sayso-Version") != "1.4.0" {
			t.Errorf("%q: the server says %q", version, r.header.Get("Sayso-Version"))
		}
		if want == 400 && !strings.Contains(string(r.body), "make install") {
			t.Errorf("%q: %s names no command", version, r.body)
		}
	}
}

func TestPage(t *testing.T) {
	w := newHarness(t, func(o *server.Options) {
		o.Page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "page of ", r.URL.Path) })
	})
	get := func(path string, lines ...string) (int, string) {
		_, port, _ := net.SplitHostPort(w.addr)
		return w.raw("tcp", w.addr, "GET "+path+" HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1:"+port+"\r\n"+strings.Join(lines, "\r\n")+"\r\n\r\n")
	}
	if status, body := get("/"); status != 200 || body != "page of /" {
		t.Errorf("page: %d %s", status, body)
	}
	if status, _ := get("/", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document\r\n"); status != 200 {
		t.Errorf("followed link: %d", status)
	}
	if status, _ := get("/app.js", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script\r\n"); status != 403 {
		t.Errorf("script for another site: %d", status)
	}
	if status, body := get("/v1/nothing"); status != 401 {
		t.Errorf("a route is no page: %d %s", status, body)
	}
	if status, _ := w.raw("tcp", w.addr, "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"); status != 403 {
		t.Errorf("page under a foreign host: %d", status)
	}
	if status, _ := w.raw("tcp", w.addr, "POST / HTTP/1.1\r\nHost: "+w.addr+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"); status != 405 {
		t.Errorf("POST to the page: %d", status)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*server.Options){
		"no authentication":  func(o *server.Options) { o.Authenticate = nil },
		"plain public http":  func(o *server.Options) { o.PublicURL = "http://sayso.example.org" },
		"public with a path": func(o *server.Options) { o.PublicURL = "https://sayso.example.org/x" },
		"wildcard host":      func(o *server.Options) { o.AllowedHosts = []string{"*.example.org"} },
		"everybody a proxy":  func(o *server.Options) { o.Proxies = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")} },
		"no proxy at all":    func(o *server.Options) { o.Proxies = []netip.Prefix{{}} },
		"empty host":         func(o *server.Options) { o.AllowedHosts = []string{""} },
	} {
		o := server.Options{Authenticate: (&tokenList{}).authenticate}
		change(&o)
		if _, err := server.New(nil, &o); err == nil {
			t.Errorf("%s: no door is accepted", name)
		}
		if _, err := server.New(noDoor, &o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
