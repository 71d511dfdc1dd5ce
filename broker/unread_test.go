package broker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// One request that cannot be read takes no other from the list, says why, and
// fits no answer.
func TestRequests_listWhatCanBeRead(t *testing.T) {
	for _, n := range []int{3, 9} { // more than a few are read all at once
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			var ids []sayso.ID
			for i := range n {
				a := patient(fmt.Sprint("c", i), time.Second)
				a.Call.Session, a.Call.Args = "s1", sayso.Args(fmt.Sprintf(`{"command":"make %d"}`, i))
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
			in := b.Inbox(sayso.Actor{Principal: "root", Kind: sayso.PrincipalAdmin, Channel: "terminal"})
			for name, q := range map[string]sayso.RowQuery{"open": {States: sayso.OpenStates()}, "all": {Oldest: true}} {
				list, err := in.Requests(t.Context(), q)
				if err != nil || len(list) != n {
					t.Fatalf("%s: %d are listed, %v", name, len(list), err)
				}
				for i, r := range list {
					torn := i == 1
					if r.ID != ids[i] || r.SessionID != "s1" || !r.State.Open() || (r.Unread != "") != torn || torn != strings.Contains(r.Description, "the disk is broken here") {
						t.Errorf("%s %d: %+v", name, i, r)
					}
				}
			}
			if _, err := in.Request(t.Context(), string(ids[0])); err != nil {
				t.Errorf("another cannot be shown: %v", err)
			}
			if _, err := in.Request(t.Context(), string(ids[1])); err == nil {
				t.Error("it is shown as if it could be read")
			}
			if d, err := in.Answer(t.Context(), ids[1], sayso.Answer{Effect: sayso.Allow}); err == nil || d.Allowed() {
				t.Errorf("it is answered: %+v, %v", d, err)
			}
		})
	}
}
