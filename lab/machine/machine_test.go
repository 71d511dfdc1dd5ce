//go:build unix

package machine_test

import (
	"testing"

	"github.com/sayso-dev/sayso/lab/machine"
)

func TestMain(m *testing.M) { machine.Main(m) }

// A machine is of use only if what it calls denied, allowed and silent are
// three things.
func TestMachine(t *testing.T) {
	m := machine.New(t)
	m.Must("off", "--for", "1m")
	m.Hook(m.Touch("1", "marker")).Silent(t)
	m.Must("off", "--end")
	w := m.Start(m.Touch("2", "marker"))
	m.Approve(m.Opened(1)[0])
	w.Wait().Allowed(t)
	m.Write(m.Paths().Policy(), "version: 1\ndefault: deny\nrules:\n  - allow: \"bash:touch marker\"\n")
	if said := m.Hook(m.Touch("3", "other")).Denied(t); said == "" {
		t.Error("a denial says nothing")
	}
	m.Hook(m.Touch("4", "marker")).Allowed(t)
	server := m.Serve("127.0.0.1:0")
	if server.Addr == "" {
		t.Errorf("the server says not where it listens: %s", server.Said())
	}
	m.Hook(m.Touch("5", "marker")).Allowed(t)
	server.Kill()
	want := []string{
		"requested answered resolved redeemed", "requested resolved", "requested resolved redeemed", "requested resolved redeemed",
	}
	got := m.Lives()
	if len(got) != len(want) {
		t.Fatalf("lives %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("request %d: %s, want %s", i+1, got[i], want[i])
		}
	}
}
