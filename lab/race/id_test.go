package race_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

// everyDoor are the doors that a program can use.
var everyDoor = []string{doorSocket, doorHTTP, doorWS, doorFile}

// opened makes a request that waits, parked, and returns it with its call.
func (w *world) opened(name string) (sayso.Request, sayso.Call) {
	w.t.Helper()
	call := sayso.Call{
		Tool: "bash", Args: sayso.Args(fmt.Sprintf(`{"command":"make %s"}`, name)), Cwd: "/work", Session: name, CallID: "call-" + name,
	}
	_, err := w.engine.Gate(w.actor(agentName)).Admit(context.Background(), sayso.Admission{Call: call, Patience: time.Nanosecond})
	var pending *sayso.PendingError
	if !errors.As(err, &pending) {
		w.t.Fatalf("%s: %v", name, err)
	}
	return w.request(pending.Ticket), call
}

// actor is who a token of the laboratory is for.
func (w *world) actor(name string) sayso.Actor {
	w.t.Helper()
	secret, err := home.ReadToken(secretFile(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	t, err := pathsOf(w.dir).Tokens().Authenticate(secret, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return t.Actor("lab")
}

func answerTo(r sayso.Request, e sayso.Effect) sayso.Answer {
	return sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: e}
}

// state is everything in the log but refused answers: those are recorded, and
// change nothing.
func (w *world) state() (lines []string) {
	w.t.Helper()
	events, err := w.engine.Log.Since(context.Background(), 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range events {
		if e.Type != sayso.EventAnswerRefused && e.Type != sayso.EventPolicyLoaded { // the one is meant; the other tells of a server that started
			lines = append(lines, fmt.Sprintf("%s %s by %s", e.Type, e.Stream, e.Actor.Principal))
		}
	}
	return lines
}

// strange are ids that nothing has.
func strange(r sayso.Request) map[string]sayso.ID {
	return map[string]sayso.ID{
		"no id":           "",
		"a short id":      sayso.ID(r.ShortID),
		"truncated":       r.ID[:35],
		"too long":        r.ID + "0",
		"in upper case":   sayso.ID(strings.ToUpper(string(r.ID))),
		"with a blank":    r.ID[:35] + " ",
		"with a zero":     r.ID[:35] + "\x00",
		"with a slash":    "../" + r.ID[:33],
		"with a stream":   sayso.ID("request/" + r.ID),
		"unknown":         sayso.NewID(time.Now(), [16]byte([]byte(rand.Text())[:16])),
		"a pattern":       sayso.ID(strings.Repeat("%", 36)),
		"of another size": sayso.ID(strings.Repeat("0", 4096)),
	}
}

// An id that nothing has finds nothing, through every door and for everything
// that takes an id, and changes nothing.
func TestID_unknownToEverything(t *testing.T) {
	w := newWorld(t, "")
	r, call := w.opened("victim")
	before := w.state()
	for _, door := range everyDoor {
		person, agent := w.door(door, approver(1)), w.door(door, agentName)
		for name, id := range strange(r) {
			for what, do := range map[string]func(context.Context) error{
				"answer": func(ctx context.Context) error {
					_, err := person.Answer(ctx, id, answerTo(r, sayso.Allow))
					return err
				},
				"content":  func(ctx context.Context) error { _, err := person.Content(ctx, id); return err },
				"life":     func(ctx context.Context) error { _, err := person.Life(ctx, id); return err },
				"revoke":   func(ctx context.Context) error { return person.Revoke(ctx, id) },
				"withdraw": func(ctx context.Context) error { return agent.Withdraw(ctx, id, "") },
				"redeem": func(ctx context.Context) error {
					return agent.Redeem(ctx, sayso.Receipt{Request: id, Digest: r.Digest}, call)
				},
				"report": func(ctx context.Context) error {
					return agent.Report(ctx, sayso.Outcome{Request: id, Session: "nobody's", CallID: "nothing"})
				},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				err := do(ctx)
				cancel()
				if !errors.Is(err, sayso.ErrNotFound) && !errors.Is(err, sayso.ErrInvalid) {
					t.Errorf("%s: %s with an id %s: %v", door, what, name, err)
				}
			}
		}
	}
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("it changed something (-before +after):\n%s", diff)
	}
}

// An answer to what is not open any more, or is not one's to answer, is told so
// and changes nothing, before and after a restart.
func TestID_decidedOrAnothers(t *testing.T) {
	w := newWorld(t, soon)
	w.token(home.Token{Name: "stranger", Kind: sayso.PrincipalPerson})
	ctx := t.Context()
	agent, first := w.door(doorHTTP, agentName), w.door(doorHTTP, approver(1))
	expired, _ := w.opened("expired")
	withdrawn, _ := w.opened("withdrawn")
	if err := agent.Withdraw(ctx, withdrawn.ID, "never mind"); err != nil {
		t.Fatal(err)
	}
	resolved, _ := w.opened("resolved")
	if _, err := first.Answer(ctx, resolved.ID, answerTo(resolved, sayso.Deny)); err != nil {
		t.Fatal(err)
	}
	w.expires(expired)
	for _, when := range []string{"at once", "after a restart"} {
		if when != "at once" {
			w.restart()
		}
		before := w.state()
		for _, door := range everyDoor {
			first, second := w.door(door, approver(1)), w.door(door, approver(2))
			said := func(what string, err, want error) {
				t.Helper()
				if !errors.Is(err, want) {
					t.Errorf("%s, %s: %s: got %v, want %v", when, door, what, err, want)
				}
			}
			_, err := second.Answer(ctx, expired.ID, answerTo(expired, sayso.Allow))
			said("an expired one", err, sayso.ErrExpired)
			_, err = second.Answer(ctx, withdrawn.ID, answerTo(withdrawn, sayso.Allow))
			said("a withdrawn one", err, sayso.ErrWithdrawn)
			_, err = second.Answer(ctx, resolved.ID, answerTo(resolved, sayso.Allow))
			said("a resolved one", err, sayso.ErrDecided)
			_, err = first.Answer(ctx, resolved.ID, answerTo(resolved, sayso.Allow))
			said("a change of mind", err, sayso.ErrDecided)
			if d, err := first.Answer(ctx, resolved.ID, answerTo(resolved, sayso.Deny)); err != nil || d.State != sayso.StateDenied {
				t.Errorf("%s, %s: the same answer again: %+v, %v", when, door, d, err)
			}
			_, err = w.door(door, "stranger").Answer(ctx, resolved.ID, answerTo(resolved, sayso.Deny))
			said("of another's session", err, sayso.ErrNotAllowed)
			_, err = w.door(door, agentName).Answer(ctx, resolved.ID, answerTo(resolved, sayso.Allow))
			said("by a requester", err, sayso.ErrNotAllowed)
		}
		if diff := cmp.Diff(before, w.state()); diff != "" {
			t.Errorf("%s it changed something (-before +after):\n%s", when, diff)
		}
	}
}

// expires waits until a request has expired on the record.
func (w *world) expires(r sayso.Request) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for n := len(w.stream(sayso.RequestStream(r.ID))); w.life(r.ID)[sayso.EventExpired] == 0; n++ {
		if _, err := w.engine.Log.Wait(ctx, sayso.RequestStream(r.ID), n, time.Time{}); err != nil { // the server sweeps
			w.t.Fatalf("%s does not expire: %v", r.ID, err)
		}
	}
}

// An answer that names one request and what another shows is refused: there is
// no such thing as the oldest one that waits.
func TestID_ofOneAndDigestOfAnother(t *testing.T) {
	w := newWorld(t, "")
	mine, _ := w.opened("mine")
	other, _ := w.opened("other")
	before := w.state()
	for _, door := range everyDoor {
		person := w.door(door, approver(1))
		for what, a := range map[string]sayso.Answer{
			"the other's":         answerTo(other, sayso.Allow),
			"the other's digest":  {Digest: other.Digest, Content: mine.Content, Effect: sayso.Allow},
			"the other's content": {Digest: mine.Digest, Content: other.Content, Effect: sayso.Allow},
			"none":                {Effect: sayso.Allow},
			"no content":          {Digest: mine.Digest, Effect: sayso.Allow},
			"none, denied":        {Effect: sayso.Deny},
		} {
			_, err := person.Answer(t.Context(), mine.ID, a)
			if !errors.Is(err, sayso.ErrMismatch) && !errors.Is(err, sayso.ErrInvalid) {
				t.Errorf("%s: an answer with %s: %v", door, what, err)
			}
		}
	}
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("it changed something (-before +after):\n%s", diff)
	}
	for _, r := range []sayso.Request{mine, other} {
		if got := w.request(r.ID); !got.State.Open() {
			t.Errorf("%s is %s", r.ID, got.State)
		}
	}
}

// A person answers before their own screen was told of the request. The answer
// counts, and the screen then sees everything once and in order.
func TestID_answeredBeforeItWasDelivered(t *testing.T) {
	w := newWorld(t, "")
	for _, door := range everyDoor {
		t.Run(door, func(t *testing.T) {
			slow := w.door(door, approver(1))
			head, err := slow.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r, _ := w.opened("early-" + door)
			if _, err := w.door(door, approver(1)).Answer(t.Context(), r.ID, answerTo(r, sayso.Allow)); err != nil {
				t.Fatal(err)
			}
			var seen []sayso.EventType
			for e, err := range slow.Follow(t.Context(), head.Seq, sayso.EventQuery{Request: r.ID}) {
				if err != nil {
					t.Fatal(err)
				}
				if seen = append(seen, e.Type); e.Type == sayso.EventResolved {
					break
				}
			}
			want := []sayso.EventType{sayso.EventRequested, sayso.EventParked, sayso.EventAnswered, sayso.EventResolved}
			if diff := cmp.Diff(want, seen); diff != "" {
				t.Errorf("it saw (-want +got):\n%s", diff)
			}
		})
	}
}
