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

// notice is a message of 2026-07-28 that nobody answers, with its headers.
func notice(method, params string) (string, []string) {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},` + params + `}}`,
		[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
}

// Where requests stand alone, none takes back or answers what another waits for,
// even under the same token: not one that waits for people, and not one that runs.
func TestFrontCancelsNoOther(t *testing.T) {
	up := openShop(t)
	begun, over := make(chan struct{}), make(chan struct{})
	up.when("tools/call", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		close(begun)
		select {
		case <-r.Context().Done():
			t.Error("the call was taken back at the server")
		case <-over:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.Replace(ran, "ID", idOf(string(body)), 1))
		}
	})
	s := openFront(t, nil, gateway.Upstream{Options: gateway.Options{Name: "srv", Impatience: time.Minute}, URL: up.URL})
	s.learns()
	got := make(chan string, 1)
	go func() {
		body, header := modernEcho(`"mine"`, "hi")
		got <- s.posts(body, append(header, "Accept", "application/json")...).last()
	}()
	r := s.asked(1)[0]
	meddle := func() {
		t.Helper()
		for _, id := range []string{"1", "2", "3", `"mine"`} {
			body, header := notice("notifications/cancelled", `"requestId":`+id)
			if r := s.posts(body, header...); r.StatusCode != http.StatusAccepted {
				t.Errorf("%s %s", r.Status, r.text)
			}
			body = `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`
			if r := s.posts(body, "Mcp-Protocol-Version", "2026-07-28"); r.StatusCode != http.StatusAccepted {
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
	for _, h := range up.heard("tools/call") {
		if id := idOf(h.body); len(id) < 20 {
			t.Errorf("the id of a call can be guessed: %s", id)
		} else if _, err := strconv.Atoi(id); err == nil {
			t.Errorf("the id of a call can be counted: %s", id)
		}
	}
	if got := len(up.heard("")) + len(up.heard("notifications/cancelled")); got > 0 {
		t.Errorf("the server heard %d messages about what is another's", got)
	}
}

// A call that waited while the token that it came with was revoked does not run,
// whatever people said; and that it did not is on the record. So it is where the
// client waits, where it took a task, and in a session.
func TestFrontRevoked(t *testing.T) {
	for name, ask := range map[string]func(s *street) (string, []string){
		"alone":  func(*street) (string, []string) { return modernEcho(`"1"`, "hi") },
		"a task": func(*street) (string, []string) { _, header := modernEcho("", ""); return tasked(`"1"`, "hi"), header },
		"a session": func(s *street) (string, []string) {
			return echo(`"1"`, "hi"), []string{"Mcp-Session-Id", s.begins(), "Mcp-Protocol-Version", "2025-11-25"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			up := openShop(t)
			s := openFront(t, nil, gateway.Upstream{Options: gateway.Options{Name: "srv", Impatience: time.Minute}, URL: up.URL})
			s.learns()
			body, header := ask(s)
			got := make(chan string, 1)
			go func() {
				got <- s.posts(body, append(header, "Accept", "application/json, text/event-stream")...).last()
			}()
			r := s.asked(1)[0]
			s.revoked.Store(true)
			s.answer(r, sayso.Allow)
			if e := s.until(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
				t.Errorf("%s: %s", e.RequestID, e.Payload)
			}
			if text := <-got; strings.Contains(text, `"ran"`) || name != "a task" && !strings.Contains(text, "does not count any more") {
				t.Error(text)
			}
			if calls := up.heard("tools/call"); len(calls) > 0 {
				t.Errorf("the server heard %v", calls)
			}
		})
	}
}

// A server that complains says back what it was sent, in the one place or the
// other. What a person set for it reaches no client, and not the record.
func TestFrontSaysBack(t *testing.T) {
	up := openShop(t)
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
	s := openFront(t, rules{"echo": sayso.Allow}, u)
	mine := []string{"Sayso-Token", adaToken, "Authorization", "Bearer theirs"}
	body, header := modern("0", "tools/list", "", "")
	if r := s.posts(body, append(header, mine...)...); !strings.Contains(r.last(), `"echo"`) {
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
			up.when("tools/call", do)
			body, header := modernEcho("7", "hi")
			r := s.posts(body, append(header, mine...)...)
			text := r.last()
			if !strings.Contains(text, `"error"`) || !strings.Contains(text, `"id":7`) {
				t.Errorf("%s %s", r.Status, text)
			}
			if all := fmt.Sprint(r.Header, r.text, text); strings.Contains(all, canary) || strings.Contains(all, "theirs") {
				t.Errorf("the client is told %s", all)
			}
		})
	}
	if strings.Contains(s.record(), canary) {
		t.Errorf("it is on the record:\n%s", s.record())
	}
}

// limited opens a front of which each owner may have so much.
func limited(t *testing.T, requests, bytes, sessions, programs int) *street {
	t.Helper()
	t.Cleanup(gateway.SetShares(requests, bytes, sessions, programs))
	up := openShop(t)
	up.when("tools/call", streams("data: "+ran+"\n\n"))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return openFront(t, nil,
		gateway.Upstream{Options: gateway.Options{Name: "srv", Impatience: time.Minute}, URL: up.URL},
		gateway.Upstream{Options: gateway.Options{Name: "prog"}, Args: []string{program, "echoes"}, Env: append(os.Environ(), "GATEWAY_TEST=server"), Stderr: io.Discard})
}

const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab"}}}`

// Who begins ever more sessions shuts out nobody but itself, and has room again for
// each that ends; of sessions with a program of their own there are fewer.
func TestFrontShareOfSessions(t *testing.T) {
	s := limited(t, 16, 1<<20, 3, 1)
	bob := []string{"Authorization", "Bearer " + bobToken}
	begins := func(path string, header ...string) *reply { return s.does(s.ask("POST", path, begin, header...)) }
	first := s.begins()
	if r := begins("/prog/mcp"); r.StatusCode != 200 {
		t.Fatalf("%s %s", r.Status, r.text)
	}
	if r := begins("/prog/mcp"); r.StatusCode != 503 || !strings.Contains(r.text, "2 sessions of this token are open, 1 of them with a program") {
		t.Errorf("a second program: %s %s", r.Status, r.text)
	}
	s.begins()
	if r := begins("/srv/mcp"); r.StatusCode != 503 {
		t.Errorf("a fourth session: %s %s", r.Status, r.text)
	}
	s.begins(bob...)
	if r := begins("/prog/mcp", bob...); r.StatusCode != 200 {
		t.Errorf("bob: %s %s", r.Status, r.text)
	}
	if r := s.does(s.ask("DELETE", "/srv/mcp", "", "Mcp-Session-Id", first, "Mcp-Protocol-Version", "2025-11-25")); r.StatusCode != 204 {
		t.Errorf("%s %s", r.Status, r.text)
	}
	s.begins()
}

// So it is for requests that wait, and for what they hold, also where their client
// hung up and the call waits on.
func TestFrontShareOfRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		s      *street
		hangUp bool
		text   string
	}{
		"requests": {limited(t, 2, 1<<20, 16, 1), false, "hi"},
		"bytes":    {limited(t, 16, 96<<10, 16, 1), true, strings.Repeat("long ", 4<<10)},
	} {
		t.Run(name, func(t *testing.T) {
			s := tt.s
			ping := `{"jsonrpc":"2.0","id":"p","method":"ping","params":{"text":"` + tt.text + `"}}`
			in := []string{"Mcp-Session-Id", s.begins(), "Mcp-Protocol-Version", "2025-11-25"}
			over := make(chan bool, 2)
			for i, id := range []string{"1", "2"} {
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				go func() {
					defer func() { over <- true }()
					for refused := true; refused; { // one that was answered may not have left yet
						resp, err := client.Do(s.ask("POST", "/srv/mcp", echo(id, tt.text+id), in...).WithContext(ctx))
						if err != nil {
							return
						}
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
						refused = resp.StatusCode == 503
					}
				}()
				s.asked(i + 1)
				if tt.hangUp {
					hangUp()
					<-over
				}
			}
			if r := s.posts(echo("3", tt.text+tt.text), in...); r.StatusCode != 503 || !strings.Contains(r.text, "Nothing ran") {
				t.Errorf("a third: %s %s", r.Status, r.text)
			}
			bob := []string{"Authorization", "Bearer " + bobToken}
			bob = append(bob, "Mcp-Session-Id", s.begins(bob...), "Mcp-Protocol-Version", "2025-11-25")
			if r := s.posts(ping, bob...); r.StatusCode != 200 {
				t.Errorf("bob: %s %s", r.Status, r.text)
			}
			for _, r := range s.asked(2) {
				s.answer(r, sayso.Deny)
			}
			if !tt.hangUp {
				<-over
				<-over
			}
			r := s.posts(ping, in...)
			for tries := 0; r.StatusCode == 503 && tries < 1000; tries++ {
				r = s.posts(ping, in...)
			}
			if r.StatusCode != 200 {
				t.Errorf("when there is room again: %s %s", r.Status, r.text)
			}
		})
	}
}

// A program whose client has no session to be asked in is answered at once, and
// does not wait for ever.
func TestFrontProgramAsks(t *testing.T) {
	s := limited(t, 16, 1<<20, 3, 1)
	body, header := modern("1", "asks", "", "")
	text := s.does(s.ask("POST", "/prog/mcp", body, header...)).last()
	if !strings.Contains(text, `"id":"q","result":{}`) || strings.Count(text, `"id":"q","error":{"code":-32601`) != 3 || !strings.Contains(text, `"id":1,`) {
		t.Error(text)
	}
}
