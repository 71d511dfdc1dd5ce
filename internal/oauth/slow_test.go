package oauth_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/oauth"
)

// A token that is still good is used while the server of the login does not answer; and
// when that has said no, it is not asked at each request.
func TestTransport_renewalThatHangs(t *testing.T) {
	w, c := newWorld(t), newClock()
	l := store(t, c.now)
	w.logIn(l)
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	let := make(chan struct{})
	w.change(func() {
		w.answers["/token"] = func(rw http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.mu.Unlock() // which the rest of the world works with meanwhile
			<-let
			w.mu.Lock()
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	c.move(time.Hour - 50*time.Second)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if status, said, err := w.send(to, "a"); status != http.StatusOK || said != "a" || err != nil {
				t.Errorf("%d, %q, %v", status, said, err)
			}
		})
	}
	all.Wait()
	close(let)
	for range 3 { // whether the answer was read by now or not
		if status, said, err := w.send(to, "b"); status != http.StatusOK || said != "b" || err != nil {
			t.Errorf("after a no: %d, %q, %v", status, said, err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the server of the login was asked %d times", n)
	}
	c.move(time.Minute) // and now it is good no more
	if _, _, err := w.send(to, "c"); err == nil {
		t.Error("a request went with what had run out")
	}
}

// Where the server does not take what is there, and no other can be had for now, that is
// told, and not that the login is over.
func TestTransport_refusedAndNotRenewed(t *testing.T) {
	w, c := newWorld(t), newClock()
	l := store(t, c.now)
	w.logIn(l)
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	c.move(10 * time.Minute)
	w.change(func() {
		w.access = "ended"
		w.answers["/token"] = func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "canary", http.StatusServiceUnavailable) }
	})
	status, said, err := w.send(to, "x")
	if status != http.StatusUnauthorized || err != nil || !strings.Contains(said, "could not be renewed at "+w.logins.URL+" (status 503 of HTTP)") {
		t.Errorf("%d, %q, %v", status, said, err)
	}
	free(t, said)
	w.change(func() { delete(w.answers, "/token") })
	if status, said, err := w.send(to, "x"); status != http.StatusOK || err != nil {
		t.Errorf("once it can be renewed: %d, %q, %v", status, said, err)
	}
	w.change(func() { w.access = "ended" })
	if _, said, _ := w.send(to, "x"); !strings.Contains(said, "does not take the login that is there") {
		t.Errorf("what was renewed just now: %q", said)
	}
}

// Who ends waits for a renewal that is under way, whose request nobody waits for.
func TestLogin_wait(t *testing.T) {
	w, c := newWorld(t), newClock()
	l := store(t, c.now)
	w.logIn(l)
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	to.Wait(t.Context()) // for nothing
	c.move(2 * time.Hour)
	asked, let := make(chan struct{}), make(chan struct{})
	w.change(func() {
		w.answers["/token"] = func(rw http.ResponseWriter, _ *http.Request) {
			close(asked)
			<-let
			answer(rw, map[string]any{"access_token": "other", "refresh_token": "next", "token_type": "bearer", "expires_in": 3600})
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.at(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan error)
	go func() {
		_, err := to.Transport(http.DefaultTransport).RoundTrip(req)
		sent <- err
	}()
	<-asked
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Errorf("the request came to %v", err)
	}
	to.Wait(ctx) // not for longer than one wants to
	done := make(chan struct{})
	go func() { defer close(done); to.Wait(t.Context()) }()
	select {
	case <-done:
		t.Error("it does not wait")
	default:
	}
	close(let)
	<-done
	if list, err := l.List(); err != nil || len(list) != 1 || !list[0].Expires.Equal(c.now().Add(time.Hour)) {
		t.Errorf("the login stands as %+v, %v", list, err)
	}
}

// One that is never good for a minute is used for most of its time.
func TestTransport_shortLife(t *testing.T) {
	w, c := newWorld(t), newClock()
	w.lasts = 40
	l := store(t, c.now)
	w.logIn(l)
	to, err := l.To(w.at())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 0, 0, 1} {
		if status, _, err := w.send(to, "a"); status != http.StatusOK || err != nil || w.renewals != want {
			t.Errorf("%d: %d, %v, renewed %d times, want %d", i, status, err, w.renewals, want)
		}
		c.move(11 * time.Second)
	}
}

// What a server out on the Internet says leads to no address nearby, whatever its name.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0"} {
		if conn, err := oauth.Dial(t.Context(), "tcp", net.JoinHostPort(host, port)); err == nil {
			t.Errorf("led to %s", conn.RemoteAddr())
		}
		near := oauth.Nearby(t.Context())
		conn, err := oauth.Dial(near, "tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Errorf("a server nearby is not reached by %s: %v", host, err)
			continue
		}
		_ = conn.Close()
	}
}
