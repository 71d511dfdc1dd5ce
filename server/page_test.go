package server_test

import (
	"net"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/server"
)

// newPage is a harness in which "page" is the token of a page at its address.
func newPage(t *testing.T, origin *string) *harness {
	t.Helper()
	var w *harness
	w = newHarness(t, func(o *server.Options) {
		plain := o.Authenticate
		o.Authenticate = func(token string) (sayso.Actor, error) {
			if token != "page" {
				return plain(token)
			}
			a := actors["person"]
			a.Origin = "http://" + w.addr
			return a, nil
		}
		o.Login = func(in server.SignIn) (string, error) {
			*origin = in.Origin
			return "page", nil
		}
	})
	return w
}

// The token of a page is good at the page's own address and nowhere else.
func TestPageToken_isBound(t *testing.T) {
	var from string
	w := newPage(t, &from)
	own := "http://" + w.addr
	if r := w.request("", "POST", "/v1/login", `{"code":"once"}`, "Origin: "+own); r.status != 200 || from != own {
		t.Errorf("login of the page: %d %s, for %q", r.status, r.body, from)
	}
	if r := w.request("", "POST", "/v1/login", `{"code":"once"}`); r.status != 200 || from != "" {
		t.Errorf("login of another program: %d %s, for %q", r.status, r.body, from)
	}
	_, port, err := net.SplitHostPort(w.addr)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{w.addr: 200, "localhost:" + port: 401} {
		if r := w.request("page", "GET", "/v1/head", "", "Host: "+host); r.status != want {
			t.Errorf("at %s: %d %s, want %d", host, r.status, r.body, want)
		}
	}
	status, body := w.raw("unix", w.socket, "GET /v1/head HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer page\r\nConnection: close\r\n\r\n")
	if status != 401 {
		t.Errorf("over the socket: %d %s", status, body)
	}
}

// What was not served to a page, the page cannot allow; denying needs no look.
func TestPageToken_allowsWhatItWasShown(t *testing.T) {
	var from string
	w := newPage(t, &from)
	for name, answer := range map[string]func(r sayso.Request, effect string) reply{
		"answer": func(r sayso.Request, effect string) reply {
			return w.request("page", "POST", "/v1/requests/"+string(r.ID)+"/answer", answerBody(r, effect))
		},
		"call": func(r sayso.Request, effect string) reply {
			return w.request("page", "POST", "/v1/sessions/s1/calls/"+r.CallID+"/answer", answerBody(r, effect))
		},
		"group": func(r sayso.Request, effect string) reply {
			return w.request("page", "POST", "/v1/groups/g1/answer", `{"effect":"`+effect+`","members":[{"id":"`+string(r.ID)+`","digest":"`+
				r.Digest.String()+`","content":"`+r.Content.String()+`"}]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			first, second := w.open("s1", name+"1"), w.open("s1", name+"2")
			r := answer(first, "allow")
			if r.status != 428 || r.problem(t).Code != "content-wanted" {
				t.Errorf("unseen: %d %s", r.status, r.body)
			}
			if r := w.request("page", "GET", "/v1/requests/"+string(first.ID)+"/content", ""); r.status != 200 {
				t.Fatalf("content: %d %s", r.status, r.body)
			}
			if r := answer(second, "allow"); r.status != 428 {
				t.Errorf("another was seen: %d %s", r.status, r.body)
			}
			if r := answer(first, "allow"); r.status != 200 || !strings.Contains(string(r.body), `"allow"`) {
				t.Errorf("seen: %d %s", r.status, r.body)
			}
			if r := answer(second, "deny"); r.status != 200 {
				t.Errorf("denied unseen: %d %s", r.status, r.body)
			}
		})
	}
}
