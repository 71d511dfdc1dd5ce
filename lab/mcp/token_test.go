//go:build unix

package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"
)

// withToken passes on what comes, with a token: the suite can send none. What
// names the address where it comes to names that of the gate then.
func withToken(t *testing.T, to, token string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	var here string
	p := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL, r.Out.Host = target, strings.Replace(r.In.Host, here, ":"+target.Port(), 1)
		r.Out.Header.Set("Authorization", "Bearer "+token)
		if origin := r.In.Header.Get("Origin"); origin != "" {
			r.Out.Header.Set("Origin", strings.Replace(origin, here, ":"+target.Port(), 1))
		}
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
		if !errors.Is(err, context.Canceled) { // by the suite, which has seen enough
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	}}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Else the body ends where the answer begins, while it is still looked whether more
		// of it comes, and the answer breaks off.
		_ = http.NewResponseController(w).EnableFullDuplex()
		p.ServeHTTP(w, r)
	}))
	at := s.Listener.Addr().String()
	here = at[strings.LastIndex(at, ":"):]
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// An answer that begins before the message was read to its end comes whole.
func TestWithToken(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		way := http.NewResponseController(w)
		if err := errors.Join(way.EnableFullDuplex(), way.Flush()); err != nil {
			t.Error(err)
		}
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	body, more := io.Pipe()
	defer context.AfterFunc(ctx, func() { _ = body.Close() })() // else the client waits for it
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, withToken(t, s.URL, "token"), body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	go func() {
		_, _ = io.WriteString(more, "the message")
		_ = more.Close()
	}()
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "the message" {
		t.Errorf("%v: %q", err, text)
	}
}
