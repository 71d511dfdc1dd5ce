// Package web is the page in which people see requests and answer them. It is a
// client of the public API like any other: this package only hands out files.
//
// The files are made from the sources in ui, by make, and none of them is kept
// under version control. A program that was built without them works all the
// same, and says at the page's address what to type.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed all:dist
var dist embed.FS

// index is the document that the page begins with.
const index = "index.html"

// Built reports whether this program has the page.
func Built() bool {
	_, err := fs.Stat(built(), index)
	return err == nil
}

// built is the folder of what was built, empty where nothing was.
func built() fs.FS {
	sub, err := fs.Sub(dist, "dist/page")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}

// Handler serves the page: the document at / and at the addresses of its views,
// and what it loads. It sets no policy for browsers; the server does.
func Handler() http.Handler { return handler(built()) }

func handler(from fs.FS) http.Handler {
	files, err := load(from)
	if err != nil || files[index].text == nil {
		return http.HandlerFunc(absent)
	}
	return files
}

// absent says how to get a program that has the page.
func absent(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte("This sayso was built without its page, as go install builds it.\n\n" +
		"Everything else works; decide in a terminal meanwhile:\n\n  sayso watch\n\n" +
		"To get the page, install a release or, in the sources and with Node 20 or newer, type:\n\n  make install\n"))
}

// pages are the files by their path, without the first slash.
type pages map[string]file

type file struct {
	text []byte
	kind string
	etag string
}

// load reads all files, so that nothing is read while somebody waits.
func load(from fs.FS) (pages, error) {
	files := pages{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, name)
		sum := sha256.Sum256(text)
		files[name] = file{text, kindOf(name), `"` + hex.EncodeToString(sum[:16]) + `"`}
		return err
	})
	return files, err
}

// kindOf is the media type of a file by its ending. The system's own table is
// not asked: some have no type for scripts, and nosniff then stops the page.
func kindOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// views are the first parts of the addresses at which the page shows something.
// Behind one there may be the name of a thing, and no more.
var views = []string{"r", "history", "grants", "sessions", "policy", "status", "tools"}

// view reports whether the page itself knows what to show at an address.
func view(escaped string) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(escaped, "/"), "/")
	return escaped == "/" || slices.Contains(views, first) && !strings.Contains(rest, "/")
}

// ServeHTTP implements [http.Handler].
func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if view(r.URL.EscapedPath()) {
		name = index
	}
	f, ok := p[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h["Content-Type"] = []string{f.kind}
	h["Etag"] = []string{f.etag}
	h["Cache-Control"] = []string{"no-cache"} // asked about each time, and sent once
	if strings.HasPrefix(name, "assets/") {   // whose names change with what is in them
		h["Cache-Control"] = []string{"max-age=31536000, immutable"}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
}
