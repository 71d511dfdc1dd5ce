package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/store/memory"
)

const secret = "sayso_agent_SECRET"

// asks is a policy that asks about everything but reads.
type asks struct{}

func (asks) Version() string { return "test" }
func (asks) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	m := sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseRule}
	if c.Tool == "file-read" {
		m.Effect = sayso.Allow
	}
	return sayso.Verdict{Match: m, Matches: []sayso.Match{m}, Default: m, Policy: "test"}
}

func authenticate(token string) (sayso.Actor, error) {
	switch token {
	case secret:
		return sayso.Actor{Principal: "claude", Kind: sayso.PrincipalAgent, Owner: "ann"}, nil
	case "person":
		return sayso.Actor{Principal: "ann", Kind: sayso.PrincipalPerson}, nil
	}
	return sayso.Actor{}, errors.New("unknown")
}

// site is a server that can go away and come back.
type site struct {
	t      *testing.T
	b      *broker.Broker
	socket string
	stop   func()
}

func newSite(t *testing.T) *site {
	t.Helper()
	b, err := broker.New(memory.New(nil), asks{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, b: b, socket: filepath.Join(t.TempDir(), "s"), stop: func() {}}
	s.start()
	t.Cleanup(func() { s.stop(); _ = b.Close() })
	return s
}

func (s *site) start() {
	s.t.Helper()
	srv, err := server.New(func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return s.b.Gate(a), s.b.Inbox(a) },
		&server.Options{Authenticate: authenticate, Version: "1.4.0"})
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := net.Listen("unix", s.socket)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, l) }()
	stopped := false
	s.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			if err := <-done; err != nil {
				s.t.Error(err)
			}
		}
	}
}

func call(tool, id string) sayso.Call {
	return sayso.Call{Tool: tool, Args: sayso.Args(`{"command":"` + id + `"}`), Session: "s1", CallID: id}
}

// ways are the two ways to make a client.
var ways = map[string]func(t *testing.T, base, token string, o *client.Options) (*client.Client, error){
	"http": func(_ *testing.T, base, token string, o *client.Options) (*client.Client, error) {
		return client.New(base, token, o)
	},
	"websocket": func(t *testing.T, base, token string, o *client.Options) (*client.Client, error) {
		return client.Dial(t.Context(), base, token, o)
	},
}

func TestNewRefuses(t *testing.T) {
	for _, base := range []string{
		"", "localhost:7777", "http://", "ftp://127.0.0.1", "http://sayso.example.org", "http://192.0.2.1:80", "http://127.0.0.1.evil.example",
		"https://user:pw@host", "https://host/path", "https://host?x=1", "unix://relative", "http://localhost.evil.example",
	} {
		if _, err := client.New(base, secret, nil); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%q: %v", base, err)
		}
	}
	for _, base := range []string{"http://127.0.0.1:7777", "http://localhost:1", "http://[::1]:1", "https://sayso.example.org", "https://h:1/", "/run/s", "unix:///run/s"} {
		if _, err := client.New(base, secret, nil); err != nil {
			t.Errorf("%q: %v", base, err)
		}
	}
	for _, token := range []string{"", "a b", "a\nb", "a\x7f", "é"} {
		if _, err := client.New("/run/s", token, nil); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

// A second server on this machine learns nothing, whatever the first says.
func TestTokenStaysHome(t *testing.T) {
	var learned atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { learned.Add(1) }))
	defer thief.Close()
	t.Setenv("HTTP_PROXY", thief.URL)
	t.Setenv("http_proxy", thief.URL)
	for _, status := range []int{301, 302, 303, 307, 308} {
		home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL+r.URL.Path, status)
		}))
		for name, way := range ways {
			c, err := way(t, home.URL, secret, nil)
			if err == nil {
				_, err = c.Admit(t.Context(), sayso.Admission{Call: call("bash", "c1")})
			}
			if !errors.Is(err, sayso.ErrUnavailable) {
				t.Errorf("%s, %d: %v", name, status, err)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error holds the token: %v", name, err)
			}
		}
		home.Close()
	}
	if n := learned.Load(); n > 0 {
		t.Errorf("another server was asked %d times", n)
	}
}

// allowing is a decision to allow a call, as a server that lies would send it.
func allowing(c sayso.Call) sayso.Decision {
	d, _ := c.Digest()
	return sayso.Decision{
		Effect: sayso.Allow, State: sayso.StateAllowed, Request: "01m7wyf0nnpx5134avv40bmx4g3chvqgbe44", Digest: d,
		Receipt: sayso.Receipt{Request: "01m7wyf0nnpx5134avv40bmx4g3chvqgbe44", Digest: d}, By: []sayso.Actor{},
	}
}

// Whatever answers that is not a plain yes to this very call is a no.
func TestOnlyAYesIsAYes(t *testing.T) {
	right := allowing(call("bash", "c1"))
	other := allowing(call("bash", "c2"))
	other.Receipt.Digest = right.Digest
	noReceipt := right
	noReceipt.Receipt = sayso.Receipt{}
	open := right
	open.State = sayso.StateOpen
	edited := right
	edited.Args = sayso.Args(`{"command":"rm"}`)
	text := func(v any) string {
		b, err := jcs.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, answer := range map[string]struct {
		status     int
		kind, body string
		allowed    bool
		is         error
	}{
		"a yes":               {200, wire.JSON, text(right), true, nil},
		"a yes to another":    {200, wire.JSON, text(other), false, sayso.ErrMismatch},
		"no receipt":          {200, wire.JSON, text(noReceipt), false, sayso.ErrMismatch},
		"not decided":         {200, wire.JSON, text(open), false, nil},
		"edited, old digest":  {200, wire.JSON, text(edited), false, sayso.ErrMismatch},
		"a page":              {200, "text/html", text(right), false, sayso.ErrUnavailable},
		"created":             {201, wire.JSON, text(right), false, sayso.ErrUnavailable},
		"no content":          {204, wire.JSON, "", false, sayso.ErrUnavailable},
		"half a yes":          {200, wire.JSON, text(right)[:40], false, sayso.ErrUnavailable},
		"two yeses":           {200, wire.JSON, strings.Replace(text(right), `{`, `{"effect":"deny",`, 1), false, sayso.ErrUnavailable},
		"empty":               {200, wire.JSON, "", false, sayso.ErrUnavailable},
		"empty object":        {200, wire.JSON, "{}", false, nil},
		"error with a yes":    {409, wire.ProblemJSON, `{"code":"decided","decision":` + text(right) + `}`, false, sayso.ErrDecided},
		"gone with a yes":     {410, wire.ProblemJSON, `{"code":"expired","decision":` + text(right) + `}`, false, sayso.ErrExpired},
		"unknown code":        {418, wire.ProblemJSON, `{"code":"teapot"}`, false, sayso.ErrUnavailable},
		"pending":             {202, wire.JSON, `{"code":"pending","ticket":"01m7wyf0nnpx5134avv40bmx4g3chvqgbe44"}`, false, sayso.ErrPending},
		"pending with no":     {202, wire.JSON, `{}`, false, sayso.ErrUnavailable},
		"bad gateway":         {502, "text/html", "<html>", false, sayso.ErrUnavailable},
		"not authenticated":   {401, wire.ProblemJSON, `{"code":"unauthenticated","title":"no token"}`, false, sayso.ErrNotAllowed},
		"internal":            {500, wire.ProblemJSON, `{"code":"internal"}`, false, sayso.ErrUnavailable},
		"presentation wanted": {428, wire.ProblemJSON, `{"code":"presentation-wanted"}`, false, sayso.ErrPresentationWanted},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", answer.kind)
				w.WriteHeader(answer.status)
				fmt.Fprint(w, answer.body)
			}))
			defer s.Close()
			c, err := client.New(s.URL, secret, nil)
			if err != nil {
				t.Fatal(err)
			}
			d, err := c.Admit(t.Context(), sayso.Admission{Call: call("bash", "c1")})
			if d.Allowed() != answer.allowed || !errors.Is(err, answer.is) || (answer.is == nil && err != nil) {
				t.Errorf("Admit = %+v, %v", d, err)
			}
			if err != nil && d.Effect != sayso.Deny {
				t.Error("an error came with an allow")
			}
			if err := c.Redeem(t.Context(), right.Receipt, call("bash", "c1")); err == nil {
				t.Error("redeemed")
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	for name, way := range ways {
		o := client.Options{Retry: time.Minute}
		c, err := way(t, filepath.Join(t.TempDir(), "none"), secret, &o)
		if err == nil {
			_, err = c.Admit(t.Context(), sayso.Admission{Call: call("bash", "c1")})
		}
		if !errors.Is(err, sayso.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVersionSkew(t *testing.T) {
	s := newSite(t)
	for name, way := range ways {
		for version, ok := range map[string]bool{"1.5.2": true, "": true, "1.9.0": false, "0.4.0": false} {
			c, err := way(t, s.socket, secret, &client.Options{Version: version})
			if err == nil {
				_, err = c.Admit(t.Context(), sayso.Admission{Call: call("file-read", "v"+version+name)})
			}
			if (err == nil) != ok {
				t.Errorf("%s %q: %v", name, version, err)
			}
			if !ok && (!errors.Is(err, sayso.ErrUnavailable) || !strings.Contains(err.Error(), "make install")) {
				t.Errorf("%s %q names no command: %v", name, version, err)
			}
		}
	}
}

// request waits until a call is asked about.
func (s *site) request(id string) sayso.Request {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	for e, err := range s.b.Inbox(sayso.Actor{Principal: "root", Kind: sayso.PrincipalAdmin}).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			s.t.Fatal(err)
		}
		if e.CallID == id || id == "" {
			r, err := sayso.RequestIn(&e)
			if err != nil {
				s.t.Fatal(err)
			}
			return r
		}
	}
	return sayso.Request{}
}

// A call that waits goes on waiting over a restart of the server, on the same
// request.
func TestAdmitOutlivesTheServer(t *testing.T) {
	for name, way := range ways {
		for _, id := range []string{"c1", ""} {
			t.Run(name+id, func(t *testing.T) {
				s := newSite(t)
				agent, err := way(t, s.socket, secret, nil)
				if err != nil {
					t.Fatal(err)
				}
				type result struct {
					d   sayso.Decision
					err error
				}
				got := make(chan result, 1)
				go func() {
					d, err := agent.Admit(t.Context(), sayso.Admission{Call: call("bash", id), Patience: time.Minute})
					got <- result{d, err}
				}()
				r := s.request(id)
				s.stop()
				s.start()
				person, err := client.New(s.socket, "person", nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := person.Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
					t.Fatal(err)
				}
				if res := <-got; res.err != nil || !res.d.Allowed() || res.d.Request != r.ID {
					t.Errorf("Admit = %+v, %v", res.d, res.err)
				}
			})
		}
	}
}

func TestFollowOutlivesTheServer(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			var lost, back atomic.Int32
			person, err := way(t, s.socket, "person", &client.Options{Lost: func(err error) {
				if err != nil {
					lost.Add(1)
				} else {
					back.Add(1)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			gate := s.b.Gate(sayso.Actor{Principal: "claude", Kind: sayso.PrincipalAgent, Owner: "ann"})
			add := func(id string) {
				if _, err := gate.Admit(t.Context(), sayso.Admission{Call: call("file-read", id)}); err != nil {
					t.Error(err)
				}
			}
			add("c0")
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			var ids []string
			for e, err := range person.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
				if err != nil {
					t.Fatalf("after %v: %v", ids, err)
				}
				ids = append(ids, e.CallID)
				if len(ids) == 1 {
					s.stop()
					add("c1")
					s.start()
					add("c2")
				}
				if len(ids) == 3 {
					break
				}
			}
			if strings.Join(ids, " ") != "c0 c1 c2" || lost.Load() == 0 || back.Load() == 0 {
				t.Errorf("saw %v; lost %d times, back %d times", ids, lost.Load(), back.Load())
			}
		})
	}
}

func TestFollowEnds(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c, err := way(t, s.socket, "person", nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Millisecond, cancel)
			for _, err := range c.Follow(ctx, 0, sayso.EventQuery{}) {
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("ended with %v", err)
				}
			}
			for _, err := range c.Follow(t.Context(), 0, sayso.EventQuery{Types: []sayso.EventType{"nothing"}}) {
				if !errors.Is(err, sayso.ErrInvalid) {
					t.Errorf("a wrong query: %v", err)
				}
			}
		})
	}
}

func TestClose(t *testing.T) {
	s := newSite(t)
	agent, err := client.Dial(t.Context(), s.socket, secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := agent.Admit(t.Context(), sayso.Admission{Call: call("bash", "c1")})
		got <- err
	}()
	s.request("c1")
	if err := agent.Close(); err != nil {
		t.Error(err)
	}
	if err := <-got; !errors.Is(err, sayso.ErrUnavailable) {
		t.Errorf("Admit after Close: %v", err)
	}
}
