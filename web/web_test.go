package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func get(h http.Handler, path string, header ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if len(header) == 2 {
		r.Header.Set(header[0], header[1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestHandler(t *testing.T) {
	h := handler(fstest.MapFS{
		"index.html":       {Data: []byte("<!doctype html>")},
		"icon.svg":         {Data: []byte("<svg/>")},
		"app.webmanifest":  {Data: []byte("{}")},
		"assets/app-X1.js": {Data: []byte("1")},
	})
	for path, want := range map[string]struct {
		status      int
		kind, cache string
	}{
		"/":                 {200, "text/html; charset=utf-8", "no-cache"},
		"/r/01m7wyf0nn":     {200, "text/html; charset=utf-8", "no-cache"},
		"/grants":           {200, "text/html; charset=utf-8", "no-cache"},
		"/history/01m7wyf0": {200, "text/html; charset=utf-8", "no-cache"},
		"/sessions/a%2Fb":   {200, "text/html; charset=utf-8", "no-cache"},
		"/sessions/a/b":     {404, "text/plain; charset=utf-8", ""},
		"//grants":          {404, "text/plain; charset=utf-8", ""},
		"/grant":            {404, "text/plain; charset=utf-8", ""},
		"//r/a":             {404, "text/plain; charset=utf-8", ""},
		"/app.webmanifest":  {200, "application/manifest+json", "no-cache"},
		"/icon.svg":         {200, "image/svg+xml", "no-cache"},
		"/assets/app-X1.js": {200, "text/javascript; charset=utf-8", "max-age=31536000, immutable"},
		"/assets/app-X2.js": {404, "text/plain; charset=utf-8", ""},
		"/assets/":          {404, "text/plain; charset=utf-8", ""},
		"/r/a/b":            {404, "text/plain; charset=utf-8", ""},
		"/../web.go":        {404, "text/plain; charset=utf-8", ""},
	} {
		r := get(h, path)
		if r.StatusCode != want.status || r.Header.Get("Content-Type") != want.kind || r.Header.Get("Cache-Control") != want.cache {
			t.Errorf("%s: %d %v, want %+v", path, r.StatusCode, r.Header, want)
		}
		if tag := r.Header.Get("ETag"); want.status == 200 {
			if again := get(h, path, "If-None-Match", tag); tag == "" || again.StatusCode != http.StatusNotModified {
				t.Errorf("%s: with the tag %s: %d", path, tag, again.StatusCode)
			}
		}
	}
}

// A program that was built without the page says what to type.
func TestHandler_absent(t *testing.T) {
	r := get(handler(fstest.MapFS{}), "/")
	var b strings.Builder
	_ = r.Write(&b)
	if r.StatusCode != http.StatusNotFound || !strings.Contains(b.String(), "make install") || !strings.Contains(b.String(), "sayso watch") {
		t.Errorf("%s", b.String())
	}
}
