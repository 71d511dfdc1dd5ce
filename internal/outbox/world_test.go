package outbox_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/outbox"
	"github.com/sayso-dev/sayso/redact"
	"github.com/sayso-dev/sayso/saysotest"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var root = sayso.Actor{Principal: "root", Kind: sayso.PrincipalAdmin, Channel: "test"}

// received is one request that a receiver had.
type received struct {
	id, signature string
	message       outbox.Message
	text          string
}

// receiver is a webhook that checks signatures by the library of those who made
// the standard.
type receiver struct {
	t      testing.TB
	url    string
	answer func(n int, w http.ResponseWriter, r *http.Request) // to the nth request, from 1; nil is yes

	mu  sync.Mutex // guards got
	got []received
}

func receiving(t testing.TB, answer func(int, http.ResponseWriter, *http.Request)) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.url = s.URL + "/hook"
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // whoever sent it went away
	}
	check, err := webhooks.NewWebhook(secret)
	if err == nil {
		err = check.Verify(body, req.Header)
	}
	if err != nil {
		r.t.Errorf("a message that was not signed: %v", err)
	}
	got := received{id: req.Header.Get("webhook-id"), signature: req.Header.Get("webhook-signature"), text: string(body)}
	if err := jcs.Unmarshal(body, &got.message); err != nil {
		r.t.Errorf("a message that cannot be read: %v", err)
	}
	r.mu.Lock()
	r.got = append(r.got, got)
	n := len(r.got)
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(n, w, req)
	}
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// await waits until so many requests came.
func (r *receiver) await(n int) []received {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%d messages", n), func() bool { return len(r.all()) >= n })
	return r.all()
}

// eventually waits for what nothing can be waited for.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	late := time.After(time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-late:
			t.Fatalf("it did not come to %s", what)
		case <-tick.C:
		}
	}
}

// world is a broker, and who is told of it.
type world struct {
	t       testing.TB
	b       *saysotest.Broker
	folder  string
	logs    *lockedBuffer
	inbox   sayso.Inbox
	chat    func(context.Context, string, string) error
	targets func() ([]outbox.Target, error)
}

func newWorld(t testing.TB, targets ...outbox.Target) *world {
	t.Helper()
	b := saysotest.New(t)
	b.Leave("*")
	return &world{t: t, b: b, inbox: b.InboxOf(root), folder: t.TempDir(), logs: &lockedBuffer{}, targets: func() ([]outbox.Target, error) { return targets, nil }}
}

// outbox is an outbox of this world, which does not run yet.
func (w *world) outbox() *outbox.Outbox {
	r := redact.New(nil)
	return outbox.New(outbox.Options{
		Folder: w.folder, Inbox: w.inbox, Targets: w.targets, Redactor: func() *redact.Redactor { return r },
		Link: func(id sayso.ID) string { return "https://sayso.example.org/r/" + string(id) },
		Chat: w.chat, Log: slog.New(slog.NewTextHandler(w.logs, nil)),
	})
}

// run runs an outbox until the returned function is called, or the test ends.
func (w *world) run(o *outbox.Outbox) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); o.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(stop)
	return stop
}

// begun runs an outbox and waits until all targets have begun.
func (w *world) begun() (o *outbox.Outbox, stop func()) {
	w.t.Helper()
	o = w.outbox().Quick(10 * time.Second)
	stop = w.run(o)
	w.began(o)
	return o, stop
}

// began waits until all targets of an outbox have begun.
func (w *world) began(o *outbox.Outbox) {
	w.t.Helper()
	list, err := w.targets()
	if err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "a beginning", func() bool { n, err := o.Begun(); return err == nil && n == len(list) })
}

// ask opens a request, which nobody waits for any more.
func (w *world) ask(id string, args string) sayso.Request {
	w.t.Helper()
	if args == `{}` { // the same call once more would be the same request
		args = `{"n":"` + id + `"}`
	}
	call := sayso.Call{Tool: "bash", Args: sayso.Args(args), Session: "s1", CallID: id}
	_, err := w.b.Gate().Admit(w.t.Context(), sayso.Admission{Call: call, Patience: time.Millisecond})
	if err == nil {
		w.t.Fatalf("%s was not left open", id)
	}
	open, err := w.b.InboxOf(root).Requests(w.t.Context(), sayso.RowQuery{CallID: id, Sessions: []string{"s1"}})
	if err != nil || len(open) != 1 {
		w.t.Fatalf("%s: %v, %v", id, open, err)
	}
	return open[0]
}

func hook(r *receiver, d outbox.Detail, on ...outbox.Kind) outbox.Target {
	return outbox.Target{Name: "hook", On: on, Detail: d, Webhook: text(r.url), Secret: text(secret)}
}

// chatInto is a chat that is told, unless it fails.
func chatInto(said chan<- string, fails *atomic.Bool) func(context.Context, string, string) error {
	return func(_ context.Context, _, text string) error {
		if fails.Load() {
			return &outbox.Failure{Why: "it is full"}
		}
		said <- text
		return nil
	}
}

func text(s string) func() (string, error) { return func() (string, error) { return s, nil } }

// lockedBuffer may be written to by many.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
