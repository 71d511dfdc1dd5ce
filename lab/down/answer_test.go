//go:build unix

package down_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/lab/machine"
)

func policyBroken(t *testing.T, m *machine.Machine) seen {
	m.Write(m.Paths().Policy(), "version: 1\nrules:\n  - alow: \"bash:touch marker\"\n")
	told := m.Hook(m.Touch("1", "marker")).Denied(t)
	person := m.Sayso("status").Both() + m.Sayso("policy", "check").Both()
	allow(m)
	m.Must("policy", "check")
	m.Hook(m.Touch("1", "marker")).Allowed(t)
	lives(t, m, "requested resolved redeemed")
	return seen{told, person}
}

func policyOpen(t *testing.T, m *machine.Machine) seen {
	allow(m)
	if err := os.Chmod(m.Paths().Policy(), 0o666); err != nil {
		t.Fatal(err)
	}
	told := m.Hook(m.Touch("1", "marker")).Denied(t)
	person := m.Sayso("status").Both() + m.Sayso("policy", "check").Both()
	if err := os.Chmod(m.Paths().Policy(), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Hook(m.Touch("1", "marker")).Allowed(t)
	return seen{told, person}
}

func settingWrong(t *testing.T, m *machine.Machine) seen {
	allow(m)
	told := m.Hook(m.Touch("1", "marker"), "SAYSO_PATIENCE=soon").Denied(t)
	cmd := m.Command("config")
	cmd.Env = m.Environ("SAYSO_PATIENCE=soon")
	person := m.Run(cmd).Both()
	lives(t, m)
	return seen{told, person}
}

func expires(t *testing.T, m *machine.Machine) seen {
	m.Write(m.Paths().Policy(), "version: 1\ndeadline: {after: 1s}\n")
	told := m.Hook(m.Touch("1", "marker")).Denied(t)
	lives(t, m, "requested expired")
	return seen{told, m.Must("log")}
}

func deadlineDenies(t *testing.T, m *machine.Machine) seen {
	m.Write(m.Paths().Policy(), "version: 1\ndeadline: {after: 1s, then: deny}\n")
	told := m.Hook(m.Touch("1", "marker")).Denied(t)
	lives(t, m, "requested resolved")
	return seen{told, m.Must("log")}
}

func patienceEnds(t *testing.T, m *machine.Machine) seen {
	told := m.Hook(m.Touch("1", "marker"), "SAYSO_PATIENCE=500ms").Denied(t)
	person := m.Must("inbox")
	m.Approve(m.Opened(1)[0])
	m.Hook(m.Touch("2", "marker")).Allowed(t)
	lives(t, m, "requested parked answered resolved taken redeemed")
	return seen{told, person}
}

// clockSetBack: a request was opened tomorrow, as the clock says now, on another
// run of the machine. How old it is cannot be known.
func clockSetBack(t *testing.T, m *machine.Machine) seen {
	input := m.Touch("1", "marker")
	h, err := claudecode.Parse([]byte(input))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Paths().Make(); err != nil {
		t.Fatal(err)
	}
	ahead := func() sayso.Moment {
		return sayso.Moment{Wall: time.Now().AddDate(0, 0, 1), Boot: "another-boot", Since: time.Hour}
	}
	m.Broker(&broker.Options{Now: ahead}, func(ctx context.Context, b *broker.Broker) {
		gate := b.Gate(home.OwnActor(sayso.PrincipalAgent, claudecode.Host, "hook"))
		_, err := gate.Admit(ctx, sayso.Admission{
			Call: h.Call, Patience: time.Millisecond,
			Facts: facts.Gather(ctx, h.Call, facts.Options{State: m.Paths().Folders(), Home: m.Home}),
		})
		if !errors.Is(err, sayso.ErrPending) {
			t.Fatal(err)
		}
	})
	told := m.Hook(input).Denied(t)
	lives(t, m, "requested parked expired")
	return seen{told, m.Must("log")}
}

func off(t *testing.T, m *machine.Machine) seen {
	m.Write(m.Paths().Policy(), "version: 1\ndefault: deny\n")
	m.Must("off", "--for", "1m")
	m.Hook(m.Touch("1", "marker")).Silent(t)
	person := m.Sayso("status").Both()
	m.Must("off", "--end")
	m.Hook(m.Touch("1", "marker")).Denied(t)
	lives(t, m, "requested resolved")
	return seen{"", person}
}

func lock(t *testing.T, m *machine.Machine) seen {
	allow(m)
	m.Must("lock")
	told := m.Hook(m.Touch("1", "marker"), "SAYSO_PATIENCE=500ms").Denied(t)
	person := m.Sayso("status").Both()
	m.Must("lock", "--release")
	m.Approve(m.Opened(1)[0])
	m.Hook(m.Touch("2", "marker")).Allowed(t)
	return seen{told, person}
}
