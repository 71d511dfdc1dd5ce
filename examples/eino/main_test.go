package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// stub answers each request with the next message, and keeps what it was sent.
type stub struct {
	messages []string
	got      []string
}

func (m *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.got = append(m.got, string(body))
	w.Header().Set("Content-Type", "application/json")
	stop := "stop"
	if strings.Contains(m.messages[0], "tool_calls") {
		stop = "tool_calls"
	}
	fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":%q}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, m.messages[0], stop)
	m.messages = m.messages[1:]
}

const twoCalls = `{"role":"assistant","content":"","tool_calls":[
	{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"notes.txt\"}"}},
	{"id":"call_2","type":"function","function":{"name":"write_file","arguments":"{\"path\":\"notes.txt\",\"content\":\"buy bread\\n\"}"}}]}`

// world is a folder, a gate whose person answers nothing by script, and a model.
type world struct {
	*testing.T
	dir   string
	b     *saysotest.Broker
	model *stub
	store folder
}

// readsAreFree asks about all but reads.
type readsAreFree struct{ saysotest.AskAlways }

func (p readsAreFree) Judge(ctx context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	v := p.AskAlways.Judge(ctx, c, f)
	if c.EffectiveKind() == sayso.KindRead {
		v.Match.Effect = sayso.Allow
		v.Matches, v.Default = []sayso.Match{v.Match}, v.Match
	}
	return v
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, dir: t.TempDir(), b: saysotest.New(t, saysotest.WithPolicy(readsAreFree{})), store: folder(t.TempDir())}
	if err := os.WriteFile(filepath.Join(w.dir, "notes.txt"), []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.b.Leave("*")
	w.model = &stub{messages: []string{twoCalls, `{"role":"assistant","content":"done"}`}}
	return w
}

// program is the program as it is after a start.
func (w *world) program() *program {
	w.Helper()
	srv := httptest.NewServer(w.model)
	w.Cleanup(srv.Close)
	llm, err := openai.NewChatModel(w.Context(), &openai.ChatModelConfig{APIKey: "none", BaseURL: srv.URL, Model: "m"})
	if err != nil {
		w.Fatal(err)
	}
	files, err := tool.OpenFiles(w.dir, sayso.PathRules{})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = files.Close() })
	p, err := newProgram(w.Context(), llm, w.b.Gate(), w.b.InboxOf(saysotest.Program), files, w.store, time.Millisecond)
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// answer is the person's, once the tool has given up waiting.
func (w *world) answer(effect sayso.Effect) {
	for e, err := range w.b.Inbox().Follow(w.Context(), 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventParked}}) {
		if err != nil {
			w.Error(err)
			return
		}
		r, err := w.b.Inbox().Request(w.Context(), string(e.RequestID))
		if err != nil {
			w.Error(err)
			return
		}
		if _, err = w.b.Inbox().Answer(w.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: effect}); err != nil {
			w.Error(err)
		}
		return
	}
}

func (w *world) notes() string {
	text, _ := os.ReadFile(filepath.Join(w.dir, "notes.txt"))
	return string(text)
}

// TestInterrupt: the run is interrupted, the person answers at the gate, and the
// run that is resumed does what was allowed.
func TestInterrupt(t *testing.T) {
	for effect, want := range map[sayso.Effect]struct{ notes, told string }{
		sayso.Allow: {"buy bread\n", "10 bytes are in notes.txt"}, sayso.Deny: {"buy milk\n", "Denied by person"},
	} {
		w := newWorld(t)
		go w.answer(effect)
		text, err := w.program().work(t.Context(), "go")
		if text != "done" || err != nil {
			t.Fatalf("%s: got %q, %v", effect, text, err)
		}
		if w.notes() != want.notes || !strings.Contains(w.model.got[1], want.told) || !strings.Contains(w.model.got[1], "buy milk") {
			t.Errorf("%s: the notes hold %q, and the model was told %s", effect, w.notes(), w.model.got[1])
		}
		if asked := w.b.Asked(); len(asked) != 1 || asked[0].CallID != "call_2" || asked[0].Description != "Write to notes.txt" {
			t.Errorf("%s: asked %+v", effect, asked)
		}
	}
}

// TestInterrupt_restart: another process resumes from the checkpoint; the call
// that it makes again is the one that was answered, and it runs once.
func TestInterrupt_restart(t *testing.T) {
	w := newWorld(t)
	_, waits, err := drain(w.program().runner.Query(t.Context(), "go", adk.WithCheckPointID(session)))
	if err != nil || len(waits) != 1 {
		t.Fatalf("waits for %d, %v", len(waits), err)
	}
	w.answer(sayso.Allow)
	text, err := w.program().goOn(t.Context(), waits)
	if text != "done" || err != nil || w.notes() != "buy bread\n" {
		t.Errorf("got %q, %v; the notes hold %q", text, err, w.notes())
	}
	if n := len(w.b.Events(sayso.EventFinished)); n != 2 {
		t.Errorf("%d outcomes; each of two calls runs once", n)
	}
}

// TestInterrupt_resumedAlone: a run that is resumed without an answer is
// interrupted again.
func TestInterrupt_resumedAlone(t *testing.T) {
	w := newWorld(t)
	p := w.program()
	_, waits, err := drain(p.runner.Query(t.Context(), "go", adk.WithCheckPointID(session)))
	if err != nil || len(waits) != 1 {
		t.Fatalf("waits for %d, %v", len(waits), err)
	}
	events, err := p.runner.ResumeWithParams(t.Context(), session, &adk.ResumeParams{Targets: map[string]any{waits[0].ID: true}})
	if err != nil {
		t.Fatal(err)
	}
	if _, again, err := drain(events); err != nil || len(again) != 1 || w.notes() != "buy milk\n" {
		t.Errorf("waits for %d, %v; the notes hold %q", len(again), err, w.notes())
	}
}
