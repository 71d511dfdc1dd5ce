package server_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/server"
)

// arriving is a request as it arrives from an address, with header lines.
func arriving(from, host string, secure bool, lines ...string) *http.Request {
	r := httptest.NewRequest("GET", "/v1/head", nil)
	r.RemoteAddr, r.Host = from, host
	if secure {
		r.TLS = &tls.ConnectionState{}
	}
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7117}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at)))
}

// Over a network nothing is served but by TLS, ours or that of a proxy that was
// named; what strangers say of how they came counts for nothing.
func TestWay(t *testing.T) {
	const (
		here, stranger, proxy, six = "127.0.0.1:4711", "203.0.113.9:4711", "10.0.0.7:4711", "[::ffff:10.0.0.7]:4711"
		public, own                = "sayso.example.org", "127.0.0.1:7117"
		https, http                = "X-Forwarded-Proto: https", "X-Forwarded-Proto: http"
		someone, origin            = "X-Forwarded-For: 198.51.100.4", "Origin: https://sayso.example.org"
	)
	type request struct { // who gets in shows no token, and is told so
		name, from, host string
		secure           bool
		lines            []string
		want             int
	}
	for public, list := range map[string][]request{
		"https://" + public: {
			{"this machine", here, own, false, nil, 401},
			{"this machine by TLS", here, public, true, nil, 401},
			{"another machine by TLS", stranger, public, true, []string{origin}, 401},
			{"through the proxy", proxy, public, false, []string{https, someone, origin}, 401},
			{"through the proxy, as IPv6 writes it", six, public, false, []string{https}, 401},
			{"through the proxy, by TLS again", proxy, public, true, []string{https, someone}, 401},

			{"plain from another machine", stranger, public, false, nil, 403},
			{"plain from another machine, for this one", stranger, own, false, nil, 403},
			{"a stranger who says TLS", stranger, public, false, []string{https, someone, origin}, 403},
			{"a stranger who says here", stranger, own, false, []string{https, "X-Forwarded-For: 127.0.0.1"}, 403},
			{"a stranger who says so in the new form", stranger, public, false, []string{"Forwarded: for=127.0.0.1;proto=https"}, 403},
			{"a program here that says TLS", here, public, false, []string{https}, 403},
			{"the public name on this machine, plain", here, public, false, nil, 403},
			{"the public name on this machine, plain, with a port", here, public + ":443", false, nil, 403},
			{"the proxy was spoken to without TLS", proxy, public, false, []string{http, someone}, 403},
			{"the proxy does not say", proxy, public, false, []string{someone}, 403},
			{"the proxy says nothing at all", proxy, public, false, nil, 403},
			{"the proxy says both", proxy, public, false, []string{https, http}, 403},
			{"the proxy says a list", proxy, public, false, []string{"X-Forwarded-Proto: https, http"}, 403},
			{"the proxy was spoken to without TLS and speaks TLS", proxy, public, true, []string{http}, 403},
			{"the proxy changes the host to this machine", proxy, own, false, []string{https}, 403},
			{"foreign host through the proxy", proxy, "evil.example", false, []string{https}, 403},
			{"foreign host by TLS", stranger, "evil.example", true, nil, 403},
			{"foreign origin through the proxy", proxy, public, false, []string{https, "Origin: https://evil.example"}, 403},
			{"foreign origin by TLS", stranger, public, true, []string{"Origin: https://evil.example"}, 403},
			{"origin without TLS through the proxy", proxy, public, false, []string{https, "Origin: http://sayso.example.org"}, 403},
		},
		"http://localhost:9000": {
			{"a port that is forwarded to this machine", here, "localhost:9000", false, []string{"Origin: http://localhost:9000"}, 401},
			{"the same from another machine", stranger, "localhost:9000", false, nil, 403},
		},
	} {
		s, err := server.New(noDoor, &server.Options{
			Authenticate: (&tokenList{}).authenticate, PublicURL: public,
			Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			w := newRecorder()
			s.ServeHTTP(w, arriving(c.from, c.host, c.secure, c.lines...))
			if got := w.Code; got != c.want {
				t.Errorf("%s, %s: %d %s", public, c.name, got, w.Body)
			}
		}
	}
}

// What is for programs of this machine is not for everybody behind a proxy on it,
// also one that does not say that it is one.
func TestWay_localRoutes(t *testing.T) {
	const here, own = "127.0.0.1:4711", "127.0.0.1:7117"
	for proxy, want := range map[string]int{
		"": 200, "10.0.0.0/24": 200, "127.0.0.1/32": 401, "127.0.0.0/8": 401, "::1/128": 401, "::ffff:127.0.0.1/128": 401, "0.0.0.0/1": 401,
	} {
		o := server.Options{Authenticate: (&tokenList{}).authenticate, PublicURL: "https://sayso.example.org"}
		if proxy != "" {
			o.Proxies = []netip.Prefix{netip.MustParsePrefix(proxy)}
		}
		s, err := server.New(noDoor, &o)
		if err != nil {
			t.Fatal(err)
		}
		status := func(r *http.Request, path string) int {
			r.URL.Path = path
			w := newRecorder()
			s.ServeHTTP(w, r)
			return w.Code
		}
		for _, path := range []string{"/healthz", "/openapi.json"} {
			if got := status(arriving(here, own, false), path); got != want {
				t.Errorf("proxy %q, %s here: %d, want %d", proxy, path, got, want)
			}
			socket := arriving("@", "sayso", false)
			socket = socket.WithContext(context.WithValue(socket.Context(), http.LocalAddrContextKey, net.Addr(&net.UnixAddr{Net: "unix"})))
			if got := status(socket, path); got != 200 {
				t.Errorf("proxy %q, %s over the socket: %d", proxy, path, got)
			}
			for _, line := range []string{
				"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: x.org", "X-Real-IP: 1.2.3.4", "Forwarded: for=127.0.0.1", "Via: 1.1 x",
			} {
				if got := status(arriving(here, own, false, line), path); got == 200 {
					t.Errorf("proxy %q, %s with %s is for everybody", proxy, path, line)
				}
			}
		}
	}
}

// Browsers are told to stay with TLS where the name is all ours.
func TestWay_staysWithTLS(t *testing.T) {
	for public, want := range map[string]string{"https://sayso.example.org": "max-age=31536000", "https://sayso.example.org:7117": ""} {
		s, err := server.New(noDoor, &server.Options{Authenticate: (&tokenList{}).authenticate, PublicURL: public})
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{strings.TrimPrefix(public, "https://"), "127.0.0.1:7117"} {
			w := newRecorder()
			s.ServeHTTP(w, arriving("203.0.113.9:4711", host, true))
			if host == "127.0.0.1:7117" {
				want = ""
			}
			if got := w.Header().Get("Strict-Transport-Security"); got != want {
				t.Errorf("%s as %s: %q, want %q", public, host, got, want)
			}
		}
	}
}

// Who sends many wrong codes shuts out themselves, and nobody else.
func TestWay_wrongCodesOfOneMachine(t *testing.T) {
	w := newHarness(t, func(o *server.Options) {
		o.PublicURL, o.Proxies = "https://sayso.example.org", []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	login := func(code, from string) int {
		return w.request("", "POST", "/v1/login", `{"code":"`+code+`"}`, "Host: sayso.example.org", "X-Forwarded-Proto: https", "X-Forwarded-For: "+from).status
	}
	for i := range 61 {
		want := http.StatusUnauthorized
		if i == 60 {
			want = http.StatusTooManyRequests
		}
		// What stands before the proxy's own word is the sender's, and changes nothing.
		if got := login("guess", "192.0.2."+string(rune('0'+i%10))+", 2001:db8::"+string(rune('1'+i%9))); got != want {
			t.Fatalf("code %d: %d, want %d", i, got, want)
		}
	}
	if got := login("once", "2001:db8::ff"); got != http.StatusTooManyRequests {
		t.Errorf("the same network: %d", got)
	}
	if got := login("once", "2001:db9::1"); got != http.StatusOK {
		t.Errorf("another machine: %d", got)
	}
}
