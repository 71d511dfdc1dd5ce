//go:build unix

package canary_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/lab/machine"
)

var (
	count = flag.Int("canaries", 200, "how many calls to hide secrets in")
	seed  = flag.Uint64("canary-seed", 0, "what the secrets are drawn from; 0 for something new")
)

func TestMain(m *testing.M) {
	flag.Parse()
	machine.Main(m)
}

// tool is a tool of the host, as it is shipped.
type tool struct {
	Name    string   `json:"name"`
	Fields  []string `json:"fields"`
	Offered bool     `json:"offered"`
}

func tools(t *testing.T) (list []tool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "agent", "claudecode", "testdata", "tools-2.1.330.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := jcs.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return append(list, tool{"mcp__srv__deploy", []string{"env", "config", "headers", "url", "body", "note"}, true})
}

// TestCanaries sends calls with secrets through everything, does to them what
// can be done to requests, and looks everywhere.
func TestCanaries(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("again with: -canary-seed %d", *seed)
	n := newNest(*seed)
	w := newWorld(t, n)
	r := rand.New(rand.NewPCG(*seed, 2))
	list := tools(t)
	var watch *watching
	for i := range *count {
		if i == *count/2 {
			watch = w.watch()
		}
		w.call(r, i, list[i%len(list)])
		if i%5 == 0 {
			w.asks(r, i)
		}
		if i%10 == 0 {
			w.mistakes(r, i)
		}
		if i%20 == 0 {
			w.crashes(r, i)
		}
		if t.Failed() {
			t.Fatalf("at call %d", i)
		}
	}
	n.clean(t, "sayso watch", watch.end())
	w.everything()
}

// frame is the input of a hook.
func (w *world) frame(r *rand.Rand, i int, tl tool) map[string]any {
	input := map[string]any{}
	for _, f := range tl.Fields {
		if r.IntN(10) < 7 {
			input[f] = w.n.value(r, f)
		}
	}
	if r.IntN(3) == 0 || len(input) == 0 {
		input[members[r.IntN(len(members))]] = w.n.lay()
	}
	frame := map[string]any{
		"session_id": session(i), "cwd": w.m.Dir, "permission_mode": "default", "hook_event_name": "PreToolUse",
		"tool_name": tl.Name, "tool_use_id": fmt.Sprint("call-", i), "tool_input": input,
	}
	switch r.IntN(4) {
	case 0:
		frame["cwd"] = "/srv/" + w.n.shaped(r) + "/app"
	case 1:
		frame["agent_id"], frame["agent_type"] = "a1", "reviewer with token="+w.n.lay()
	case 2:
		frame["permission_mode"], frame["transcript_path"] = "password="+w.n.lay(), "/srv/"+w.n.shaped(r)
	}
	if strings.HasPrefix(tl.Name, "mcp__") {
		frame["mcp_server"] = map[string]any{"name": "srv", "source": "token=" + w.n.lay()}
	}
	return frame
}

func session(i int) string { return fmt.Sprint("case-", i) }

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := jcs.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// call is one call, from the host to its outcome.
func (w *world) call(r *rand.Rand, i int, tl tool) {
	frame := w.frame(r, i, tl)
	input := text(w.t, frame)
	w.hook(input)
	if i%7 == 0 { // input that breaks off, and input that names a thing twice
		w.hook(input[:len(input)*2/3])
		w.hook(strings.Replace(input, `"tool_input":{`, `"tool_input":{"token":"`+w.n.lay()+`","token":"`+w.n.lay()+`",`, 1))
	}
	w.look(session(i), i)
	w.get("/v1/sessions/" + session(i) + "/calls/call-" + fmt.Sprint(i))
	w.raw("POST", "/v1/policy/check", text(w.t, map[string]any{"call": map[string]any{
		"tool": tl.Name, "host": "claude-code", "args": frame["tool_input"], "session": session(i), "cwd": frame["cwd"],
	}}), w.person)
	for _, q := range w.open(session(i)) {
		w.answer(r, i, q)
	}
	w.hook(input)
	frame["hook_event_name"], frame["tool_response"] = "PostToolUse", map[string]any{"stdout": w.n.text(r, texts)}
	w.hook(text(w.t, frame))
	frame["hook_event_name"], frame["error"] = "PostToolUseFailure", w.n.text(r, texts)
	w.hook(text(w.t, frame))
	w.look(session(i), i)
}

// look looks at the requests of a session.
func (w *world) look(session string, i int) {
	w.get("/v1/sessions/" + session + "/requests?state=open,allowed,denied,expired,withdrawn")
	list, err := w.in.Requests(w.t.Context(), sayso.RowQuery{Sessions: []string{session}})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, q := range list {
		id := string(q.ID)
		w.get("/v1/requests/" + id)
		w.get("/v1/requests/" + id + "/content")
		w.get("/v1/requests/" + id + "/life")
		if i%4 == 0 {
			w.sayso("show", id)
		}
	}
	if i%25 == 0 {
		w.get("/v1/requests")
		w.get("/v1/history")
		w.sayso("inbox")
		w.sayso("inbox", "--json")
	}
}

// answer does to a request what people may do to it.
func (w *world) answer(r *rand.Rand, i int, q sayso.Request) {
	note := "never " + w.n.text(r, texts)
	a := sayso.Answer{Digest: q.Digest, Content: q.Content, Effect: sayso.Allow, Note: note}
	switch i % 6 {
	case 0:
		w.sayso("approve", string(q.ID), "--yes", "--digest", q.Digest.String(), "--note", note)
		return
	case 1:
		w.sayso("deny", string(q.ID), "--note", note)
		return
	case 2:
		a.Args = sayso.Args(text(w.t, map[string]any{"command": w.n.text(r, commands), "password": w.n.lay()}))
	case 3:
		a.Digest = sayso.HashOf("canary", []byte(note))
	case 4:
		a.Scope = sayso.ScopeSession
	default:
		a.Effect = sayso.Deny
	}
	w.raw("POST", "/v1/requests/"+string(q.ID)+"/answer", text(w.t, a), w.person)
}

// asks is a program that asks in words of its own, and shows other arguments
// than it has.
func (w *world) asks(r *rand.Rand, i int) {
	value := func() sayso.Args { return sayso.Args(text(w.t, w.n.structure(r, 2))) }
	call := sayso.Call{
		Tool: "deploy", Args: value(), Session: fmt.Sprint("tool-", i), CallID: "1", Description: w.n.text(r, texts),
		Said: map[string]string{"why": w.n.text(r, texts)}, Metadata: map[string]any{"note": w.n.lay()}, Tags: []string{w.n.lay()},
	}
	ask := &sayso.ToolAsk{Required: true, Description: w.n.text(r, texts), Payload: value(), Ignores: []string{"n"}}
	if r.IntN(2) == 0 {
		ask.Display = value()
	}
	if r.IntN(2) == 0 {
		ask.Presentation = &sayso.Presentation{Type: sayso.PresentDiff, Content: w.n.text(r, texts), Metadata: map[string]string{"path": "/srv/" + w.n.shaped(r)}}
	}
	_, err := w.tool.Admit(w.t.Context(), sayso.Admission{Call: call, Asking: true, Ask: ask, Patience: time.Millisecond})
	w.clean("an admission", err)
	w.look(call.Session, i)
	for _, q := range w.open(call.Session) {
		w.sayso("show", string(q.ID))
		w.clean("a redemption", w.tool.Redeem(w.t.Context(), sayso.Receipt{Request: q.ID}, call))
		w.clean("a withdrawal", w.tool.Withdraw(w.t.Context(), q.ID, "because "+w.n.text(r, texts)))
	}
	w.look(call.Session, i)
}

// mistakes are requests to the server that it refuses.
func (w *world) mistakes(r *rand.Rand, i int) {
	for _, body := range []string{
		`{"call":{"tool":"bash","args":{"password":"` + w.n.lay() + `","password":"x"},"session":"s"}}`,
		`{"call":{"tool":"bash","args":{"password":"` + w.n.lay() + `"}`, `["` + w.n.lay() + `"]`,
		`{"` + w.n.shaped(r) + `":1}`, `{"call":{"tool":"bash","args":"` + w.n.lay() + `","session":"s"}}`,
		`{"call":{"tool":"` + w.n.shaped(r) + ` x","args":{},"session":"s"},"patience_s":0.001}`,
		`{"call":{"tool":"bash","args":{"password":"` + w.n.lay() + `\ud800"},"session":"s"}}`,
	} {
		for _, path := range []string{"/v1/admissions", "/v1/policy/check", "/v1/login", "/v1/sessions/s/begin"} {
			w.raw("POST", path, body, w.person)
		}
	}
	w.get("/v1/requests/" + url.PathEscape("password="+w.n.lay()))
	w.get("/v1/requests/" + w.n.shaped(r))
	w.get("/v1/requests?" + url.Values{"tool": {w.n.shaped(r)}, "token": {w.n.lay()}}.Encode())
	w.raw("GET", "/v1/requests", "", "sayso_admin_"+w.n.lay())
	w.sayso("show", w.n.shaped(r))
	edit := filepath.Join(w.m.Home, "edit.json")
	w.m.Write(edit, `{"password":"`+w.n.lay()+`"`)
	w.sayso("approve", "k7fm", "--yes", "--digest", "x", "--edit="+edit)
}

// crashes are hooks that end where they should not.
func (w *world) crashes(r *rand.Rand, i int) {
	frame := w.frame(r, 1_000_000+i, tool{"Bash", []string{"command"}, true})
	input := text(w.t, frame)
	waiting := w.m.Start(input, "SAYSO_PATIENCE=1m")
	for _, e := range []sayso.EventType{sayso.EventRequested} {
		for ev, err := range w.in.Follow(w.t.Context(), 0, sayso.EventQuery{Session: session(1_000_000 + i), Types: []sayso.EventType{e}}) {
			if err != nil {
				w.t.Fatal(err)
			}
			_ = ev
			break
		}
	}
	waiting.Signal(syscall.SIGQUIT)
	res := waiting.Wait()
	w.n.clean(w.t, "a hook that was told to quit", res.Both())
	cmd := w.m.HookCommand(input, "SAYSO_HOOK_PANIC="+w.n.text(r, mistakes))
	cmd.Path = machine.Crashing(w.t)
	w.n.clean(w.t, "a hook that panics", w.m.Run(cmd).Both())
}

// watching is `sayso watch` in a terminal.
type watching struct {
	out bytes.Buffer
	end func() string
}

func (w *world) watch() *watching {
	w.t.Helper()
	cmd := w.m.Command("watch")
	v := &watching{}
	cmd.Stdout, cmd.Stderr = &v.out, &v.out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	v.end = func() string {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		_ = cmd.Wait()
		return v.out.String()
	}
	w.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return v
}

// everything looks at all that shows the whole of it.
func (w *world) everything() {
	t := w.t
	head, err := w.in.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	surfaces := map[string]string{
		"server-sent events": w.stream(head.Seq), "a WebSocket": w.frames(head.Seq), "metrics": w.get("/metrics"), "notices": w.notices(),
		"webhooks and chats": w.toldElsewhere(),
	}
	for _, args := range [][]string{
		{"log"}, {"log", "--json"}, {"log", "export"}, {"inbox"}, {"inbox", "--json"}, {"grants", "--all"}, {"session", "list"},
		{"session", "list", "--json"}, {"status", "--json"}, {"token", "list"}, {"log", "verify"},
		{"notices"}, {"notices", "--json"}, {"config"}, {"policy", "where"},
	} {
		surfaces["sayso "+strings.Join(args, " ")] = w.sayso(args...).Both()
	}
	w.s.End(syscall.SIGQUIT)
	surfaces["the server's log"] = w.s.Said()
	for _, args := range [][]string{{"log", "--json"}, {"log"}, {"inbox"}} { // and without a server
		surfaces["sayso "+strings.Join(args, " ")+", from the database"] = w.sayso(args...).Both()
	}
	for name, text := range surfaces {
		if len(text) == 0 {
			t.Errorf("%s shows nothing, so nothing was proved of it", name)
		}
		w.n.clean(t, name, text)
	}
	for name, wants := range map[string][]string{
		"the server's log": {"goroutine", "requested"}, "notices": {"ticket"}, "metrics": {"sayso_commit_appends_count"}, "a WebSocket": {"approval.requested"},
		"sayso log": {"edited", "grant.created", "approval.withdrawn", "deny once", "approval.redeemed", "approval.finished"},
	} {
		for _, want := range wants {
			if !strings.Contains(surfaces[name], want) {
				t.Errorf("%s lacks %q, so not all was done that was meant to be looked at", name, want)
			}
		}
	}
	if strings.Contains(surfaces["metrics"], "sayso_commit_appends_count 0\n") {
		t.Error("the server counted no commit, though it made some")
	}
	raw, err := os.ReadFile(w.m.Paths().Database())
	if seen, _ := w.n.found(string(raw)); err != nil || seen == "" {
		t.Errorf("the database holds no secret (%v), so none went through", err)
	}
}
