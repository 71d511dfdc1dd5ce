package tool_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/server"
	"github.com/sayso-dev/sayso/tool"
)

// counted is a gate that counts how often it is shown anything.
type counted struct {
	sayso.Gate
	shown atomic.Int64
}

func (g *counted) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	if present := a.Present; present != nil {
		a.Present = func(ctx context.Context) (*sayso.Presentation, error) {
			g.shown.Add(1)
			return present(ctx)
		}
	}
	return g.Gate.Admit(ctx, a)
}

// gates are the gate of a broker, embedded and behind a server.
func gates(t *testing.T, b *saysotest.Broker) map[string]sayso.Gate {
	t.Helper()
	s, err := server.New(
		func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.GateOf(a), b.InboxOf(a) },
		&server.Options{Authenticate: func(string) (sayso.Actor, error) { return saysotest.Program, nil }})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	c, err := client.New(h.URL, "sayso_tool_secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]sayso.Gate{"embedded": b.Gate(), "remote": c.Gate()}
}

// TestPresents_lazily: what a person is shown is made once, if a person is
// asked. What is remembered, allowed or denied without one makes no difference,
// no diff and no copy of a file.
func TestPresents_lazily(t *testing.T) {
	for _, where := range []string{"embedded", "remote"} {
		t.Run(where, func(t *testing.T) {
			work, f := sandbox(t)
			s, err := tool.OpenShell(work, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			mail := tool.Guard(nil, "send_email", send, &tool.Options[email]{Present: func(context.Context, email) (*sayso.Presentation, error) {
				return &sayso.Presentation{Type: sayso.PresentText, Content: "a mail"}, nil
			}})
			for name, c := range map[string]struct {
				set   tool.Set
				call  sayso.Call
				again func() // makes the call mean what it meant
			}{
				"write":    {f, calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x\n"}), func() { write(t, work, "notes/log.txt", "one\ntwo\nthree\n") }},
				"edit":     {f, calls(t, tool.EditFile, obj{"path": "notes/sub/deep.txt", "old_string": "deep", "new_string": "x"}), func() { write(t, work, "notes/sub/deep.txt", "deep\n") }},
				"new file": {f, calls(t, tool.WriteFile, obj{"path": "notes/new.txt", "content": "x\n"}), func() { remove(t, work, "notes/new.txt") }},
				"shell":    {s, calls(t, tool.Bash, obj{"command": "echo hi"}), func() {}},
				"function": {asSet(mail), calls(t, "send_email", obj{"to": "ana", "subject": "hi"}), func() {}},
			} {
				b := saysotest.New(t)
				b.Answer(func(sayso.Request) sayso.Answer { return sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeSession} })
				g := &counted{Gate: gates(t, b)[where]}
				w := tool.Wrap(g, c.set, nil)
				for n := range 3 {
					if _, err := w.Call(t.Context(), c.call); err != nil {
						t.Fatalf("%s, call %d: %v", name, n, err)
					}
					c.again()
				}
				if shown, asked := g.shown.Load(), len(b.Asked()); shown != 1 || asked != 1 {
					t.Errorf("%s: three calls asked %d times and were presented %d times", name, asked, shown)
				}
				if p := content(t, b).Presentation; p == nil || p.Content == "" {
					t.Errorf("%s: the person was shown %+v", name, p)
				}
			}
		})
	}
}

// TestPresents_notForPolicy: what policy decides alone is not presented either.
func TestPresents_notForPolicy(t *testing.T) {
	for _, where := range []string{"embedded", "remote"} {
		for effect, text := range map[sayso.Effect]string{sayso.Allow: "allow", sayso.Deny: "deny"} {
			work, f := sandbox(t)
			file, err := policy.Parse("policy.yaml", []byte("version: 1\nrules:\n  - "+text+": \"file-write:notes/**\"\n"))
			if err != nil {
				t.Fatal(err)
			}
			rules, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierUser, File: file})
			if err != nil {
				t.Fatal(err)
			}
			b := saysotest.New(t, saysotest.WithPolicy(rules))
			g := &counted{Gate: gates(t, b)[where]}
			w := tool.Wrap(g, f, &tool.Terms{Workspace: work, Call: sayso.Call{Session: "s"}})
			_, err = w.Call(t.Context(), calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"}))
			if (err == nil) != (effect == sayso.Allow) || g.shown.Load() != 0 || len(b.Asked()) != 0 {
				t.Errorf("%s, %s: %v, presented %d times", where, effect, err, g.shown.Load())
			}
		}
	}
}

// TestPresents_afterPatience: the same call that comes back to its request is not
// presented again.
func TestPresents_afterPatience(t *testing.T) {
	_, f := sandbox(t)
	b := saysotest.New(t)
	b.Leave("*")
	g := &counted{Gate: b.Gate()}
	w := tool.Wrap(g, f, &tool.Terms{Patience: time.Millisecond, Call: sayso.Call{Session: "s", CallID: "c1"}})
	c := calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": "x"})
	for range 2 {
		if _, err := w.Call(t.Context(), c); !errors.Is(err, sayso.ErrPending) {
			t.Errorf("got %v", err)
		}
	}
	if g.shown.Load() != 1 {
		t.Errorf("presented %d times", g.shown.Load())
	}
}

// asSet is a function's tool without its own gate.
func asSet[In, Out any](f *tool.Func[In, Out]) tool.Set {
	return struct {
		tool.Set
		tool.Asker
	}{&inner{}, f}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	r, err := tool.OpenFiles(filepath.Join(dir, filepath.Dir(name)), sayso.PathRules{})
	if err == nil {
		_, err = r.Call(t.Context(), calls(t, tool.DeleteFile, obj{"path": filepath.Base(name)}))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// content is everything that the person may see of the first request.
func content(t *testing.T, b *saysotest.Broker) sayso.RequestedFull {
	t.Helper()
	full, err := b.Inbox().Content(t.Context(), b.Asked()[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return full
}
