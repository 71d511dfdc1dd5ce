package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/server"
)

// frameConn is a WebSocket as a program would speak it that has no library of
// ours: one frame a message.
type frameConn struct {
	t  *testing.T
	ws *websocket.Conn
}

func (w *harness) frames(header http.Header, protocols ...string) (*frameConn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, w.url("/v1/ws"), &websocket.DialOptions{HTTPHeader: header, Subprotocols: protocols})
	if err != nil {
		return nil, resp, err
	}
	w.t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	return &frameConn{w.t, ws}, resp, nil
}

func (w *harness) framesAs(token string) *frameConn {
	w.t.Helper()
	f, _, err := w.frames(http.Header{"Authorization": {"Bearer " + token}}, wire.Protocol)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (f *frameConn) send(text string) {
	f.t.Helper()
	if err := f.ws.Write(f.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *frameConn) next() (wire.Frame, error) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer cancel()
	_, text, err := f.ws.Read(ctx)
	if err != nil {
		return wire.Frame{}, err
	}
	return wire.ParseFrame(text)
}

func (f *frameConn) ask(text string) wire.Frame {
	f.t.Helper()
	f.send(text)
	got, err := f.next()
	if err != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
	return got
}

func TestSocket_tokenOfABrowser(t *testing.T) {
	w := newHarness(t, nil)
	f, resp, err := w.frames(http.Header{"Origin": {"http://" + w.addr}}, wire.Protocol, wire.TokenProtocol+"person")
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Sec-WebSocket-Protocol"); got != wire.Protocol {
		t.Errorf("the server chose %q", got)
	}
	if got := f.ask(`{"id":1,"op":"head","body":{}}`); got.ID != 1 || got.Status != 200 {
		t.Errorf("head: %+v", got)
	}
	for name, header := range map[string]http.Header{
		"foreign origin": {"Origin": {"http://evil.example"}},
		"other port":     {"Origin": {"http://127.0.0.1:1"}},
		"cross site":     {"Sec-Fetch-Site": {"cross-site"}},
	} {
		if _, resp, err := w.frames(header, wire.Protocol, wire.TokenProtocol+"person"); err == nil || resp.StatusCode != 403 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, protocols := range [][]string{{wire.Protocol}, {wire.Protocol, wire.TokenProtocol}, {wire.TokenProtocol + "person", wire.TokenProtocol + "admin"}} {
		if _, resp, err := w.frames(nil, protocols...); err == nil || resp.StatusCode != 401 {
			t.Errorf("%q: %v", protocols, err)
		}
	}
}

func TestSocket_refusesFrames(t *testing.T) {
	w := newHarness(t, nil)
	r := w.open("s1", "c1")
	before := w.head()
	for _, text := range []string{
		`{"id":1,"op":"head","op":"head"}`, `{"ID":1,"op":"head"}`, `{"id":1,"op":"head","more":1}`, `[]`, `{"id":-1,"op":"head"}`,
		`{"id":1,"op":"head"} {"id":2,"op":"head"}`, "{\"id\":1,\"op\":\"head\"}\n{\"id\":2,\"op\":\"head\"}", `x`, ``,
		`{"id":1,"status":200,"body":{}}`,
	} {
		f := w.framesAs("person")
		f.send(text)
		_, err := f.next()
		if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("%q: %v", text, err)
		}
	}
	f := w.framesAs("person")
	for body, code := range map[string]wire.Code{
		`"op":"check","body":{"call":{"tool":"bash","args":{"a":1,"a":2}}}`:                   wire.CodeMalformed,
		`"op":"answer","body":{"id":"` + string(r.ID) + `","effect":"allow","effect":"deny"}`: wire.CodeMalformed,
		`"op":"head","body":{},"op":"revoke"`:                                                 wire.CodeMalformed,
		`"op":"head","body":{},"id":8`:                                                        wire.CodeMalformed,
		`"op":"nothing"`:                                                                      wire.CodeInvalid,
		`"op":"admit","body":{}`:                                                              wire.CodeNotAllowed,
		`"op":"redeem","body":{}`:                                                             wire.CodeNotAllowed,
		`"op":"request","body":{"id":"0000"}`:                                                 wire.CodeNotFound,
		`"op":"answer","body":{"id":"` + string(r.ID) + `","effect":"allow_once"}`:            wire.CodeInvalid,
		`"op":"answer","body":{"id":"` + string(r.ID) + `"}`:                                  wire.CodeInvalid,
		`"op":"answer","body":{"id":"` + string(r.ID) + `","Effect":"allow"}`:                 wire.CodeInvalid,
		`"op":"answer","body":{"id":"","effect":"allow"}`:                                     wire.CodeNotFound,
		`"op":"follow","body":{"types":["nothing"]}`:                                          wire.CodeInvalid,
		`"op":"set_mode","body":{"mode":"approve_all"}`:                                       wire.CodeInvalid,
		`"op":"set_mode","body":{"mode":"strict"}`:                                            wire.CodeNotAllowed,
		`"op":"group","body":{"group":"g","effect":"allow","members":[]}`:                     wire.CodeInvalid,
		`"op":"life","body":{"id":"../x"}`:                                                    wire.CodeNotFound,
	} {
		got := f.ask(`{"id":7,` + body + `}`)
		var p wire.Problem
		if err := json.Unmarshal(got.Body, &p); err != nil || p.Code != code || p.Status != got.Status || got.ID != 7 {
			t.Errorf("%s: %d %s, want %s", body, got.Status, got.Body, code)
		}
		if err := validate(component("Problem"), got.Body); err != nil {
			t.Errorf("%s: %v", got.Body, err)
		}
	}
	if w.head() != before {
		t.Error("the log changed")
	}
}

func TestSocket_idsInUse(t *testing.T) {
	w := newHarness(t, nil)
	f := w.framesAs("agent")
	const admit = `{"id":5,"op":"admit","body":{"call":{"tool":"bash","args":{"command":"x"},"session":"s1","call_id":"c1"}}}`
	f.send(admit)
	w.waitForRequest("s1", "c1")
	f.send(admit)
	if _, err := f.next(); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("an id in use: %v", err)
	}
}

func TestSocket_cancelOne(t *testing.T) {
	w := newHarness(t, nil)
	f := w.framesAs("agent")
	for i := 1; i <= 2; i++ {
		f.send(fmt.Sprintf(`{"id":%d,"op":"admit","body":{"call":{"tool":"bash","args":{"command":"%d"},"session":"s1","call_id":"c%d"}}}`, i, i, i))
	}
	first, second := w.waitForRequest("s1", "c1"), w.waitForRequest("s1", "c2")
	f.send(`{"id":9,"op":"cancel","body":{"id":1}}`)
	if e := w.event(sayso.EventParked); e.RequestID != first.ID {
		t.Errorf("parked %s", e.RequestID)
	}
	if got, err := f.next(); err != nil || got.ID != 1 || got.Status != 503 {
		t.Errorf("the cancelled one: %+v, %v", got, err)
	}
	if _, err := w.b.Inbox(actors["person"]).Answer(t.Context(), second.ID, allow(second)); err != nil {
		t.Fatal(err)
	}
	if got, err := f.next(); err != nil || got.ID != 2 || got.Status != 200 {
		t.Errorf("the other one: %+v, %v", got, err)
	}
}

func TestSocket_follow(t *testing.T) {
	w := newHarness(t, nil)
	f := w.framesAs("person")
	if got := f.ask(`{"id":3,"op":"follow","body":{"since":0}}`); got.Op != wire.OpEvent || got.Body != nil {
		t.Fatalf("opening: %+v", got)
	}
	r := w.open("s1", "c1")
	for {
		got, err := f.next()
		if err != nil || got.ID != 3 || got.Op != wire.OpEvent {
			t.Fatalf("%+v, %v", got, err)
		}
		if err := validate(component("Event"), got.Body); err != nil {
			t.Errorf("%s: %v", got.Body, err)
		}
		if strings.Contains(string(got.Body), string(r.ID)) {
			break
		}
	}
	f.send(`{"id":4,"op":"unfollow","body":{"id":3}}`)
	if got, err := f.next(); err != nil || got.ID != 3 || got.Status != http.StatusNoContent {
		t.Errorf("after unfollow: %+v, %v", got, err)
	}
}

func TestSocket_endsWithItsToken(t *testing.T) {
	w := newHarness(t, func(o *server.Options) { o.SetHeartbeat(20 * time.Millisecond) })
	f := w.framesAs("viewer")
	w.tokens.end("viewer")
	if _, err := f.next(); websocket.CloseStatus(err) != wire.CloseRefused {
		t.Errorf("the connection ended with %v", err)
	}
}

func TestSocket_boundsOperations(t *testing.T) {
	w := newHarness(t, func(o *server.Options) { o.SetOperations(2) })
	f := w.framesAs("agent")
	for i := 1; i <= 3; i++ {
		f.send(fmt.Sprintf(`{"id":%d,"op":"admit","body":{"call":{"tool":"bash","args":{"command":"%d"},"session":"s1","call_id":"c%d"}}}`, i, i, i))
	}
	if got, err := f.next(); err != nil || got.ID != 3 || got.Status != http.StatusTooManyRequests {
		t.Errorf("one too many: %+v, %v", got, err)
	}
}

func TestSocket_mirrorsRoutes(t *testing.T) {
	var have []string
	for _, ops := range openapi().Paths {
		for _, op := range ops {
			if op.Op != "" && op.Op != wire.OpFollow {
				have = append(have, op.Op)
			}
		}
	}
	slices.Sort(have)
	want := []string{
		wire.OpAdmit, wire.OpPresentation, wire.OpRedeem, wire.OpOutcome, wire.OpWithdraw, wire.OpBegin, wire.OpEnd, wire.OpRequests,
		wire.OpRequest, wire.OpCall, wire.OpContent, wire.OpLife, wire.OpAnswer, wire.OpGroup, wire.OpHead, wire.OpGrants, wire.OpRevoke,
		wire.OpSessions, wire.OpPolicies, wire.OpSetPolicies, wire.OpMode, wire.OpSetMode, wire.OpCheck, wire.OpExplain, wire.OpReplay,
		wire.OpPolicyFiles, wire.OpStatus,
		wire.OpNotices, wire.OpRetry, wire.OpDefinitions, wire.OpAccept, wire.OpKeep,
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("routes with an operation:\n%v\nwant\n%v", have, want)
	}
	// Each operation lets in the kinds that its route lets in.
	w := newHarness(t, nil)
	for _, token := range []string{"agent", "tool", "person", "viewer", "admin"} {
		f := w.framesAs(token)
		for _, ops := range openapi().Paths {
			for _, op := range ops {
				if op.Op == "" || op.Op == wire.OpFollow {
					continue
				}
				got := f.ask(`{"id":1,"op":"` + op.Op + `","body":{"no such member":1}}`)
				may := strings.Contains(op.Description, string(actors[token].Kind))
				if (got.Status == 403) == may {
					t.Errorf("%s as %s: %d %s", op.Op, token, got.Status, got.Body)
				}
			}
		}
	}
}

// One connection carries all askers, another all answers.
func TestSocket_manyAtOnce(t *testing.T) {
	w := newHarness(t, nil)
	agent, ann := w.dial("agent"), w.dial("person")
	const calls = 500
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			c := call("bash", fmt.Sprintf("c%d", i))
			d, err := agent.Admit(ctx, sayso.Admission{Call: c})
			if err != nil || d.Allowed() != (i%3 != 0) {
				t.Errorf("call %d: %+v, %v", i, d, err)
			}
		})
	}
	wg.Go(func() {
		seen := 0
		for e, err := range ann.Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
			if err != nil {
				t.Error(err)
				return
			}
			wg.Go(func() {
				r, err := sayso.RequestIn(&e)
				if err != nil {
					t.Error(err)
					return
				}
				var n int
				if _, err := fmt.Sscanf(r.CallID, "c%d", &n); err != nil {
					t.Error(err)
				}
				a := allow(r)
				if n%3 == 0 {
					a.Effect = sayso.Deny
				}
				if _, err := ann.Answer(ctx, r.ID, a); err != nil {
					t.Errorf("answer %d: %v", n, err)
				}
			})
			if seen++; seen == calls {
				return
			}
		}
	})
	wg.Wait()
}

func TestSocket_goesOnAfterTheServerWasAway(t *testing.T) {
	w := newHarness(t, nil)
	agent := w.dial("agent")
	first := w.socket
	got := make(chan error, 1)
	go func() {
		d, err := agent.Admit(t.Context(), sayso.Admission{Call: call("bash", "c1")})
		if err == nil && !d.Allowed() {
			err = errors.New("denied")
		}
		got <- err
	}()
	r := w.waitForRequest("s1", "c1")
	w.stop()
	w.startAt(first)
	if e := w.event(sayso.EventTaken); e.RequestID != r.ID {
		t.Fatalf("taken up: %s", e.RequestID)
	}
	if _, err := w.client("person").Answer(t.Context(), r.ID, allow(r)); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}
