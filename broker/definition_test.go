package broker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// define is the definition of a tool.
func define(tool, text string) sayso.Definition {
	return sayso.Definition{Tool: tool, Text: sayso.Args(`{"description":"` + text + `"}`)}
}

// However much a server presents, the record of it is bounded, what is beyond that
// is not trusted, and one event says so.
func TestMeet_isBounded(t *testing.T) {
	for name, present := range map[string]func(i int) []sayso.Definition{
		"tools in one list":      func(int) []sayso.Definition { return manyTools(0, 5000) },
		"a new tool each time":   func(i int) []sayso.Definition { return manyTools(i*40, 40) },
		"another text each time": func(i int) []sayso.Definition { return []sayso.Definition{define("a", fmt.Sprint(i))} },
		"long texts": func(i int) []sayso.Definition {
			return []sayso.Definition{define(fmt.Sprint("t", i), strings.Repeat("x", 1<<20-100))}
		},
		"a text that is too long": func(int) []sayso.Definition { return []sayso.Definition{define("a", strings.Repeat("x", 1<<20))} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t, always(sayso.Ask))
			ctx := t.Context()
			var trusted []bool
			for i := range 100 {
				var err error
				if trusted, err = w.b.Meet(ctx, agent, "srv", present(i)); err != nil {
					t.Fatal(err)
				}
			}
			if trusted[len(trusted)-1] {
				t.Error("what is beyond the bound is trusted")
			}
			events, err := w.log.Stream(ctx, sayso.DefinitionStream, 0)
			if err != nil {
				t.Fatal(err)
			}
			full, bytes := 0, 0
			for _, e := range events {
				bytes += len(e.Content)
				if strings.Contains(string(e.Payload), `"full":true`) {
					full++
				}
			}
			if full != 1 || len(events) > 1025 || bytes > 33<<20 {
				t.Errorf("%d events, %d bytes, %d of which say that it is full", len(events), bytes, full)
			}
			pins, err := w.b.Pins(ctx)
			if err != nil || !pins.Met("srv").Full {
				t.Errorf("%+v, %v", pins.Met("srv"), err)
			}
			other, err := w.b.Meet(ctx, agent, "another", manyTools(0, 1))
			if err != nil || !other[0] {
				t.Errorf("another server is kept out too: %v", err)
			}
		})
	}
}

func manyTools(from, n int) (list []sayso.Definition) {
	for i := range n {
		list = append(list, define(fmt.Sprint("tool-", from+i), "does it"))
	}
	return list
}

// Once a person has accepted a definition of a server, its changes are recorded
// again.
func TestMeet_goesOnOnceAccepted(t *testing.T) {
	w := newHarness(t, always(sayso.Ask))
	ctx := t.Context()
	last := sayso.Definition{}
	for i := range 100 {
		last = define("a", fmt.Sprint(i))
		if _, err := w.b.Meet(ctx, agent, "srv", []sayso.Definition{last}); err != nil {
			t.Fatal(err)
		}
	}
	pins, err := w.b.Pins(ctx)
	if err != nil {
		t.Fatal(err)
	}
	waits := pins.Of("srv")["a"].Quarantined
	if err := w.b.AcceptDefinition(ctx, dev, "srv", "a", last.Digest()); err == nil {
		t.Error("one that nobody could see was accepted")
	}
	if err := w.b.AcceptDefinition(ctx, dev, "srv", "a", waits); err != nil {
		t.Fatal(err)
	}
	if ok, err := w.b.Meet(ctx, agent, "srv", []sayso.Definition{last}); err != nil || ok[0] {
		t.Errorf("trusted: %v, %v", ok, err)
	}
	if pins, err = w.b.Pins(ctx); err != nil || pins.Of("srv")["a"].Quarantined != last.Digest() {
		t.Errorf("the newest is not on the record: %v", err)
	}
}

// What was trusted before goes on to be, and what a person was shown beside it is gone until
// the server comes with it again.
func TestKeepDefinition(t *testing.T) {
	w := newHarness(t, always(sayso.Ask))
	ctx := t.Context()
	before, change, other := define("a", "before"), define("a", "change"), define("a", "other")
	meet := func(d sayso.Definition, want bool) {
		t.Helper()
		if ok, err := w.b.Meet(ctx, agent, "srv", []sayso.Definition{d}); err != nil || ok[0] != want {
			t.Errorf("%s: trusted %v, %v", d.Text, ok, err)
		}
	}
	waits := func(d sayso.Digest) {
		t.Helper()
		pins, err := w.b.Pins(ctx)
		if pin := pins.Of("srv")["a"]; err != nil || pin.Quarantined != d || !pin.Trusts(before) || string(pin.Text) != string(before.Text) {
			t.Errorf("%+v, %v", pin, err)
		}
	}
	meet(before, true)
	if err := w.b.KeepDefinition(ctx, dev, "srv", "a", before.Digest()); !errors.Is(err, sayso.ErrNotFound) {
		t.Errorf("nothing changed: %v", err)
	}
	meet(change, false)
	if err := w.b.KeepDefinition(ctx, agent, "srv", "a", change.Digest()); !errors.Is(err, sayso.ErrNotAllowed) {
		t.Errorf("an agent kept: %v", err)
	}
	if err := w.b.KeepDefinition(ctx, dev, "srv", "a", other.Digest()); !errors.Is(err, sayso.ErrMismatch) {
		t.Errorf("nobody was shown it: %v", err)
	}
	waits(change.Digest())
	if err := w.b.KeepDefinition(ctx, dev, "srv", "a", change.Digest()); err != nil {
		t.Fatal(err)
	}
	waits(sayso.Digest{})
	meet(before, true)
	meet(change, false)
	waits(change.Digest())
}

// What is said of tools belongs to no session: people hear of it, agents do not.
func TestFollow_definitions(t *testing.T) {
	w := newHarness(t, always(sayso.Ask))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, text := range []string{"one", "two"} {
		if _, err := w.b.Meet(ctx, agent, "srv", []sayso.Definition{define("a", text)}); err != nil {
			t.Fatal(err)
		}
	}
	for e, err := range w.b.Inbox(dev).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventDefinitionQuarantined}}) {
		if err != nil || e.Stream != sayso.DefinitionStream || strings.Contains(string(e.Payload), "two") {
			t.Errorf("%v: %s", err, e.Payload)
		}
		break
	}
	w.park("c1")
	for e, err := range w.b.Inbox(agent).Follow(ctx, 0, sayso.EventQuery{}) {
		if err != nil || e.Stream == sayso.DefinitionStream {
			t.Errorf("an agent hears of %s: %v", e.Type, err)
		}
		break
	}
}
