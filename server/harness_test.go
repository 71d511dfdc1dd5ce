package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/store/memory"
)

// rules is a policy of three words: what a tool is called says what becomes of
// its calls.
type rules struct{}

func (rules) Version() string { return "test-1" }

func (rules) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	v := sayso.Verdict{Risk: sayso.RiskModerate, Policy: "test-1", Deadline: sayso.Deadline{After: time.Hour}}
	m := sayso.Match{Cause: sayso.CauseRule, Rule: "by name", File: "policy.yaml", Line: 3, Reason: "the name says so"}
	switch c.Tool {
	case "file-read":
		m.Effect = sayso.Allow
	case "bash":
		m.Effect = sayso.Ask
	}
	v.Match, v.Matches, v.Default = m, []sayso.Match{m}, m
	return v
}

// The tokens of the tests, by who shows them.
var actors = map[string]sayso.Actor{
	"agent":  {Principal: "claude", Kind: sayso.PrincipalAgent, Owner: "ann", Approvers: []string{"bob", "vic"}},
	"agent2": {Principal: "codex", Kind: sayso.PrincipalAgent, Owner: "eve"},
	"tool":   {Principal: "program", Kind: sayso.PrincipalTool, Owner: "ann"},
	"person": {Principal: "ann", Kind: sayso.PrincipalPerson},
	"bob":    {Principal: "bob", Kind: sayso.PrincipalPerson},
	"eve":    {Principal: "eve", Kind: sayso.PrincipalPerson},
	"viewer": {Principal: "vic", Kind: sayso.PrincipalViewer, Approvers: []string{"*"}},
	"admin":  {Principal: "root", Kind: sayso.PrincipalAdmin},
}

// harness is a server with a broker behind it, on a port and on a socket.
type harness struct {
	t      *testing.T
	b      *broker.Broker
	log    sayso.Log
	s      *server.Server
	addr   string // host:port
	socket string
	tokens *tokenList
	logs   *syncBuffer

	door func(sayso.Actor) (sayso.Gate, sayso.Inbox)
	stop func()
}

// syncBuffer is a buffer that many may write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// tokenList is the tokens that an admin made, and those that were ended.
type tokenList struct {
	mu    sync.Mutex
	made  []server.TokenInfo
	ended map[string]bool
}

func (l *tokenList) List(context.Context) ([]server.TokenInfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]server.TokenInfo{}, l.made...), nil
}

func (l *tokenList) Create(_ context.Context, want server.NewToken) (string, server.TokenInfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info := server.TokenInfo{ID: "t1", Name: want.Name, Kind: want.Kind, Created: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	l.made = append(l.made, info)
	return "sayso_" + string(want.Kind) + "_SECRET", info, nil
}

func (l *tokenList) Revoke(_ context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.made {
		if l.made[i].ID == id {
			l.made = append(l.made[:i], l.made[i+1:]...)
			return nil
		}
	}
	return sayso.ErrNotFound
}

func (l *tokenList) end(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended[token] = true
}

func (l *tokenList) authenticate(token string) (sayso.Actor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := actors[token]
	if !ok || l.ended[token] {
		return sayso.Actor{}, errors.New("no such token")
	}
	return a, nil
}

// stubLookBack says the same of every call, after it looked for the request.
type stubLookBack struct{ w *harness }

func (l stubLookBack) Explain(ctx context.Context, a sayso.Actor, want server.Explain) (out server.Explanation, err error) {
	if want.Call == nil {
		if _, err := l.w.b.Inbox(a).Request(ctx, want.Request); err != nil {
			return out, err
		}
	}
	said := wire.Spoken{Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "default: ask", Span: [2]int{0, 8}, Reason: "no rule speaks about this call, so a person is asked"}
	return server.Explanation{
		Spoken: said, Risk: sayso.RiskModerate, Danger: []sayso.Danger{sayso.DangerNetwork}, Kinds: []sayso.Kind{sayso.KindShell}, Tool: "bash", Argument: "command", Text: "git push", Words: "git push",
		Spoke: []wire.Spoken{said}, Commands: []wire.CommandOutcome{{Text: "git push", At: [2]int{0, 8}, By: -1, Spoken: said}},
		Changes: []wire.Change{{Effect: sayso.Deny, Possible: true, Write: []wire.Edit{{
			Do: "add", Tier: "user", File: "policy.yaml", Under: "rules", Text: `- deny: "bash:git push"`,
		}}}},
	}, nil
}

func (l stubLookBack) Replay(_ context.Context, _ sayso.Actor, text string, _ time.Time) (out server.Replayed, err error) {
	if text == "rulez: []" {
		return out, fmt.Errorf("%w: the policy has a mistake in line 1, column 1 (unknown-key)", sayso.ErrInvalid)
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return server.Replayed{
		Policy: "sha256:0f3a", From: at, To: at, Calls: 2, Replayed: 1, NotReplayed: []wire.Gap{{Why: "what was asked for was erased", Count: 1}},
		DenialsAllowed: 1, DeniedByPerson: 1, PromptsBefore: 1, PromptsSaved: 1, Turns: []wire.Turn{{From: sayso.Ask, To: sayso.Allow, Count: 1}},
		Changes: []wire.Turned{{
			Request: "01m7wyf0nnpx5134avv40bmx4g3chvqgbe01", ShortID: "px51", At: at, Session: "s1", Tool: "bash", Text: "git push",
			Was: wire.Came{Effect: sayso.Ask, By: "person", Answer: "deny", Rule: "default: ask"},
			Now: wire.Came{Effect: sayso.Allow, By: "policy", Rule: "allow: bash:git push*", File: "policy", Line: 3},
		}},
	}, nil
}

func (l stubLookBack) Files() (server.PolicyFiles, error) {
	return server.PolicyFiles{
		Version: "test-1", Mistake: "policy.yaml:3:5: \"alow\" is no key of a rule; allow, ask or deny", Stands: true,
		Files: []wire.PolicyFile{{
			Tier: "user", File: "policy.yaml", State: "does not load", Text: "version: 1\nrules:\n  - alow: bash\n",
			Mistakes: []wire.PolicyNote{{File: "policy.yaml", Line: 3, Column: 5, What: "\"alow\" is no key of a rule", Write: "allow, ask or deny"}},
		}},
	}, nil
}

// newHarness starts a server. change may alter its options.
func newHarness(t *testing.T, change func(*server.Options)) *harness {
	t.Helper()
	w := &harness{t: t, log: memory.New(nil), tokens: &tokenList{ended: map[string]bool{}}, logs: &syncBuffer{}}
	b, err := broker.New(w.log, rules{}, &broker.Options{MaxOpen: 100_000, MaxAsks: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	w.b = b
	w.start(change)
	t.Cleanup(func() { w.stop(); _ = b.Close() })
	return w
}

// start begins to serve what is there.
func (w *harness) start(change func(*server.Options)) {
	w.t.Helper()
	w.serve(change, filepath.Join(w.t.TempDir(), "s"))
}

// startAt begins to serve again at the same socket.
func (w *harness) startAt(socket string) {
	w.t.Helper()
	w.serve(nil, socket)
}

// startWith begins to serve something else than a broker.
func (w *harness) startWith(door func(sayso.Actor) (sayso.Gate, sayso.Inbox)) {
	w.t.Helper()
	w.door = door
	w.start(nil)
}

func (w *harness) serve(change func(*server.Options), socket string) {
	w.t.Helper()
	if w.door == nil {
		w.door = func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return w.b.Gate(a), w.b.Inbox(a) }
	}
	o := server.Options{
		Logger:       slog.New(slog.NewTextHandler(w.logs, nil)),
		Authenticate: w.tokens.authenticate, Tokens: w.tokens, Version: "1.4.0",
		Login: func(in server.SignIn) (string, error) {
			if in.Code != "once" {
				return "", sayso.ErrNotAllowed
			}
			return "person", nil
		},
		Logout:   func(token string) error { w.tokens.end(token); return nil },
		LookBack: stubLookBack{w},
		Machine: func() server.Machine {
			return server.Machine{
				Policy: status.Policy{Version: "test-1"},
				Wired:  []status.Wiring{{Host: "claude-code", State: status.Protected, Why: "the hook is in /home/ann/.claude/settings.json", Proof: "`sayso doctor` proves that the gate is live"}},
			}
		},
		Notices: openNotices{w}, Pins: w.b,
		Policy: func() server.PolicyInfo { return server.PolicyInfo{Version: "test-1", Files: []string{"policy.yaml"}} },
	}
	if change != nil {
		change(&o)
	}
	s, err := server.New(w.door, &o)
	if err != nil {
		w.t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.s, w.addr = s, tcp.Addr().String()
	w.socket = socket
	unix, err := net.Listen("unix", w.socket)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, tcp, unix) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			w.t.Errorf("Serve: %v", err)
		}
	})
}

func (w *harness) url(path string) string { return "http://" + w.addr + path }

// client is a client over HTTP for a token.
func (w *harness) client(token string) *client.Client {
	w.t.Helper()
	c, err := client.New("http://"+w.addr, token, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// dial is a client over a WebSocket on the Unix socket.
func (w *harness) dial(token string) *client.Client {
	w.t.Helper()
	c, err := client.Dial(w.t.Context(), w.socket, token, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// reply is an answer of the server, read to its end and checked against the
// document.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) problem(t *testing.T) wire.Problem {
	t.Helper()
	var p wire.Problem
	if err := jcs.Unmarshal(r.body, &p); err != nil {
		t.Fatalf("no problem but %d %s: %v", r.status, r.body, err)
	}
	return p
}

// request makes a request as token; header lines are "Name: value", and a name
// without a value takes the header away.
func (w *harness) request(token, method, path, body string, header ...string) reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url(path), strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	for _, line := range header {
		name, value, ok := strings.Cut(line, ": ")
		switch {
		case !ok:
			req.Header.Del(name)
		case name == "Host":
			req.Host = value
		default:
			req.Header.Set(name, value)
		}
	}
	return w.send(req)
}

func (w *harness) send(req *http.Request) reply {
	w.t.Helper()
	resp, err := plainClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	r := reply{status: resp.StatusCode, header: resp.Header}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		if r.body, err = io.ReadAll(resp.Body); err != nil {
			w.t.Fatal(err)
		}
	}
	checkReply(w.t, req.Method, req.URL.EscapedPath(), r)
	return r
}

var plainClient = &http.Client{
	Transport:     &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// call is a call of the tests.
func call(tool, id string) sayso.Call {
	return sayso.Call{Tool: tool, Args: sayso.Args(`{"command":"git push ` + id + `"}`), Session: "s1", Run: "r1", CallID: id, GroupID: "g1", Cwd: "/home/dev"}
}

// open admits a call that people are asked about, in the background, and
// returns the request once it is there.
func (w *harness) open(session, id string) sayso.Request {
	w.t.Helper()
	c := call("bash", id)
	c.Session = session
	token := "agent"
	if session == "theirs" {
		token = "agent2"
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = w.b.Gate(actors[token]).Admit(ctx, sayso.Admission{Call: c})
	}()
	w.t.Cleanup(func() { cancel(); <-left })
	return w.waitForRequest(session, id)
}

// waitForRequest waits until a call of a session is a request.
func (w *harness) waitForRequest(session, id string) sayso.Request {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	for e, err := range w.b.Inbox(actors["admin"]).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			w.t.Fatalf("no request of %s for %s: %v", session, id, err)
		}
		if e.SessionID == session && e.CallID == id {
			r, err := sayso.RequestIn(&e)
			if err != nil {
				w.t.Fatal(err)
			}
			return r
		}
	}
	return sayso.Request{}
}

func (w *harness) head() sayso.Seq {
	w.t.Helper()
	h, err := w.log.Head(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return h.Seq
}

func allow(r sayso.Request) sayso.Answer {
	return sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}
}

// answerBody is the text of an answer to a request.
func answerBody(r sayso.Request, effect string) string {
	return `{"digest":"` + r.Digest.String() + `","content":"` + r.Content.String() + `","effect":"` + effect + `"}`
}

func serverNewToken(name string) server.NewToken {
	return server.NewToken{Name: name, Kind: sayso.PrincipalAgent}
}

// noDoor is a door with nothing behind it.
func noDoor(sayso.Actor) (sayso.Gate, sayso.Inbox) { return nil, nil }

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

// listen serves on a Unix socket of its own.
func listen(b testing.TB, s *server.Server) (base string, stop func()) {
	b.Helper()
	base = filepath.Join(b.TempDir(), "s")
	l, err := net.Listen("unix", base)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	return base, func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}
