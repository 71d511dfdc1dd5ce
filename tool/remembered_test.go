package tool_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// TestGR1_anyContent: a write that was remembered by its place is not asked about
// with other content, and nothing is made to be shown; another place asks.
func TestGR1_anyContent(t *testing.T) {
	for _, where := range []string{"embedded", "remote"} {
		t.Run(where, func(t *testing.T) {
			work, f := sandbox(t)
			b := saysotest.New(t)
			var offers []sayso.CoverOffer
			b.Answer(func(r sayso.Request) sayso.Answer {
				offers = r.Covers
				return sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeSession, Cover: sayso.CoverFingerprint}
			})
			g := &counted{Gate: gates(t, b)[where]}
			w := tool.Wrap(g, f, &tool.Terms{Patience: time.Minute})
			for n := range 3 {
				text := fmt.Sprint("content ", n)
				if _, err := w.Call(t.Context(), calls(t, tool.WriteFile, obj{"path": "notes/log.txt", "content": text})); err != nil {
					t.Fatal(err)
				}
				if got := reads(t, work, "notes/log.txt"); got != text {
					t.Errorf("the file holds %q, want %q", got, text)
				}
			}
			if asked, shown := len(b.Asked()), g.shown.Load(); asked != 1 || shown != 1 {
				t.Errorf("asked %d times, presented %d times", asked, shown)
			}
			if len(offers) < 2 || offers[1].Cover != sayso.CoverFingerprint || offers[1].Label != "this call with any content" ||
				offers[1].Pattern != `{"path":"log.txt","sandbox":"notes"}` {
				t.Errorf("offered %+v", offers)
			}
			b.Leave("*")
			w = tool.Wrap(g, f, &tool.Terms{Patience: time.Millisecond})
			if _, err := w.Call(t.Context(), calls(t, tool.WriteFile, obj{"path": "notes/other.txt", "content": "x"})); !errors.Is(err, sayso.ErrPending) {
				t.Errorf("another place: %v", err)
			}
		})
	}
}
