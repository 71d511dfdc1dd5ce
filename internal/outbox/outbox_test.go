package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/outbox"
)

// TestTold goes through the life of requests, and looks at what is told in each
// detail.
func TestTold(t *testing.T) {
	kinds := []outbox.Kind{outbox.Opened, outbox.Decided, outbox.Withdrawn, outbox.ModeSet}
	for _, c := range []struct {
		detail         outbox.Detail
		tells, secrets []string
	}{
		{outbox.None, nil, []string{"bash", "git push", "root", "no thanks", `"s1"`, "session", "risk"}},
		{"", nil, []string{"bash", "git push", "no thanks"}},
		{outbox.Title, []string{`"tool":"bash"`, `"risk":`, `"by":["root"]`}, []string{"git push", "no thanks", `"s1"`, "because"}},
		{outbox.Preview, []string{"git push", "no thanks", `"session_id":"s1"`}, nil},
	} {
		t.Run("detail "+string(c.detail), func(t *testing.T) {
			r := receiving(t, nil)
			w := newWorld(t, hook(r, c.detail, kinds...))
			w.begun()
			in := w.b.InboxOf(root)
			first := w.ask("c1", `{"command":"git push","password":"hunter2hunter2"}`)
			if _, err := in.Answer(t.Context(), first.ID, sayso.Answer{Digest: first.Digest, Content: first.Content, Note: "no thanks, token=hunter3hunter3"}); err != nil {
				t.Fatal(err)
			}
			second := w.ask("c2", `{"command":"git pull"}`)
			if err := w.b.Gate().Withdraw(t.Context(), second.ID, "because"); err != nil {
				t.Fatal(err)
			}
			if err := in.SetMode(t.Context(), "", sayso.ModeStrict, time.Minute); err != nil {
				t.Fatal(err)
			}
			got := r.await(5)
			var types []string
			all := ""
			for _, g := range got {
				types = append(types, g.message.Type)
				all += g.text + "\n"
			}
			want := []string{"approval.requested", "approval.resolved", "approval.requested", "approval.withdrawn", "mode.changed"}
			if !slices.Equal(types, want) {
				t.Errorf("told %v, not %v", types, want)
			}
			for _, s := range append(c.secrets, "hunter2", "hunter3") {
				if strings.Contains(all, s) {
					t.Errorf("it told %q:\n%s", s, all)
				}
			}
			for _, s := range append(c.tells, string(first.ID), first.ShortID, "https://sayso.example.org/r/"+string(first.ID), `"effect":"deny"`, `"mode":"strict"`) {
				if !strings.Contains(all, s) {
					t.Errorf("it did not tell %q:\n%s", s, all)
				}
			}
		})
	}
}

// Nobody is told of what nobody is asked, nor of what they did not ask to be
// told of.
func TestTold_onlyOfWhatWaits(t *testing.T) {
	r := receiving(t, nil)
	w := newWorld(t, hook(r, outbox.Title, outbox.Opened))
	in := w.b.InboxOf(root)
	w.begun()
	if err := in.SetPolicies(t.Context(), "s1", map[string]sayso.Effect{"quiet": sayso.Allow, "never": sayso.Deny}); err != nil {
		t.Fatal(err)
	}
	for i, tool := range []string{"quiet", "never"} {
		call := sayso.Call{Tool: tool, Args: sayso.Args(`{}`), Session: "s1", CallID: fmt.Sprint("q", i)}
		if _, err := w.b.Gate().Admit(t.Context(), sayso.Admission{Call: call, Immediate: i == 0}); err != nil {
			t.Fatal(err)
		}
	}
	asked := w.ask("c1", `{}`)
	if got := r.await(1); len(got) != 1 || got[0].message.Data.Request.ID != asked.ID {
		t.Errorf("told %+v", got)
	}
}

// TestSchedule sees one letter through its attempts, in the time of a bubble.
func TestSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards at
		var at []time.Time
		w := newWorld(t, outbox.Target{Name: "chat", On: []outbox.Kind{outbox.ModeSet}, Chat: text("x://")})
		w.chat = func(context.Context, string, string) error {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Now())
			return errors.New("it answers something secret")
		}
		o := w.outbox()
		o.Rarely(time.Hour)
		w.run(o)
		time.Sleep(2 * time.Hour)
		if err := w.b.InboxOf(root).SetMode(t.Context(), "", sayso.ModeStrict, time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * 24 * time.Hour)
		mu.Lock()
		tried := slices.Clone(at)
		mu.Unlock()
		if len(tried) != len(outbox.Pauses)+1 {
			t.Fatalf("tried %d times: %v", len(tried), tried)
		}
		for i, pause := range outbox.Pauses {
			if got := tried[i+1].Sub(tried[i]); got < pause || got > pause+pause/10 {
				t.Errorf("pause %d was %s, not %s", i+1, got, pause)
			}
		}
		dead, err := o.Letters()
		if err != nil || len(dead) != 1 || !dead[0].Dead || dead[0].Error != "it could not be sent" {
			t.Fatalf("kept %+v, %v", dead, err)
		}
		if strings.Contains(w.logs.String(), "secret") || !strings.Contains(w.logs.String(), "given up") {
			t.Errorf("the log: %s", w.logs)
		}
		// A person has it tried again, from the first pause on.
		if _, err := o.Retry(t.Context(), func(l outbox.Letter) bool { return l.ID == dead[0].ID }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		mu.Lock()
		defer mu.Unlock()
		if more := len(at) - len(tried); more < 2 {
			t.Errorf("tried %d times more", more)
		}
	})
}

// TestFailures: a receiver that fails, hangs, sends away or lies gets what it
// says no to again, and nothing else gets it.
func TestFailures(t *testing.T) {
	away := receiving(t, nil)
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		why    string
		dead   bool
	}{
		"fails":        {status(500), "status 500", false},
		"has too much": {status(429), "status 429", false},
		"is gone":      {status(410), "wants no more", true},
		"sends away": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, away.url, http.StatusTemporaryRedirect)
		}, "leads elsewhere", false},
		"sends to see":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, away.url, http.StatusSeeOther) }, "leads elsewhere", false},
		"hangs":          {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer", false},
		"breaks off":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "broke off", false},
		"is no HTTP":     {raw("SSH-2.0-hello\r\n"), "not HTTP", false},
		"lies of length": {raw("HTTP/1.1 503 x\r\nContent-Length: -5\r\n\r\n"), "not HTTP", false},
		"never ends its headers": {func(w http.ResponseWriter, r *http.Request) {
			for i := range 9999 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("y", 100))
			}
			w.WriteHeader(500)
		}, "not HTTP", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := receiving(t, func(n int, w http.ResponseWriter, r *http.Request) {
				if n == 1 {
					c.answer(w, r)
				}
			})
			w := newWorld(t, hook(r, outbox.None, outbox.Opened))
			o := w.outbox().Quick(2 * time.Second)
			w.run(o)
			w.began(o)
			w.ask("c1", `{}`)
			r.await(1)
			eventually(t, "a letter", func() bool { l, err := o.Letters(); return err == nil && len(l) == 1 })
			kept, err := o.Letters()
			if err != nil || kept[0].Attempts != 1 || !strings.Contains(kept[0].Error, c.why) || kept[0].Dead != c.dead {
				t.Fatalf("kept %+v, %v; want %q", kept, err, c.why)
			}
			if strings.Contains(kept[0].Error, "127.0.0.1") {
				t.Errorf("it says where it went: %s", kept[0].Error)
			}
			if _, err := o.Retry(t.Context(), func(outbox.Letter) bool { return true }); err != nil {
				t.Fatal(err)
			}
			got := r.await(2)
			eventually(t, "an empty book", func() bool { l, err := o.Letters(); return err == nil && len(l) == 0 })
			if got[0].id != got[1].id || got[0].id == "" {
				t.Errorf("the ids were %q and %q", got[0].id, got[1].id)
			}
			if n := len(r.all()); n != 2 {
				t.Errorf("it was sent %d times", n)
			}
		})
	}
	t.Cleanup(func() {
		if got := away.all(); len(got) > 0 {
			t.Errorf("a notice went where nobody sent it: %v", got)
		}
	})
}

func status(n int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) }
}

// raw answers with bytes that are no answer.
func raw(s string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write([]byte(s)) // whoever reads it may have gone
		_ = conn.Close()
	}
}

// A receiver that says yes and then never ends has said yes.
func TestAnswers_areNotRead(t *testing.T) {
	r := receiving(t, func(_ int, w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(200)
		for req.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	w := newWorld(t, hook(r, outbox.None, outbox.Opened))
	o, _ := w.begun()
	w.ask("c1", `{}`)
	r.await(1)
	eventually(t, "a delivery", func() bool { c := o.Counts(); return len(c) == 1 && c[0].Sent == 1 })
}

// A target that asks to be left alone is, for a day at most.
func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{"3600": time.Hour, "999999": 24 * time.Hour, "-1": 0, "x": 0} {
		r := receiving(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(503)
		})
		w := newWorld(t, hook(r, outbox.None, outbox.Opened))
		o, stop := w.begun()
		w.ask("c1", `{}`)
		r.await(1)
		eventually(t, "a letter", func() bool { l, err := o.Letters(); return err == nil && len(l) == 1 })
		stop()
		kept, err := o.Letters()
		if err != nil || kept[0].Attempts != 1 {
			continue // the short pause had passed
		}
		if left := kept[0].Next.Sub(kept[0].Made); left < want || left > want+time.Minute {
			t.Errorf("%s: left alone for %s", value, left)
		}
	}
}

// What waits goes only where it may: encrypted, or to this machine.
func TestPlainHTTP_isRefused(t *testing.T) {
	w := newWorld(t)
	for _, where := range []string{"http://hooks.example.org/x", "http://10.0.0.1/x", "ftp://127.0.0.1/x", "//127.0.0.1/x", "", "http://127.0.0.1.example.org/"} {
		w.targets = func() ([]outbox.Target, error) {
			return []outbox.Target{{Name: "hook", Webhook: text(where), Secret: text(secret)}}, nil
		}
		if err := w.outbox().Test(t.Context(), "hook"); err == nil || !strings.Contains(err.Error(), "https://") || where != "" && strings.Contains(err.Error(), where) {
			t.Errorf("%q: %v", where, err)
		}
	}
	if err := w.outbox().Test(t.Context(), "other"); !errors.Is(err, sayso.ErrNotFound) {
		t.Errorf("an unknown target: %v", err)
	}
}

// The rule of the environment knows this machine's name in lower case alone: a proxy
// was sent, in plain text, what was meant for a program here.
func TestProxy_notBeforeThisMachine(t *testing.T) {
	const inner = "SAYSO_TEST_PROXIED"
	if os.Getenv(inner) == "" { // the environment is read once for all requests of a process
		proxy := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(proxy.Close)
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxy_notBeforeThisMachine$")
		c.Env = append(os.Environ(), inner+"=1", "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for _, host := range []string{"LOCALHOST", "LocalHost", "localhost", "127.0.0.1"} {
		w, r := newWorld(t), receiving(t, nil)
		where := strings.Replace(r.url, "127.0.0.1", host, 1)
		w.targets = func() ([]outbox.Target, error) {
			return []outbox.Target{{Name: "hook", Webhook: text(where), Secret: text(secret)}}, nil
		}
		if err := w.outbox().Test(t.Context(), "hook"); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	elsewhere, err := http.NewRequest(http.MethodPost, "http://hooks.example.org/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if by, err := outbox.Proxy(elsewhere); err != nil || by == nil {
		t.Errorf("before another machine stands %v, %v", by, err)
	}
}
