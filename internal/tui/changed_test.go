package tui_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/tui"
	"github.com/sayso-dev/sayso/store/memory"
)

// A tool that changes is told of when it does, and no more once it is accepted.
func TestChanged_isToldAsItHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := broker.New(memory.New(nil), rmIsDanger{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		person := sayso.Actor{Principal: "ann", Kind: sayso.PrincipalPerson, Channel: "terminal"}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		quarantined := func(ctx context.Context) string {
			pins, err := b.Pins(ctx)
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(!pins.Of("docs")["read"].Quarantined.IsZero())
		}
		told := make(chan string, 10)
		go tui.Feed(ctx, func(context.Context) (tui.Door, error) {
			return tui.Door{Inbox: b.Inbox(person), Changed: quarantined}, nil
		}, func(m tea.Msg) {
			if text, ok := tui.Changed(m); ok {
				told <- text
			}
		})
		says := func(want string) {
			t.Helper()
			if got := <-told; got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		says("false")
		asker := sayso.Actor{Principal: "agent", Kind: sayso.PrincipalAgent}
		meets := func(text string) sayso.Digest {
			d := sayso.Definition{Tool: "read", Text: sayso.Args(`{"description":"` + text + `"}`)}
			if _, err := b.Meet(ctx, asker, "docs", []sayso.Definition{d}); err != nil {
				t.Fatal(err)
			}
			return d.Digest()
		}
		meets("reads")
		says("false")
		digest := meets("reads, and tells")
		says("true")
		if err := b.AcceptDefinition(ctx, person, "docs", "read", digest); err != nil {
			t.Fatal(err)
		}
		says("false")
		stop()
		synctest.Wait()
	})
}

// What changed stands in the head, unless something graver does.
func TestChanged_standsInTheHead(t *testing.T) {
	staged(t, 80, 24, "", func(s *stage) {
		s.hides("sayso tools accept docs")
		s.p.Send(tui.ToolsChanged("1 tool changed: sayso tools accept docs"))
		s.settle()
		s.shows("1 tool changed: sayso tools accept docs")
		s.turn("LOCKED: everything asks or denies")
		s.wait(2 * time.Second)
		s.shows("LOCKED")
		s.turn("")
		s.wait(2 * time.Second)
		s.shows("1 tool changed: sayso tools accept docs")
	})
}
