package tool_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// web is a server, and a tool that finds all names at it.
type web struct {
	*httptest.Server
	port    int
	hits    atomic.Int64
	lookups atomic.Int64
}

func serve(t *testing.T, h http.HandlerFunc) *web {
	w := &web{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.hits.Add(1); h(rw, r) }))
	t.Cleanup(w.Close)
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.port, _ = strconv.Atoi(u.Port())
	return w
}

// at is a URL on the server under a name of the web.
func (w *web) at(path string) string { return fmt.Sprintf("http://web.example.org:%d%s", w.port, path) }

// tool fetches from the server although it is local.
func (w *web) tool(o tool.FetchOptions) *tool.Fetch {
	o.Local = append(o.Local, fmt.Sprintf("web.example.org:%d", w.port))
	o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		w.lookups.Add(1)
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return tool.NewFetch(&o)
}

func fetch(t *testing.T, set tool.Set, url string) (string, error) {
	c := calls(t, tool.WebFetch, obj{"url": url})
	c.CallID = "c1"
	r, err := set.Call(t.Context(), c)
	return r.Text, err
}

func TestFetch_pages(t *testing.T) {
	w := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/binary":
			_, _ = rw.Write([]byte("\x89PNG\r\n\x1a\n\x00\x01"))
		case "/missing":
			http.Error(rw, "not here", http.StatusNotFound)
		case "/long":
			_, _ = rw.Write([]byte(strings.Repeat("ä", 2000)))
		default:
			fmt.Fprintf(rw, "%s %s %s as %s", r.Method, r.Host, r.URL, r.UserAgent())
		}
	})
	f := w.tool(tool.FetchOptions{Size: 1001})
	for path, want := range map[string]string{
		"/a/../b?q=1#frag": fmt.Sprintf("GET web.example.org:%d /b?q=1 as sayso", w.port),
		"/binary":          "200 OK\n[10 bytes of \"image/png\", which are no text]\n",
		"/long":            strings.Repeat("ä", 500) + "\n[cut after 1000 bytes]\n",
	} {
		if text, err := fetch(t, f, w.at(path)); text != want || err != nil {
			t.Errorf("%s: got %q, %v", path, text, err)
		}
	}
	if text, err := fetch(t, f, w.at("/missing")); text != "" || !has(err, "404 Not Found:\nnot here") {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestUR3_redirects: each hop is put to the gate as a call of its own, and the
// strictest of them is the answer.
func TestUR3_redirects(t *testing.T) {
	var w *web
	w = serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if to, ok := map[string]string{
			"/start": "/second", "/second": w.at("/page"), "/far": "https://evil.example.com/?x", "/loop": "/loop",
			"/local": "http://127.0.0.1:9/", "/local2": "//localhost/", "/meta": "http://169.254.169.254/latest", "/odd": `http://a@b.example.org/`,
			"/slashes": `/\evil.example.com/`, "/scheme": "file:///etc/passwd", "/none": "",
		}[r.URL.Path]; ok {
			rw.Header().Set("Location", to)
			rw.WriteHeader(http.StatusFound)
			return
		}
		fmt.Fprint(rw, "the page")
	})
	g := &fake{}
	set := tool.Wrap(g, w.tool(tool.FetchOptions{}), nil)
	if text, err := fetch(t, set, w.at("/start")); text != "the page" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	g.did(t, "admit web-fetch", "redeem web-fetch", "report", "admit web-fetch", "redeem web-fetch", "report", "admit web-fetch", "redeem web-fetch", "report")
	var asked []string
	for _, a := range g.admitted {
		asked = append(asked, string(a.Call.Args)+" "+a.Call.CallID+" "+a.Ask.Description)
	}
	want := []string{
		fmt.Sprintf(`{"url":"%s"} c1 Fetch %[1]s`, w.at("/start")), fmt.Sprintf(`{"url":"%s"} c1/hop-1 Follow a redirect to %[1]s`, w.at("/second")),
		fmt.Sprintf(`{"url":"%s"} c1/hop-2 Follow a redirect to %[1]s`, w.at("/page")),
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}

	for path, says := range map[string]string{
		"/loop": "more than 5 redirects", "/local": "on this machine or network", "/local2": "on this machine or network", "/meta": "on this machine or network",
		"/odd": "user information", "/slashes": "redirect from", "/scheme": "its scheme is not http",
	} {
		if text, err := fetch(t, set, w.at(path)); text != "" || !has(err, says) {
			t.Errorf("%s: got %q, %v; want %q", path, text, err, says)
		}
	}

	b := saysotest.New(t)
	b.Approve("web-fetch:*web.example.org*")
	b.Deny("web-fetch:https://evil.example.com/*", "not there")
	before := w.hits.Load()
	_, err := fetch(t, tool.Wrap(b.Gate(), w.tool(tool.FetchOptions{}), &tool.Terms{Call: sayso.Call{Session: "s"}}), w.at("/far"))
	if !errors.Is(err, sayso.ErrNotAllowed) || !has(err, "not there") || w.hits.Load() != before+1 || len(b.Asked()) != 2 {
		t.Errorf("got %v after %d requests", err, w.hits.Load()-before)
	}
	if _, err := fetch(t, w.tool(tool.FetchOptions{Hops: -1}), w.at("/start")); !has(err, "more than 0 redirects") {
		t.Errorf("got %v", err)
	}
}

// TestUR3_pinned: the name is looked up once, after the yes, and the connection
// goes to what was looked at; a second answer of the name server is not asked
// for.
func TestUR3_pinned(t *testing.T) {
	w := serve(t, func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "the page") })
	f := w.tool(tool.FetchOptions{})
	g := &fake{decide: func(a sayso.Admission) (sayso.Decision, error) {
		if w.lookups.Load() != 0 {
			t.Error("the name was looked up before anybody said yes")
		}
		return yes(a)
	}}
	if text, err := fetch(t, tool.Wrap(g, f, nil), w.at("/")); text != "the page" || err != nil || w.lookups.Load() != 1 {
		t.Errorf("got %q, %v after %d look-ups", text, err, w.lookups.Load())
	}

	answers := [][]string{{"93.184.216.34", "127.0.0.1"}, {"::ffff:10.0.0.1"}, {"64:ff9b::7f00:1"}, {"169.254.169.254"}, {"fe80::1"}, {"0.0.0.0"}, {"100.64.0.1"}, {}}
	for _, a := range answers {
		rebinding := tool.NewFetch(&tool.FetchOptions{Resolve: func(context.Context, string) ([]netip.Addr, error) {
			var out []netip.Addr
			for _, ip := range a {
				out = append(out, netip.MustParseAddr(ip))
			}
			return out, nil
		}})
		before := w.hits.Load()
		if text, err := fetch(t, rebinding, w.at("/")); text != "" || err == nil || w.hits.Load() != before {
			t.Errorf("%v: got %q, %v", a, text, err)
		}
	}
}

// TestUR1_refused: what programs read differently, and what is local in any
// spelling, is refused before anybody is asked.
func TestUR1_refused(t *testing.T) {
	g := &fake{}
	set := tool.Wrap(g, tool.NewFetch(&tool.FetchOptions{Local: []string{"localhost:3000"}}), nil)
	for _, u := range []string{
		"", "example.org", "ftp://example.org/", "https://user@example.org/", `https://example.org\@evil.com/`, "https://example.org./", "https:/example.org/",
		"https://exämple.org/", "https://example.org/\r\nX: y", "http://localhost/", "http://localhost:3001/", "http://127.0.0.1:3000/", "http://127.1/",
		"http://2130706433/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://0x7f.1/", "http://router/", "http://nas.local/", "http://metadata.google.internal/",
	} {
		if text, err := fetch(t, set, u); text != "" || err == nil {
			t.Errorf("%q: got %q, %v", u, text, err)
		}
	}
	for _, c := range []sayso.Call{calls(t, tool.WebFetch, obj{"url": "https://example.org", "method": "POST"}), calls(t, "web-post", obj{"url": "https://example.org"})} {
		if _, err := set.Call(t.Context(), c); err == nil {
			t.Errorf("%s %s ran", c.Tool, c.Args)
		}
	}
	if len(g.admitted) != 0 {
		t.Errorf("asked about %s", g.admitted[0].Call.Args)
	}
	if a, err := tool.NewFetch(&tool.FetchOptions{Local: []string{"LOCALHOST:3000"}}).Ask(t.Context(), calls(t, tool.WebFetch, obj{"url": "http://localhost:3000/x"})); err != nil || a.Description != "Fetch http://localhost:3000/x" {
		t.Errorf("what is listed asks %+v, %v", a, err)
	}
}

// TestFetch_limits: a page that does not end, and a server that does not answer.
func TestFetch_limits(t *testing.T) {
	release := make(chan struct{})
	w := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-release
			return
		}
		for r.Context().Err() == nil {
			if _, err := rw.Write([]byte(strings.Repeat("x", 1<<16))); err != nil {
				return
			}
		}
	})
	defer close(release)
	text, err := fetch(t, w.tool(tool.FetchOptions{Size: 100_000}), w.at("/endless"))
	if err != nil || len(text) > 100_100 || !strings.HasSuffix(text, "[cut after 100000 bytes]\n") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if text, err = fetch(t, w.tool(tool.FetchOptions{Timeout: 50 * time.Millisecond}), w.at("/silent")); text != "" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestFetch_certificate: the host's name is what the certificate is checked
// for, although the connection goes to an address.
func TestFetch_certificate(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, r.TLS.ServerName) }))
	defer srv.Close()
	srv.Config.ErrorLog = nil
	u, _ := url.Parse(srv.URL)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	resolve := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	for host, good := range map[string]bool{"example.com": true, "other.example.org": false} {
		f := tool.NewFetch(&tool.FetchOptions{Local: []string{host + ":" + u.Port()}, Roots: roots, Resolve: resolve})
		text, err := fetch(t, f, "https://"+host+":"+u.Port()+"/")
		var wrong *tls.CertificateVerificationError
		if good && (text != host || err != nil) || !good && !errors.As(err, &wrong) {
			t.Errorf("%s: got %q, %v", host, text, err)
		}
	}
}

// TestFetch_noProxy: a proxy of the environment would be another address than
// the one that was looked at.
func TestFetch_noProxy(t *testing.T) {
	proxy := serve(t, func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "by proxy") })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	w := serve(t, func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "the page") })
	if text, err := fetch(t, w.tool(tool.FetchOptions{}), w.at("/")); text != "the page" || err != nil || proxy.hits.Load() != 0 {
		t.Errorf("got %q, %v", text, err)
	}
}
