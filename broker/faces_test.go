package broker_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

// Who holds a Gate holds nothing else: no assertion on it finds an inbox, a
// sweep or the end of the broker behind it. The same holds for an Inbox. AdmitGiven
// is Admit once more, for servers.
func TestFaces_areNothingElse(t *testing.T) {
	w := newHarness(t, always(sayso.Ask))
	gate, inbox := w.b.Gate(agent), w.b.Inbox(dev)
	if _, ok := gate.(sayso.Inbox); ok {
		t.Error("a Gate is an Inbox")
	}
	if _, ok := inbox.(sayso.Gate); ok {
		t.Error("an Inbox is a Gate")
	}
	for _, c := range []struct {
		face any
		want reflect.Type
		more []string
	}{{gate, reflect.TypeFor[sayso.Gate](), []string{"AdmitGiven"}}, {inbox, reflect.TypeFor[sayso.Inbox](), nil}} {
		want := append(methods(c.want), c.more...)
		slices.Sort(want)
		if diff := cmp.Diff(want, methods(reflect.TypeOf(c.face))); diff != "" {
			t.Errorf("what is found behind a %s (-promised +found):\n%s", c.want.Name(), diff)
		}
	}
}

// methods are the names of the methods that a type exports.
func methods(t reflect.Type) []string {
	var names []string
	for m := range t.Methods() {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}
