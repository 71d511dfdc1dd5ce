package saysotest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPromises_ofTheBroker(t *testing.T) {
	saysotest.TestGateInbox(t, func(t *testing.T, p sayso.Policy) saysotest.Doors {
		log := memory.New(nil)
		b, err := broker.New(log, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close(); log.Close() })
		return func(a sayso.Actor) (sayso.Gate, sayso.Inbox) { return b.Gate(a), b.Inbox(a) }
	})
}
