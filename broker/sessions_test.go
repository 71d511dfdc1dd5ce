package broker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// unreadableLog is a log in which one stream cannot be read.
type unreadableLog struct {
	sayso.Log
	stream string
}

func (l unreadableLog) Stream(ctx context.Context, stream string, after int) ([]sayso.Event, error) {
	if stream == l.stream {
		return nil, errors.New("the disk is broken here")
	}
	return l.Log.Stream(ctx, stream, after)
}

func (l unreadableLog) Open(ctx context.Context, session string, limit int) ([][]sayso.Event, error) {
	streams, err := l.Log.Open(ctx, session, limit)
	for _, events := range streams {
		if events[0].Stream == l.stream {
			return nil, errors.New("the disk is broken here")
		}
	}
	return streams, err
}

// One request that cannot be read takes no session from the list, nor any count.
func TestSessions_listWhatCanBeRead(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		var ids []sayso.ID
		for i, session := range []string{"s1", "s1", "s2"} {
			a := patient(fmt.Sprint("c", i), time.Second)
			a.Call.Session, a.Call.Args = session, sayso.Args(fmt.Sprintf(`{"command":"make %d"}`, i))
			var pending *sayso.PendingError
			if _, err := w.admit(a); !errors.As(err, &pending) {
				t.Fatal(err)
			}
			ids = append(ids, pending.Ticket)
		}
		b, err := broker.New(unreadableLog{w.log, sayso.RequestStream(ids[1])}, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		admin := sayso.Actor{Principal: "root", Kind: sayso.PrincipalAdmin, Channel: "terminal"}
		list, err := b.Inbox(admin).Sessions(t.Context(), time.Time{})
		if err != nil || len(list) != 2 {
			t.Fatalf("%d sessions are listed, %v", len(list), err)
		}
		whole, half := list[0], list[1]
		if whole.ID != "s2" || whole.Unread != "" || whole.Calls != 1 || whole.Cwd == "" {
			t.Errorf("the one that can be read: %+v", whole)
		}
		if half.ID != "s1" || half.Calls != 2 || half.Open != 2 || !strings.Contains(half.Unread, "the disk is broken here") || half.LastAt.IsZero() {
			t.Errorf("the other: %+v", half)
		}
	})
}

// A session in which the doctor alone had a call tried is none of an agent.
func TestSessions_leaveTheDoctorOut(t *testing.T) {
	bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) {
		for i, command := range []string{"sayso approve " + sayso.Canary, "make", "sayso approve " + sayso.Canary} {
			a := sayso.Admission{Call: bash(fmt.Sprint("c", i), command)}
			a.Call.Session = []string{"doctor", "s1", "s1"}[i]
			if d, err := w.admit(a); err != nil || d.Effect != sayso.Deny {
				t.Fatal(d, err)
			}
		}
		admin := sayso.Actor{Principal: "root", Kind: sayso.PrincipalAdmin, Channel: "terminal"}
		list, err := w.b.Inbox(admin).Sessions(t.Context(), time.Time{})
		if err != nil || len(list) != 1 || list[0].ID != "s1" || list[0].Calls != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
