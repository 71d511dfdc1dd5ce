package drive_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/saysotest"
)

// told is what a host was answered.
type told struct {
	d   sayso.Decision
	err error
}

// question is one about a command, and where its answer comes.
func question(key, command string) (drive.Question, chan told) {
	answers := make(chan told, 1)
	return drive.Question{
		Key: key, CanEdit: true,
		Call: sayso.Call{Tool: "bash", Args: sayso.Args(fmt.Sprintf(`{"command":%q}`, command)), Session: "s", CallID: key, Caller: "x/main"},
		Answer: func(d sayso.Decision, err error) error {
			answers <- told{d, err}
			return nil
		},
	}, answers
}

func TestDesk_answers(t *testing.T) {
	b := saysotest.New(t)
	b.Approve("bash:true*")
	b.Deny("bash:false*", "no")
	k := drive.NewDesk(drive.Options{Gate: b.Gate()})
	yes, yesAnswer := question("1", "true")
	no, noAnswer := question("2", "false")
	k.Ask(t.Context(), yes)
	k.Ask(t.Context(), no)
	if got := <-yesAnswer; got.err != nil || !got.d.Allowed() {
		t.Errorf("%+v", got)
	}
	if got := <-noAnswer; got.err != nil || got.d.Allowed() || got.d.Note != "no" {
		t.Errorf("%+v", got)
	}
	k.Ended(t.Context(), "s", "1", sayso.Outcome{})
	k.Ended(t.Context(), "s", "2", sayso.Outcome{}) // it did not run
	k.Close(t.Context(), "s")
	if n := len(b.Events(sayso.EventFinished)); n != 1 {
		t.Errorf("%d outcomes, want 1", n)
	}
	if n := len(b.Events(sayso.EventSessionEnded)); n != 1 {
		t.Errorf("%d sessions ended, want 1", n)
	}
	late, answer := question("3", "true")
	k.Ask(t.Context(), late)
	if got := <-answer; !errors.Is(got.err, sayso.ErrUnavailable) || got.d.Allowed() {
		t.Errorf("asked of a desk that is closed: %+v", got)
	}
}

// A question that the host takes back is not answered, and its request is
// withdrawn: a yes that comes later is refused.
func TestDesk_withdraw(t *testing.T) {
	b := saysotest.New(t)
	opened := make(chan struct{}, 1)
	b.Answer(func(sayso.Request) sayso.Answer {
		opened <- struct{}{}
		<-t.Context().Done() // nobody answers
		return sayso.Answer{}
	})
	k := drive.NewDesk(drive.Options{Gate: b.Gate()})
	q, answer := question("1", "true")
	k.Ask(t.Context(), q)
	<-opened
	if !k.Withdraw("1", "the host took it back") || k.Withdraw("1", "again") || k.Withdraw("2", "unknown") {
		t.Error("a question is withdrawn once, and only where it waits")
	}
	k.Close(t.Context(), "")
	select {
	case got := <-answer:
		t.Errorf("withdrawn, and answered %+v", got)
	default:
	}
	if e := b.Events(sayso.EventWithdrawn); len(e) != 1 {
		t.Errorf("%d requests withdrawn, want 1", len(e))
	}
}

// What the host took back was left and withdrawn, and the record says no more: nobody
// took it up in between.
func TestDesk_withdrawnAtOnce(t *testing.T) {
	b := saysotest.New(t)
	opened := make(chan sayso.ID, 1)
	b.Answer(func(r sayso.Request) sayso.Answer {
		opened <- r.ID
		<-t.Context().Done() // nobody answers
		return sayso.Answer{}
	})
	k := drive.NewDesk(drive.Options{Gate: b.Gate(), Inbox: b.InboxOf(saysotest.Program)})
	q, _ := question("1", "true")
	k.Ask(t.Context(), q)
	id := <-opened
	k.Withdraw("1", "the host took it back")
	k.Close(t.Context(), "")
	var got []sayso.EventType
	for _, e := range b.Events() {
		if e.RequestID == id {
			got = append(got, e.Type)
		}
	}
	want := []sayso.EventType{sayso.EventRequested, sayso.EventParked, sayso.EventWithdrawn}
	if !slices.Equal(got, want) {
		t.Errorf("the record says %v, want %v", got, want)
	}
}

// One that was not withdrawn is parked when the driver ends, and the host is told
// nothing.
func TestDesk_twins(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	k := drive.NewDesk(drive.Options{Gate: b.Gate()})
	q, answer := question("1", "true")
	k.Ask(t.Context(), q)
	twin, second := question("1", "false")
	k.Ask(t.Context(), twin)
	if got := <-second; !errors.Is(got.err, sayso.ErrInvalid) || got.d.Allowed() {
		t.Errorf("a second question under the same key: %+v", got)
	}
	k.Close(t.Context(), "s")
	select {
	case got := <-answer:
		t.Errorf("the driver ended, and the host was told %+v", got)
	default:
	}
}

// leaves is a gate whose asker goes away as it has the decision.
type leaves struct {
	sayso.Gate
	leave context.CancelFunc
}

func (l leaves) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	d, err := l.Gate.Admit(ctx, a)
	l.leave()
	return d, err
}

// What is allowed as the driver ends did not run, and that is on the record.
func TestDesk_allowedAtTheEnd(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	ctx, cancel := context.WithCancel(t.Context())
	k := drive.NewDesk(drive.Options{Gate: leaves{b.Gate(), cancel}})
	q, answer := question("1", "true")
	k.Ask(ctx, q)
	<-ctx.Done() // there is a decision
	k.Close(t.Context(), "")
	select {
	case got := <-answer:
		t.Errorf("the driver ended, and the host was told %+v", got)
	default:
	}
	if e := b.Events(sayso.EventFinished); len(e) != 1 || !strings.Contains(string(e[0].Payload), `"interrupt":true`) {
		t.Errorf("on the record: %+v", e)
	}
}

// Answered by people while the host goes away: many at once, each is told once or
// not at all, and none runs twice.
func TestDesk_many(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	k := drive.NewDesk(drive.Options{Gate: b.Gate()})
	var mu sync.Mutex
	heard := map[string]int{}
	var all sync.WaitGroup
	for i := range 50 {
		q, _ := question(fmt.Sprint(i), "true "+fmt.Sprint(i))
		q.Answer = func(d sayso.Decision, err error) error {
			mu.Lock()
			defer mu.Unlock()
			heard[q.Key]++
			if err != nil || !d.Allowed() {
				t.Errorf("%s: %+v, %v", q.Key, d, err)
			}
			return nil
		}
		all.Go(func() { k.Ask(t.Context(), q) })
		if i%3 == 0 {
			all.Go(func() { k.Withdraw(q.Key, "gone") })
		}
	}
	all.Wait()
	k.Close(t.Context(), "s")
	for key, n := range heard {
		if n != 1 {
			t.Errorf("%s was answered %d times", key, n)
		}
	}
}
