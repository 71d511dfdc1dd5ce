package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// notification is a message of 2026-07-28 that nobody answers, with its headers.
func notification(method, params string) (string, []string) {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},` + params + `}}`,
		[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
}

// Where requests stand alone, none takes back or answers what another waits for,
// even under the same token: not one that waits for people, and not one that runs.
func TestHandlerCancelsNoOther(t *testing.T) {
	up := newTestServer(t)
	begun, over := make(chan struct{}), make(chan struct{})
	up.handle("tools/call", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		close(begun)
		select {
		case <-r.Context().Done():
			t.Error("the call was taken back at the server")
		case <-over:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.Replace(echoResult, "ID", idOf(string(body)), 1))
		}
	})
	s := openHandler(t, nil, gateway.Upstream{Options: gateway.Options{Name: "srv", Impatience: time.Minute}, URL: up.URL})
	s.listTools()
	got := make(chan string, 1)
	go func() {
		body, header := statelessEcho(`"mine"`, "hi")
		got <- s.post(body, append(header, "Accept", "application/json")...).last()
	}()
	r := s.requests(1)[0]
	meddle := func() {
		t.Helper()
		for _, id := range []string{"1", "2", "3", `"mine"`} {
			body, header := notification("notifications/cancelled", `"requestId":`+id)
			if r := s.post(body, header...); r.StatusCode != http.StatusAccepted {
				t.Errorf("%s %s", r.Status, r.text)
			}
			body = `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`
			if r := s.post(body, "Mcp-Protocol-Version", "2026-07-28"); r.StatusCode != http.StatusAccepted {
				t.Errorf("%s %s", r.Status, r.text)
			}
		}
	}
	meddle()
	s.answer(r, sayso.Allow)
	<-begun
	meddle()
	close(over)
	if text := <-got; !strings.Contains(text, `"ran"`) || !strings.Contains(text, `"id":"mine"`) {
		t.Error(text)
	}
	for _, h := range up.received("tools/call") {
		if id := idOf(h.body); len(id) < 20 {
			t.Errorf("the id of a call can be guessed: %s", id)
		} else if _, err := strconv.Atoi(id); err == nil {
			t.Errorf("the id of a call can be counted: %s", id)
		}
	}
	if got := len(up.received("")) + len(up.received("notifications/cancelled")); got > 0 {
		t.Errorf("the server heard %d messages about what is another's", got)
	}
}

// A call that waited while the token that it came with was revoked does not run,
// whatever people said; and that it did not is on the record. So it is where the
// client waits, where it took a task, and in a session.
func TestHandlerTokenRevoked(t *testing.T) {
	for name, ask := range map[string]func(s *httpHarness) (string, []string){
		"alone": func(*httpHarness) (string, []string) { return statelessEcho(`"1"`, "hi") },
		"a task": func(*httpHarness) (string, []string) {
			_, header := statelessEcho("", "")
			return taskCall(`"1"`, "hi"), header
		},
		"a session": func(s *httpHarness) (string, []string) {
			return echo(`"1"`, "hi"), []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			up := newTestServer(t)
			s := openHandler(t, nil, gateway.Upstream{Options: gateway.Options{Name: "srv", Impatience: time.Minute}, URL: up.URL})
			s.listTools()
			body, header := ask(s)
			got := make(chan string, 1)
			go func() {
				got <- s.post(body, append(header, "Accept", "application/json, text/event-stream")...).last()
			}()
			r := s.requests(1)[0]
			s.revoked.Store(true)
			s.answer(r, sayso.Allow)
			if e := s.waitForEvent(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
				t.Errorf("%s: %s", e.RequestID, e.Payload)
			}
			if text := <-got; strings.Contains(text, `"ran"`) || name != "a task" && !strings.Contains(text, "does not count any more") {
				t.Error(text)
			}
			if calls := up.received("tools/call"); len(calls) > 0 {
				t.Errorf("the server heard %v", calls)
			}
		})
	}
}

// A server that complains says back what it was sent, in the one place or the
// other. What a person set for it reaches no client, and not the record.
func TestHandlerRedactsSecrets(t *testing.T) {
	up := newTestServer(t)
	fault := `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"wrong: SECRET"}}`
	says := func(status int, kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			secret := r.Header.Get("X-Api-Key") + ", " + r.Header.Get("X-Other") + ", " + r.URL.RawQuery
			w.Header().Set("Content-Type", kind)
			w.Header().Set("WWW-Authenticate", "Key wrong=\""+secret+"\"")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.NewReplacer("ID", idOf(string(body)), "SECRET", strings.ReplaceAll(secret, "/", `\/`)).Replace(text))
		}
	}
	raw := func(first string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(c, strings.ReplaceAll(first, "SECRET", r.Header.Get("X-Api-Key")+" "+r.URL.RawQuery)+"\r\nContent-Length: 0\r\n\r\n")
			_ = c.Close()
		}
	}
	u := gateway.Upstream{
		Options: gateway.Options{Name: "srv"}, URL: up.URL + "/?key=" + canary + "-url", PassAuthorization: true,
		Header: http.Header{"X-Api-Key": {"Key " + canary + "/head"}, "X-Other": {canary}},
	}
	s := openHandler(t, rules{"echo": sayso.Allow}, u)
	mine := []string{"Sayso-Token", adaToken, "Authorization", "Bearer theirs"}
	body, header := statelessMessage("0", "tools/list", "", "")
	if r := s.post(body, append(header, mine...)...); !strings.Contains(r.last(), `"echo"`) {
		t.Fatalf("%s %s", r.Status, r.last())
	}
	for name, do := range map[string]http.HandlerFunc{
		"the reason phrase":    raw("HTTP/1.1 418 SECRET"),
		"no status":            raw("HTTP/1.1 SECRET"),
		"no protocol":          raw("SECRET"),
		"a header":             says(401, "text/plain", "SECRET"),
		"a refusal":            says(400, "application/json", fault),
		"an answer":            says(200, "application/json", fault),
		"an event":             says(200, "text/event-stream", "data: "+fault+"\n\n"),
		"a refusal of a page":  says(503, "text/html", "SECRET"),
		"what is no error":     says(404, "application/json", `{"SECRET":1}`),
		"an error of no shape": says(200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":"SECRET"}`),
	} {
		t.Run(name, func(t *testing.T) {
			up.handle("tools/call", do)
			body, header := statelessEcho("7", "hi")
			r := s.post(body, append(header, mine...)...)
			text := r.last()
			if !strings.Contains(text, `"error"`) || !strings.Contains(text, `"id":7`) {
				t.Errorf("%s %s", r.Status, text)
			}
			if all := fmt.Sprint(r.Header, r.text, text); strings.Contains(all, canary) || strings.Contains(all, "theirs") {
				t.Errorf("the client is told %s", all)
			}
		})
	}
	if strings.Contains(s.logText(), canary) {
		t.Errorf("it is on the record:\n%s", s.logText())
	}
}

// openLimited opens a handler of which each owner may have so much.
func openLimited(t *testing.T, requests, bytes, sessions, programs int) *httpHarness {
	t.Helper()
	t.Cleanup(gateway.SetLimits(requests, bytes, sessions, programs))
	up := newTestServer(t)
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return openHandler(t, nil,
		gateway.Upstream{Options: gateway.Options{Name: "srv", Impatience: time.Minute}, URL: up.URL},
		gateway.Upstream{Options: gateway.Options{Name: "prog"}, Args: []string{program, "echoes"}, Env: append(os.Environ(), "GATEWAY_TEST=server"), Stderr: io.Discard})
}

const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab"}}}`

// Who begins ever more sessions shuts out nobody but itself, and has room again for
// each that ends; of sessions with a program of their own there are fewer.
func TestHandlerSessionLimit(t *testing.T) {
	s := openLimited(t, 16, 1<<20, 3, 1)
	bob := []string{"Authorization", "Bearer " + bobToken}
	begins := func(path string, header ...string) *response {
		return s.do(s.newRequest("POST", path, begin, header...))
	}
	first := s.initialize()
	if r := begins("/prog/mcp"); r.StatusCode != 200 {
		t.Fatalf("%s %s", r.Status, r.text)
	}
	if r := begins("/prog/mcp"); r.StatusCode != 503 || !strings.Contains(r.text, "2 sessions of this token are open, 1 of them with a program") {
		t.Errorf("a second program: %s %s", r.Status, r.text)
	}
	s.initialize()
	if r := begins("/srv/mcp"); r.StatusCode != 503 {
		t.Errorf("a fourth session: %s %s", r.Status, r.text)
	}
	s.initialize(bob...)
	if r := begins("/prog/mcp", bob...); r.StatusCode != 200 {
		t.Errorf("bob: %s %s", r.Status, r.text)
	}
	if r := s.do(s.newRequest("DELETE", "/srv/mcp", "", "Mcp-Session-Id", first, "Mcp-Protocol-Version", "2025-11-25")); r.StatusCode != 204 {
		t.Errorf("%s %s", r.Status, r.text)
	}
	s.initialize()
}

// So it is for requests that wait, and for what they hold, also where their client
// hung up and the call waits on.
func TestHandlerRequestLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		s      *httpHarness
		hangUp bool
		text   string
	}{
		"requests": {openLimited(t, 2, 1<<20, 16, 1), false, "hi"},
		"bytes":    {openLimited(t, 16, 96<<10, 16, 1), true, strings.Repeat("long ", 4<<10)},
	} {
		t.Run(name, func(t *testing.T) {
			s := tt.s
			ping := `{"jsonrpc":"2.0","id":"p","method":"ping","params":{"text":"` + tt.text + `"}}`
			in := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
			over := make(chan bool, 2)
			for i, id := range []string{"1", "2"} {
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				go func() {
					defer func() { over <- true }()
					for refused := true; refused; { // one that was answered may not have left yet
						resp, err := client.Do(s.newRequest("POST", "/srv/mcp", echo(id, tt.text+id), in...).WithContext(ctx))
						if err != nil {
							return
						}
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
						refused = resp.StatusCode == 503
					}
				}()
				s.requests(i + 1)
				if tt.hangUp {
					hangUp()
					<-over
				}
			}
			if r := s.post(echo("3", tt.text+tt.text), in...); r.StatusCode != 503 || !strings.Contains(r.text, "Nothing ran") {
				t.Errorf("a third: %s %s", r.Status, r.text)
			}
			bob := []string{"Authorization", "Bearer " + bobToken}
			bob = append(bob, "Mcp-Session-Id", s.initialize(bob...), "Mcp-Protocol-Version", "2025-11-25")
			if r := s.post(ping, bob...); r.StatusCode != 200 {
				t.Errorf("bob: %s %s", r.Status, r.text)
			}
			for _, r := range s.requests(2) {
				s.answer(r, sayso.Deny)
			}
			if !tt.hangUp {
				<-over
				<-over
			}
			r := s.post(ping, in...)
			for tries := 0; r.StatusCode == 503 && tries < 1000; tries++ {
				r = s.post(ping, in...)
			}
			if r.StatusCode != 200 {
				t.Errorf("when there is room again: %s %s", r.Status, r.text)
			}
		})
	}
}

// A program whose client has no session to be asked in is answered at once, and
// does not wait for ever.
func TestHandlerServerRequest(t *testing.T) {
	s := openLimited(t, 16, 1<<20, 3, 1)
	body, header := statelessMessage("1", "asks", "", "")
	text := s.do(s.newRequest("POST", "/prog/mcp", body, header...)).last()
	if !strings.Contains(text, `"id":"q","result":{}`) || strings.Count(text, `"id":"q","error":{"code":-32601`) != 3 || !strings.Contains(text, `"id":1,`) {
		t.Error(text)
	}
}
