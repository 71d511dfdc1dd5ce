package oauth_test

import (
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/oauth"
)

// What somebody left behind who was killed in the middle of a write goes with the login,
// whatever the folder is called.
func TestLogout_leavesNothing(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "log[ins")
	l := oauth.Open(dir, time.Now, nil)
	w.logIn(l)
	left := filepath.Join(onlyFolder(t, dir), ".new-1")
	if err := os.WriteFile(left, []byte(canaryRefresh), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Logout(t.Context(), w.at()); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "canary", false)
}

// onlyFolder is the one folder in another.
func onlyFolder(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%s has %v, %v", dir, all, err)
	}
	return filepath.Join(dir, all[0].Name())
}

// A login in the folder of another server's is not among the logins, as it is not used.
func TestList_elsewhere(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "logins")
	l := oauth.Open(dir, time.Now, nil)
	w.logIn(l)
	if err := os.Rename(onlyFolder(t, dir), filepath.Join(dir, strings.Repeat("0", 32))); err != nil {
		t.Fatal(err)
	}
	if list, err := l.List(); err == nil || len(list) > 0 {
		t.Errorf("the list is %+v, %v", list, err)
	}
}

// When a token ends is told by the clock of the logins, as all else is.
func TestLogin_clock(t *testing.T) {
	w, c := newWorld(t), newClock()
	c.move(-24 * time.Hour)
	if s, want := w.logIn(store(t, c.now)), c.now().Add(time.Hour); s.Expires == nil || !s.Expires.Equal(want) {
		t.Errorf("it ends at %v; want %v", s.Expires, want)
	}
}

// Who watches a request hears of that one alone, and not of the one for a token.
func TestTransport_traced(t *testing.T) {
	w, c := newWorld(t), newClock()
	l := store(t, c.now)
	w.logIn(l)
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	c.move(2 * time.Hour)
	var written atomic.Int32
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { written.Add(1) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.at(), strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := to.Transport(http.DefaultTransport).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if n := written.Load(); n != 1 || w.renewals != 1 {
		t.Errorf("%d requests were written, and the token renewed %d times", n, w.renewals)
	}
}
