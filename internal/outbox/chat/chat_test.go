package chat_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"

	"github.com/sayso-dev/sayso/internal/outbox/chat"
)

// TestMain is also the process that sends.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "carry" {
		os.Exit(chat.Serve(context.Background(), os.Stdin, os.Stderr))
	}
	os.Exit(m.Run())
}

func send(t *testing.T, where, text string) error {
	t.Helper()
	return chat.Process(os.Args[0], "carry")(t.Context(), where, text)
}

// scheme makes an address of a service of that of a server.
var scheme = map[string]func(server string) string{
	"generic":    func(s string) string { return "generic+http://" + s + "/SECRET" },
	"ntfy":       func(s string) string { return "ntfy://user:SECRET@" + s + "/topic?scheme=http" },
	"mattermost": func(s string) string { return "mattermost://bot@" + s + "/SECRET?disabletls=yes" },
	"bark":       func(s string) string { return "bark://:SECRET@" + s + "/?scheme=http" },
}

// TestSend sends by shoutrrr to a real server.
func TestSend(t *testing.T) {
	for name, address := range scheme {
		var got atomic.Value
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // as much as came
			got.Store(string(body))
			_, _ = io.WriteString(w, `{"code":200,"message":"success"}`)
		}))
		host := strings.TrimPrefix(s.URL, "http://")
		if err := send(t, address(host), "sayso: it waits"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if body, _ := got.Load().(string); !strings.Contains(body, "sayso: it waits") {
			t.Errorf("%s: the server got %q", name, body)
		}
		s.Close()
	}
}

// TestSend_failures: what fails says why in words of ours, and never where it
// went. Nobody whom the chat names is told.
func TestSend_failures(t *testing.T) {
	var away atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { away.Add(1) }))
	defer elsewhere.Close()
	for name, address := range scheme {
		for what, answer := range map[string]http.HandlerFunc{
			"status 500": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "the SECRET is wrong", 500) },
			"status 404": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"error":"the SECRET is wrong"}`, 404) },
			"elsewhere": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			},
			"not reached": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		} {
			s := httptest.NewServer(answer)
			host := strings.TrimPrefix(s.URL, "http://")
			err := send(t, address(host), "text")
			s.Close()
			if err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), host) {
				t.Errorf("%s, %s: %v", name, what, err)
			} else if want := strings.TrimPrefix(what, "not "); !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	if n := away.Load(); n > 0 {
		t.Errorf("a text went where nobody sent it, %d times", n)
	}
}

// TestSend_refuses addresses that lead elsewhere without encryption, that are
// none, and services that cannot be guarded.
func TestSend_refuses(t *testing.T) {
	for _, address := range scheme {
		if err := send(t, address("chat.example.org"), "text"); err == nil || !strings.Contains(err.Error(), "without encryption") {
			t.Errorf("%s: %v", address("chat.example.org"), err)
		}
	}
	for _, where := range []string{
		"logger://SECRET", "smtp://u:SECRET@mail.example.org/?from=a@b.c&to=d@e.f", "mqtt://broker.example.org/SECRET", "matrix://u:SECRET@m.example.org/",
		"", "SECRET", "https://hooks.example.org/SECRET", "slack://SECRET", "discord://", "generic+http://%zz/SECRET", "ntfy+x://SECRET",
	} {
		err := send(t, where, "text")
		if err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "example.org") || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// A chat that never answers is given up, and so is the process that asks it.
func TestSend_hangs(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() { // ends with ctx
		asked <- chat.Process(os.Args[0], "carry")(ctx, scheme["generic"](strings.TrimPrefix(s.URL, "http://")), "text")
	}()
	cancel()
	if err := <-asked; err == nil {
		t.Error("it was told")
	}
}

// Every service that is served is one that shoutrrr has.
func TestServices(t *testing.T) {
	known := map[string]bool{}
	for _, name := range new(router.ServiceRouter).ListServices() {
		known[name] = true
	}
	for _, name := range chat.Services() {
		if !known[name] {
			t.Errorf("shoutrrr has no %s", name)
		}
	}
}

// The addresses of docs/notices.md are ones that shoutrrr reads.
func TestDocumentedAddresses(t *testing.T) {
	page, err := os.ReadFile("../../../docs/notices.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| address |\n")
	filled := strings.NewReplacer("T…-B…-X…", "T00000000-B00000000-XXXXXXXXXXXXXXXXXXXXXXXX", "TOKEN@telegram", "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0@telegram", "chats=ID", "chats=-100123")
	n := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(line, "|")
		for i, address := range strings.Split(cells[len(cells)-2], "`") {
			if i%2 == 0 {
				continue
			}
			if _, err := new(router.ServiceRouter).Locate(filled.Replace(address)); err != nil {
				t.Errorf("%s: %v", address, err)
			}
			n++
		}
	}
	if n < 6 {
		t.Errorf("found %d addresses", n)
	}
}
